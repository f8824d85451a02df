package gateway_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/privacypass"
)

// The result has a point for every iteration that enough devices have tested, and a
// restarted gateway has the same points. A device has as few packages as possible, because
// tokens take the time and points do not depend on them. In jobs with points, half of the
// devices test.
func TestCurve(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		devices  int
		fraction string // that tests
		points   bool
	}{
		"a cohort of testing devices gives a point of every iteration": {devices: 36, fraction: "0.5", points: true},
		"fewer testing devices than a cohort give no point":            {devices: 16, fraction: "0.25"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				text := strings.NewReplacer("fraction: 0.25", "fraction: "+c.fraction, "packages: 5", "packages: 3").Replace(jobText)
				w := newTestbedOf(t, text, privacypass.VOPRF, c.devices, nil)
				r, _ := w.run(nil)
				testers := r.Classes[0].Tested + r.Classes[1].Tested
				if enough := testers >= 10; enough != c.points {
					t.Fatalf("%d devices test, where the cohort is 10", testers)
				}
				expectCurve(t, r, c.points)
				check(t, w.gateway.Close())
				w.open()
				again, err := w.gateway.Run(context.Background())
				check(t, err)
				if !reflect.DeepEqual(again, r) {
					t.Errorf("started again %+v, before %+v", again, r)
				}
			})
		})
	}
}

// expectCurve compares the last point with the test of the classes.
func expectCurve(t *testing.T, r *gateway.Result, points bool) {
	t.Helper()
	if !points {
		if len(r.Curve) != 0 || r.Withheld != r.Iterations+1 {
			t.Errorf("%d points and %d withheld", len(r.Curve), r.Withheld)
		}
		return
	}
	if len(r.Curve) != r.Iterations+1 || r.Withheld != 0 {
		t.Fatalf("%d points and %d withheld, of %d steps", len(r.Curve), r.Withheld, r.Iterations)
	}
	a, b := r.Classes[0], r.Classes[1]
	for i, p := range r.Curve {
		if p.Iteration != i || p.Testers != a.Tested+b.Tested || p.Majority != r.Majority {
			t.Errorf("point %d is %+v; %+v", i, p, r.Classes)
		}
	}
	last := r.Curve[len(r.Curve)-1]
	if want := float64(a.Correct+b.Correct) / float64(a.Tested+b.Tested); last.Accuracy != want {
		t.Errorf("the last accuracy is %v, want %v", last.Accuracy, want)
	}
	if first := r.Curve[0].Accuracy; first == last.Accuracy {
		t.Errorf("weights of 0 and trained ones have the accuracy %v", first)
	}
}
