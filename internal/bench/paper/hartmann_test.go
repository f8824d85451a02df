package paper

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/secvm"
)

// averaged returns the figures of a training that ends with the given accuracies of the last vector
// and of the mean of two.
func averaged(last, two float64) (own secVM) {
	for k, accuracy := range []float64{last, two} {
		own.SecVM.Averages = append(own.SecVM.Averages, struct {
			Iteration, Averaged int
			Accuracy            float64
		}{300, k + 1, accuracy})
	}
	return own
}

// The claim about the mean of two vectors is judged for each step length, and "much better" is a
// gain of .02.
func TestMeanOfTwoIsJudgedForEachStepLength(t *testing.T) {
	var f Measurement
	f.addAverages(steps[0].name, averaged(.6, .672))
	f.addAverages(steps[1].name, averaged(.666, .667))
	f.addAverages(steps[0].name, averaged(.666, .667))
	for i, want := range []struct {
		verdict   Verdict
		surprises bool
	}{{Holds, false}, {Fails, false}, {Fails, true}} {
		if c := f.Claims[i]; c.Verdict != want.verdict || c.Surprises() != want.surprises {
			t.Errorf("claim %d: %+v, want %+v", i, c, want)
		}
	}
	if len(f.Curves) != 3 || f.Rows[1].Cell != "1/(lambda t), mean of 2" || f.Rows[3].Cell != "eta = 1, mean of 2" {
		t.Errorf("%d curves, rows %+v", len(f.Curves), f.Rows)
	}
}

// No job of figure 2 hashes its features, as in the paper; its steps are the three of the table.
func TestFigure2IsNotHashed(t *testing.T) {
	var schedules []string
	l := labRunner(t, false, func(j *job.Job) *method.Result {
		if k := job.As[*secvm.Keys](j.Protocol); !k.Unhashed() {
			t.Errorf("features are %q, want columns", k.Space)
		}
		schedules = append(schedules, j.Learner.Text())
		return &method.Result{Details: &secvm.Details{}}
	})
	if _, err := hartmannFigure2(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if len(schedules) != 3 {
		t.Errorf("%d jobs: %v", len(schedules), schedules)
	}
}
