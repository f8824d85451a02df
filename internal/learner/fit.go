package learner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Problem is a set of n rows, some of them held out. A learner sees only the inner products of the
// rows.
type Problem struct {
	Gram linalg.Matrix[float64] // n x n matrix of the inner products x_i . x_j
	// X holds the rows themselves, instead of Gram, if one process has them. Products are then
	// computed on demand. Learners that are not [Rowwise] compute the whole kernel matrix all the same.
	X      linalg.Rows
	Labels []string // n classes or numbers; nil for learners that need no labels
	Test   []bool   // n flags; true: the row is held out
	Groups []string // n groups; rows of one group are in the same fold; nil: no groups
	// Weights holds n weights, for learners that take them; nil: 1 each. A row whose weight is 0 or
	// less does not train. Weights of held-out rows have no effect.
	Weights []float64
	Order   []string // order of the classes; nil: the order of package dataset
}

// Spec selects the kernel and the solver of a fit.
type Spec struct {
	Kernel kernel.Kernel
	Solver Solver
}

// Solver is a learner on a kernel matrix, with its settings.
type Solver interface {
	// Fit learns from the training rows.
	Fit(t Training) (*Solution, error)
	// Measure adds the metrics on the held-out rows to m.
	Measure(f *Fitted, m Metrics) error
}

// Training is the input of a solver.
type Training struct {
	Kernel   kernel.Source
	Labels   []string  // labels of the training rows; nil: no labels
	Weights  []float64 // one weight above 0 for each row; nil: 1 each
	Order    []string  // order of the classes; nil: the order of package dataset
	Progress func(done, total int) error
	// Interrupt returns the reason why the training should stop, or nil to continue.
	Interrupt func() error
}

// Solution holds the functions that a solver has learned.
type Solution struct {
	Head        model.Head
	Support     []int     // training rows over which the functions are defined, ascending
	Figures     Metrics   // metrics of the training itself; not nil
	Eigenvalues []float64 // eigenvalues of components; nil for other learners
	Inverted    Inverted  // matrix that the solver inverted; zero for other solvers
	// Decide computes the decisions for the held-out rows in place of the functions in Head; nil: the
	// functions do. Its arguments are the kernel of the held-out rows with the support (cross), and of each
	// held-out row with itself (prior).
	Decide func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64]
}

// Fitted is a trained learner with its decisions on the held-out rows.
type Fitted struct {
	Head        model.Head             // functions over the rows in Support
	Support     []int                  // rows of the problem that the model needs
	Decisions   linalg.Matrix[float64] // held-out rows x outputs; model.Output gives their meaning
	Predicted   []string               // predictions for the held-out rows; nil if the learner predicts nothing
	Truth       []string               // labels of the held-out rows; nil: no labels
	Eigenvalues []float64              // eigenvalues of a kernel PCA; otherwise nil

	method  Solver
	held    int     // number of held-out rows
	folds   [][]int // held-out rows of each fold of a cross-validation; otherwise nil
	figures Metrics // metrics of the training
	order   []string

	inverted Inverted
}

// ErrOneClass is the error if all training rows have the same class.
var ErrOneClass = errors.New("all training rows have the same label; a classifier needs two classes or more")

// ErrNumbers is the error if a regression meets a label that is not a finite number. It quotes no label,
// because only the owner of the rows is allowed to see labels.
var ErrNumbers = errors.New("a label is not a finite number; a regression needs numbers")

// Fit trains on the rows that are not held out, and computes the decisions for the others. progress
// can be nil. If ctx ends, the training soon stops with an error that wraps ctx's error.
func Fit(ctx context.Context, t Problem, l Spec, progress func(done, total int) error) (*Fitted, error) {
	train, test := t.Rows()
	f, err := t.fit(t.matrix(l.Kernel), train, test, l.Solver, progress, ctx.Err)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return f, nil
}

// fit trains a solver on some rows and computes its decisions for other rows. The argument gram is
// the kernel matrix of the problem.
func (t Problem) fit(gram kernel.Source, train, test []int, m Solver, progress func(done, total int) error, interrupt func() error) (*Fitted, error) {
	train = t.weighted(train)
	got, err := m.Fit(t.training(gram, train, progress, interrupt))
	if err != nil {
		return nil, err
	}
	support := linalg.At(train, got.Support)
	decisions := got.decided(gram, test, support)
	f := &Fitted{
		Decisions: decisions, Predicted: got.Head.Predict(decisions), Truth: linalg.At(t.Labels, test), Eigenvalues: got.Eigenvalues,
		method: m, held: len(test), figures: got.Figures, order: t.Order,
		inverted: got.Inverted,
	}
	var needed []int
	f.Head, needed = got.Head.Compact(len(support))
	f.Support = linalg.At(support, needed)
	return f, nil
}

// training returns the input of a solver that trains on the given rows.
func (t Problem) training(gram kernel.Source, train []int, progress func(done, total int) error, interrupt func() error) Training {
	return Training{kernel.Subset(gram, train), linalg.At(t.Labels, train), linalg.At(t.Weights, train), t.Order, progress, interrupt}
}

// weighted returns those of the given rows whose weight is above 0.
func (t Problem) weighted(rows []int) []int {
	if t.Weights == nil {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r int) bool { return t.Weights[r] <= 0 })
}

// matrix returns the matrix of a kernel between all rows.
func (t Problem) matrix(k kernel.Kernel) kernel.Source {
	if t.X != nil {
		return kernel.NewLazyOf(t.X, k)
	}
	return kernel.Of(t.Gram, k)
}

// decided returns the solution's decisions for the held-out rows.
func (s *Solution) decided(all kernel.Source, test, support []int) linalg.Matrix[float64] {
	if s.Decide != nil && len(test) > 0 {
		cross, diagonal := linalg.New[float64](len(test), len(support)), make([]float64, all.Len())
		all.Block(test, support, cross)
		all.Diagonal(diagonal)
		return s.Decide(cross, linalg.At(diagonal, test))
	}
	out := linalg.New[float64](len(test), s.Head.Decisions(linalg.New[float64](0, len(support))).Cols)
	kernel.Blocks(all, test, support, func(lo int, cross linalg.Matrix[float64]) {
		copy(out.Panel(lo, lo+cross.Rows).Data, s.Head.Decisions(cross).Data)
	})
	return out
}

// Rows returns the indices of the training rows and of the held-out rows.
func (t Problem) Rows() (train, test []int) {
	for i, held := range t.Test {
		if held {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return train, test
}

// Constant returns a classifier that always predicts one class. It is for a party whose training
// rows have a single class, and has no decisions.
func Constant(j *job.Job, class string, truth []string) (*Fitted, error) {
	m, err := solverOf(j.Learner, j.Seed)
	if err != nil {
		return nil, err
	}
	f := &Fitted{Truth: truth, method: m, held: len(truth), figures: Metrics{}, order: j.Data.Order}
	f.Head.Output = OutputOf(j, []string{class})
	for range truth {
		f.Predicted = append(f.Predicted, class)
	}
	return f, nil
}

// SpecOf builds the kernel and the solver of a job. The job must have neither a grid nor units of
// gamma.
func SpecOf(j *job.Job) (Spec, error) {
	k, err := kernel.New(j.Kernel.Spec())
	if err != nil {
		return Spec{}, fault.BadInput(err)
	}
	m, err := solverOf(j.Learner, j.Seed)
	return Spec{Kernel: k, Solver: m}, err
}

func solverOf(l job.Named, seed uint64) (Solver, error) {
	on, able := l.Values.(KernelLearner)
	if !able {
		return nil, fault.BadInputf("learner: learner %q cannot learn from a kernel matrix", l.Name())
	}
	return on.Solver(seed), nil
}

// OutputOf describes the outputs of the models of a job's learner: what each number of a row means.
func OutputOf(j *job.Job, classes []string) model.Output {
	return model.Output{Kind: model.NewKind(j.Learner.Name(), j.Task().Shape), Classes: classes}
}
