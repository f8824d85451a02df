package gateway_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/privacypass"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// The result has a point for every iteration that enough devices have tested, and a
// restarted gateway has the same points. Enough are as many as the cohort, which is 10: with
// one less there is no point. A device has as few packages as possible, because tokens take
// the time and points do not depend on them.
func TestCurve(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, testers := range map[string]int{
		"a cohort of testing devices gives a point of every iteration": 10,
		"fewer testing devices than a cohort give no point":            9,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				text := strings.NewReplacer("fraction: 0.25", "fraction: 0.35", "packages: 5", "packages: 3").Replace(jobText)
				w := newTestbedOf(t, text, privacypass.VOPRF, devicesWith(testers, .35), nil)
				r, _ := w.run(nil)
				if n := r.Classes[0].Tested + r.Classes[1].Tested; n != uint64(testers) {
					t.Fatalf("%d devices test, want %d", n, testers)
				}
				expectCurve(t, r, testers >= 10)
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

// devicesWith returns the least number of devices of whom the given number test.
func devicesWith(testers int, fraction float64) (devices int) {
	for ; testers > 0; devices++ {
		if secvm.SeedsOf(daemon.InsecureSeeds(seed), devices).Cast(fraction) == secvmmachines.Test {
			testers--
		}
	}
	return devices
}

// expectCurve compares the points with the test of the classes.
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
	// Weights of 0 predict the second class.
	if first, want := r.Curve[0].Accuracy, float64(b.Tested)/float64(a.Tested+b.Tested); first != want || first == last.Accuracy {
		t.Errorf("weights of 0 have the accuracy %v, want %v, and trained ones %v", first, want, last.Accuracy)
	}
}
