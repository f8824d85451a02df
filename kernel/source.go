package kernel

import "github.com/mercer-fl/mercer/linalg"

// Source is a symmetric kernel matrix over n rows that learners read. It may
// sit in memory or be computed when asked. A Source is safe for concurrent
// reads.
type Source interface {
	// Len returns n.
	Len() int
	// Diagonal copies K(i, i) for all i into dst, of length n.
	Diagonal(dst []float64)
	// Row copies K(i, j) for all j into dst, of length n.
	Row(i int, dst []float64)
	// Block copies K(rows[a], cols[b]) into dst, len(rows) x len(cols).
	Block(rows, cols []int, dst linalg.Matrix[float64])
}
