@available(iOS 1, *)
public class A<T>: B {
    @objc func m(_ a: Int) -> Int { return 1 }
    init(a: Int) { }
    deinit { }
    var p: Int {
        return 1
    }
    subscript(i: Int) -> Int { return 1 }
}
struct S { func sm() {} }
enum E { case a; func em() {} }
protocol P {
    func pm()
}
extension A.B where T: X {
    func xm() {
        func inner() {}
    }
}
actor Ac { func am() {} }
