package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func TestTranscript(t *testing.T) {
	want := `session of count version 1, purpose "test"
member sender, party
member receiver, server
1 sender: start
1 sender: crash, 1 events replayed
2 receiver: start
3 sender>receiver count.1 Number, 4 bytes, df3f6198
4 sender: resumed
4 sender: end
5 sender>receiver count.1 Number #1, 4 bytes, 67abdd72
5 receiver: end
`
	cfg := counting(t, 2, 1)
	cfg.Crash = []sim.Crash{{Node: "sender", Event: 0}}
	r := mustRun(t, cfg)
	if diff := cmp.Diff(want, r.Transcript()); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	wantEdges := []sim.Edge{{From: "sender", To: "receiver", Messages: 2, Bytes: 8}}
	if diff := cmp.Diff(wantEdges, r.Edges, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".waiting" }, cmp.Ignore())); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	if r.Steps != 5 || r.Ticks != 5 {
		t.Errorf("%d steps in %d ticks, want 5 in 5", r.Steps, r.Ticks)
	}
	if o := r.Outcome("sender"); o.Events != 2 || o.Crashes != 1 {
		t.Errorf("sender: %d events, %d crashes; want 2 and 1", o.Events, o.Crashes)
	}
}

// harsh is a schedule with all faults.
func harsh(seed uint64) sim.Schedule {
	return sim.Schedule{Seed: seed, Loss: 0.3, Duplicate: 0.3, Reorder: 0.7, MaxDelay: 9, Window: 5, CrashRate: 0.1, Slow: map[string]int64{"receiver": 3}}
}

func TestSameSeedSameRun(t *testing.T) {
	seen := make(map[string]bool)
	for seed := range uint64(20) {
		cfg := counting(t, 30, 3)
		cfg.Schedule = harsh(seed)
		a, b := mustRun(t, cfg), mustRun(t, cfg)
		if a.Transcript() != b.Transcript() {
			t.Fatalf("seed %d gives two different runs", seed)
		}
		if err := a.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, a.Transcript())
		}
		seen[a.Transcript()] = true
	}
	if len(seen) < 20 {
		t.Errorf("20 seeds gave %d different runs", len(seen))
	}
}

// Every message is accepted exactly once, although each is lost once and each
// arrives twice.
func TestExactlyOnce(t *testing.T) {
	cfg := counting(t, 20, 20)
	cfg.Schedule = sim.Schedule{Loss: 1, Duplicate: 1, CrashRate: 1}
	r := mustRun(t, cfg)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if len(r.Refusals) > 0 {
		t.Errorf("a duplicate came through to the machine after a crash: %v", r.Refusals[0])
	}
	if got := r.Outcome("receiver").Events; got != 21 {
		t.Errorf("the receiver accepted %d events, want the start and 20 messages", got)
	}
	for _, word := range []string{": lost", ": duplicate"} {
		if got := strings.Count(r.Transcript(), word); got < 19 {
			t.Errorf("%d lines with %q, want at least 19", got, word)
		}
	}
}

func TestLaterWaitsForProgress(t *testing.T) {
	s := session(t, 1)
	cfg := counting(t, 3, 3)
	cfg.Intercept = func(m protocol.Message) []protocol.Message {
		if m.Sequence == 0 {
			return nil // the others wait for it forever
		}
		return []protocol.Message{m}
	}
	r := mustRun(t, cfg)
	if diff := cmp.Diff([]string{"receiver"}, r.Stalled()); diff != "" {
		t.Errorf("stalled (-want +got):\n%s", diff)
	}
	if got := strings.Count(r.Transcript(), ": later"); got != 2 {
		t.Errorf("%d messages were put back, want 2 and no retry without progress", got)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "receiver never ended") {
		t.Errorf("Err = %v, want it to name the receiver", err)
	}
	if _, ok := r.Sent[number(s, 0).Header]; !ok {
		t.Error("Sent lacks a message that the network dropped")
	}
}

func TestWindowBoundsWhatIsUndelivered(t *testing.T) {
	for _, window := range []int{1, 4, 16} {
		cfg := counting(t, 200, 1)
		cfg.Schedule = sim.Schedule{Window: window, Slow: map[string]int64{"receiver": 1000}}
		r := mustRun(t, cfg)
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		want := sim.Flight{Messages: window, Bytes: 4 * int64(window)}
		if r.Peak != want || r.Outcome("receiver").Peak != want {
			t.Errorf("window %d: peak %v, at the receiver %v; want %v", window, r.Peak, r.Outcome("receiver").Peak, want)
		}
	}
	r := mustRun(t, func() sim.Config {
		cfg := counting(t, 200, 1)
		cfg.Slow = map[string]int64{"receiver": 1000}
		return cfg
	}())
	if r.Peak.Messages != 200 {
		t.Errorf("without a window the peak is %d messages, want 200", r.Peak.Messages)
	}
}

// Messages that a receiver refuses, or will never take because it has ended, do not hold
// the sender back.
func TestWindowIsFreedByRefusalsAndEnds(t *testing.T) {
	refusing := func() stepper {
		return func(e protocol.Event) (protocol.Effects, error) {
			if _, ok := e.(protocol.Received); ok {
				return protocol.Effects{}, errors.New("no")
			}
			return protocol.Effects{}, nil
		}
	}
	for name, build := range map[string]func() stepper{"refuses": refusing, "ends": receiver(session(t, 1), 1)} {
		cfg := counting(t, 9, 3)
		cfg.Nodes[1] = node("receiver", build)
		cfg.Schedule = sim.Schedule{Window: 1}
		if o := mustRun(t, cfg).Outcome("sender"); o.End == nil {
			t.Errorf("the receiver %s, and the sender waits for it for ever", name)
		}
	}
}

func TestTimersWaitForRest(t *testing.T) {
	cfg := counting(t, 3, 1)
	cfg.Nodes[1].Timers = map[protocol.Timer]int64{"numbers": 0}
	cfg.Schedule = sim.Schedule{MaxDelay: 50, Slow: map[string]int64{"receiver": 500}}
	if err := mustRun(t, cfg).Err(); err != nil {
		t.Errorf("the timer fired although messages were under way: %v", err)
	}
	cfg.Gone = map[string]int{"sender": 1}
	r := mustRun(t, cfg)
	if o := r.Outcome("receiver"); o.End == nil || o.End.Err == nil || o.End.Err.Error() != "waited too long" {
		t.Errorf("the receiver ended with %v, want its timer to fire", o.End)
	}
	if r.Outcome("sender").End != nil {
		t.Error("a node that is gone ended")
	}
	cfg.Gone, cfg.Hasty = nil, 1
	if err := mustRun(t, cfg).Err(); err == nil {
		t.Error("a hasty timer did not fire early")
	}
}

func TestTimersFireInOrder(t *testing.T) {
	s := session(t, 1)
	var fired []protocol.Timer
	waiting := func() stepper {
		return func(e protocol.Event) (protocol.Effects, error) {
			if e, ok := e.(protocol.Expired); ok {
				fired = append(fired, e.Timer)
				return protocol.Effects{}, nil
			}
			return protocol.Effects{Arm: []protocol.Timer{"c", "b", "a", "never", "c"}}, nil
		}
	}
	n := node("sender", waiting)
	n.Timers = map[protocol.Timer]int64{"a": 7, "b": 7, "c": 7}
	r := mustRun(t, sim.Config{Session: s, Nodes: []sim.Node{n}})
	if want := []protocol.Timer{"b", "a", "c"}; !slices.Equal(fired, want) {
		t.Errorf("timers fired as %v, want %v: ties go by the last arming", fired, want)
	}
	if r.Ticks < 7 {
		t.Errorf("the run took %d ticks, want time to jump to 7", r.Ticks)
	}
}

// A timer that every message restarts runs out only after its whole time without a message,
// as under the real driver's clock.
func TestArmingAgainBeginsAnew(t *testing.T) {
	run := func(ticks int64) (events int, err error) {
		cfg := counting(t, 4, 1)
		cfg.Nodes[1].Timers = map[protocol.Timer]int64{"numbers": ticks}
		cfg.Schedule = sim.Schedule{Window: 1, Slow: map[string]int64{"receiver": 100}, Prompt: true}
		r := mustRun(t, cfg)
		return r.Outcome("receiver").Events, r.Outcome("receiver").End.Err
	}
	if events, err := run(150); err != nil || events != 5 {
		t.Errorf("four messages, 100 ticks apart, and a timer of 150: %d events, %v; want the start, the messages and no expiry", events, err)
	}
	if events, err := run(90); err == nil || events != 2 {
		t.Errorf("a timer of 90: %d events, %v; want the start and an expiry", events, err)
	}
}

func TestMissingMemberSwallowsMessages(t *testing.T) {
	cfg := counting(t, 3, 1)
	cfg.Nodes = cfg.Nodes[:1]
	cfg.Window = 1
	if err := mustRun(t, cfg).Err(); err != nil {
		t.Errorf("the sender waits for a member that has no node: %v", err)
	}
}

func TestClaims(t *testing.T) {
	claiming := func(s *protocol.Session) sim.Node {
		return node("sender", func() stepper {
			return func(protocol.Event) (protocol.Effects, error) {
				return protocol.Effects{Claim: []string{"epoch 7"}, Send: []protocol.Message{number(s, 0)}, End: &protocol.End{}}, nil
			}
		})
	}
	first, second, ledger := session(t, 1), session(t, 2), new(memory.Ledger)
	run := func(s *protocol.Session) *sim.Result {
		return mustRun(t, sim.Config{Session: s, Nodes: []sim.Node{claiming(s)}, Ledger: ledger, Schedule: sim.Schedule{Crash: []sim.Crash{{Node: "sender", Event: 0}}}})
	}
	if err := run(first).Err(); err != nil {
		t.Errorf("first session: %v", err)
	}
	if err := run(first).Err(); err != nil {
		t.Errorf("the same session again: %v", err)
	}
	r := run(second)
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), `the name "epoch 7" of sender is taken`) {
		t.Errorf("another session: %v, want a refusal", err)
	}
	if len(r.Sent) != 0 {
		t.Error("a message was sent although the claim failed")
	}
}

func TestStartRefusedEndsTheNode(t *testing.T) {
	refusing := node("sender", func() stepper {
		return func(protocol.Event) (protocol.Effects, error) {
			return protocol.Effects{}, errors.New("other input")
		}
	})
	r := mustRun(t, sim.Config{Session: session(t, 1), Nodes: []sim.Node{refusing}})
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "other input") {
		t.Errorf("Err = %v, want the refusal of Start", err)
	}
}
