package learner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

const gridFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: grid}
spec:
  data: {source: small, label: label, scale: none, folds: 3%s}
  protocol: {name: okra}
  kernel: %s
  learner: {name: svc, C: [1, 10], tol: 1e-6}
`

func gridJob(t *testing.T, test, kernels string) *job.Job {
	t.Helper()
	return parsed(t, fmt.Sprintf(gridFile, test, kernels))
}

// parsed reads a job of a protocol without keys.
func parsed(t *testing.T, text string) *job.Job {
	t.Helper()
	j, err := (&job.Reader{Protocols: []job.Protocol{keyless{}}, Learners: learner.Table()}).Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

type keyless struct{}

func (keyless) Name() string              { return "okra" }
func (keyless) Traits() job.Traits        { return job.Traits{} }
func (keyless) New() section.Values       { return keyless{} }
func (keyless) Section() *section.Section { return &section.Section{} }

// ring has rows inside and outside a circle; those from n on are held out.
func ring(n, held int) learner.Problem {
	x := linalg.New[float64](n+held, 2)
	t := learner.Problem{Labels: make([]string, n+held), Test: make([]bool, n+held)}
	for i := range x.Rows {
		angle, radius := float64(i), 1+float64(i%2)+math.Sin(float64(7*i))/4
		x.Row(i)[0], x.Row(i)[1] = radius*math.Cos(angle), radius*math.Sin(angle)
		t.Labels[i] = []string{"in", "out"}[i%2]
		t.Test[i] = i >= n
	}
	t.Gram = kernel.LinearGram(x)
	return t
}

func TestChoose(t *testing.T) {
	task := ring(40, 8)
	j := gridJob(t, ", test: {every: 4}", "[{name: linear}, {name: rbf, gamma: [0.001, 1], gamma_unit: median}, {name: laplacian, gamma: 2, gamma_unit: norm}]")
	var told []string
	c, err := learner.Choose(t.Context(), j, task, counts(&told))
	if err != nil {
		t.Fatal(err)
	}
	train := make([]int, 40)
	for i := range train {
		train[i] = i
	}
	median, norm := kernel.MedianSquaredDistance(task.Gram, train), kernel.MeanSquaredNorm(task.Gram, train)
	var kernels []kernel.Spec
	best, chosen := -1.0, -1
	for i, cell := range c.Grid {
		if i%2 == 0 {
			kernels = append(kernels, cell.Kernel)
		}
		if cell.Number("C") != []float64{1, 10}[i%2] || cell.Rows != 40 || len(cell.Folds) != 3 || cell.PooledMean != nil || cell.PooledCorrect != nil {
			t.Errorf("cell %d: %+v", i, cell)
		}
		if cell.Mean > best {
			best, chosen = cell.Mean, i
		}
	}
	want := []kernel.Spec{
		{Name: "linear"}, {Name: "rbf", Gamma: 0.001 / median}, {Name: "rbf", Gamma: 1 / median},
		{Name: "laplacian", Gamma: 2 / math.Sqrt(norm)},
	}
	if d := cmp.Diff(want, kernels); d != "" {
		t.Error(d)
	}
	for i, cell := range c.Grid {
		if cell.Best != (i == chosen) {
			t.Errorf("cell %d of %d is the best: %t", i, chosen, cell.Best)
		}
	}
	if chosen < 4 || best < 0.9 { // no straight line goes round
		t.Errorf("cell %d is best, mean %v", chosen, best)
	}
	if !cmp.Equal(c.Job.Kernel.Spec(), c.Grid[chosen].Kernel) || job.As[*learner.SVC](c.Job.Learner).C != c.Grid[chosen].Number("C") || c.Job.Cells() != 1 {
		t.Errorf("the chosen job has %+v, %+v", c.Job.Kernel, c.Job.Learner)
	}
	var all []string // of 4 kernels, 3 folds and 2 settings
	for done := range 24 {
		all = append(all, fmt.Sprintf("tune %d/24", done+1))
	}
	if d := cmp.Diff(all, told); d != "" {
		t.Error(d)
	}
	f, err := c.Fit(t.Context(), task, nil)
	if err != nil || len(f.Truth) != 8 {
		t.Errorf("decided %v, %v; want the 8 rows that are held out", f, err)
	}
}

// counts records the reported progress.
func counts(told *[]string) func(done, total int) error {
	return func(done, total int) error {
		*told = append(*told, fmt.Sprintf("tune %d/%d", done, total))
		return nil
	}
}

// Without folds nothing is chosen, but units are measured.
func TestChooseWithoutFolds(t *testing.T) {
	task := ring(40, 8)
	j := gridJob(t, "", "{name: rbf, gamma_unit: norm}").At(1)
	j.Data.Folds = 0
	c, err := learner.Choose(t.Context(), j, task, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Grid != nil || c.Job.Kernel.GammaUnit != "" || c.Job.Kernel.Gamma != 1/task.MeanSquaredNorm() || job.As[*learner.SVC](c.Job.Learner).C != 10 {
		t.Errorf("%+v", c)
	}
	if j.Kernel.GammaUnit != job.Norm {
		t.Error("the job was changed")
	}
}

// Where nothing is held out, the decisions in the folds are the outcome; and a cell that
// others chose is taken.
func TestChooseCell(t *testing.T) {
	task := ring(40, 0)
	j := gridJob(t, "", "{name: rbf, gamma: [0.001, 1], gamma_unit: median}")
	first, err := learner.Choose(t.Context(), j, task, nil)
	if err != nil {
		t.Fatal(err)
	}
	for cell := range first.Grid {
		c, err := learner.ChooseCell(t.Context(), j, task, cell)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first.Grid {
			want := first.Grid[i]
			want.Best = i == cell
			if d := cmp.Diff(want, c.Grid[i]); d != "" {
				t.Error(d)
			}
		}
		f, err := c.Fit(t.Context(), task, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Measure()
		if err != nil || len(f.Truth) != 40 || math.Abs(m["accuracy"]-c.Grid[cell].Mean) > 1e-15 {
			t.Errorf("cell %d: %v of %d rows, %v; want %v", cell, m, len(f.Truth), err, c.Grid[cell].Mean)
		}
	}
}

func TestChooseRefuses(t *testing.T) {
	equal := ring(12, 0)
	for i := range equal.Gram.Data {
		equal.Gram.Data[i] = 1
	}
	single := ring(12, 0)
	single.Labels[0] = "alone"
	for _, c := range []struct {
		name, kernels string
		task          learner.Problem
		want          string
	}{
		{"equal rows", "{name: rbf, gamma_unit: median}", equal, "gamma_unit median is 0, because too many training rows are equal or zero; give gamma without a unit"},
		{"a class of one row", "{name: linear}", single, "a class has a single training row"},
		{"fewer rows than folds", "{name: linear}", ring(2, 0), "a class has a single training row"},
		{"a gamma beyond bounds", "{name: rbf, gamma: 1.0e-100, gamma_unit: median}", ring(12, 0), "gamma of rbf is "},
	} {
		for name, choose := range map[string]func(*job.Job, learner.Problem) (*learner.Choice, error){
			"Choose": func(j *job.Job, task learner.Problem) (*learner.Choice, error) {
				return learner.Choose(t.Context(), j, task, nil)
			},
			"ChooseCell": func(j *job.Job, task learner.Problem) (*learner.Choice, error) {
				return learner.ChooseCell(t.Context(), j, task, 0)
			},
		} {
			_, err := choose(gridJob(t, "", c.kernels), c.task)
			if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: error %v, want bad input with %q", name, c.name, err, c.want)
			}
		}
	}
	if _, err := learner.ChooseCell(t.Context(), gridJob(t, "", "{name: linear}"), ring(12, 0), 2); err == nil || errors.Is(err, learner.ErrFewRows) {
		t.Errorf("a cell beyond the grid: %v", err)
	}
}

// A cancelled training is not bad input.
func TestChoiceEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	task := ring(40, 8)
	j := gridJob(t, "", "{name: linear}")
	_, err := learner.Choose(ctx, j, task, nil)
	if !errors.Is(err, context.Canceled) || fault.CodeOf(err) == fault.CodeBadInput {
		t.Errorf("choosing: %v", err)
	}
	c, err := learner.Choose(t.Context(), j, task, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fit(ctx, task, nil); !errors.Is(err, context.Canceled) || fault.CodeOf(err) == fault.CodeBadInput {
		t.Errorf("fitting: %v", err)
	}
}

// The lowest error chooses, and is shown as it is.
func TestChooseByAnError(t *testing.T) {
	task := ring(40, 8)
	for i := range task.Labels {
		task.Labels[i] = fmt.Sprint(i % 2)
	}
	text := strings.Replace(fmt.Sprintf(gridFile, ", test: {every: 4}", "[{name: linear}, {name: rbf, gamma: 1}]"),
		"{name: svc, C: [1, 10], tol: 1e-6}", "{name: ridge, alpha: 0.1}\n  scoring: rmse", 1)
	j := parsed(t, text)
	c, err := learner.Choose(t.Context(), j, task, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range c.Grid {
		if cell.Score != "rmse" || cell.Mean <= 0 || cell.Folds[0] <= 0 {
			t.Errorf("cell %+v", cell)
		}
	}
	if a, b := c.Grid[0], c.Grid[1]; !b.Best || a.Best || b.Mean >= a.Mean {
		t.Errorf("rmse %v of linear, %v of rbf, which is best: %t", a.Mean, b.Mean, b.Best)
	}
}
