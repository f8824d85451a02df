package okra

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Labels and held-out flags are sent in clear in round 3.
const (
	kindLabels     = "Labels"
	labelOverhead  = 2 + 1 // bytes of a row's label besides its text: its length and the held-out flag
	labelsPerChunk = protocol.MaxChunkBytes / (labelOverhead + maxLabelBytes)
)

func labelChunks(rows int) int { return (rows + labelsPerChunk - 1) / labelsPerChunk }

// labelRange returns the range of rows, lo to hi-1, whose labels a chunk holds.
func labelRange(rows, chunk int) (lo, hi int) {
	lo = chunk * labelsPerChunk
	return lo, min(lo+labelsPerChunk, rows)
}

func encodeLabels(in Input, chunk int) []byte {
	var w wire.Writer
	n, _ := in.shape()
	lo, hi := labelRange(n, chunk)
	for i := lo; i < hi; i++ {
		w.String(in.label(i))
		w.Bool(in.test(i))
	}
	return w.Bytes()
}

// decodeLabels decodes n labels and held-out flags. An empty label means that the row has none;
// labelled says whether all rows or none must have labels.
func decodeLabels(body []byte, n int, labelled bool) (labels []string, test []bool, err error) {
	r := wire.NewReader(body)
	for i := range n {
		l := r.String(maxLabelBytes)
		t := r.Bool()
		if r.Err() == nil && (l != "") != labelled {
			r.Fail(fmt.Errorf("row %d of the chunk: %w", i, errLabelled))
		}
		if r.Err() != nil {
			break
		}
		labels, test = append(labels, l), append(test, t)
	}
	return labels, test, r.Close("okra: labels")
}

var errLabelled = errors.New("the row's label does not match the announcement; either all rows have labels or none")
