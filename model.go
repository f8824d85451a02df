package mercer

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Model predicts classes or numbers for rows. It is read only and safe for concurrent use. Package
// model describes the file format, and what a file reveals about the training rows. A zero Model is
// empty: its methods return an error or nil.
type Model struct{ file model.Predictor }

// check returns an error if the model is nil or empty.
func (m *Model) check() error {
	if m == nil || m.file == nil {
		return errors.New("mercer: the model is empty; use one that Fit, FitNumbers or Load returned")
	}
	return nil
}

// Load reads a model file that [Model.Save] or a job of the command mercer wrote, if the file suffices to
// predict rows of numbers. It refuses a file with rows in a party's encoding ([model.ErrPrivate]), because
// such a model predicts only together with the job's coordinator. It also refuses a file without the rows or
// parts that the parties keep, and a file that begins with a preparation of tables. Some models of random
// features have no scale for new rows and refuse to predict ([model.ErrUnscaled]).
func Load(r io.Reader) (*Model, error) {
	m, err := model.OpenPredictor(r)
	if err != nil {
		return nil, fmt.Errorf("mercer: %w", err)
	}
	return &Model{m}, nil
}

// Save writes the model as a file that [Load] and the command mercer can read. The same model
// always gives the same bytes. Save returns an error if the model is empty or if w fails.
func (m *Model) Save(w io.Writer) error {
	if err := m.check(); err != nil {
		return err
	}
	switch file := m.file.(type) {
	case *model.Model:
		return model.Encode(w, file)
	case *model.Random:
		return model.EncodeRandom(w, file)
	}
	return fmt.Errorf("mercer: %s cannot be saved to a file", m.kind())
}

// Columns returns the names of the columns of a row, in order. It returns nil if the model does not
// know them, as after [Fit] and [FitNumbers].
func (m *Model) Columns() []string {
	if m.check() != nil {
		return nil
	}
	return m.file.Columns()
}

// Classes returns the classes of a classifier in the order of [Model.Probabilities]. It returns nil
// for other models.
func (m *Model) Classes() []string {
	if m.check() != nil {
		return nil
	}
	return slices.Clone(m.file.Output().Classes)
}

// Predict returns the prediction for each row. It is the row's class, "1" (inside) or "-1"
// (outside) for a [OneClass], the cluster for a [KMeans], counted from "0", or the number for a
// regression.
func (m *Model) Predict(rows [][]float64) ([]string, error) {
	out, err := m.decide(rows)
	if err != nil {
		return nil, err
	}
	predicted := m.file.Output().Predict(out)
	if predicted == nil {
		return nil, fmt.Errorf("mercer: %s does not make predictions; use Decisions", m.kind())
	}
	return predicted, nil
}

// PredictNumbers returns the number that a regression predicts for each row.
func (m *Model) PredictNumbers(rows [][]float64) ([]float64, error) {
	out, err := m.decide(rows)
	if err != nil {
		return nil, err
	}
	if !m.file.Output().Kind.Regresses() {
		return nil, fmt.Errorf("mercer: %s does not predict numbers; use Predict or Decisions", m.kind())
	}
	numbers := make([]float64, len(rows))
	for i := range numbers {
		numbers[i] = out.Row(i)[0]
	}
	return numbers, nil
}

// Decisions returns the numbers from which the predictions are computed: see [model.OutputShape].
// For an SVC each pair of classes has one number, which is above 0 if the row belongs to the first
// class. For a Gaussian process the numbers are the prediction and its standard deviation. If the
// model has probabilities of the classes, they come last.
func (m *Model) Decisions(rows [][]float64) ([][]float64, error) {
	out, err := m.decide(rows)
	if err != nil {
		return nil, err
	}
	decisions := make([][]float64, len(rows))
	for i := range decisions {
		decisions[i] = out.Row(i)
	}
	return decisions, nil
}

// Probabilities returns the probability of each class for each row, in the order of
// [Model.Classes]. An [SVC] or [NuSVC] must be trained with Probability: true. The most probable
// class can differ from the prediction near the boundary, as in LIBSVM.
func (m *Model) Probabilities(rows [][]float64) ([][]float64, error) {
	out, err := m.decide(rows)
	if err != nil {
		return nil, err
	}
	classes := m.Classes()
	p := m.file.Output().Probabilities(out)
	if classes == nil || p.Cols != len(classes) {
		return nil, fmt.Errorf("mercer: %s has no probabilities; train an SVC or NuSVC with \"Probability: true\"", m.kind())
	}
	return MatrixRows(p), nil
}

// kind returns words such as "an svc model".
func (m *Model) kind() string { return humanize.A(string(m.file.Output().Kind)) + " model" }

// decide computes the outputs for rows, each of which must have a number for each column of the
// model.
func (m *Model) decide(rows [][]float64) (linalg.Matrix[float64], error) {
	if err := m.check(); err != nil {
		return linalg.Matrix[float64]{}, err
	}
	width := m.file.Width()
	if width == 0 && len(rows) > 0 { // the model does not know its width, so the first row determines it
		width = len(rows[0])
	}
	x, err := matrix(rows, max(width, 1))
	if err != nil {
		return x, err
	}
	out, err := m.file.Decisions(x)
	if err != nil {
		return out, fmt.Errorf("mercer: %w", err)
	}
	return out, nil
}
