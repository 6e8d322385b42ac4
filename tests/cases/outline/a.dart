@Foo()
abstract class A<T> extends B with C {
  @override
  Widget m(int a) {
    return 1;
  }

  A(this.x);
  A.named(int x) : y = 1 {
  }
  get p => 1;
  int operator +(o) {
    return 1;
  }
  void ab();
}

mixin M on B {
  void mm() {}
}

extension Ext on String {
  void xm() {}
}

@pragma('x')
void top(int a) {
  void inner() {}
}
