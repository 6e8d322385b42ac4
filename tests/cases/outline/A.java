package a.b;

@Entity(name = "x")
public class A<T> extends B {
    static final int[] TABLE = {
        1,
    };

    @Override
    public <X> X m(int a) throws E {
        return new R() {
            public void run() {
            }
        };
    }

    A() {}

    enum Color {
        RED { void f() {} };
    }

    record P(int x) {
        P {}
    }
}

interface I {
    void m();
    default void d() {}
}
