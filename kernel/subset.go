package kernel

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Subset returns the view of src that has row and column rows[i] of it as its
// i-th: a fold, or the two classes of one problem of one-vs-one. The rows may
// repeat. It keeps rows, and panics when one is not in src.
func Subset(src Source, rows []int) Source {
	for _, r := range rows {
		if r < 0 || r >= src.Len() {
			panic(fmt.Sprintf("kernel: a subset of %d rows with row %d", src.Len(), r))
		}
	}
	switch s := src.(type) {
	case subset: // one step to the matrix, however deep
		return subset{s.src, linalg.At(s.rows, rows)}
	case *Lazy:
		return s.subset(rows)
	case copies:
		return s.subset(rows)
	}
	return subset{src, rows}
}

type subset struct {
	src  Source
	rows []int
}

func (s subset) Len() int { return len(s.rows) }

func (s subset) Diagonal(dst []float64) {
	all := make([]float64, s.src.Len())
	s.src.Diagonal(all)
	gather(dst, all, s.rows)
}

func (s subset) Row(i int, dst []float64) {
	s.src.Block(s.rows[i:i+1], s.rows, linalg.Matrix[float64]{Rows: 1, Cols: len(s.rows), Stride: len(s.rows), Data: dst})
}

func (s subset) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	s.src.Block(linalg.At(s.rows, rows), linalg.At(s.rows, cols), dst)
}
