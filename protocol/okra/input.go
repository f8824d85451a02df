package okra

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

const (
	// MaxValue bounds the entries of rows, so that neither encoded values nor
	// their inner products overflow, on any wire.
	MaxValue = 1e15
	// maxEncoded bounds what a server takes: sqrt(MaxFeatures) MaxValue and to
	// spare.
	maxEncoded = 1e19
	// maxLabelBytes bounds a label.
	maxLabelBytes = protocol.MaxNameBytes
)

// Input is a party's contribution. Rows are known to others by their
// positions only; nothing here may hold the id of a patient.
type Input struct {
	Rows   linalg.Rows // n x f, already scaled; [0, 1] is best
	Labels []string    // n of 1 to 64 bytes, or nil: none
	Test   []bool      // n, true for held-out rows; nil: none is
	Grid   bool        // the values lie on a grid: integers, counts, one-hot, pixels
	// Kept says that a later session may continue this one: the party notes the hash
	// of what it sends. See [Party.Standing].
	Kept bool
}

// shape returns the number of rows and of features.
func (in Input) shape() (rows, features int) {
	if in.Rows == nil {
		return 0, 0
	}
	return in.Rows.Shape()
}

// Hash returns the SHA-256 of the canonical encoding of in, for
// protocol.Start.
func (in Input) Hash() [sha256.Size]byte {
	h := sha256.New()
	var w wire.Writer
	w.String("mercer/v1/okra/input")
	n, f := in.shape()
	w.Uint32(uint32(n))
	w.Uint32(uint32(f))
	w.Bool(in.Grid)
	w.Uint32(uint32(len(in.Labels)))
	for _, l := range in.Labels {
		w.Bytes32([]byte(l))
	}
	w.Uint32(uint32(len(in.Test)))
	for _, t := range in.Test {
		w.Bool(t)
	}
	h.Write(w.Bytes())
	row := make([]float64, f)
	for i := range n {
		in.Rows.ReadRow(i, row)
		w.Reset()
		w.Float64s(row)
		h.Write(w.Bytes())
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func (in Input) validate() error {
	n, f := in.shape()
	switch {
	case n < 1 || n > maxRows:
		return fmt.Errorf("okra: %d rows; a party brings 1 to %d", n, maxRows)
	case f < 1 || f > MaxFeatures:
		return fmt.Errorf("okra: rows of %d features; 1 to %d are possible", f, MaxFeatures)
	case in.Labels != nil && len(in.Labels) != n:
		return fmt.Errorf("okra: %d labels for %d rows", len(in.Labels), n)
	case in.Test != nil && len(in.Test) != n:
		return fmt.Errorf("okra: %d test flags for %d rows", len(in.Test), n)
	}
	for i, l := range in.Labels {
		if l == "" || len(l) > maxLabelBytes {
			return fault.Labels.Errorf("okra: row %d: label %q; a label has 1 to %d bytes", i, l, maxLabelBytes)
		}
	}
	return validateRows(in.Rows)
}

func validateRows(rows linalg.Rows) error {
	n, f := rows.Shape()
	row := make([]float64, f)
	for i := range n {
		rows.ReadRow(i, row)
		for j, v := range row {
			if !(math.Abs(v) <= MaxValue) { // false for NaN
				return fault.OfNumber(v).Errorf("okra: row %d, feature %d: %v; fill in missing values and scale the features first", i, j, v)
			}
		}
	}
	return nil
}

// label returns row i's label, "" for none.
func (in Input) label(i int) string {
	if in.Labels == nil {
		return ""
	}
	return in.Labels[i]
}

// test reports whether row i is held out.
func (in Input) test(i int) bool { return in.Test != nil && in.Test[i] }

// errEdited refuses a Start over other data than the constructor got: the
// difference of two encodings under one seed is the edit in clear.
var errEdited = errors.New("okra: the rows are not those the session started with; restore them, or start a new session")
