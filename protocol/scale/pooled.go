package scale

import (
	"github.com/mercer-fl/mercer/internal/wire"
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

// ReadScaling reads the scaling of a number of columns: offsets, then factors.
func ReadScaling(r *wire.Reader, columns int) Scaling {
	if 16*columns > r.Len() {
		r.Fail(wire.ErrShort)
		return Scaling{}
	}
	s := Scaling{Offset: make([]float64, columns), Factor: make([]float64, columns)}
	r.Float64s(s.Offset)
	r.Float64s(s.Factor)
	return s
}
