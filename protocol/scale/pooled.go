package scale

import "github.com/mercer-fl/mercer/linalg"

// Pooled returns the scaling of rows that are in one place, for comparisons
// with a job whose parties hold them.
func Pooled(rows linalg.Rows, method Method) (Scaling, error) {
	s, err := Summarize(rows, method)
	if err != nil {
		return Scaling{}, err
	}
	return s.scaling(), nil
}
