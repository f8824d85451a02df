package linalg

// Rows are rows of numbers that are read one at a time: a [Matrix], a table in
// another precision, a choice of another table's rows, rows that are scaled as
// they are read. Computations that take Rows hold a few of them in float64, not
// all. Rows are safe for concurrent use.
type Rows interface {
	// Shape returns the number of rows and of columns.
	Shape() (rows, cols int)
	// ReadRow writes row i to dst, of length cols.
	ReadRow(i int, dst []float64)
}

// Shape returns the number of rows and of columns.
func (m Matrix[T]) Shape() (rows, cols int) { return m.Rows, m.Cols }

// ReadRow writes row i to dst, of length Cols, in float64.
func (m Matrix[T]) ReadRow(i int, dst []float64) { Widen(dst, m.Row(i)) }

// Widen writes the numbers of from to dst, which is as long.
func Widen[T Float](dst []float64, from []T) {
	if same, ok := any(from).([]float64); ok {
		copy(dst, same)
		return
	}
	dst = dst[:len(from)]
	for j, v := range from {
		dst[j] = float64(v)
	}
}

// Gather reads as many rows of from as dst has, from row first on, on all
// cores.
func Gather(dst Matrix[float64], from Rows, first int) {
	const grain = 1 << 16 // numbers that one core reads at a time
	For(dst.Rows, max(1, grain/max(1, dst.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from.ReadRow(first+i, dst.Row(i))
		}
	})
}

// Pick returns the given rows of from, in the given order, without copying
// them. It keeps index.
func Pick(from Rows, index []int) Rows { return picked{from, index} }

type picked struct {
	from  Rows
	index []int
}

func (p picked) Shape() (rows, cols int) {
	_, cols = p.from.Shape()
	return len(p.index), cols
}

func (p picked) ReadRow(i int, dst []float64) { p.from.ReadRow(p.index[i], dst) }
