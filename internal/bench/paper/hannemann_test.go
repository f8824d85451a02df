package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/flake"
	"github.com/mercer-fl/mercer/internal/method/okra"
)

// labRunner returns a runner with all data, whose jobs are parsed but not run.
func labRunner(t *testing.T, quick bool, run func(*job.Job) *method.Result) *Runner {
	t.Helper()
	l, _ := small(t, nil)
	l.Quick, l.Has = quick, func(string) bool { return true }
	l.Run = func(_ context.Context, j *job.Job) (*method.Result, error) { return run(j), nil }
	return l
}

// Table 1 has the paper's two cells, and its claim follows the figures.
func TestTable1HasThePapersTwoCells(t *testing.T) {
	for _, c := range []struct {
		mse     float64
		verdict Verdict
	}{{1e-18, Holds}, {1e-3, Fails}} {
		var kernels []job.KernelName
		var sources []string
		l := labRunner(t, false, func(j *job.Job) *method.Result {
			kernels, sources = append(kernels, j.Kernel.Name), append(sources, j.Data.Source)
			if k := job.As[*learner.KPCA](j.Learner); k.Components != 5 || j.Kernel.Name == job.Polynomial && j.Kernel.Degree != 3 {
				t.Errorf("%d components, degree %d; want 5 and 3", k.Components, j.Kernel.Degree)
			}
			r2 := 1.
			return &method.Result{Components: &learner.Likeness{MSE: c.mse, R2: &r2}}
		})
		f, err := hannemannTable1(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(kernels) != 2 || kernels[0] != job.Polynomial || kernels[1] != job.RBF || len(f.Rows) != 4 {
			t.Errorf("kernels %v, rows %+v", kernels, f.Rows)
		}
		if want := []string{"alzheimer-mri#64x64", "blood-cells/train-images-idx3-ubyte.gz"}; !slices.Equal(sources, want) {
			t.Errorf("images %v, want %v", sources, want)
		}
		if f.Claims[0].Verdict != c.verdict || *f.Rows[0].Published != 0 || *f.Rows[1].Published != 1 {
			t.Errorf("claims %+v, rows %+v", f.Claims, f.Rows)
		}
	}
}

// The grid is the paper's: C from 2^-4 to 2^10 and degrees 1 to 5, by five folds. F1 is averaged
// over rows where classes are balanced.
func TestGridIsThePapers(t *testing.T) {
	folds, costs, degrees := 0, 0, 0
	l := labRunner(t, false, func(j *job.Job) *method.Result {
		folds += j.Data.Folds
		costs = max(costs, len(j.Learners()))
		degrees = max(degrees, len(j.Kernels()))
		for i, one := range j.Learners() {
			if c := job.As[*learner.SVC](one).C; c != math.Exp2(float64(i-4)) {
				t.Errorf("value %d of C is %v", i, c)
			}
		}
		for i, k := range j.Kernels() {
			if k.Name == job.Polynomial && k.Degree != i+1 {
				t.Errorf("kernel %d has degree %d", i, k.Degree)
			}
		}
		return &method.Result{Metrics: map[string]float64{"f1_micro": .25, "f1_macro": .5, "auc": .75}}
	})
	f, err := hannemannGrid(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if folds != 5*5 || costs != 15 || degrees != 5 {
		t.Errorf("%d folds in five jobs, %d values of C, %d degrees", folds, costs, degrees)
	}
	for _, r := range f.Rows {
		want := map[string]float64{"f1_micro": .25, "f1_macro": .5, "auc": .75}[r.Figure]
		if unbalanced := strings.HasPrefix(r.Cell, "Alzheimer"); r.Ours.Mean != want || unbalanced == (r.Figure == "f1_micro") && r.Figure != "auc" {
			t.Errorf("row %+v", r)
		}
	}
}

// ESCAPED sends numbers of eight bytes, so it is compared with OKRA and FLAKE on the same wire. The
// last claim is of a line that carries what TCP would.
func TestRivalsTravelOnOneWire(t *testing.T) {
	narrow, slow, counts := 0, 0, []int(nil)
	l := labRunner(t, true, func(j *job.Job) *method.Result {
		r := &method.Result{Timings: map[string]float64{"total": 1}, Network: &method.Network{Seconds: 1}}
		if k, is := j.Protocol.Values.(*flake.Keys); is && k.Wire != okra.Float64 {
			t.Errorf("FLAKE's numbers are %s", k.Wire)
		}
		if k, is := j.Protocol.Values.(*okra.Keys); is && k.Wire == okra.Float32 {
			narrow++
			r.Network.Seconds = .5
		}
		switch j.Link {
		case job.Link{Rate: 126440, Latency: 100 * time.Millisecond}:
			slow++
		case job.Link{Rate: 1.25e6, Latency: 100 * time.Millisecond, Loss: .02}:
		default:
			t.Errorf("link %+v", j.Link)
		}
		counts = append(counts, len(j.Data.Partition.Parties))
		if want := fmt.Sprintf("generated:%dx1000", 400*counts[len(counts)-1]); j.Data.Source != want {
			t.Errorf("rows of %s, want %s", j.Data.Source, want)
		}
		return r
	})
	f, err := hannemannFigure2(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if narrow != 4 || slow != len(rivals) {
		t.Errorf("%d jobs of OKRA with numbers of 4 bytes, want 4; %d jobs over TCP, want %d", narrow, slow, len(rivals))
	}
	if want := slices.Repeat([]int{3, 6, 10, 10}, len(rivals)); !slices.Equal(counts, want) {
		t.Errorf("numbers of parties %v, want %v", counts, want)
	}
	for i, want := range []Verdict{Fails, Holds, Fails} { // equal times on one wire
		if f.Claims[i].Verdict != want {
			t.Errorf("claim %+v, want %s", f.Claims[i], want)
		}
	}
	if !strings.Contains(f.Data, "Mathis' formula would carry 0.13 of 1.25 MB/s") {
		t.Errorf("the model of loss is not named: %s", f.Data)
	}
}

// Mathis' formula with 1,460 bytes, .1 s and 2 % of loss gives 126 kB/s, a tenth of the line.
func TestMathisRate(t *testing.T) {
	if r := mathisRate(); math.Abs(r-126440) > 100 {
		t.Errorf("%v bytes a second", r)
	}
}
