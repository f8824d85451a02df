package scale

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
)

// Pooled returns the scaling of rows that are in one place, for comparisons
// with a job whose parties hold them.
func Pooled(rows linalg.Rows, method Method) (Scaling, error) {
	s, err := Summarize(rows, method)
	if err != nil {
		return Scaling{}, err
	}
	return s.scaling(), nil
}

// Cut decodes the scaling that b begins with, offsets and then factors of a number of
// columns, and returns the bytes after it.
func (s *Scaling) Cut(b []byte, columns int) (rest []byte, err error) {
	if columns < 0 || columns > len(b)/16 {
		return nil, fmt.Errorf("scale: the scaling of %d columns: %w", columns, wire.ErrShort)
	}
	r := wire.NewReader(b)
	s.Offset, s.Factor = make([]float64, columns), make([]float64, columns)
	r.Float64s(s.Offset)
	r.Float64s(s.Factor)
	return r.Rest(), nil
}
