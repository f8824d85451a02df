// Package labelled checks the rows that a party brings to a protocol, with their labels and
// held-out flags. Errors quote the party's data, so they belong in the party's own log only.
package labelled

import (
	"fmt"
	"hash"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// MaxBytes is the largest length of a label.
const MaxBytes = protocol.MaxNameBytes

// Shape returns the number of rows and of features. Both are 0 for nil rows.
func Shape(rows linalg.Rows) (n, features int) {
	if rows == nil {
		return 0, 0
	}
	return rows.Shape()
}

// Check returns an error if the labels or the held-out flags do not fit the rows. Labels and flags
// can be nil. Errors begin with the text in the argument prefix, such as "okra: ".
func Check(prefix string, rows linalg.Rows, labels []string, test []bool) error {
	n, _ := Shape(rows)
	switch {
	case labels != nil && len(labels) != n:
		return fmt.Errorf("%s%d labels were given for %d rows", prefix, len(labels), n)
	case test != nil && len(test) != n:
		return fmt.Errorf("%s%d test flags were given for %d rows", prefix, len(test), n)
	}
	for i, l := range labels {
		if l == "" || len(l) > MaxBytes {
			return fault.Labels.Errorf("%srow %d: label %q has a wrong length; use 1 to %d bytes", prefix, i, l, MaxBytes)
		}
	}
	return nil
}

// CheckNumbers returns an error if a number is NaN or its absolute value exceeds limit. Errors
// begin with prefix, as in [Check].
func CheckNumbers(prefix string, rows linalg.Rows, limit float64) error {
	n, f := Shape(rows)
	row := make([]float64, f)
	for i := range n {
		rows.ReadRow(i, row)
		for j, v := range row {
			if !(math.Abs(v) <= limit) { // the comparison is false for NaN
				return fault.OfNumber(v).Errorf("%srow %d, feature %d: %v is not a number of magnitude up to %v; fill in missing values and scale the features first", prefix, i, j, v, limit)
			}
		}
	}
	return nil
}

// HashNumbers writes all numbers to h, row by row.
func HashNumbers(h hash.Hash, rows linalg.Rows) {
	n, f := Shape(rows)
	var w wire.Writer
	row := make([]float64, f)
	for i := range n {
		rows.ReadRow(i, row)
		w.Reset()
		w.Float64s(row)
		h.Write(w.Bytes())
	}
}
