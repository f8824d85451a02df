package learner

import (
	"context"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Problem is a set of rows, some of them held out. A learner sees only the dot products of a row
// with the others.
type Problem struct {
	Gram linalg.Matrix[float64] // n x n, x_i . x_j
	// X holds the rows themselves in place of Gram, if one process has them: products are computed
	// on demand. Learners that are not [Rowwise] need Gram.
	X      linalg.Rows
	Labels []string // n: classes or numbers; nil for learners that need none
	Test   []bool   // n, true: held out
	Groups []string // n, of rows that are in one fold; nil for none
	Order  []string // of the classes; nil: as package dataset orders them
}

// Spec holds the kernel and the solver of a fit.
type Spec struct {
	Kernel kernel.Kernel
	Solver Solver
}

// Solver is a learner on a kernel, with its settings.
type Solver interface {
	// Fit learns from the training rows.
	Fit(t Training) (*Solution, error)
	// Measure adds to m the figures on the held-out rows.
	Measure(f *Fitted, m Metrics) error
}

// Training holds the input of a solver.
type Training struct {
	Kernel   kernel.Source
	Labels   []string // nil: none
	Order    []string // of the classes; nil: as package dataset orders them
	Progress func(done, total int) error
	// Interrupt returns the reason why the training should stop, or nil.
	Interrupt func() error
}

// Solution holds the functions that a solver has learnt.
type Solution struct {
	Head        model.Head
	Support     []int     // rows of the training that the functions are over, ascending
	Figures     Metrics   // of the training itself; not nil
	Eigenvalues []float64 // of components; else nil
	// Decide, if set, replaces the head's functions if it can use more of the kernel of the
	// held-out rows with the support and of each with itself.
	Decide func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64]
}

// Fitted is a trained learner with its decisions on the held-out rows.
type Fitted struct {
	Head        model.Head             // over the rows in Support
	Support     []int                  // rows of the task that the model needs
	Decisions   linalg.Matrix[float64] // held-out rows x outputs, as model.Output says
	Predicted   []string               // of the held-out rows; nil where nothing is predicted
	Truth       []string               // labels of the held-out rows; nil: none
	Eigenvalues []float64              // of a kernel PCA

	method  Solver
	held    int     // held-out rows
	folds   [][]int // of the held-out rows, if they were held out in turn; nil: all at once
	figures Metrics // found while fitting
	order   []string
}

// ErrOneClass reports that all training rows have one class.
var ErrOneClass = errors.New("all training rows have the same label; a classifier needs two classes or more")

// ErrNumbers reports that a regression met a label that is not a number. It quotes no label,
// because labels are for the rows' owner only.
var ErrNumbers = errors.New("a label is not a finite number; a regression needs numbers")

// Fit trains on the rows that are not held out and decides the others. progress may be nil.
// Training in progress when ctx ends stops soon, with an error that wraps ctx's error.
func Fit(ctx context.Context, t Problem, l Spec, progress func(done, total int) error) (*Fitted, error) {
	train, test := t.Rows()
	f, err := t.fit(t.matrix(l.Kernel), train, test, l.Solver, progress, ctx.Err)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return f, nil
}

// fit trains on some rows of the problem, whose kernel matrix is all, and decides others.
func (t Problem) fit(all kernel.Source, train, test []int, m Solver, progress func(done, total int) error, interrupt func() error) (*Fitted, error) {
	got, err := m.Fit(Training{kernel.Subset(all, train), linalg.At(t.Labels, train), t.Order, progress, interrupt})
	if err != nil {
		return nil, err
	}
	support := linalg.At(train, got.Support)
	decisions := got.decided(all, test, support)
	f := &Fitted{
		Decisions: decisions, Predicted: got.Head.Predict(decisions), Truth: linalg.At(t.Labels, test), Eigenvalues: got.Eigenvalues,
		method: m, held: len(test), figures: got.Figures, order: t.Order,
	}
	var needed []int
	f.Head, needed = got.Head.Compact(len(support))
	f.Support = linalg.At(support, needed)
	return f, nil
}

// matrix returns a kernel's matrix of all rows.
func (t Problem) matrix(k kernel.Kernel) kernel.Source {
	if t.X != nil {
		return kernel.NewLazyOf(t.X, k)
	}
	return kernel.Of(t.Gram, k)
}

// decided returns the solution's decisions on the held-out rows.
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

// Rows returns the indices of the training and of the held-out rows.
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

// Constant returns the classifier for a party whose training rows have one class only: it always
// predicts that class and has no decisions.
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

// SpecOf builds the kernel and the solver from a job's sections kernel and learner. The job has
// neither grid nor units.
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
		return nil, fault.BadInputf("learner: %q cannot be run", l.Name())
	}
	return on.Solver(seed), nil
}

// OutputOf describes the meaning of the numbers that a model of a job's learner returns for a row.
func OutputOf(j *job.Job, classes []string) model.Output {
	return model.Output{Kind: model.NewKind(j.Learner.Name(), j.Task().Shape), Classes: classes}
}
