package coordinator_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mercer-fl/mercer/internal/coordinator"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
)

// moments is the small job by protocol moments.
func moments(t testing.TB) *job.Job {
	t.Helper()
	text := strings.NewReplacer("{name: okra}", `{name: moments, directions: 4, classes: ["0", "1"]}`,
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: ridge-classifier, alpha: [0.1, 1]}").Replace(fmt.Sprintf(jobFile, ""))
	j, err := job.Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A job of several sessions, whose later ones depend on what earlier ones made
// public, dies in the middle of each and ends in the same model.
func TestCrashOfMoments(t *testing.T) {
	j := moments(t)
	w := newWorld(t, tumours(t, j))
	done := w.mustRun(j)
	if b, err := w.members[hub].boss.Download(done.ID); session.CodeOf(err) != session.CodeBadInput || b != nil {
		t.Errorf("%d bytes are downloaded, error %v", len(b), err)
	}
	w.diesAndEndsTheSame(j, done, []death{
		{hub, 3, "put report"}, {hub, 4, "put report"}, {hub, 1, "send secagg/Survivors"}, {hub, 2, "send broadcast/Tell"}, {hub, 1, "send control/Closing"},
		{"north", 1, "send secagg/MaskedInput"}, {"north", 2, "send secagg/MaskedInput"}, {"south", 2, "send secagg/Unmask"}, {"south", 3, "send control/Report"},
	})
}

// death is the nth time that a member does something.
type death struct {
	name string
	nth  int
	op   string
}

// diesAndEndsTheSame runs a job anew for each death, in other worlds with the same
// seeds, and expects the model that the undisturbed one has.
func (w *world) diesAndEndsTheSame(j *job.Job, done coordinator.Job, deaths []death) {
	w.t.Helper()
	for _, d := range deaths {
		w.t.Run(fmt.Sprintf("%s/%s/%d", d.name, d.op, d.nth), func(t *testing.T) {
			w := newWorld(t, tumours(t, j))
			var died atomic.Bool
			at := onThe(int32(d.nth), d.op)
			w.start(d.name, func(op string) bool {
				if !at(op) {
					return false
				}
				died.Store(true)
				return true
			})
			w.startAll()
			after := w.wait(w.submit(j))
			if after.Failure != nil || after.Result.ModelHash != done.Result.ModelHash {
				t.Errorf("failure %+v; model %v, undisturbed %s", after.Failure, after.Result, done.Result.ModelHash)
			}
			if !died.Load() {
				t.Error("it never came to that")
			}
		})
	}
}
