package a.b

@Foo class A[T](x: Int) extends B {
  @tailrec def m(a: Int): Int = {
    1
  }
  def abstractOne: Int
  val f = (x: Int) => x
}

object A {
  def apply() = 1
}

trait T { def t(): Unit }

case class CC(a: Int)

def indented(x: Int): Int =
  val y = 1
  y
