package coordinator_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// crowded is a member's vault on a disk that may be full.
type crowded struct {
	vault.Vault
	w    *testbed
	name string
}

// room is the error of an operation on a full disk.
func (c crowded) room(op string) error {
	c.w.mu.Lock()
	full := c.w.full
	c.w.mu.Unlock()
	if full != nil && full(c.name, op) {
		return &fs.PathError{Op: "write", Path: "/home/secret-path/" + op, Err: syscall.ENOSPC}
	}
	return nil
}

func (c crowded) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (vault.Session, error) {
	if err := c.room("create"); err != nil {
		return nil, err
	}
	s, err := c.Vault.Create(id, seed, proposal)
	if err != nil {
		return nil, err
	}
	return crowdedSession{s, c}, nil
}

func (c crowded) Open() ([]vault.Session, []vault.Lost, error) {
	open, lost, err := c.Vault.Open()
	for i, s := range open {
		open[i] = crowdedSession{s, c}
	}
	return open, lost, err
}

func (c crowded) Claim(id protocol.SessionID, names ...string) error {
	if err := c.room("claim " + strings.Join(names, " ")); err != nil {
		return err
	}
	return c.Vault.Claim(id, names...)
}

type crowdedSession struct {
	vault.Session
	c crowded
}

func (s crowdedSession) Append(r journal.Record) error {
	if err := s.c.room("append"); err != nil {
		return err
	}
	return s.Session.Append(r)
}

func (s crowdedSession) Put(name vault.Document, data []byte) error {
	if err := s.c.room("put " + string(name)); err != nil {
		return err
	}
	return s.Session.Put(name, data)
}

// filling is a member's disk that is full from the n-th operation of a kind on, until it is emptied.
type filling struct {
	name          string // the member's
	op            string
	n             int32
	seen          atomic.Int32
	full, emptied atomic.Bool
}

func (f *filling) is(name, op string) bool {
	if name != f.name || f.emptied.Load() {
		return false
	}
	if strings.HasPrefix(op, f.op) && f.seen.Add(1) >= f.n {
		f.full.Store(true)
	}
	return f.full.Load()
}

// again restarts a party whose session could not continue, as its daemon does, and returns how often.
func (w *testbed) again(name string) bool {
	w.t.Helper()
	select {
	case err := <-w.members[name].ended:
		if !errors.Is(err, party.ErrStalled) {
			w.t.Fatalf("%s ended with %v", name, err)
		}
		w.members[name].ended <- nil
		w.halt(name)
		return true
	default:
		return false
	}
}

// A party that cannot write says so itself, whenever that comes. Nobody else is blamed, no path
// leaves its process, and it continues where it was once there is space.
func TestFullDiskIsSaidByItsOwner(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]struct {
		op string
		n  int32
	}{
		"before it accepts":          {"create", 2},
		"before its id is bound":     {"claim job/", 2},
		"in the middle of a session": {"append", 9},
		"as it begins":               {"put directory", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, ends := range []bool{false, true} {
				f := &filling{name: "north", op: full.op, n: full.n}
				j := columns(t)
				j.Timeout = job.Timeout{Join: 4 * time.Second, Round: 4 * time.Second}
				w := newTestbed(t, tumours(t, j))
				w.full = f.is
				w.startAll()
				done := w.conclude(w.submit(j), f, ends)
				if ends {
					w.wantOwner(done)
				} else if done.Failure != nil {
					t.Errorf("with room again the job fails: %+v", done.Failure)
				}
				if logs := w.lines(hub) + w.lines("south") + w.lines("east"); strings.Contains(logs, "secret-path") {
					t.Errorf("a path has left north: %s", logs)
				}
			}
		})
	}
}

// conclude waits for a job's end while north's disk fills. North has room again at once, unless
// the job is to end first.
func (w *testbed) conclude(id job.ID, f *filling, ends bool) coordinator.Job {
	w.t.Helper()
	var full time.Time
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if full.IsZero() && f.full.Load() {
			full = time.Now()
		}
		if !ends && !full.IsZero() && time.Since(full) > time.Second {
			f.emptied.Store(true)
		}
		j, err := w.members[hub].boss.Get(id)
		if err != nil {
			w.t.Fatal(err)
		}
		if j.Over() {
			if full.IsZero() {
				w.t.Fatal("the disk was never full")
			}
			f.emptied.Store(true)
			w.restart(f.name)
			return j
		}
		if f.emptied.Load() {
			w.restart(f.name)
		}
	}
	w.t.Fatal("the job does not end")
	return coordinator.Job{}
}

func (w *testbed) restart(name string) {
	w.t.Helper()
	if w.again(name) {
		w.start(name, never)
	}
}

// wantOwner checks that a failure names north and its disk, and that nobody else is named at the
// coordinator or at another party.
func (w *testbed) wantOwner(done coordinator.Job) {
	w.t.Helper()
	f := done.Failure
	if f == nil || f.Code != fault.CodeFailed || f.Blamed != "north" || !strings.Contains(f.Message, "north: "+fault.Disk.Sentence()) {
		w.t.Errorf("the job ends with %+v", f)
		return
	}
	for _, name := range []string{hub, "south", "east"} {
		for line := range strings.Lines(w.lines(name)) {
			if strings.Contains(line, "level=ERROR") && strings.Contains(line, "(silent)") {
				w.t.Errorf("%s names another: %s", name, line)
			}
		}
	}
}

// A report that cannot be stored is sent all the same, and a closing that cannot be recorded is
// recorded once there is room: the job has ended meanwhile.
func TestFullDiskAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"put report", "claim over/"} {
		f := &filling{name: "north", op: op, n: 1}
		j := parse(t, "")
		w := newTestbed(t, tumours(t, j))
		w.full = func(name, what string) bool { return f.is(name, what) && strings.HasPrefix(what, op) }
		if done := w.run(j); done.Failure != nil || !f.full.Load() {
			t.Errorf("%s: the job ends with %+v", op, done.Failure)
		}
		f.emptied.Store(true)
		w.eventually("north lets its sessions go", func() bool { return strings.Contains(w.lines("north"), "destroyed a job's secrets") })
	}
}

// The same on a disk: north's home is a small file system, which is full when its ledger must record
// the first message that reveals something.
func TestFullDiskOfAHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a small file system")
	}
	j := columns(t)
	j.Timeout = job.Timeout{Join: 20 * time.Second, Round: 20 * time.Second}
	w := newTestbed(t, tumours(t, j))
	home := w.home("north")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", home).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let root mount a file system: %s", out)
	}
	t.Cleanup(func() {
		w.halt("north")
		if out, err := exec.Command("umount", "-l", home).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	filler := filepath.Join(home, "filler")
	var full atomic.Bool
	w.noted = func([]byte) {
		if list, err := w.releases("north").List(); err == nil && len(list) > 0 && full.CompareAndSwap(false, true) {
			fill(t, filler)
		}
	}
	w.startAll()
	id := w.submit(j)
	w.eventually("north's disk is full", full.Load)
	w.eventually("north says so", func() bool { return strings.Contains(w.lines(hub), fault.Disk.Sentence()) })
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		w.restart("north")
		done, err := w.members[hub].boss.Get(id)
		switch {
		case err != nil || time.Now().After(deadline):
			t.Fatalf("the job does not end: %v", err)
		case done.Over():
			if done.Failure != nil {
				t.Errorf("the job ends with %+v", done.Failure)
			}
			return
		}
	}
}

// fill writes until nothing more fits.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close() //nolint:errcheck // it is to be full
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

// A party that stalls and continues by turns, as fast as it can, soon has no effect: neither the
// coordinator nor another party logs more than a few lines, and the others receive a message once a
// second at most. It represents a party with its own program.
func TestStallsByTurnsAreSoonHeardNoMore(t *testing.T) {
	t.Parallel()
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	done := make(chan struct{})
	w.actor("east", func(a *actor, m protocol.Message) {
		polite(a, m)
		if m.Kind != control.KindDirectory {
			return
		}
		for i := range 200 {
			s := control.Stall{Member: "east", Trouble: []fault.Trouble{fault.Disk, fault.NoTrouble}[i%2]}
			a.tell(m.Session, control.KindStall, s.Encode())
		}
		close(done)
	})
	for _, name := range []string{hub, "north", "south"} {
		w.start(name, never)
	}
	id := w.submit(j)
	<-done
	time.Sleep(1500 * time.Millisecond)
	const stalls = "cannot continue a session for now"
	for name, most := range map[string]int{hub: 8, "north": 4, "south": 4} {
		if n := strings.Count(w.lines(name), stalls); n == 0 || n > most {
			t.Errorf("%s has %d lines of it, want 1 to %d", name, n, most)
		}
	}
	if n := strings.Count(w.lines(hub), "continues a session"); n > 8 {
		t.Errorf("the coordinator has %d lines that it goes on", n)
	}
	if err := w.members[hub].boss.Abort(id); err != nil {
		t.Error(err)
	}
	w.wait(id)
}
