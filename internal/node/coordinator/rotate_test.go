package coordinator_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// keeps reports what a member keeps of a job.
func (w *testbed) keeps(name string, id job.ID) []vault.Item {
	w.t.Helper()
	items, err := w.artifacts(name).List(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return items
}

// A party that the roster has no more is named as silent: it has erased nothing. Back in the roster it erases its
// part.
func TestForgetNamesRemovedParties(t *testing.T) {
	t.Parallel()
	w, first := continuing(t)
	boss := w.members[hub].boss
	if err := boss.ChangeRoster(w.roster.Without("south")); err != nil {
		t.Fatal(err)
	}
	f, err := boss.Forget(t.Context(), first)
	if err != nil || !slices.Equal(f.Silent, []string{"south"}) || !slices.Equal(f.Parties["north"], []string{"predictor"}) {
		t.Errorf("%+v, %v; want no word from south", f, err)
	}
	if len(w.keeps("south", first)) == 0 {
		t.Error("a removed party was told")
	}
	if err := boss.ChangeRoster(w.roster); err != nil {
		t.Fatal(err)
	}
	if f, err = boss.Forget(t.Context(), first); err != nil || len(f.Silent) > 0 || len(w.keeps("south", first)) > 0 {
		t.Errorf("back in the roster: %+v, %v", f, err)
	}
}

// After a rotation nobody has a seed or rows of an earlier epoch, and no earlier job is continued.
// Other jobs keep their artifacts. A party that was away erases its part when it comes back.
func TestRotationEndsTheEpoch(t *testing.T) {
	t.Parallel()
	w, first := continuing(t)
	plain := w.mustRun(between(t, "[north, south]", "encoder: haar")).ID
	w.halt("south")
	done, err := w.members[hub].boss.Rotate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := done[first]
	if len(done) != 1 || f == nil || !slices.Contains(f.Here, string(vault.Rows)) || !slices.Equal(f.Parties["north"], []string{"predictor"}) || !slices.Equal(f.Silent, []string{"south"}) {
		t.Errorf("%+v", f)
	}
	if len(w.keeps(hub, first))+len(w.keeps("north", first)) > 0 || len(w.keeps("south", first)) == 0 || len(w.keeps(hub, plain)) == 0 {
		t.Error("something else was erased")
	}
	w.startAll()
	for until := time.Now().Add(20 * time.Second); len(w.keeps("south", first)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the party that was away still has the seed")
		}
	}
	after := w.run(between(t, "[north, south]", "continues: "+first.String()))
	if after.Failure == nil || !strings.Contains(after.Failure.Message, "including its rows, have been erased") {
		t.Errorf("a job of the earlier epoch is continued: %+v", after.Failure)
	}
}

// A rotation that a crash breaks off, at the coordinator or at a party, is carried out again.
func TestCrashOfARotation(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]string{hub: "send control/Forget", "north": "send control/Forgotten"} {
		t.Run(name, func(t *testing.T) {
			w, first := continuing(t)
			w.halt(name)
			at := onThe(1, op)
			var died atomic.Bool
			w.start(name, func(op string) bool {
				if at(op) {
					died.Store(true)
					return true
				}
				return false
			})
			w.startAll()
			if _, err := w.members[hub].boss.Rotate(t.Context()); err != nil && name != hub {
				t.Fatal(err)
			}
			if !died.Load() {
				t.Fatal("nobody died")
			}
			w.halt(name)
			w.startAll()
			if _, err := w.members[hub].boss.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, member := range []string{hub, "north", "south"} {
				for until := time.Now().Add(20 * time.Second); len(w.keeps(member, first)) > 0; time.Sleep(20 * time.Millisecond) {
					if time.Now().After(until) {
						t.Fatalf("%s still has %v", member, w.keeps(member, first))
					}
				}
			}
		})
	}
}
