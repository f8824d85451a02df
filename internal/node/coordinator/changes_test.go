package coordinator_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
)

// A job that a party joins and another leaves dies in the middle of its sessions, and ends in
// an identical model.
func TestCrashOfChangingParties(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("{name: okra}", "{name: okra, late: [east], withdrawn: [north], preparation: keep}",
		"label: label", "label: label\n    scale: minmax").Replace(fmt.Sprintf(jobFile, ""))
	j := jobtest.Parse(t, text)
	w := newTestbed(t, tumours(t, j))
	w.policy.Own = true // as in simulate
	done := w.mustRun(j)
	w.diesAndEndsTheSame(j, tumours(t, j), done, []death{
		{hub, 2, "send okra/Receipt"}, {hub, 2, "send okra/Grant"}, {hub, 4, "send okra/Receipt"},
		{"south", 1, "send okra/Confirm"}, {"south", 1, "send okra/Welcome"}, {"south", 2, "send okra/Confirm"}, {"south", 2, "send okra/Rows"},
		{"east", 1, "send okra/Confirm"}, {"east", 1, "send okra/Rows"}, {"north", 1, "send okra/Rows"},
	})
}

// between is a scaled job of okra between some of the parties, with more keys of the protocol.
func between(t testing.TB, parties, keys string) *job.Job {
	t.Helper()
	text := strings.NewReplacer("[north, south, east]", parties, "{name: okra}", "{name: okra, "+keys+"}",
		"label: label", "label: label\n    scale: minmax").Replace(fmt.Sprintf(jobFile, ""))
	return jobtest.Parse(t, text)
}

// continuing is a testbed in which north and south have ended a job that a later one can continue.
func continuing(t *testing.T) (*testbed, job.ID) {
	t.Helper()
	w := newTestbed(t, tumours(t, parse(t, "")))
	w.policy.Continuation = true
	return w, w.mustRun(between(t, "[north, south]", "continuable: true")).ID
}

// rowsFrom counts the messages with rows that each party sends during f, in new lives: what is
// kept outlives the processes.
func (w *testbed) rowsFrom(f func()) map[string]int {
	w.t.Helper()
	var mu sync.Mutex
	sent := make(map[string]int)
	for _, m := range w.roster.Members {
		w.halt(m.Name)
		w.start(m.Name, func(op string) bool {
			mu.Lock()
			defer mu.Unlock()
			if op == "send okra/Rows" {
				sent[m.Name]++
			}
			return false
		})
	}
	f()
	mu.Lock()
	defer mu.Unlock()
	return maps.Clone(sent)
}

// A job continues an ended one: only the newcomer's rows travel. A next one leaves the leader
// out, and nothing travels. Forgetting the earlier jobs ends it.
func TestJobsContinueEndedOnes(t *testing.T) {
	t.Parallel()
	w, first := continuing(t)
	var second, third coordinator.Job
	sent := w.rowsFrom(func() {
		second = w.mustRun(between(t, "[north, south, east]", "continuable: true, late: [east], continues: "+first.String()))
	})
	if sent["north"]+sent["south"] > 0 || sent["east"] == 0 {
		t.Errorf("messages with rows: %v, want east's alone", sent)
	}
	if n := second.Result.Training + second.Result.HeldOut; n != 60 {
		t.Errorf("the model is from %d rows, want 60", n)
	}
	sent = w.rowsFrom(func() {
		third = w.mustRun(between(t, "[south, east]", "preparation: keep, continues: "+second.ID.String()))
	})
	if len(sent) > 0 || third.Result.Training+third.Result.HeldOut != 40 {
		t.Errorf("messages with rows: %v, from %d rows", sent, third.Result.Training+third.Result.HeldOut)
	}
	for _, id := range []job.ID{first, second.ID} {
		if _, err := w.members[hub].boss.Forget(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	after := w.run(between(t, "[south, east]", "preparation: keep, continues: "+second.ID.String()))
	if after.Failure == nil || after.Failure.Code != fault.CodeBadInput || !strings.Contains(after.Failure.Message, "including its rows, have been erased") {
		t.Errorf("a forgotten job is continued: %+v", after.Failure)
	}
}

// A refused continuation has its reason in the error.
func TestContinuationsThatAreRefused(t *testing.T) {
	t.Parallel()
	w, first := continuing(t)
	plain := w.mustRun(between(t, "[north, south]", "encoder: haar")).ID
	for name, tt := range map[string]struct {
		parties, keys, want string
		id                  job.ID
	}{
		"nothing was kept":    {"[north, south]", "", "including its rows, have been erased", plain},
		"an unnamed newcomer": {"[north, south, east]", "", `okra: east had no rows in the earlier job; add it to "late"`, first},
		"a newcomer of old":   {"[north, south, east]", ", late: [south, east]", `okra: "late" names south, which had rows in the earlier job; remove it from "late"`, first},
		"another encoder":     {"[north, south]", ", encoder: haar", "its data cannot be used for this job", first},
	} {
		done := w.run(between(t, tt.parties, "continues: "+tt.id.String()+tt.keys))
		if done.Failure == nil || !strings.Contains(done.Failure.Message, tt.want) {
			t.Errorf("%s: %+v, want %q", name, done.Failure, tt.want)
		}
	}
	w.policy.Continuation = false
	done := w.run(between(t, "[north, south]", "continues: "+first.String()))
	if done.Failure == nil || done.Failure.Code != fault.CodePolicy || !strings.Contains(done.Failure.Message, `"continuation" in its policy`) {
		t.Errorf("a policy that says nothing: %+v", done.Failure)
	}
}

// A job that continues another dies in the middle of its session, and ends in an identical
// model.
func TestCrashOfAContinuedJob(t *testing.T) {
	t.Parallel()
	next := func(t *testing.T, id job.ID) *job.Job {
		return between(t, "[north, south, east]", "late: [east], continues: "+id.String())
	}
	w, first := continuing(t)
	want := w.mustRun(next(t, first)).Result.ModelHash
	for _, d := range []death{
		{hub, 1, "send okra/Grant"}, {hub, 1, "send okra/Receipt"}, {"north", 1, "send okra/Welcome"}, {"north", 1, "send okra/Confirm"},
		{"south", 1, "send okra/Consent"}, {"east", 1, "send okra/Confirm"}, {"east", 1, "send okra/Rows"},
	} {
		t.Run(fmt.Sprintf("%s/%s", d.name, d.op), func(t *testing.T) {
			w, id := continuing(t)
			w.halt(d.name)
			died := w.dies(d)
			if done := w.run(next(t, id)); done.Failure != nil || done.Result.ModelHash != want || !died.Load() {
				t.Errorf("failure %+v, model %v, undisturbed %s; died: %v", done.Failure, done.Result, want, died.Load())
			}
		})
	}
}
