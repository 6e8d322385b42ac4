package a.b

@Component("x")
class A<T>(val x: Int) : B() {
    @Test
    fun m(a: Int): Int {
        return 1
    }

    fun e() = 1

    val p: Int
        get() {
            return 1
        }

    companion object {
        fun c() {}
    }

    constructor(a: String) : this(1) {
    }
}

object O {
    fun o() {}
}

interface I {
    fun im()
}

enum class E { A, B }

fun String.ext(a: Int) = 1

val handler = { x: Int ->
    x
}
fun interface One { fun run() }
