package model

import (
	"errors"

	"github.com/mercer-fl/mercer/linalg"
)

// ErrPrivate is what [Open] returns for a file that holds encoded rows. A
// command that meets it refuses and exits with code 3.
var ErrPrivate = errors.New("model: this file holds rows that the parties encoded, and any party could decode them: it stays with the coordinator; use a prediction session")

// ErrFormat is wrapped by every error about the content of a file. An error of
// the reader itself is not one.
var ErrFormat = errors.New("model: unusable file")

// Model is a trained model whose file may be handed out. The types are those of
// this package: today [SVC].
type Model interface {
	// Type returns the name of the type in the file.
	Type() string
	// Classes returns the class names by code.
	Classes() []string
	// Width returns how many features a row has.
	Width() int
	// Decisions returns the decision values for rows as the training data came,
	// n x pairs of classes; svm.Classifier says what they mean.
	Decisions(rows linalg.Matrix[float64]) (linalg.Matrix[float64], error)
	// Predict returns the class code for each row of decisions.
	Predict(decisions linalg.Matrix[float64]) []int

	content() *SVC
}
