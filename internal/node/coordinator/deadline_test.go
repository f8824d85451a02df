package coordinator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// until1s is the small job, which may take a second.
func until1s(t testing.TB) *job.Job {
	t.Helper()
	return jobtest.With(t, parse(t, ""), map[string]string{"timeout.job": "1s"})
}

// wantOverdue checks a job that has not ended in time: its failure names a stage and a reason.
func (w *testbed) wantOverdue(id job.ID, blamed, stage, reason string) {
	w.t.Helper()
	began := time.Now()
	j := w.wait(id)
	f := j.Failure
	if j.State != overview.Failed || f == nil {
		w.t.Fatalf("the job is %+v; want it failed at its deadline", j.Status)
	}
	if f.Blamed != blamed || !strings.Contains(f.Message, fmt.Sprintf("stage %s: the job did not end within %v (timeout.job): ", stage, j.Spec.Timeout.Job)) || !strings.Contains(f.Message, reason) {
		w.t.Errorf("failure %+v; want it to blame %q, and to name stage %s and %q", f, blamed, stage, reason)
	}
	if !strings.Contains(f.Told, "stage "+stage) || !strings.Contains(f.Told, reason) {
		w.t.Errorf("the parties are told %q", f.Told)
	}
	if took := time.Since(began); took > 20*time.Second {
		w.t.Errorf("the job ended after %v", took)
	}
}

// At its deadline a job ends that waits for a party. Its other parties are told, and the next job runs.
func TestDeadlineWhileAPartyIsAwaited(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, tumours(t, until1s(t)))
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	id, next := w.submit(until1s(t)), w.submit(parse(t, ""))
	w.wantOverdue(id, "", "column-order", "no acceptance from east")
	if f := w.get(id).Failure; f.Code != fault.CodeTimedOut {
		t.Errorf("exit code %d", f.Code)
	}
	if d := w.get(id); !d.Deadline().Equal(d.Started.Add(time.Second)) {
		t.Errorf("the deadline of a job that began at %v is %v", d.Started, d.Deadline())
	}
	w.until("outcome=\"stage column-order: the job did not end within 1s")
	w.start("east", never)
	w.done(next)
	for _, m := range w.roster.Members {
		w.nothingOpenAt(m.Name)
	}
}

// A job that waits for an operator's decision says so at its deadline.
func TestDeadlineWhileAnOperatorDecides(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, tumours(t, until1s(t)))
	slow := w.policy
	slow.Approve = "each"
	w.own = map[string]party.Policy{"east": slow}
	w.startAll()
	id := w.submit(until1s(t))
	w.wantOverdue(id, "east", "column-order", "the job awaits its operator's approval")
}

// At its deadline a job ends whose machines wait for one that does nothing. Members that wait for it are not blamed.
func TestDeadlineWhileMachinesRun(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, tumours(t, until1s(t)))
	w.actor("east", polite)
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	w.wantOverdue(w.submit(until1s(t)), "", "column-order", "no report from north, south, east")
	for _, name := range []string{hub, "north", "south"} {
		w.nothingOpenAt(name)
	}
}

// At its deadline a job ends whose coordinator still computes.
func TestDeadlineWhileComputing(t *testing.T) {
	t.Parallel()
	j := until1s(t)
	j.Kernel = job.Kernel{Name: "linear"}
	j = jobtest.With(t, j, map[string]string{"learner.C": "1e6", "learner.tol": "1e-9", "timeout.job": "6s"})
	w := newTestbed(t, unlearnable(t, j))
	w.startAll()
	w.wantOverdue(w.submit(j), "", "learn", "hub was still computing")
	await(t, 10*time.Second, "the training ends", func() bool { return !training() })
}

// The time of a job counts also while the coordinator is off.
func TestDeadlineAfterARestart(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, tumours(t, until1s(t)))
	for _, name := range []string{"north", "south"} {
		w.start(name, never)
	}
	w.start(hub, never)
	id := w.submit(until1s(t))
	w.until("accepted a session")
	w.halt(hub)
	time.Sleep(time.Second)
	w.start(hub, never)
	began := time.Now()
	w.wantOverdue(id, "", "column-order", ": no acceptance from east")
	if took := time.Since(began); took > 17*time.Second {
		t.Errorf("the job ended %v after the restart", took)
	}
}

// A job that ends in time is not disturbed.
func TestDeadlineInTime(t *testing.T) {
	t.Parallel()
	j := jobtest.With(t, parse(t, ""), map[string]string{"timeout.job": "1m"})
	w := newTestbed(t, tumours(t, j))
	if done := w.mustRun(j); !done.Described().Deadline.IsZero() {
		t.Errorf("an ended job has the deadline %v", done.Described().Deadline)
	}
}
