package okra

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
)

func TestDifferentWidthsEndTheOddParty(t *testing.T) {
	w := newWorld(t, Spec{}, Input{Rows: randomRows("a", 2, 64)}, Input{Rows: randomRows("b", 2, 63)}, Input{Rows: randomRows("c", 2, 64)})
	w.start(t)
	w.deliver(t)
	var mismatch *MismatchError
	const want = "okra: north (the leader) has rows of 64 features, south has rows of 63; agree on the columns"
	if err := w.ends["south"]; !errors.As(err, &mismatch) || err.Error() != want {
		t.Errorf("south: %v, want %s", err, want)
	}
	for _, m := range w.sent {
		if m.Sender == "south" {
			t.Errorf("south sends %v", m.Header)
		}
	}
	if err := w.step(t, "hub", protocol.Expired{Timer: TimerAnnounce}); err != nil {
		t.Fatal(err)
	}
	if want := "south (silent): okra: an announcement did not come in time"; fmt.Sprint(w.ends["hub"]) != want {
		t.Errorf("hub: %v, want %s", w.ends["hub"], want)
	}
}

func TestServerComparesAnnouncements(t *testing.T) {
	for _, c := range []struct {
		name  string
		odd   map[string]bool
		alter func(*announce)
		want  string
	}{
		{"tag", map[string]bool{"south": true}, func(a *announce) { a.tag[31] ^= 1 },
			"okra: south's encoding parameters differ from the leader's (north): other features, seed or settings"},
		{"tags", map[string]bool{"south": true, "east": true}, func(a *announce) { a.tag[0] ^= 1 },
			"okra: south and east's encoding parameters differ from the leader's (north): other features, seed or settings"},
		{"width", map[string]bool{"east": true}, func(a *announce) { a.width += 8 },
			"okra: east's encoding parameters differ from the leader's (north): other features, seed or settings"},
		{"labels", map[string]bool{"east": true}, func(a *announce) { a.labelled = false },
			"okra: east and the leader (north) do not agree on whether rows have labels"},
		{"rows", map[string]bool{"east": true}, func(a *announce) { a.rows = 1 << 21 },
			"okra: 2097158 rows are announced, this server takes 1048576; raise its limit or bring fewer"},
		{"bytes", map[string]bool{"east": true}, func(a *announce) { a.rows = 1 << 19 },
			"okra: 524294 rows of 72 encoded numbers need 2199224584160 bytes, this server takes 8589934592; raise its limit or bring fewer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Spec{}, share(randomRows("compare", 8, 5), 3, 3, 2)...)
			w.tamper = func(m *protocol.Message) {
				if m.Kind == kindAnnounce && c.odd[m.Sender] {
					a, err := decodeAnnounce(m.Body)
					if err != nil {
						t.Fatal(err)
					}
					c.alter(&a)
					m.Body = a.encode()
				}
			}
			w.start(t)
			w.deliver(t)
			if err := w.ends["hub"]; err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			if _, err := w.machines["hub"].Step(protocol.Resumed{}); err == nil {
				t.Error("the server goes on after its end")
			}
		})
	}
}

func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name  string
		lost  func(protocol.Message) bool
		who   string
		timer protocol.Timer
		want  string
	}{
		{"seed", func(m protocol.Message) bool { return m.Kind == kindSeed }, "south", TimerSeed, "north (silent): okra: the epoch's seed did not come in time"},
		{"announce", func(m protocol.Message) bool { return m.Kind == kindSeed }, "hub", TimerAnnounce, "south and east (silent): okra: an announcement did not come in time"},
		{"rows", func(m protocol.Message) bool { return m.Kind == kindRows && m.Sender == "south" }, "hub", TimerRows, "south (silent): okra: rows did not come in time"},
		{"labels", func(m protocol.Message) bool { return m.Kind == kindLabels && m.Sender != "south" }, "hub", TimerRows, "north and east (silent): okra: rows did not come in time"},
		{"receipt", func(m protocol.Message) bool { return m.Kind == kindReceipt }, "east", TimerReceipt, "hub (silent): okra: a receipt did not come in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Spec{}, share(randomRows("silence", 6, 5), 2, 2, 2)...)
			w.start(t)
			for step := 0; step < 20; step++ { // messages beget messages
				kept := w.queue[:0:0]
				for _, m := range w.queue {
					if !c.lost(m) {
						kept = append(kept, m)
					}
				}
				w.queue = kept
				if len(w.queue) > 0 {
					m := w.queue[0]
					w.queue = w.queue[1:]
					if err := w.step(t, m.Receiver, protocol.Received{Message: m}); errors.Is(err, protocol.ErrLater) {
						w.queue = append(w.queue, m)
					}
				}
			}
			if err := w.step(t, c.who, protocol.Expired{Timer: c.timer}); err != nil {
				t.Fatal(err)
			}
			if err := w.ends[c.who]; err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			var blame *protocol.BlameError
			if !errors.As(w.ends[c.who], &blame) || blame.Kind != protocol.KindSilent {
				t.Errorf("%v blames nobody for silence", w.ends[c.who])
			}
		})
	}
}

// A timer of a round that is over, or has not begun, changes nothing.
func TestLateTimersDoNothing(t *testing.T) {
	w := newWorld(t, Spec{}, share(randomRows("late", 4, 5), 2, 2)...)
	w.start(t)
	nothing := func(name string, timer protocol.Timer) {
		t.Helper()
		if effects, err := w.machines[name].Step(protocol.Expired{Timer: timer}); err != nil || !cmp.Equal(effects, protocol.Effects{}) {
			t.Errorf("%s, %s: %+v, %v", name, timer, effects, err)
		}
	}
	nothing("north", TimerSeed)
	nothing("south", TimerReceipt)
	nothing("hub", TimerRows)
	for _, name := range w.order {
		if _, err := w.machines[name].Step(protocol.Expired{Timer: "okra/other"}); err == nil {
			t.Errorf("%s knows the timer okra/other", name)
		}
	}
	for range 3 { // both announcements, and the seed before the second
		m := w.queue[0]
		w.queue = w.queue[1:]
		_ = w.step(t, m.Receiver, protocol.Received{Message: m}) // some are refused for now
		if m.Kind != kindSeed && m.Kind != kindAnnounce {
			w.queue = append(w.queue, m)
		}
	}
	w.deliver(t)
	if w.ends["hub"] != nil || w.ends["north"] != nil {
		t.Error(w.ends)
	}
}

// Before all have announced, rows must wait and nothing is stored; after
// that, memory is the encoded rows, the Gram matrix and small change.
func TestServerMemory(t *testing.T) {
	const n, f = 300, 3000
	inputs := share(randomRows("memory", 3*n, f), n, n, n)
	w := newWorld(t, Spec{Rounds: 2}, inputs...)
	w.start(t)
	var held, announcements []protocol.Message
	for len(w.queue) > 0 {
		m := w.queue[0]
		w.queue = w.queue[1:]
		switch m.Kind {
		case kindSeed:
			if err := w.step(t, m.Receiver, protocol.Received{Message: m}); err != nil {
				t.Fatal(err)
			}
		case kindAnnounce:
			announcements = append(announcements, m)
		default:
			held = append(held, m)
		}
	}
	before := heap()
	for i, a := range announcements {
		for range 20 {
			for _, m := range held {
				if err := w.step(t, "hub", protocol.Received{Message: m}); !errors.Is(err, protocol.ErrLater) {
					t.Fatalf("%v: %v", m.Header, err)
				}
			}
		}
		if grown := heap() - before; i < 3 && grown > 1<<20 {
			t.Errorf("%d bytes held while %d have announced", grown, i)
		}
		if err := w.step(t, "hub", protocol.Received{Message: a}); err != nil {
			t.Fatal(err)
		}
	}
	w.queue = held
	w.deliver(t)
	w.queue, w.sent, w.effects = nil, nil, nil
	width := f + Padding(f)
	want := int64(4*3*n*width + 8*9*n*n)
	if grown := heap() - before; grown > want+4<<20 {
		t.Errorf("%d bytes held at the end, %d are rows and Gram matrix", grown, want)
	}
	runtime.KeepAlive(w)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
