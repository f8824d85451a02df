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
	// MaxValue limits the magnitude of the entries of rows. The entries of masks are at most 50, so
	// masks do not hide entries above this limit, and only reduce the precision of such entries.
	MaxValue = 1e6
	// MaxWords limits the number of entries of a party's rows. A party holds the rows of its input,
	// a copy of them, their mask, and up to two matrices from each partner.
	MaxWords = 1 << 27
	// MaxRows limits the number of rows of a party.
	MaxRows       = 1 << 20
	maxLabelBytes = labelled.MaxBytes
)

// Input is the private input of a party: its rows, labels and held-out flags.
type Input struct {
	Rows   linalg.Rows // n rows of features, already scaled
	Labels []string    // n labels of 1 to 64 bytes, or nil for no labels
	Test   []bool      // n flags, true for held-out rows; nil if no row is held out
}

func (in Input) shape() (rows, features int) { return labelled.Shape(in.Rows) }

// Hash returns the SHA-256 of the canonical encoding of in, for [protocol.Start].
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
		return fmt.Errorf("escaped: the party has %d rows of %d features; 1 to %d rows and at most %d values are allowed; use protocol okra", n, f, MaxRows, MaxWords)
	}
	if err := labelled.Check("escaped: ", in.Rows, in.Labels, in.Test); err != nil {
		return err
	}
	return labelled.CheckNumbers("escaped: ", in.Rows, MaxValue)
}

// errEdited refuses a Start event whose input differs from the constructor's. Two inputs under
// one mask would reveal their difference.
var errEdited = errors.New("escaped: the rows, their labels or the choice of held-out rows have changed since the session started; restore them or start a new session")

// labelsPerChunk is the largest number of rows whose labels and held-out flags one message holds.
// The server receives labels and flags in the clear.
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
