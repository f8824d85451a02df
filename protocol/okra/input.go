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
	// MaxValue limits the absolute values in rows, so that neither encoded values nor their inner
	// products overflow.
	MaxValue = 1e15
	// maxEncoded is the largest encoded number that a server accepts. It exceeds sqrt(MaxFeatures)
	// MaxValue, which no encoding of valid rows exceeds.
	maxEncoded = 1e19
	// maxLabelBytes limits the length of a label.
	maxLabelBytes = labelled.MaxBytes
)

// Input holds a party's rows and their labels. Other members refer to rows by position only: no
// field must hold the id of a patient.
type Input struct {
	Rows   linalg.Rows // n rows of features, already scaled, preferably to [0, 1]
	Labels []string    // n labels of 1 to 64 bytes, or nil if the rows have none
	Test   []bool      // n flags, true for held-out rows; nil if no row is held out
	Grid   bool        // the values lie on a grid: integers, counts, one-hot, pixels
	// Kept says whether the party records a hash of the data that it sends. A later session can
	// continue this one only with this hash. See [Party.EpochState].
	Kept bool
}

// shape returns the number of rows and of features.
func (in Input) shape() (rows, features int) { return labelled.Shape(in.Rows) }

// Hash returns the SHA-256 of the input's canonical encoding. [protocol.Start] takes this hash as
// InputHash.
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
		return fmt.Errorf("okra: the input has %d rows; 1 to %d are allowed", n, maxRows)
	case f < 1 || f > MaxFeatures:
		return fmt.Errorf("okra: the rows have %d features; 1 to %d are allowed", f, MaxFeatures)
	}
	if err := labelled.Check("okra: ", in.Rows, in.Labels, in.Test); err != nil {
		return err
	}
	return validateRows(in.Rows)
}

func validateRows(rows linalg.Rows) error { return labelled.CheckNumbers("okra: ", rows, MaxValue) }

// label returns row i's label, or "" if the rows have no labels.
func (in Input) label(i int) string {
	if in.Labels == nil {
		return ""
	}
	return in.Labels[i]
}

// test reports whether row i is held out.
func (in Input) test(i int) bool { return in.Test != nil && in.Test[i] }

// errEdited reports that the party's input has changed since the session started. The difference of
// two encodings under one seed would reveal the change in clear.
var errEdited = errors.New("okra: the rows or their labels have changed since the session started; restore them, or start a new session")
