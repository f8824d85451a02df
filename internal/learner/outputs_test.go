package learner

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
)

func jobOf(regression bool) *job.Job {
	if regression {
		return &job.Job{Learner: job.Named{Kind: Ridge{}}}
	}
	return &job.Job{Learner: job.Named{Kind: Logistic{}}}
}

func TestOutputs(t *testing.T) {
	for _, tt := range []struct {
		name       string
		labels     []string
		regression bool
		y          [][]float64
		u          [][]float64 // decisions about rows with these labels
		held       []string
		want       Metrics
	}{
		{"two classes", []string{"ill", "well", "ill"}, false, [][]float64{{-1, 1, -1}}, [][]float64{{-2, 0, 1, 0.5}}, []string{"ill", "well", "ill", "well"},
			Metrics{"accuracy": 0.75, "balanced_accuracy": 0.75, "f1_micro": 0.75, "f1_macro": (2./3 + 0.8) / 2, "auc": 0.5, "average_precision": 7. / 12}},
		{"three classes", []string{"a", "b", "c"}, false, [][]float64{{1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, [][]float64{{3, 0, 0}, {0, 3, 0}, {0, 0, 3}}, []string{"a", "b", "c"},
			Metrics{"accuracy": 1, "f1_micro": 1, "f1_macro": 1, "balanced_accuracy": 1, "auc": 1}},
		{"a class without held-out rows", []string{"a", "b", "c"}, false, [][]float64{{1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, [][]float64{{3, 0}, {0, 3}, {0, 0}}, []string{"a", "b"},
			Metrics{"accuracy": 1, "balanced_accuracy": 1, "f1_micro": 1, "f1_macro": 1}},
		{"numbers", []string{"1", "3"}, true, [][]float64{{-1, 1}}, [][]float64{{0, 1}}, []string{"1", "3"}, Metrics{"rmse": math.Sqrt(0.5), "mae": 0.5, "r2": 0.5}},
		{"constant truth", []string{"1", "3"}, true, [][]float64{{-1, 1}}, [][]float64{{0, 0}}, []string{"2", "2"}, Metrics{"rmse": 0, "mae": 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := OutputsOf(jobOf(tt.regression), tt.labels)
			if err != nil {
				t.Fatal(err)
			}
			for k, row := range tt.y {
				if d := cmp.Diff(row, o.Y.Row(k)); d != "" || o.Y.Rows != len(tt.y) {
					t.Error(d)
				}
			}
			u := linalg.New[float64](len(tt.u), len(tt.held))
			for k, row := range tt.u {
				copy(u.Row(k), row)
			}
			m, err := o.Measure(u, tt.held)
			if err != nil {
				t.Fatal(err)
			}
			if len(m) != len(tt.want) {
				t.Errorf("metrics %v, want %v", m, tt.want)
			}
			j := &job.Job{Learner: job.Named{Kind: SmoothHinge{}, Values: new(SmoothHinge)}}
			if tt.regression {
				j.Learner = job.Named{Kind: Huber{}, Values: new(Huber)}
			}
			if w, err := o.Judge(j, u, tt.held, tt.labels); err != nil || !cmp.Equal(w.Metrics, m) || w.Assessment == nil || len(w.Fitted.Predicted) != len(tt.held) {
				t.Errorf("judged: %v, %+v", err, w)
			}
			for name, v := range tt.want {
				if math.Abs(m[name]-v) > 1e-12 {
					t.Errorf("%s is %v, want %v", name, m[name], v)
				}
			}
		})
	}
}

func TestOutputsThatCannotBe(t *testing.T) {
	if _, err := OutputsOf(jobOf(false), []string{"a", "a"}); !errors.Is(err, ErrOneClass) {
		t.Errorf("one class: %v", err)
	}
	if _, err := OutputsOf(jobOf(true), []string{"1", "two"}); !errors.Is(err, ErrNumbers) {
		t.Errorf("no number: %v", err)
	}
	o, err := OutputsOf(jobOf(true), []string{"1", "2"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Measure(linalg.New[float64](1, 1), []string{"two"}); !errors.Is(err, ErrNumbers) {
		t.Errorf("no number among held-out rows: %v", err)
	}
	if _, err := o.Measure(linalg.New[float64](1, 0), nil); err == nil {
		t.Error("no held-out row is measured")
	}
}
