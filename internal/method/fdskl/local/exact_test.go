package local

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
)

// A lambda of a mean over n rows is a price on sums over them.
func TestExactLearner(t *testing.T) {
	const n = 200
	for name, want := range map[string]string{
		"squared": "ridge, alpha = 1", "huber": "ridge, alpha = 2", "logistic": "svc, C = 0.5", "smooth-hinge": "svc, C = 0.5",
	} {
		on, optimizer := learner.OptimizerParamsOf(&job.Job{Learner: jobtest.Learner(t, name)})
		optimizer.Lambda = 0.01
		got := on.Exact(n)
		if got.Text() != want {
			t.Errorf("%s: %s, want %s", name, got.Text(), want)
		}
		if _, err := learner.SpecOf(&job.Job{Kernel: job.Kernel{Name: job.RBF, Gamma: 1}, Learner: got}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The comparison with the exact kernel has the price of the job's training rows, and the job's kernel.
func TestExactKernelIsOfTheTrainingRows(t *testing.T) {
	const train, test = 80, 40
	set := *columnstest.Numbered(t, "wdbc", train+test)
	set.Labels = nil
	for i := range set.X.Rows() {
		set.Labels = append(set.Labels, fmt.Sprint(set.X.Row(i, nil)[0]))
	}
	j := jobtest.Parse(t, fmt.Sprintf(file, "rbf, gamma: 0.02"))
	j.Learner = jobtest.Learner(t, "squared")
	on, optimizer := learner.OptimizerParamsOf(j)
	optimizer.Lambda = .1
	all := method.Split{Set: &set, Test: columns.HeldOutLast(train, test)}
	got, err := exactKernel(t.Context(), j, all)
	if err != nil {
		t.Fatal(err)
	}
	figures := func(rows float64) learner.Metrics {
		exact := *j
		exact.Learner = on.Exact(rows)
		f, err := pool.Fit(t.Context(), &exact, []method.Split{all}, []method.Split{all})
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Measure()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if d := cmp.Diff(figures(train), got); d != "" || cmp.Equal(figures(train+test), got) {
		t.Errorf("figures of %d training rows: %s", train, d)
	}
}
