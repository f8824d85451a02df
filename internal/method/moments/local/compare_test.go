package local

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
)

const tumours = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data: {source: bundled:wdbc, label: label, partition: {parties: [north, south]}}
  protocol: {name: moments, directions: 20, classes: ["0", "1"]}
  kernel: {name: rbf, gamma: 0.3}
  learner: {name: ridge-classifier, alpha: [0.01, 0.1, 1]}
  compare: [curve]
`

// finished is a job of two parties as a coordinator reports it, with the third row of each held
// out.
func finished(t *testing.T) local.Comparison {
	t.Helper()
	all, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	c := local.Comparison{Job: jobtest.Parse(t, tumours), Result: &method.Result{
		Details: json.RawMessage(`{"sums": {"features": 20}}`), Leakage: map[string][]string{"coalition": {"a", sums.JointUnmeasured}},
	}}
	for party := range 2 {
		s := method.Split{}
		var rows []int
		for i := party; i < all.X.Rows(); i += 2 {
			s.Test = append(s.Test, len(rows)%3 == 2)
			rows = append(rows, i)
			if len(rows)%3 == 0 {
				c.Result.HeldOut++
			} else {
				c.Result.Training++
			}
		}
		s.Set = all.Subset(rows)
		c.Splits = append(c.Splits, s)
	}
	return c
}

// The comparison adds a curve and the figure of an attack to the decoded details, and states that
// the attack was measured.
func TestCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := finished(t)
	if err := compare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	d, err := method.DetailsOf[sums.Details](c.Result)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Curve) != 5 || d.Curve[0].Accuracy < 0.85 || d.Sums.Joint == nil || *d.Sums.Joint < 0.4 {
		t.Errorf("curve %+v, sums %+v", d.Curve, d.Sums)
	}
	if said := c.Result.Leakage["coalition"]; said[1] != sums.JointMeasured(*d.Sums.Joint) {
		t.Errorf("leakage %q", said)
	}
	shown, err := sums.Protocol().Present(c.Job, c.Result)
	if err != nil || len(shown.Later) != 2 || len(shown.Later[1].Rows) != 5 || len(shown.Curves) != 1 || shown.Settings != "" {
		t.Errorf("shown are %+v, error %v", shown, err)
	}
}

func TestCompareWhatCannotBe(t *testing.T) {
	c := finished(t)
	c.Result.HeldOut = jointRows
	c.Job.Compare = nil
	if err := compare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if d, err := method.DetailsOf[sums.Details](c.Result); err != nil || d.Sums.Joint != nil || d.Curve != nil {
		t.Errorf("%+v, error %v", d, err)
	}
	c = finished(t)
	for _, s := range c.Splits {
		clear(s.Test)
	}
	if err := compare(t.Context(), c); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "the curve needs held-out rows") {
		t.Errorf("a curve without held-out rows: %v", err)
	}
	for _, details := range []any{nil, json.RawMessage(`{}`), 3} {
		c.Result.Details = details
		if err := compare(t.Context(), c); err == nil {
			t.Errorf("details %v are those of sums", details)
		}
	}
}

// The presentation shows the default directions of a job without any.
func TestPresentDirections(t *testing.T) {
	j := jobtest.Parse(t, strings.Replace(tumours, "directions: 20, ", "", 1))
	r := &method.Result{Details: &sums.Details{Sums: &sums.Figures{Features: 28, RowsPerFeature: 20.4}}}
	shown, err := sums.Protocol().Present(j, r)
	if err != nil || shown.Settings != ", directions = 28 (a twentieth of the training rows)" {
		t.Errorf("%+v, error %v", shown, err)
	}
	const want = "28 random features, drawn anew in each run; 20.4 rows for each (n/M); a stronger attack, which tests all candidates together, was not measured"
	if len(shown.More) != 1 || shown.More[0].Label != "Sums" || shown.More[0].Value != want {
		t.Errorf("%+v", shown.More)
	}
}
