package simd

// Transposer transposes square blocks of a matrix. The rows of a square begin a distance apart, and
// the squares begin a step apart.
type Transposer[T float] struct {
	Side int // number of rows and of columns of a square, whose rows fill a cache line
	move func(n int, dst []T, dstDistance, dstStep int, src []T, srcDistance, srcStep int)
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

// Squares writes the transposes of n squares of src to n squares of dst. It panics if they do not
// fit.
func (t Transposer[T]) Squares(n int, dst []T, dstDistance, dstStep int, src []T, srcDistance, srcStep int) {
	if n == 0 {
		return
	}
	dst = dst[: (n-1)*dstStep+(t.Side-1)*dstDistance+t.Side : len(dst)]
	src = src[: (n-1)*srcStep+(t.Side-1)*srcDistance+t.Side : len(src)]
	t.move(n, dst, dstDistance, dstStep, src, srcDistance, srcStep)
}

func portableTransposer[T float]() Transposer[T] {
	side := 8
	if isSingle[T]() {
		side = 16
	}
	return Transposer[T]{side, func(n int, dst []T, dstDistance, dstStep int, src []T, srcDistance, srcStep int) {
		for i := range n {
			dst, src := dst[i*dstStep:], src[i*srcStep:]
			for r := range side {
				for c, v := range src[r*srcDistance:][:side] {
					dst[c*dstDistance+r] = v
				}
			}
		}
	}}
}
