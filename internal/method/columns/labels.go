package columns

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// EncodeLabels writes labels as the distinct ones and a number for each row, so
// that the length says how many rows and classes there are and not how many rows
// each class has. Nothing is written for no labels.
func EncodeLabels(labels []string) []byte {
	if labels == nil {
		return nil
	}
	var w wire.Writer
	classes, codes := dataset.Classes(labels)
	w.Strings(classes)
	for _, c := range codes {
		w.Uint32(uint32(c))
	}
	return w.Bytes()
}

// TakeLabels takes over what the first party says in the step of [LabelStep].
func (s *Learner) TakeLabels(body []byte) error {
	labels, err := decodeLabels(body, len(s.Problem.Test))
	if err != nil {
		return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
	}
	s.Problem.Labels = labels
	return nil
}

// decodeLabels reads the labels of n rows.
func decodeLabels(b []byte, n int) ([]string, error) {
	r := wire.NewReader(b)
	classes := r.Strings(n, method.MaxLabelBytes)
	if r.Err() == nil && r.Len() != 4*n {
		r.Fail(fmt.Errorf("%d bytes for %d rows", r.Len(), n))
	}
	labels := make([]string, 0, n)
	for range n {
		c := r.Uint32()
		if r.Err() == nil && int(c) >= len(classes) {
			r.Fail(fmt.Errorf("class %d of %d", c, len(classes)))
		}
		if r.Err() != nil {
			break
		}
		labels = append(labels, classes[c])
	}
	return labels, r.Close("columns: labels")
}
