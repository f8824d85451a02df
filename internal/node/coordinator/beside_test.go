package coordinator_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// among is the small job with other parties, under a name of its own.
func among(t testing.TB, name, parties string) *job.Job {
	t.Helper()
	text := strings.Replace(jobFile, "[north, south, east]", parties, 1)
	text = strings.Replace(text, "label: label", "label: label\n    scale: none", 1)
	return jobtest.Parse(t, strings.Replace(strings.Replace(text, "name: tumours", "name: "+name, 1), "%s", "", 1))
}

// four is a testbed of four parties with rows.
func four(t *testing.T) *testbed {
	t.Helper()
	return newTestbed(t, tumours(t, among(t, "all", "[north, south, east, west]")))
}

// get returns a job as it is now.
func (w *testbed) get(id job.ID) coordinator.Job {
	w.t.Helper()
	j, err := w.members[hub].boss.Get(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// wantState checks the state of a job now.
func (w *testbed) wantState(id job.ID, want overview.State) {
	w.t.Helper()
	if j := w.get(id); j.State != want {
		w.t.Errorf("job %s is %s; want %s", j.Spec.Name, j.State, want)
	}
}

// done waits until a job has ended well.
func (w *testbed) done(id job.ID) coordinator.Job {
	w.t.Helper()
	j := w.wait(id)
	if j.Failure != nil {
		w.t.Fatalf("job %s failed: %+v", j.Spec.Name, j.Failure)
	}
	return j
}

// A job whose party sleeps delays no job of other parties. Jobs that share a party run in the order of submission,
// also behind a job that waits only for that reason.
func TestDisjointJobsRunSideBySide(t *testing.T) {
	t.Parallel()
	w := four(t)
	for _, name := range []string{hub, "north", "east", "west"} {
		w.start(name, never)
	}
	began := time.Now()
	alone := w.done(w.submit(among(t, "alone", "[east, west]")))
	usual := time.Since(began)

	sleeps := w.submit(among(t, "sleeps", "[north, south]"))
	w.until("name=sleeps stage=column-order")
	began = time.Now()
	beside := w.done(w.submit(among(t, "alone", "[east, west]")))
	took := time.Since(began)
	t.Logf("alone %v, beside a job that waits for a party %v", usual, took)
	if !maps.Equal(beside.Result.Metrics, alone.Result.Metrics) {
		t.Errorf("figures %v, alone %v", beside.Result.Metrics, alone.Result.Metrics)
	}
	if took > 5*usual+time.Second {
		t.Errorf("the job took %v beside another one, %v alone", took, usual)
	}
	w.wantState(sleeps, overview.Running)

	both := w.submit(among(t, "both", "[south, east]"))
	behind := w.submit(among(t, "behind", "[east, west]"))
	time.Sleep(100 * time.Millisecond)
	w.wantState(both, overview.Queued)
	w.wantState(behind, overview.Queued)
	w.start("south", never)
	w.done(behind)
	order := []job.ID{sleeps, both, behind}
	var ends []int
	for _, id := range order {
		w.done(id)
		ends = append(ends, strings.Index(w.logs.String(), closedLine(id)))
	}
	if !slices.IsSorted(ends) || ends[0] < 0 {
		t.Errorf("the jobs ended at %v in the log", ends)
	}
	if begins := strings.Index(w.logs.String(), begunLine(both)); begins < ends[0] {
		t.Errorf("a job began at %d in the log, before the earlier job of its party had ended at %d", begins, ends[0])
	}
}

// closedLine and begunLine begin the lines of a coordinator's log.
func closedLine(id job.ID) string { return "msg=\"a job is closed\" member=hub job=" + id.String() }
func begunLine(id job.ID) string  { return "msg=\"a stage begins\" member=hub job=" + id.String() }

// No more jobs run at a time than the operator allows.
func TestRunningJobsAreBounded(t *testing.T) {
	t.Parallel()
	w := four(t)
	w.running = 1
	for _, name := range []string{hub, "north", "east", "west"} {
		w.start(name, never)
	}
	first, second := w.submit(among(t, "first", "[north, south]")), w.submit(among(t, "second", "[east, west]"))
	w.until("name=first stage=column-order")
	time.Sleep(100 * time.Millisecond)
	w.wantState(second, overview.Queued)
	w.start("south", never)
	w.done(first)
	w.done(second)
}

// Jobs that an earlier process ran side by side are resumed side by side, also under a lower limit: parties wait for
// each of them.
func TestResumedJobsRunSideBySide(t *testing.T) {
	t.Parallel()
	w := four(t)
	w.startAll()
	w.halt("south")
	w.halt("west")
	first, second := w.submit(among(t, "first", "[north, south]")), w.submit(among(t, "second", "[east, west]"))
	w.until("name=first stage=column-order")
	w.until("name=second stage=column-order")
	w.halt(hub)
	w.running = 1
	w.start(hub, never)
	w.start("west", never)
	w.done(second)
	w.wantState(first, overview.Running)
	w.start("south", never)
	w.done(first)
}

// An abort ends one of the running jobs.
func TestAbortOfOneOfTwoJobs(t *testing.T) {
	t.Parallel()
	w := four(t)
	for _, name := range []string{hub, "north", "east"} {
		w.start(name, never)
	}
	first, second := w.submit(among(t, "first", "[north, south]")), w.submit(among(t, "second", "[east, west]"))
	w.until("name=first stage=column-order")
	w.until("name=second stage=column-order")
	w.abort(first)
	w.start("south", never)
	w.wantAborted(first)
	w.wantState(second, overview.Running)
	w.start("west", never)
	w.done(second)
	for _, m := range w.roster.Members {
		w.nothingOpenAt(m.Name)
	}
}

// A job that waited only for an aborted one begins at once.
func TestAbortLetsTheNextJobBegin(t *testing.T) {
	t.Parallel()
	w := four(t)
	for _, name := range []string{hub, "north", "east", "west"} {
		w.start(name, never)
	}
	sleeps := w.submit(among(t, "sleeps", "[north, south]"))
	w.until("name=sleeps stage=column-order")
	both, behind := w.submit(among(t, "both", "[south, east]")), w.submit(among(t, "behind", "[east, west]"))
	time.Sleep(100 * time.Millisecond)
	w.wantState(behind, overview.Queued)
	w.abort(both)
	w.until(begunLine(behind))
	w.done(behind)
	w.wantState(sleeps, overview.Running)
	w.start("south", never)
	w.done(sleeps)
}

// A roster without a party aborts this party's running and queued jobs. A job beside them runs on, and one that waited
// for them begins.
func TestRosterChangeBesideARunningJob(t *testing.T) {
	t.Parallel()
	w := four(t)
	for _, name := range []string{hub, "north", "east"} {
		w.start(name, never)
	}
	first, second := w.submit(among(t, "first", "[north, south]")), w.submit(among(t, "second", "[east, west]"))
	w.until("name=first stage=column-order")
	w.until("name=second stage=column-order")
	queued, behind := w.submit(among(t, "queued", "[south, east]")), w.submit(among(t, "behind", "[north, east]"))
	if err := w.members[hub].boss.ChangeRoster(w.roster.Without("south")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []job.ID{first, queued} {
		j := w.wait(id)
		if f := j.Failure; f == nil || f.Message != "aborted because the new roster does not have south, or has other keys" {
			t.Errorf("job %s: %+v", j.Spec.Name, f)
		}
	}
	w.wantState(second, overview.Running)
	w.start("west", never)
	w.done(second)
	w.done(behind)
}

// Of two jobs that run side by side each ends in its own model, whichever process dies when.
func TestCrashAnywhereOfTwoJobs(t *testing.T) {
	t.Parallel()
	crashing{
		points: crashPoints, fewest: 15, patience: 30 * time.Second, members: []string{hub, "north", "west"},
		beside: func(t *testing.T) *job.Job { return among(t, "second", "[east, west]") },
		testbed: func(t *testing.T) (*testbed, *job.Job) {
			return four(t), among(t, "first", "[north, south]")
		},
	}.everywhere(t)
}
