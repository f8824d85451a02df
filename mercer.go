// Package mercer trains kernel machines on rows in memory, predicts with them, and
// reads and writes their model files.
//
//	model, err := mercer.Fit(rows, labels, mercer.SVC{C: 10}, mercer.RBF{Gamma: 0.5})
//	if err != nil {
//		return err
//	}
//	predicted, err := model.Predict(newRows)
//
// Names and defaults follow LIBSVM and scikit-learn, except for [GP] and [Laplacian]; a field left at 0
// has its default, and [Zero] is the number 0 in a learner's field. [TableRows], [MatrixRows] and [Matrix]
// convert rows. [CrossValidate] scores on rows not used for training, [Model.Score] on any rows. Command
// mercer trains on rows that stay with their owners, by the protocols of package protocol.
package mercer

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Fit trains a learner on rows, where labels[i] is the class of rows[i]. [OneClass] and [KMeans]
// need no labels: pass nil.
func Fit(rows [][]float64, labels []string, learner Learner, kernel Kernel) (*Model, error) {
	if learner == nil {
		return nil, errors.New("mercer: the learner is nil; give one, such as mercer.SVC{}")
	}
	solver, needs := learner.learner()
	if len(labels) != len(rows) && (needs || labels != nil) {
		return nil, fmt.Errorf("mercer: %d labels for %d rows; each row needs one", len(labels), len(rows))
	}
	return fit(rows, labels, solver, kernel)
}

// FitNumbers trains a regression on rows, where targets[i] is the number to predict for rows[i].
// Otherwise it is like [Fit].
func FitNumbers(rows [][]float64, targets []float64, regressor Regressor, kernel Kernel) (*Model, error) {
	if regressor == nil {
		return nil, errors.New("mercer: the regressor is nil; give one, such as mercer.Ridge{}")
	}
	if len(targets) != len(rows) {
		return nil, fmt.Errorf("mercer: %d targets for %d rows; each row needs one", len(targets), len(rows))
	}
	labels := make([]string, len(targets))
	for i, y := range targets {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return nil, fmt.Errorf("mercer: target %d is %v; it must be finite", i, y)
		}
		labels[i] = strconv.FormatFloat(y, 'g', -1, 64) // parsing this text gives exactly y
	}
	return fit(rows, labels, regressor.regressor(), kernel)
}

// fit trains a solver on the kernel matrix of the rows.
func fit(rows [][]float64, labels []string, solver learner.Solver, k Kernel) (*Model, error) {
	if len(rows) == 0 {
		return nil, errors.New("mercer: there are no rows to learn from; give at least one")
	}
	if k == nil {
		return nil, errors.New("mercer: the kernel is nil; give one, such as mercer.RBF{}")
	}
	x, err := matrix(rows, len(rows[0]))
	if err != nil {
		return nil, err
	}
	p, err := k.prepare(x)
	if err != nil {
		return nil, fmt.Errorf("mercer: %w", err)
	}
	made, err := kernel.New(p.spec)
	if err != nil {
		return nil, fmt.Errorf("mercer: %w", err)
	}
	s, err := solver.Fit(learner.Training{
		Kernel: kernel.Of(kernel.LinearGram(p.rows), made), Labels: labels, Interrupt: func() error { return nil },
	})
	if err != nil {
		return nil, fmt.Errorf("mercer: %w", err)
	}
	return p.model(s)
}

// model makes a model from a solution and the rows that the model needs.
func (p *prepared) model(s *learner.Solution) (*Model, error) {
	head, needed := s.Head.Compact(len(s.Support))
	for i, at := range needed {
		needed[i] = s.Support[at]
	}
	m, err := model.New(p.spec, p.scale, linalg.Pick(p.rows, needed), head)
	if err != nil {
		return nil, fmt.Errorf("mercer: %w", err)
	}
	return &Model{m}, nil
}
