package simd

// Transposer transposes square blocks of a matrix. The rows of a square are a distance apart,
// squares a step.
type Transposer[T float] struct {
	Side int // number of rows and columns of a square, a cache line
	move func(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int)
}

// TransposersOf returns one transposer that writes into the caches, and one that writes past the
// caches. Writes past the caches need whole cache lines and suit data that are not read soon.
func TransposersOf[T float](p Path) (through, past Transposer[T]) {
	if isSingle[T]() {
		through, past := transposers32(p)
		return any(through).(Transposer[T]), any(past).(Transposer[T])
	}
	t, u := Transposers64(p)
	return any(t).(Transposer[T]), any(u).(Transposer[T])
}

// twice returns t as both transposers, for paths without writes past the caches.
func twice[T float](t Transposer[T]) (through, past Transposer[T]) { return t, t }

// Squares writes the transposes of n squares of from to n squares of to. It panics if they do not
// fit.
func (t Transposer[T]) Squares(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int) {
	if n == 0 {
		return
	}
	to = to[: (n-1)*toStep+(t.Side-1)*toDistance+t.Side : len(to)]
	from = from[: (n-1)*fromStep+(t.Side-1)*fromDistance+t.Side : len(from)]
	t.move(n, to, toDistance, toStep, from, fromDistance, fromStep)
}

func portableTransposer[T float]() Transposer[T] {
	side := 8
	if isSingle[T]() {
		side = 16
	}
	return Transposer[T]{side, func(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int) {
		for i := range n {
			to, from := to[i*toStep:], from[i*fromStep:]
			for r := range side {
				for c, v := range from[r*fromDistance:][:side] {
					to[c*toDistance+r] = v
				}
			}
		}
	}}
}
