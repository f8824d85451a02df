package linalg

// transposer is a way to transpose n squares, at least one. Rows of a square lie
// a distance apart, squares a step.
type transposer[T Float] struct {
	side int // rows and columns of a square: a line of the cache
	move func(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int)
}

// twice is for paths without a way past the caches.
func twice[T Float](t transposer[T]) (through, past transposer[T]) { return t, t }

// squares sets n squares to the transposes of others, and panics when they do
// not fit.
func (t transposer[T]) squares(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int) {
	if n == 0 {
		return
	}
	to = to[: (n-1)*toStep+(t.side-1)*toDistance+t.side : len(to)]
	from = from[: (n-1)*fromStep+(t.side-1)*fromDistance+t.side : len(from)]
	t.move(n, to, toDistance, toStep, from, fromDistance, fromStep)
}

func portableTransposer[T Float]() transposer[T] {
	var zero T
	side := 8
	if _, single := any(zero).(float32); single {
		side = 16
	}
	return transposer[T]{side, func(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int) {
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
