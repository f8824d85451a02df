package dataset

import (
	"fmt"
	"math"
)

// MaxMagnitude bounds the numbers that can be trained on: sums of their squares are finite.
const MaxMagnitude = 1e140

// CheckMagnitude names the first number of sets, some of which may be nil, that is beyond
// [MaxMagnitude].
func CheckMagnitude(sets ...*Set) error {
	for _, s := range sets {
		if s == nil {
			continue
		}
		if err := s.checkMagnitude(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) checkMagnitude() (err error) {
	for i := range s.X.Rows() {
		s.X.Each(i, func(col int, v float64) {
			if err == nil && math.Abs(v) > MaxMagnitude {
				err = fmt.Errorf("%s: row %d, column %s holds %v; numbers go up to %g in magnitude: correct the cell, or have it read as missing", s.Name, i+1, s.columnName(col), v, MaxMagnitude)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) columnName(col int) string {
	if s.Columns == nil {
		return fmt.Sprint(col + 1)
	}
	return quote(s.Columns[col])
}
