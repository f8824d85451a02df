//go:build linux

package coordinator_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/powercut"
	"github.com/mercer-fl/mercer/internal/job"
)

// cutAt starts a member that loses power where dies says so, and what its disk then loses. The next life of the
// member finds the rest on another disk.
func cutAt(w *testbed, name string, dies func(op string) bool, l powercut.Loss) (happened func() bool) {
	w.t.Helper()
	d, dir := powercut.MountTest(w.t)
	w.t.Cleanup(func() { w.halt(name) }) // so that the disk can be unmounted
	after, cut := w.t.TempDir(), make(chan struct{})
	w.place(name, dir)
	begun := 0
	w.start(name, func(op string) bool {
		if dies(op) {
			if err := d.Cut(l).Write(after); err != nil {
				w.t.Error(err)
			}
			remembers(w.t, after, begun)
			w.place(name, after)
			close(cut)
			return true
		}
		if op == "create" {
			begun++
		}
		return false
	})
	return func() bool {
		select {
		case <-cut:
			return true
		default:
			return false
		}
	}
}

// remembers fails a test unless a home has a mark of each session that its member has begun, but the one that it
// may have been creating: another session with the same id would have other secrets.
func remembers(t *testing.T, home string, begun int) {
	t.Helper()
	marks, err := filepath.Glob(filepath.Join(home, "vault", "journals", "used", "*"))
	if err != nil || len(marks) < begun-1 {
		t.Errorf("%d sessions were begun, and %d have a mark: %v", begun, len(marks), err)
	}
}

// A member that loses power before any of its operations, and with it what its disk has not flushed, comes
// back, and the job ends in the model that it has undisturbed.
func TestPowerCutAnywhere(t *testing.T) {
	t.Parallel()
	losses := powercut.Losses()
	crashing{points: crashPoints, fewest: 20, patience: 30 * time.Second, testbed: func(t *testing.T) (*testbed, *job.Job) {
		j := parse(t, "")
		return newTestbed(t, tumours(t, j)), j
	}, dies: func(w *testbed, name string, n int) *string {
		op := new(string)
		cutAt(w, name, nth(n, op), losses[n%len(losses)])
		return op
	}}.everywhere(t)
}

// So does a job of each protocol over a broker, whose queues are on the coordinator's disk.
func TestPowerCutsOfEachProtocol(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a broker for each job")
	}
	for protocol, m := range matrix() {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			want := m.undisturbed(t)
			for _, who := range []struct{ name, op string }{{m.party, m.send}, {hub, m.hub}} {
				for _, l := range tried(powercut.Losses()) {
					t.Run(fmt.Sprintf("%s loses %v", who.name, l), func(t *testing.T) {
						t.Parallel()
						w, j := m.begin(t)
						w.onBroker(nil)
						happened := cutAt(w, who.name, at(who.op), l)
						m.endsIn(t, w, j, want, happened)
					})
				}
			}
		})
	}
}
