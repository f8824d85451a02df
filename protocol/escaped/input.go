package escaped

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/labelled"
)

const (
	// MaxValue limits the entries of rows; masks of at most 50 hide nothing of larger ones, and
	// cost them digits.
	MaxValue = 1e6
	// MaxWords limits the entries of a party's rows, of which it holds five copies and two of a
	// partner's.
	MaxWords = 1 << 27
	// MaxRows limits the rows of a party.
	MaxRows       = 1 << 20
	maxLabelBytes = labelled.MaxBytes
)

// Input is a party's contribution.
type Input struct {
	Rows   linalg.Rows // n x f, already scaled
	Labels []string    // n of 1 to 64 bytes, or nil: none
	Test   []bool      // n, true for held-out rows; nil: none is
}

func (in Input) shape() (rows, features int) { return labelled.Shape(in.Rows) }

// Hash returns the SHA-256 of the canonical encoding of in, for protocol.Start.
func (in Input) Hash() [sha256.Size]byte {
	h := sha256.New()
	var w wire.Writer
	w.String("mercer/v1/escaped/input")
	n, f := in.shape()
	w.Uint32(uint32(n))
	w.Uint32(uint32(f))
	w.Strings(in.Labels)
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
	case n < 1 || n > MaxRows || f < 1 || n > MaxWords/f:
		return fmt.Errorf("escaped: %d rows of %d features; a party brings 1 to %d rows and at most %d values; use protocol okra", n, f, MaxRows, MaxWords)
	}
	if err := labelled.Check("escaped: ", in.Rows, in.Labels, in.Test); err != nil {
		return err
	}
	return labelled.CheckNumbers("escaped: ", in.Rows, MaxValue)
}

// errEdited refuses a Start with other data than the constructor received: the difference under one
// mask reveals the edit in clear.
var errEdited = errors.New("escaped: the rows are not those the session started with; restore them, or start a new session")

// Labels and held-out flags are sent in clear.
const labelsPerChunk = protocol.MaxChunkBytes / (2 + maxLabelBytes + 1)

func labelChunks(rows int) int { return (rows + labelsPerChunk - 1) / labelsPerChunk }

func (in Input) encodeLabels(chunk int) []byte {
	var w wire.Writer
	n, _ := in.shape()
	for i := chunk * labelsPerChunk; i < min(n, (chunk+1)*labelsPerChunk); i++ {
		label := ""
		if in.Labels != nil {
			label = in.Labels[i]
		}
		w.String(label)
		w.Bool(in.Test != nil && in.Test[i])
	}
	return w.Bytes()
}
