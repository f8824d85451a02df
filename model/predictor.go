package model

import (
	"bufio"
	"io"

	"github.com/mercer-fl/mercer/linalg"
)

// Predictor predicts rows: a [Model], or a [Random] one.
type Predictor interface {
	Width() int        // of a row; 0 if not known
	Columns() []string // of a row, by name; nil if not known
	Reading() Reading
	Decisions(rows linalg.Matrix[float64]) (linalg.Matrix[float64], error)
}

// OpenPredictor reads a public model or one of random features, under the default
// limits, with the errors of [Open].
func OpenPredictor(r io.Reader) (Predictor, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(len(randomMagic)); IsRandom(head) { // a file too short for it is for Open to judge
		return predictor(OpenRandom(b))
	}
	return predictor(Open(b))
}

// predictor keeps a nil pointer out of the interface.
func predictor[P Predictor](m P, err error) (Predictor, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}
