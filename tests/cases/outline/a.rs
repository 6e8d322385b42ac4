#[derive(Debug)]
// between
#[serde(x)]
pub struct S {
    a: i32,
}

impl<T> fmt::Display for S<T> {
    fn fmt(&self) {
        fn inner() {}
    }
}

impl Read for &'a mut [u8] {
    fn read(&self) {}
}

mod a {
    mod b {
        pub(crate) async fn f() {}
    }
}

trait T {
    fn required();
    fn provided() {}
}

macro_rules! m {
    () => {};
}

enum E { A }

#[test]
fn works() {
    let c = |x| {
        x
    };
}
