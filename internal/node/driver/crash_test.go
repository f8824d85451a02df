package driver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// bodies returns what was sent, by header.
func (w *testbed) bodies() map[string]string {
	list := make(map[string]string)
	for h, m := range w.broker.sent {
		list[h] = string(m.Body)
	}
	return list
}

func undisturbed(t *testing.T) *testbed {
	t.Helper()
	w := newTestbed(t, newWorker, hub)
	if err := w.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got, want := len(w.broker.sent), 1+rows+1; got != want {
		t.Fatalf("%d messages sent, want %d", got, want)
	}
	if len(w.broker.queue) > 0 {
		t.Fatalf("%d messages were never acknowledged: %v", len(w.broker.queue), w.broker.queue[0].Header)
	}
	checkOrder(t, w.diary.all())
	return w
}

// at makes the n-th call of a kind fail.
func at(kind string, n int, err error) func(string, int) error {
	return func(k string, i int) error {
		if k == kind && i == n {
			return err
		}
		return nil
	}
}

// cancelAt stops the process at the n-th call of a kind.
func cancelAt(kind string, n int, stop func()) func(string, int) error {
	return func(k string, i int) error {
		if k == kind && i == n {
			stop()
		}
		return nil
	}
}

// faults are the ways in which a process ends before its time.
var faults = []struct {
	kind   string
	cancel bool
	err    error
}{
	{kind: "append", err: errCrash},
	{kind: "sync", err: errCrash},
	{kind: "claim", err: errCrash},
	{kind: "send", err: transport.ErrClosed},
	{kind: "taken", err: transport.ErrClosed},
	{kind: "append", cancel: true},
	{kind: "sync", cancel: true},
	{kind: "ack", cancel: true},
	{kind: "later", cancel: true},
	{kind: "send", cancel: true},
	{kind: "taken", cancel: true},
}

// disturb lives through a fault at every index in two lives, and then through
// an undisturbed third one, which must end as if nothing had happened.
func disturb(t *testing.T, after func(*testbed)) {
	want := undisturbed(t)
	for _, f := range faults {
		last := want.diary.count[f.kind]
		for n := range last + 2 {
			t.Run(fmt.Sprintf("%s %d cancel %v", f.kind, n, f.cancel), func(t *testing.T) {
				w := newTestbed(t, newWorker, hub)
				for range 2 {
					ctx, stop := context.WithCancel(t.Context())
					fail := at(f.kind, n, f.err)
					if f.cancel {
						fail = cancelAt(f.kind, n, stop)
					}
					err := w.run(ctx, fail)
					stop()
					if err != nil && !errors.Is(err, ErrInterrupted) {
						t.Fatalf("%v, want an interruption", err)
					}
					after(w)
				}
				if err := w.run(t.Context(), nil); err != nil {
					t.Fatalf("the last life: %v", err)
				}
				checkOrder(t, w.diary.all())
				if diff := cmp.Diff(want.bodies(), w.bodies()); diff != "" {
					t.Fatal(diff)
				}
			})
		}
	}
}

func TestKilledAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	disturb(t, func(*testbed) {})
}

// Unsynced records are gone, so no message that only they hold may have been acknowledged.
func TestPowerCutAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	disturb(t, (*testbed).powerCut)
}

// The same over a journal on disk, which is closed without a word.
func TestKilledAnywhereOnDisk(t *testing.T) {
	want := undisturbed(t)
	for n := range want.diary.count["append"] {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newTestbed(t, newWorker, hub)
			root := filepath.Join(t.TempDir(), "vault")
			w.onDisk(root, at("append", n, errCrash), ErrInterrupted)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if err := w.onDiskWith(ctx, root, cancelAt("append", n+2, stop)); err != nil && !errors.Is(err, ErrInterrupted) {
				t.Fatal(err)
			}
			w.onDisk(root, nil, nil)
			if diff := cmp.Diff(want.bodies(), w.bodies()); diff != "" {
				t.Fatal(diff)
			}
			checkOrder(t, w.diary.all())
		})
	}
}

func (w *testbed) onDisk(root string, fail func(string, int) error, want error) {
	w.t.Helper()
	if err := w.onDiskWith(w.t.Context(), root, fail); !errors.Is(err, want) {
		w.t.Fatalf("%v, want %v", err, want)
	}
}

// onDiskWith is one life of a process with a vault.
func (w *testbed) onDiskWith(ctx context.Context, root string, fail func(string, int) error) error {
	w.t.Helper()
	v, err := vault.OpenDisk(root, "a build")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := v.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	open, lost, err := v.Open()
	if err != nil || len(lost) > 0 {
		w.t.Fatal(lost, err)
	}
	var s vault.Session
	if len(open) > 0 {
		s = open[0]
	} else if s, err = v.Create(w.session.ID(), [32]byte{9}, []byte("proposal")); err != nil {
		w.t.Fatal(err)
	}
	_, err = w.runOn(ctx, s, s.Records(), fail)
	return err
}

// crashed returns a testbed whose session was interrupted in the middle.
func crashed(t *testing.T) *testbed {
	t.Helper()
	w := newTestbed(t, newWorker, hub)
	if err := w.run(t.Context(), at("taken", 3, transport.ErrClosed)); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	return w
}

// refusesToRun asserts that a life ends with want, finally, and sends nothing;
// nor does any later one.
func (w *testbed) refusesToRun(want error) {
	w.t.Helper()
	before := len(w.diary.kinds("send", "claim"))
	if err := w.run(w.t.Context(), nil); !errors.Is(err, want) || errors.Is(err, ErrInterrupted) {
		w.t.Fatalf("%v, want %v", err, want)
	}
	w.input, w.machine = [32]byte{1}, func() protocol.Machine { return newWorker(w.session) }
	if err := w.run(w.t.Context(), nil); err == nil || errors.Is(err, ErrInterrupted) {
		w.t.Fatalf("%v: an aborted session runs again", err)
	}
	if after := len(w.diary.kinds("send", "claim")); after != before {
		w.t.Fatalf("%d messages or claims after the abort", after-before)
	}
}

func TestEditedInputSendsNothing(t *testing.T) {
	w := crashed(t)
	w.input = [32]byte{2}
	w.refusesToRun(ErrInputChanged)
}

// skewed changes what a machine does at its n-th step.
type skewed struct {
	protocol.Machine
	n    int
	skew func(*protocol.Effects) error
}

func (s *skewed) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := s.Machine.Step(e)
	if s.n--; s.n == 0 && err == nil {
		err = s.skew(&effects)
	}
	return effects, err
}

func TestDivergedReplaySendsNothing(t *testing.T) {
	for name, skew := range map[string]func(*protocol.Effects) error{
		"body":    func(e *protocol.Effects) error { e.Send[0].Body[0]++; return nil },
		"header":  func(e *protocol.Effects) error { e.Send[0].Round++; return nil },
		"missing": func(e *protocol.Effects) error { e.Send = e.Send[1:]; return nil },
		"more":    func(e *protocol.Effects) error { e.Send = append(e.Send, e.Send[0]); return nil },
		"refused": func(*protocol.Effects) error { return errors.New("no") },
	} {
		t.Run(name, func(t *testing.T) {
			w := crashed(t)
			w.machine = func() protocol.Machine { return &skewed{newWorker(w.session), 1, skew} }
			w.refusesToRun(ErrDiverged)
		})
	}
	t.Run("claims", func(t *testing.T) {
		w := crashed(t)
		w.machine = func() protocol.Machine { return &greedy{newWorker(w.session)} }
		w.refusesToRun(ErrDiverged)
	})
	t.Run("seed", func(t *testing.T) {
		w := crashed(t)
		w.machine = func() protocol.Machine { return newSeeded(w.session, 8) }
		w.refusesToRun(ErrDiverged)
	})
}

// greedy claims more than it did.
type greedy struct{ protocol.Machine }

func (g *greedy) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := g.Machine.Step(e)
	if len(effects.Claim) > 0 {
		effects.Claim = append(effects.Claim, "another")
	}
	return effects, err
}

// A crash between the journal and the ledger must not leave a name unclaimed
// whose messages are sent.
func TestReplayClaimsBeforeItSends(t *testing.T) {
	w := newTestbed(t, newWorker, hub)
	if err := w.run(t.Context(), at("claim", 0, errCrash)); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	w.ledger.held["block/0"] = protocol.SessionID{66}
	sent := len(w.broker.sent)
	if err := w.run(t.Context(), nil); err == nil || errors.Is(err, ErrInterrupted) {
		t.Fatalf("%v, want a final error: another session holds the name", err)
	}
	if len(w.broker.sent) != sent {
		t.Fatal("messages were sent under a name that another session holds")
	}
}

func TestOutcomeSurvivesACrash(t *testing.T) {
	w := newTestbed(t, newWorker, hub)
	if err := w.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	records, sends := len(w.log.records), len(w.diary.kinds("send"))
	if err := w.run(t.Context(), nil); err != nil {
		t.Fatalf("a second Run of an ended session: %v", err)
	}
	if len(w.log.records) != records || len(w.diary.kinds("send")) != sends {
		t.Fatal("a second Run of an ended session changed something")
	}
	if err := Replay(w.machine(), w.input, w.log.Records()); err != nil {
		t.Fatalf("Replay: %v", err)
	}
	if err := Replay(w.machine(), [32]byte{2}, w.log.Records()); !errors.Is(err, ErrInputChanged) {
		t.Fatalf("Replay over another input: %v", err)
	}
	w.log.records = w.log.records[:4]
	if err := Replay(w.machine(), w.input, w.log.Records()); err == nil {
		t.Fatal("Replay took half a journal for a session's end")
	}
}

func TestTrafficIsOfThisLife(t *testing.T) {
	w := newTestbed(t, newWorker, hub)
	whole, err := w.runOn(t.Context(), w.log, w.log.Records(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Traffic{Sent: 32 * (rows + 2), Received: 32 * (rows + bulks)}); whole != want {
		t.Fatalf("%+v, want %+v", whole, want)
	}
	again, err := w.runOn(t.Context(), w.log, w.log.Records(), nil)
	if err != nil || again != (Traffic{}) {
		t.Fatalf("%+v, %v of a replay, want nothing", again, err)
	}
}
