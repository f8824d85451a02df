package coordinator_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/columnorder"
)

const abortedByHub = "aborted by the operator of hub"

func (w *testbed) abort(id job.ID) {
	w.t.Helper()
	if err := w.members[hub].boss.Abort(id); err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a line in the log of all members.
func (w *testbed) until(line string) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(w.logs.String(), line); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("no log line with %q", line)
		}
	}
}

// untilSent waits for a message of a member.
func (w *testbed) untilSent(from, kind string) {
	w.t.Helper()
	sent := func(r recorded) bool { return r.from == from && kindOf(r.data) == kind }
	for deadline := time.Now().Add(20 * time.Second); !slices.ContainsFunc(w.tap.all(), sent); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s does not send %s", from, kind)
		}
	}
}

// wantAborted checks a job that was aborted, and that nothing is left of it.
func (w *testbed) wantAborted(id job.ID) {
	w.t.Helper()
	began := time.Now()
	j := w.wait(id)
	f := j.Failure
	if j.State != overview.Failed || f == nil || f.Code != fault.CodeFailed || f.Message != abortedByHub || f.Blamed != "" || j.Result != nil || j.Ended.IsZero() {
		w.t.Errorf("the job is %+v with failure %+v; want it aborted", j.Status, f)
	}
	if took := time.Since(began); took > 9*time.Second {
		w.t.Errorf("the job ended after %v, as if a party had not confirmed", took)
	}
	entries, err := os.ReadDir(filepath.Join(w.home(hub), "jobs", id.String()))
	if err != nil || len(entries) != 2 {
		w.t.Errorf("the job's folder holds %v, %v; want its file and its status", entries, err)
	}
}

// A job waits for a party that is not there: it and one behind it are aborted,
// and the one behind them runs.
func TestAbortWhileAPartyIsAwaited(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	first, second, third := w.submit(parse(t, "")), w.submit(parse(t, "")), w.submit(parse(t, ""))
	w.until("accepted a session")
	w.abort(second)
	w.wantAborted(second)
	if j, err := w.members[hub].boss.Get(first); err != nil || j.State != overview.Running {
		t.Errorf("the job before is %s, %v", j.State, err)
	}
	w.abort(first)
	w.start("east", never)
	w.wantAborted(first)
	if j := w.wait(third); j.Failure != nil {
		t.Errorf("the job behind failed: %+v", j.Failure)
	}
	w.until("outcome=\"" + abortedByHub)
	for _, name := range []string{hub, "north", "south", "east"} {
		w.nothingOpenAt(name)
	}
}

// A job is aborted while its machines run, and waits for one that does nothing.
func TestAbortWhileMachinesRun(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	w.actor("east", polite)
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	id := w.submit(parse(t, ""))
	w.untilSent("south", "heading/"+columnorder.MatchKind) // north has asked, and waits for east
	w.abort(id)
	w.wantAborted(id)
	w.until("hub (aborted): " + abortedByHub)
	for _, name := range []string{hub, "north", "south"} {
		w.nothingOpenAt(name)
	}
}

// A job is aborted while the coordinator computes, which it does not wait for.
func TestAbortWhileComputing(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	computing, over := make(chan job.ID, 1), make(chan struct{})
	first := true // only the one computation at a time asks
	w.heard = func(id job.ID, p protocol.Progress) {
		if p.Stage == "learn" && p.Total > 0 && first {
			first = false
			computing <- id
			<-over
		}
	}
	w.startAll()
	id := w.submit(parse(t, ""))
	next := w.submit(parse(t, ""))
	w.abort(<-computing)
	w.wantAborted(id)
	close(over)
	if j := w.wait(next); j.Failure != nil {
		t.Errorf("the next job failed: %+v", j.Failure)
	}
	w.nothingOpenAt(hub)
}

// Whoever asks for a job learns the part of its stage that is under way, and no part of an earlier
// stage.
func TestPartOfAStage(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	begun, parts := 0, 0
	w.heard = func(id job.ID, p protocol.Progress) { // called by the only running step
		j, err := w.members[hub].boss.Get(id)
		switch {
		case err != nil:
			t.Error(err)
		case p.Total > 0 && j.Part == p:
			parts++
		case p.Total == 0 && j.Part == (protocol.Progress{}) && j.Stage == p.Stage:
			begun++
		default:
			t.Errorf("with progress %+v the job has stage %s and part %+v", p, j.Stage, j.Part)
		}
	}
	w.startAll()
	w.mustRun(parse(t, ""))
	if begun < 3 || parts < 3 {
		t.Errorf("heard of %d stages and %d parts", begun, parts)
	}
}

// A grid of minutes that is aborted is not searched any further.
func TestAbortEndsASearch(t *testing.T) {
	j := parse(t, "")
	j.Data.Folds = 50
	for i := range 32 {
		k, l := j.Kernel, *job.As[*learner.SVC](j.Learner)
		k.Gamma, l.C = 0.1*float64(1+i), 0.1*float64(1+i)
		j.Grid.Kernels, j.Grid.Learners = append(j.Grid.Kernels, k), append(j.Grid.Learners, job.Named{Kind: learner.SVC{}, Values: &l})
	}
	w := newTestbed(t, firstTumours(t, j, 500))
	computing := make(chan job.ID, 1)
	w.heard = func(id job.ID, p protocol.Progress) {
		if p.Stage == "tune" {
			select {
			case computing <- id:
			default:
			}
		}
	}
	w.startAll()
	id := w.submit(j)
	select {
	case <-computing:
	case <-time.After(20 * time.Second):
		t.Fatalf("the search does not begin: %+v", w.wait(id))
	}
	w.abort(id)
	w.wantAborted(id)
	for began := time.Now(); searching(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatal("the search goes on")
		}
	}
}

// A single training that would take minutes is aborted, and ends within moments,
// as it does when the coordinator shuts down.
func TestAbortEndsATraining(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains until it is aborted")
	}
	for name, end := range map[string]func(w *testbed, id job.ID){
		"aborted":  func(w *testbed, id job.ID) { w.abort(id); w.wantAborted(id) },
		"shutdown": func(w *testbed, _ job.ID) { w.halt(hub) },
	} {
		t.Run(name, func(t *testing.T) {
			j := parse(t, "")
			j.Kernel = job.Kernel{Name: "linear"}
			j = jobtest.With(t, j, map[string]string{"learner.C": "1e6", "learner.tol": "1e-9"})
			w := newTestbed(t, unlearnable(t, j))
			w.startAll()
			id := w.submit(j)
			await(t, 60*time.Second, "the training begins", training)
			time.Sleep(time.Second) // it is no short one
			if !training() {
				t.Fatal("the training has ended by itself")
			}
			began := time.Now()
			end(w, id)
			await(t, 10*time.Second, "the training ends", func() bool { return !training() })
			t.Logf("ended after %v", time.Since(began))
		})
	}
}

// The label holder learns from random features by itself. While it does it hears
// the coordinator, and its training ends with the job.
func TestAbortWhileAPartyLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("learns until it is aborted")
	}
	j := phasesBy(t, "{join: 20s, round: 20s}", "directions: 16384")
	j = jobtest.With(t, j, map[string]string{"learner.lambda": "1e-12"})
	w := newTestbed(t, firstTumours(t, j, 569))
	w.startAll()
	id := w.submit(j)
	learning := func() bool { return running("learn/linear.(*newton") }
	await(t, 60*time.Second, "the party learns", learning)
	began := time.Now()
	w.abort(id)
	w.wantAborted(id)
	await(t, 10*time.Second, "the training ends", func() bool { return !learning() })
	t.Logf("ended after %v", time.Since(began))
	for _, name := range []string{hub, "north", "south", "east"} {
		w.nothingOpenAt(name)
	}
}

// unlearnable is rows with labels that have nothing to do with them: a machine of a
// high C for them takes ten million iterations, and then gives up.
func unlearnable(t *testing.T, j *job.Job) []partition.Share {
	t.Helper()
	shares := firstTumours(t, j, 569)
	for _, s := range shares {
		for i, labels := 0, s.Table.Set.Labels; i < len(labels); i++ {
			labels[i] = []string{"benign", "malignant"}[i%2]
		}
	}
	return shares
}

// await waits until something is so.
func await(t *testing.T, most time.Duration, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(began) > most {
			t.Fatalf("not within %v: %s", most, what)
		}
	}
}

// searching reports whether a goroutine of this process searches a grid.
func searching() bool { return running("learn/tune.Search") }

// training reports whether a goroutine of this process trains a machine.
func training() bool { return running("learn/svm.solveIn") }

// running reports whether a goroutine of this process is inside of a function.
func running(name string) bool {
	stacks := make([]byte, 1<<20)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte(name))
}

// An abort that was answered holds, however often the process crashes afterwards.
func TestAbortSurvivesACrash(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	for _, name := range []string{"north", "south"} {
		w.start(name, never)
	}
	w.start(hub, func(op string) bool { return op == "send control/"+control.KindClosing })
	id := w.submit(parse(t, ""))
	w.until("accepted a session")
	w.abort(id)
	w.untilDead(hub)
	w.start("east", never)
	w.start(hub, never)
	w.wantAborted(id)
	for _, name := range []string{hub, "north", "south", "east"} {
		w.nothingOpenAt(name)
	}
}

func TestAbortRefuses(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	done := w.mustRun(parse(t, ""))
	boss := w.members[hub].boss
	if err := boss.Abort(job.ID{7}); !errors.Is(err, coordinator.ErrNoJob) {
		t.Errorf("an unknown job: %v", err)
	}
	err := boss.Abort(done.ID)
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "is done; only a job that is queued or running can be aborted") {
		t.Errorf("a job that is done: %v", err)
	}
	if again, err := boss.Get(done.ID); err != nil || again.State != overview.Done || again.Failure != nil {
		t.Errorf("afterwards it is %+v, %v", again.Status, err)
	}
}
