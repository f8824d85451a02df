package linalg

// Float is the type of a matrix's numbers.
type Float interface{ float32 | float64 }

// Matrix is dense and row-major: element (i, j) is Data[i*Stride+j].
type Matrix[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

// New returns a zero matrix of r rows and c columns.
func New[T Float](r, c int) Matrix[T] {
	return Matrix[T]{Rows: r, Cols: c, Stride: c, Data: make([]T, r*c)}
}

// Row returns row i, aliasing m.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// Column returns a copy of column c.
func (m Matrix[T]) Column(c int) []T {
	out := make([]T, m.Rows)
	for i := range out {
		out[i] = m.Row(i)[c]
	}
	return out
}

// Panel returns rows lo to hi-1, aliasing m.
func (m Matrix[T]) Panel(lo, hi int) Matrix[T] {
	if lo == hi {
		return Matrix[T]{Cols: m.Cols, Stride: m.Stride}
	}
	return Matrix[T]{Rows: hi - lo, Cols: m.Cols, Stride: m.Stride, Data: m.Data[lo*m.Stride : (hi-1)*m.Stride+m.Cols]}
}
