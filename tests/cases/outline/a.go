package m

type (
	A struct {
		x int
	}
	B interface{ M() }
)

type F func(int) int

func (s *Server[T]) Run(a int) error {
	go func() {
		s.x()
	}()
	return nil
}

func Map[K comparable](m map[K]int) []K { return nil }

var handler = func(w int) {
}

var table = map[string]int{
	"a": 1,
}
