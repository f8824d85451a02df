package coordinator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// logged returns the lines of a member's log that begin with a message and name a job.
func (w *testbed) logged(member, message string, id job.ID) (lines []string) {
	for line := range strings.Lines(w.logs.String()) {
		if strings.Contains(line, `msg="`+message+`"`) && strings.Contains(line, "member="+member) && strings.Contains(line, id.String()) && strings.Contains(line, "name=tumours") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Each event of a job has one line in the coordinator's log, with the job's id and name. While a party
// is away, the job says so.
func TestEventsOfAJob(t *testing.T) {
	t.Parallel()
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	id := w.submit(j)
	var waits coordinator.Job
	for deadline := time.Now().Add(10 * time.Second); waits.Waiting == nil || len(waits.Waiting.Parties) > 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the job does not say that it waits: %+v", waits)
		}
		var err error
		if waits, err = w.members[hub].boss.Get(id); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(waits.Waiting.Parties, []string{"east"}) || time.Since(waits.Waiting.Since) > time.Minute || waits.StageSince.IsZero() {
		t.Errorf("waits for %+v, stage since %v", waits.Waiting, waits.StageSince)
	}
	for deadline := time.Now().Add(15 * time.Second); len(w.logged(hub, "a stage waits for parties", id)) == 0 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	w.start("east", never)
	done := w.wait(id)
	if done.Failure != nil || done.Waiting != nil || done.Submitted.IsZero() || done.Started.Before(done.Submitted) || done.Ended.Before(done.Started) {
		t.Errorf("done: %+v", done)
	}
	if lines := w.logged(hub, "a stage waits for parties", id); len(lines) != 1 || !strings.Contains(lines[0], "parties=[east]") {
		t.Errorf("waiting: %q", lines)
	}
	begun, ended := w.logged(hub, "a stage begins", id), w.logged(hub, "a stage has ended", id)
	if len(begun) < 2 || len(begun) != len(ended) {
		t.Errorf("%d stages begin, %d end", len(begun), len(ended))
	}
	var kinds []overview.Kind
	for _, e := range w.members[hub].boss.Events().Of(id.String()) {
		kinds = append(kinds, e.Kind)
	}
	if n := len(kinds); n < 6 || kinds[0] != overview.Submitted || kinds[n-2] != overview.HasResult || kinds[n-1] != overview.Closed || !slices.Contains(kinds, overview.IsWaiting) {
		t.Errorf("events: %v", kinds)
	}
	for _, once := range []string{"a job is submitted", "a job has its result", "a job is closed"} {
		if lines := w.logged(hub, once, id); len(lines) != 1 {
			t.Errorf("%q: %q", once, lines)
		}
	}
}

// A refusal names the job at the party, and the party at the coordinator.
func TestEventsOfARefusedJob(t *testing.T) {
	t.Parallel()
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	w.policy.Protocols = []string{"gram"}
	w.startAll()
	id := w.submit(j)
	if done := w.wait(id); done.Failure == nil {
		t.Fatal("the job did not fail")
	}
	if lines := w.logged(hub, "a job failed", id); len(lines) != 1 || !strings.Contains(lines[0], "refused") {
		t.Errorf("at the coordinator: %q", lines)
	}
	refusals := 0
	for _, party := range []string{"north", "south", "east"} {
		refusals += len(w.logged(party, "refused a proposal", id))
	}
	if refusals == 0 {
		t.Error("no party's log names the job that it refused")
	}
	kept := w.members[hub].boss.Events().Of(id.String())
	failed := slices.IndexFunc(kept, func(e overview.Event) bool { return e.Kind == overview.HasFailed })
	if failed < 0 || kept[failed].Code != fault.CodePolicy || kept[failed].Name != "tumours" || kept[len(kept)-1].Kind != overview.Closed || kept[len(kept)-1].State != overview.Failed {
		t.Errorf("events at the coordinator: %+v", kept)
	}
	refused := 0
	for _, party := range []string{"north", "south", "east"} {
		for _, e := range w.members[party].party.Events().Of(id.String()) {
			if e.Kind == overview.Refused && e.Code == fault.CodePolicy {
				refused++
			}
		}
	}
	if refused != refusals {
		t.Errorf("%d events of %d refusals", refused, refusals)
	}
}
