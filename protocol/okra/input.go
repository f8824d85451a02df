package okra

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/internal/labelled"
)

const (
	// MaxValue limits the entries of rows, so that neither encoded values nor their inner products
	// overflow, on any wire.
	MaxValue = 1e15
	// maxEncoded limits the numbers that a server accepts: more than sqrt(MaxFeatures) MaxValue.
	maxEncoded = 1e19
	// maxLabelBytes limits a label.
	maxLabelBytes = labelled.MaxBytes
)

// Input is a party's contribution. Others know rows by their positions only, so no field may hold
// the id of a patient.
type Input struct {
	Rows   linalg.Rows // n x f, already scaled; [0, 1] is best
	Labels []string    // n of 1 to 64 bytes, or nil: none
	Test   []bool      // n, true for held-out rows; nil: none is
	Grid   bool        // the values lie on a grid: integers, counts, one-hot, pixels
	// Kept allows a later session to continue this one: the party records the hash of the data that
	// it sends. See [Party.Standing].
	Kept bool
}

// shape returns the number of rows and of features.
func (in Input) shape() (rows, features int) { return labelled.Shape(in.Rows) }

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
	labelled.HashNumbers(h, in.Rows)
	return [sha256.Size]byte(h.Sum(nil))
}

func (in Input) validate() error {
	n, f := in.shape()
	switch {
	case n < 1 || n > maxRows:
		return fmt.Errorf("okra: %d rows; a party brings 1 to %d", n, maxRows)
	case f < 1 || f > MaxFeatures:
		return fmt.Errorf("okra: rows of %d features; 1 to %d are possible", f, MaxFeatures)
	}
	if err := labelled.Check("okra: ", in.Rows, in.Labels, in.Test); err != nil {
		return err
	}
	return validateRows(in.Rows)
}

func validateRows(rows linalg.Rows) error { return labelled.CheckNumbers("okra: ", rows, MaxValue) }

// label returns row i's label; "" if it has none.
func (in Input) label(i int) string {
	if in.Labels == nil {
		return ""
	}
	return in.Labels[i]
}

// test reports whether row i is held out.
func (in Input) test(i int) bool { return in.Test != nil && in.Test[i] }

// errEdited refuses a Start with other data than the constructor received: the difference of two
// encodings under one seed reveals the edit in clear.
var errEdited = errors.New("okra: the rows are not those the session started with; restore them, or start a new session")
