package learner

import (
	"errors"
	"math"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/cca"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// CCA is canonical correlation analysis between two views of a row. The first view consists of some
// columns, and the second view of all other columns.
type CCA struct {
	FirstView      []string // names of the columns of the first view
	Components     int
	Regularization float64
}

var (
	_ KernelLearner = (*CCA)(nil)
	_ job.Learner   = (*CCA)(nil)
)

// maxViewColumns is the largest number of columns that a job file can name for the first view.
const maxViewColumns = 4096

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (CCA) Name() string        { return "cca" }
func (CCA) New() section.Values { return new(CCA) }
func (CCA) Task() job.Task      { return job.Task{Shape: model.Components} }

// Section declares the keys of the job file.
func (p *CCA) Section() *section.Section {
	return &section.Section{Doc: "Canonical correlation analysis: it finds pairs of scores, one of each view of a row, that go together.", Fields: []section.Field{
		{Key: "view", Value: section.Words{Dst: &p.FirstView, Most: maxViewColumns, Example: "[age, weight]"},
			Need: "add the names of the first view's columns, such as \"view: [age, weight]\"", Doc: "The columns of the first view; all others are the second."},
		{Key: "n_components", Value: section.Whole{Dst: &p.Components}, Default: "2", Doc: "The number of pairs, 1 or more."},
		{Key: "regularization", Value: section.Number{Dst: &p.Regularization}, Default: "0.1",
			Doc: "The price of large weights, in the unit of the columns' squares; above 0."},
	}, Finish: func(in *section.Place) error {
		if err := in.Some("n_components", p.Components); err != nil {
			return err
		}
		return in.Positive("regularization", p.Regularization)
	}}
}

// Solver implements [KernelLearner].
func (p *CCA) Solver(uint64) Solver { return *p }

// Fit implements [Solver]. The rows must alternate between the first and the second view, as
// [InViews] arranges them. The outputs are the scores of all pairs in the first view, followed by
// those in the second view.
func (p CCA) Fit(t Training) (*Solution, error) {
	var sides [2][]int
	for i := range t.Kernel.Len() {
		sides[i%2] = append(sides[i%2], i)
	}
	m, err := cca.Fit(kernel.Subset(t.Kernel, sides[0]), kernel.Subset(t.Kernel, sides[1]),
		cca.Params{Components: p.Components, Regularization: p.Regularization, Interrupt: t.Interrupt})
	if err != nil {
		return nil, err
	}
	h := model.Head{Output: model.Output{Kind: model.NewKind(p.Name(), model.Components)}}
	for side, v := range []cca.View{m.X, m.Y} {
		for c := range v.Dual.Rows {
			h.Functions = append(h.Functions, scoreFunction(v.Dual.Row(c), v.Centring, sides[side], t.Kernel.Len()))
		}
	}
	f := denseSolution(h, t)
	for _, rho := range m.Correlations {
		f.Eigenvalues = append(f.Eigenvalues, rho*rho)
	}
	f.Figures["correlation_training"] = m.Correlations[0]
	return f, nil
}

// scoreFunction converts a canonical score to a function of the model. The function is a kernel
// expansion over the rows of the score's view:
//
//	sum_j a_j (k(x, j) - mean of k(x, .) - mean_j + mean)
//
// Here a_j is entry j of dual, k(x, j) the kernel of x with row j, mean_j the mean of k(j, .), and mean the mean
// of all kernel values of the view. Lowering each a_j by the mean of all a_j subtracts the mean of k(x, .).
func scoreFunction(dual []float64, centring kernel.Centring, rows []int, n int) model.Function {
	coef, rho := make([]float64, n), 0.0
	shift := linalg.Sum(dual) / float64(len(dual))
	for j, a := range dual {
		coef[rows[j]] = a - shift
		rho += a * (centring.Means[j] - centring.Mean)
	}
	return model.Dense(coef, rho)
}

// Measure adds the correlation, on held-out rows, between the two scores of the first canonical
// pair.
func (p CCA) Measure(f *Fitted, m Metrics) error {
	if r, ok := correlation(f.Decisions, 0, f.Decisions.Cols/2); ok {
		m["correlation"] = r
	}
	return nil
}

// correlation returns the correlation of two columns. It returns false if one of them is constant.
func correlation(m linalg.Matrix[float64], a, b int) (float64, bool) {
	var meanA, meanB, aa, bb, ab float64
	for i := range m.Rows {
		meanA += m.Row(i)[a] / float64(m.Rows)
		meanB += m.Row(i)[b] / float64(m.Rows)
	}
	for i := range m.Rows {
		x, y := m.Row(i)[a]-meanA, m.Row(i)[b]-meanB
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	}
	return ab / math.Sqrt(aa*bb), aa > 0 && bb > 0
}

// checkViews refuses jobs with labels, and jobs with another kernel than the linear one. The kernel must
// be linear, because a whole row is compared with the rows of one view.
func checkViews(j *job.Job, in *section.Place) error {
	for _, k := range j.Kernels() {
		if k.Name != job.Linear {
			return in.Refuse("kernel", "learner %s requires the linear kernel, but the job has kernel %s; write \"kernel: {name: linear}\"", j.Learner.Name(), k.Name)
		}
	}
	if j.Data.Label != "" && j.Data.Label != job.NoLabel {
		return in.Refuse("data.label", "learner %s does not use labels; remove \"label\"", j.Learner.Name())
	}
	return nil
}

// InViews converts a job's rows to the rows from which the job's learner learns. For a learner of
// two views, each training row appears twice: first with the columns of the first view, then with
// the others. Hidden columns are 0, so that the products of the rows of one view are the kernel of
// that view. Held-out rows stay whole.
func InViews(l job.Named, x linalg.Rows, columns []string, test []bool) (linalg.Rows, []bool, error) {
	on, twofold := l.Values.(*CCA)
	if !twofold {
		return x, test, nil
	}
	v := &views{from: x}
	var err error
	if v.first, err = columnsOf(on.FirstView, columns); err != nil {
		return nil, nil, err
	}
	var held []bool
	for i, t := range test {
		if t {
			v.rows, held = append(v.rows, viewRow{i, false, false}), append(held, true)
			continue
		}
		v.rows = append(v.rows, viewRow{i, false, true}, viewRow{i, true, false})
		held = append(held, false, false)
	}
	return v, held, nil
}

// Examples returns the number of training examples in n training rows that InViews returned.
func Examples(l job.Named, n int) int {
	if _, twofold := l.Values.(*CCA); twofold {
		return n / 2
	}
	return n
}

// columnsOf returns a flag for each column: whether it belongs to the view.
func columnsOf(view, columns []string) ([]bool, error) {
	at := make(map[string]int, len(columns))
	for i, name := range columns {
		at[name] = i
	}
	marks := make([]bool, len(columns))
	for _, name := range view {
		i, has := at[name]
		if !has {
			return nil, &noColumn{name}
		}
		marks[i] = true
	}
	if len(view) == len(columns) {
		return nil, errors.New("the setting \"view\" lists all columns; leave some columns for the second view")
	}
	return marks, nil
}

// noColumn is the error that a table lacks a column that the job names.
type noColumn struct{ name string }

func (e *noColumn) Error() string {
	return "the table has no column " + section.Quote(e.name) + ", which the job's \"view\" names; write names of its columns"
}

// views holds the rows that InViews returns.
type views struct {
	from  linalg.Rows
	first []bool // columns of the first view
	rows  []viewRow
}

// viewRow is a row in which the columns of one view can be hidden.
type viewRow struct {
	row         int
	hidesFirst  bool
	hidesSecond bool
}

// Shape implements [linalg.Rows].
func (v *views) Shape() (rows, cols int) { return len(v.rows), len(v.first) }

// ReadRow implements [linalg.Rows].
func (v *views) ReadRow(i int, dst []float64) {
	r := v.rows[i]
	v.from.ReadRow(r.row, dst)
	for c, first := range v.first {
		if first && r.hidesFirst || !first && r.hidesSecond {
			dst[c] = 0
		}
	}
}

// UsesViews reports whether a job's learner learns from rows in two views.
func UsesViews(j *job.Job) bool {
	_, is := j.Learner.Values.(*CCA)
	return is
}
