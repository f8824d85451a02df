package coordinator_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// hasty is a job whose end waits for nobody for long.
func hasty(t testing.TB, more string) *job.Job {
	j := asItIs(t, more)
	j.Timeout.Join = 2 * time.Second
	return j
}

// seedsAt returns where a member's session seeds lie on its disk.
func (w *testbed) seedsAt(name string) (hits []string) {
	var needles []needle
	for label, list := range w.seeds() {
		for _, seed := range list {
			needles = append(needles, needle{label, seed[:]})
		}
	}
	for _, hit := range w.found(needles) {
		if strings.Contains(hit, w.home(name)) {
			hits = append(hits, hit)
		}
	}
	return hits
}

func (w *testbed) eventually(what string, holds func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// A party never receives a job's closing, since the broker's queues are gone or it was away for longer
// than they last. A later owner of its disk would find the seeds of the job's sessions there, which
// decode every row. The party asks, when it starts and from time to time, and receives the closing
// again.
func TestALostClosingIsToldAgain(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]party.Limits{"at the next start": {}, "later": {Asking: 50 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			j := hasty(t, "  prediction: open\n")
			w := newTestbed(t, tumours(t, j))
			w.limits = limits
			w.losing(func(to, kind string) bool { return to == "north" && kind == "control/Closing" })
			done := w.mustRun(j)
			if len(w.seedsAt("north")) == 0 {
				t.Fatal("no seed is at north, which has not heard the closing: the scan finds nothing")
			}
			w.losing(nil)
			if limits.Asking == 0 {
				w.halt("north")
				w.start("north", never)
			}
			w.eventually("north destroys the seeds", func() bool { return len(w.seedsAt("north")) == 0 })
			w.eventually("north keeps what predictions need", func() bool {
				_, err := w.artifacts("north").Get(done.ID, vault.Predictor)
				return err == nil
			})
		})
	}
}

// The coordinator has lost its folder of jobs, or deleted the job: it closes jobs that it
// does not know, except a job that has only left something.
func TestWhatTheCoordinatorDoesNotKnowIsClosed(t *testing.T) {
	t.Parallel()
	j := hasty(t, "")
	w := newTestbed(t, tumours(t, j))
	w.losing(func(to, kind string) bool { return to == "north" && kind == "control/Closing" })
	w.mustRun(j)
	w.losing(nil)
	w.halt(hub)
	w.halt("north")
	if err := os.RemoveAll(filepath.Join(w.home(hub), "jobs")); err != nil {
		t.Fatal(err)
	}
	w.start(hub, never)
	w.start("north", never)
	w.eventually("north destroys the seeds", func() bool { return len(w.seedsAt("north")) == 0 })
}

// The coordinator vanishes in the middle of a job and never comes back, or keeps jobs
// open on purpose: after its limit of time a party destroys the job's secrets by
// itself, and its operator can at any time.
func TestAPartyEndsUnclosedJobs(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]party.Limits{
		"by time": {Unclosed: 6 * time.Second, Asking: 100 * time.Millisecond}, "by hand": {},
	} {
		t.Run(name, func(t *testing.T) {
			j := hasty(t, "")
			w := newTestbed(t, tumours(t, j))
			w.limits = limits
			w.start("south", onThe(1, "send okra/Rows"))
			w.startAll()
			id := w.submit(j)
			w.untilDead("south")
			w.halt(hub)
			if limits.Unclosed == 0 {
				if len(w.seedsAt("north")) == 0 {
					t.Fatal("no seed is at north in mid-session: the scan finds nothing")
				}
				north := w.members["north"].party
				held, err := north.Jobs()
				if err != nil || len(held) != 1 || held[0].State != overview.Open || held[0].ID != id.String() || held[0].Name != j.Name {
					t.Fatalf("jobs %+v, %v", held, err)
				}
				if err := north.Drop(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				if err := north.Drop(t.Context(), id); fault.CodeOf(err) != fault.CodeBadInput {
					t.Errorf("dropped twice: %v", err)
				}
			}
			w.eventually("north destroys the seeds", func() bool { return len(w.seedsAt("north")) == 0 })
			w.start(hub, never)
			w.start("south", never)
			if done := w.wait(id); done.Failure == nil {
				t.Error("a job went on without the party that had ended it")
			}
		})
	}
}

// The disk is full at the very last write, or breaks: nothing of the job is lost. The
// coordinator ends with a sentence, and the next one on its folders ends in an identical
// model.
func TestAFaultAtTheLastWrite(t *testing.T) {
	t.Parallel()
	undisturbed := newTestbed(t, tumours(t, parse(t, "")))
	want := undisturbed.mustRun(parse(t, "  prediction: open\n")).Result.ModelHash
	for _, item := range []vault.Item{vault.Model, vault.Decisions, vault.Answers} {
		t.Run(string(item), func(t *testing.T) {
			j := parse(t, "  prediction: open\n")
			w := newTestbed(t, tumours(t, j))
			w.breaks = func(op string, at vault.Item) error {
				if op == "write" && at == item {
					return syscall.ENOSPC
				}
				return nil
			}
			w.startAll()
			id := w.submit(j)
			select {
			case err := <-w.members[hub].ended:
				if !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("the coordinator ended with %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the coordinator goes on")
			}
			w.members[hub].ended <- nil
			w.halt(hub)
			w.mu.Lock()
			w.breaks = nil
			w.mu.Unlock()
			w.start(hub, never)
			if done := w.wait(id); done.Failure != nil || done.Result.ModelHash != want {
				t.Errorf("failure %+v; want model %s", done.Failure, want)
			}
		})
	}
}

// Files of a failed job that cannot be removed stop neither the coordinator nor the next job; they are
// removed at the first start that can.
func TestWhatCannotBeRemovedStopsNothing(t *testing.T) {
	t.Parallel()
	j := hasty(t, "")
	w := newTestbed(t, tumours(t, j))
	stuck := errors.New("directory not empty")
	w.breaks = func(op string, _ vault.Item) error {
		if op == "erase" {
			return stuck
		}
		return nil
	}
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	failed := w.wait(w.submit(j))
	if failed.Failure == nil || !strings.Contains(failed.Residue, stuck.Error()) {
		t.Fatalf("%+v; want a failure and a residue", failed.Status)
	}
	w.start("east", never)
	w.mustRun(hasty(t, ""))
	w.halt(hub)
	w.mu.Lock()
	w.breaks = nil
	w.mu.Unlock()
	w.start(hub, never)
	if again, err := w.members[hub].boss.Get(failed.ID); err != nil || again.Residue != "" || again.State != overview.Failed {
		t.Errorf("%+v, %v after a restart", again.Status, err)
	}
}

// A job that this program cannot read, since another version wrote it or half of it is
// gone, is set aside as it is; everything else runs.
func TestUnreadableJobsAreSetAside(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, folder string){
		"a key of a later version": func(t *testing.T, folder string) {
			add(t, filepath.Join(folder, "job.yaml"), "  novelty: 1\n")
		},
		"a result cut short": func(t *testing.T, folder string) { cut(t, filepath.Join(folder, "result.json")) },
		"a status cut short": func(t *testing.T, folder string) { cut(t, filepath.Join(folder, "status.json")) },
		"no job file": func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, "job.yaml")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := hasty(t, "")
			w := newTestbed(t, tumours(t, j))
			old := w.mustRun(j)
			w.halt(hub)
			folder := filepath.Join(w.home(hub), "jobs", old.ID.String())
			spoil(t, folder)
			before := files(t, folder)
			w.start(hub, never)
			boss := w.members[hub].boss
			if got, err := boss.Get(old.ID); err != nil || got.State != overview.Unreadable || got.Failure == nil {
				t.Fatalf("%+v, %v", got.Status, err)
			}
			next := w.mustRun(hasty(t, ""))
			if list := boss.List(); len(list) != 2 || next.ID == old.ID {
				t.Errorf("%d jobs, the next is %v", len(list), next.ID)
			}
			if after := files(t, folder); !slices.Equal(after, before) {
				t.Errorf("the job was %q and is %q", before, after)
			}
			if _, err := boss.Delete(t.Context(), old.ID); err != nil {
				t.Errorf("it cannot be deleted: %v", err)
			}
			if left, err := w.artifacts(hub).List(old.ID); err != nil || len(left) > 0 {
				t.Errorf("deleted, it has left %v, %v", left, err)
			}
		})
	}
}

func add(t *testing.T, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(b, text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func cut(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(path, 20); err != nil {
		t.Fatal(err)
	}
}

// files returns names and contents.
func files(t *testing.T, folder string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.Name()+": "+string(b))
	}
	return list
}

// What a job left goes in parts: predictions first, then models at all members, then the job. While the clock cannot be
// trusted, nothing goes. Each time the record has a line.
func TestRetentionByKind(t *testing.T) {
	t.Parallel()
	j := hasty(t, "  prediction: open\n")
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	at := func() (left string) {
		list, err := w.artifacts(hub).List(done.ID)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(list)
	}
	whole := at()
	if !strings.Contains(whole, string(vault.Decisions)) || !strings.Contains(whole, string(vault.Model)) {
		t.Fatalf("the job has left %s", whole)
	}
	day := 24 * time.Hour
	times := retention.Times{Predictions: strictyaml.Days{Duration: 30 * day}, Models: strictyaml.Days{Duration: 60 * day}, Results: strictyaml.Days{Duration: 90 * day}}
	again := func(days int, trusted bool) *recordInMemory {
		w.halt(hub)
		w.retention, w.record = times, &recordInMemory{}
		w.today = func() (time.Time, bool) { return done.Ended.Add(time.Duration(days) * day), trusted }
		w.start(hub, never)
		return w.record
	}
	again(1000, false)
	w.eventually("boss looked", func() bool { return w.record.asked.Load() })
	if got := at(); got != whole {
		t.Fatalf("without a clock %s are left", got)
	}
	again(30, true)
	w.eventually("predictions go", func() bool { return !strings.Contains(at(), string(vault.Decisions)) })
	if got := at(); !strings.Contains(got, string(vault.Model)) {
		t.Errorf("only %s are left", got)
	}
	w.eventually("the record says so", func() bool { return w.record.has("decisions") })
	again(60, true)
	w.eventually("models go", func() bool { return at() == "[]" })
	w.eventually("they go at north", func() bool { list, err := w.artifacts("north").List(done.ID); return err == nil && len(list) == 0 })
	w.eventually("the record says so", func() bool { return w.record.has("retained state at all members") })
	if _, err := w.members[hub].boss.Get(done.ID); err != nil {
		t.Errorf("the result is gone: %v", err)
	}
	again(90, true)
	w.eventually("the job goes", func() bool { return len(w.members[hub].boss.List()) == 0 })
	w.eventually("the record says so", func() bool { return w.record.has("file, status and result") })
}

// The coordinator deletes a job after its retention time and has all members erase it; a party erases
// its retained state after its own time. Deleted jobs stay deleted.
func TestRetention(t *testing.T) {
	t.Parallel()
	j := hasty(t, "  prediction: open\n")
	w := newTestbed(t, tumours(t, j))
	first, second := w.mustRun(j), w.mustRun(hasty(t, "  prediction: open\n"))
	w.halt("north")
	w.limits.Retention.Models = strictyaml.Days{Duration: time.Nanosecond}
	w.start("north", never)
	w.eventually("north forgets both", func() bool {
		left, err := w.artifacts("north").Jobs()
		return err == nil && len(left) == 0
	})
	if left, err := w.artifacts("south").List(first.ID); err != nil || len(left) == 0 {
		t.Fatalf("south keeps %v, %v", left, err)
	}
	w.halt(hub)
	w.halt("east") // which is told when it is back, though the broker has lost the word
	w.losing(func(to, kind string) bool { return to == "east" && kind == "control/Forget" })
	w.retention.Results = strictyaml.Days{Duration: time.Nanosecond}
	w.start(hub, never)
	w.eventually("both jobs are deleted", func() bool { return len(w.members[hub].boss.List()) == 0 })
	w.losing(nil)
	w.start("east", never)
	for _, name := range []string{"south", "east"} {
		w.eventually(name+" forgets both", func() bool {
			left, err := w.artifacts(name).Jobs()
			return err == nil && len(left) == 0
		})
	}
	w.halt(hub)
	w.retention = retention.Times{}
	w.start(hub, never)
	if list := w.members[hub].boss.List(); len(list) > 0 {
		t.Errorf("%d jobs are back", len(list))
	}
	third := w.mustRun(hasty(t, ""))
	if third.ID == first.ID || third.ID == second.ID {
		t.Error("a deleted job's id is used again")
	}
}
