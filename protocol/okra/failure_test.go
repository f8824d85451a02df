package okra

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func TestDifferentWidthsEndTheOddParty(t *testing.T) {
	w := run(t, training(t, Spec{}, Input{Rows: randomRows("a", 2, 64)}, Input{Rows: randomRows("b", 2, 63)}, Input{Rows: randomRows("c", 2, 64)}))
	var mismatch *MismatchError
	w.wantEnd(t, "south", "okra: north (the leader) has rows of 64 features, south has rows of 63; agree on the columns")
	if !errors.As(w.end("south"), &mismatch) {
		t.Fatalf("%T, want a MismatchError", w.end("south"))
	}
	const public = "okra: south and north (the leader) have different numbers of features; see south's log for the numbers, and agree on the columns"
	if !errors.Is(mismatch, protocol.ErrInput) || mismatch.Public() != public {
		t.Errorf("the server is told %q, want %q", mismatch.Public(), public)
	}
	for _, m := range w.sent {
		if m.Sender == "south" {
			t.Errorf("south sends %v", m.Header)
		}
	}
	w.wantEnd(t, "hub", "south (silent): okra: an announcement did not come in time")
}

func TestServerComparesAnnouncements(t *testing.T) {
	for _, c := range []struct {
		name  string
		odd   map[string]bool
		alter func(*announce)
		want  string
	}{
		{"tag", map[string]bool{"south": true}, func(a *announce) { a.tag[31] ^= 1 },
			"okra: south's encoding parameters differ from those of the leader (north): features, seed or settings are not the same"},
		{"tags", map[string]bool{"south": true, "east": true}, func(a *announce) { a.tag[0] ^= 1 },
			"okra: south and east's encoding parameters differ from those of the leader (north): features, seed or settings are not the same"},
		{"width", map[string]bool{"east": true}, func(a *announce) { a.width += 8 },
			"okra: east's encoding parameters differ from those of the leader (north): features, seed or settings are not the same"},
		{"labels", map[string]bool{"east": true}, func(a *announce) { a.labelled = false },
			"okra: east and the leader (north) do not agree on whether rows have labels"},
		{"rows", map[string]bool{"east": true}, func(a *announce) { a.rows = 1 << 21 },
			"okra: the parties announce 2097158 rows, but this server takes at most 1048576; bring fewer rows"},
		{"bytes", map[string]bool{"east": true}, func(a *announce) { a.rows = 1 << 19 },
			"okra: 524294 rows of 72 encoded numbers need 2048.2 GiB with their Gram matrix, but this server allows 8.0 GiB; bring fewer rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := training(t, Spec{}, share(randomRows("compare", 8, 5), 3, 3, 2)...)
			cfg.Intercept = func(m protocol.Message) []protocol.Message {
				if m.Kind == kindAnnounce && c.odd[m.Sender] {
					changeAnnounce(c.alter)(&m)
				}
				return []protocol.Message{m}
			}
			w := run(t, cfg)
			w.wantEnd(t, "hub", c.want)
			if _, err := w.server().Step(protocol.Resumed{}); err == nil {
				t.Error("the server goes on after its end")
			}
		})
	}
}

// A waiting machine names the first of the missing members, in the descriptor's
// order, and the others in words.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name   string
		lost   func(protocol.Message) bool
		who    string
		blamed string
		want   string
	}{
		{"seed", func(m protocol.Message) bool { return m.Kind == kindSeed }, "south", "north", "north (silent): okra: the epoch's seed did not come in time"},
		{"announce", func(m protocol.Message) bool { return m.Kind == kindSeed }, "hub", "south", "south (silent): okra: an announcement did not come in time; also silent: east"},
		{"announcements", func(m protocol.Message) bool { return m.Kind == kindAnnounce }, "hub", "north", "north (silent): okra: an announcement did not come in time; also silent: south and east"},
		{"rows", func(m protocol.Message) bool { return m.Kind == kindRows && m.Sender == "south" }, "hub", "south", "south (silent): okra: rows did not come in time"},
		{"labels", func(m protocol.Message) bool { return m.Kind == kindLabels && m.Sender != "south" }, "hub", "north", "north (silent): okra: rows did not come in time; also silent: east"},
		{"receipt", func(m protocol.Message) bool { return m.Kind == kindReceipt }, "east", "hub", "hub (silent): okra: a receipt did not come in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := training(t, Spec{}, share(randomRows("silence", 6, 5), 2, 2, 2)...)
			cfg.Intercept = without(c.lost)
			w := run(t, cfg)
			w.wantEnd(t, c.who, c.want)
			var blame *protocol.BlameError
			if !errors.As(w.end(c.who), &blame) || blame.Kind != protocol.KindSilent || blame.Party != c.blamed {
				t.Errorf("%v blames another than %s, or not for silence", w.end(c.who), c.blamed)
			}
		})
	}
}

// without loses messages.
func without(lost func(protocol.Message) bool) func(protocol.Message) []protocol.Message {
	return func(m protocol.Message) []protocol.Message {
		if lost(m) {
			return nil
		}
		return []protocol.Message{m}
	}
}

// The timers limit the time between two messages: an upload that takes several times as long
// continues while messages arrive, and ends when none do.
func TestSlowUploadLives(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	inputs := share(randomRows("slow", 800, 1700), 400, 400) // two steps each
	cfg := training(t, Spec{Rounds: 2, Wire: Float64}, inputs...)
	cfg.Schedule = sim.Schedule{Window: 1, Slow: map[string]int64{"hub": 900}, Prompt: true}
	for i := range cfg.Nodes[1:] {
		cfg.Nodes[1+i].Timers = map[protocol.Timer]int64{TimerSeed: 1000, TimerReceipt: 5000}
	}
	r := run(t, cfg)
	if err := r.Err(); err != nil || r.Ticks < 3*timers[TimerRows] {
		t.Errorf("after %d ticks: %v\n%s", r.Ticks, err, r.Transcript())
	}
	cfg.Gone = map[string]int{"south": 5} // after the first rows
	w := run(t, cfg)
	w.wantEnd(t, "hub", "south (silent): okra: rows did not come in time")
}

// A timer of a round that is over, or has not begun, changes nothing.
func TestLateTimersDoNothing(t *testing.T) {
	cfg := training(t, Spec{}, share(randomRows("late", 4, 5), 2, 2)...)
	mustRun(t, watch(cfg, func(m protocol.Machine, _ protocol.Event, e protocol.Effects, _ error) {
		var idle []protocol.Timer
		switch m := m.(type) {
		case *Server:
			switch {
			case e.End != nil:
			case m.store == nil:
				idle = []protocol.Timer{TimerRows}
			case m.gram == nil:
				idle = []protocol.Timer{TimerAnnounce}
			default:
				idle = []protocol.Timer{TimerAnnounce, TimerRows}
			}
		case *Party:
			if e.End == nil && m.upload != nil {
				idle = append(idle, TimerSeed)
			}
			if waits := m.upload != nil && !m.granted || m.sent(); e.End == nil && !waits {
				idle = append(idle, TimerReceipt)
			}
		}
		for _, timer := range idle {
			if effects, err := m.Step(protocol.Expired{Timer: timer}); err != nil || !cmp.Equal(effects, protocol.Effects{}) {
				t.Errorf("%T, %s: %+v, %v", m, timer, effects, err)
			}
		}
	}))
}

// A machine that still waits after a message has armed its timer anew.
func TestWaitingArmsAnew(t *testing.T) {
	waits := make(map[protocol.Timer]int)
	cfg := training(t, Spec{}, share(randomRows("anew", 6, 5), 2, 2, 2)...)
	mustRun(t, watch(cfg, func(m protocol.Machine, e protocol.Event, eff protocol.Effects, err error) {
		s, ok := m.(*Server)
		if !ok || err != nil || s.gram != nil {
			return
		}
		timer := TimerRows
		if s.store == nil {
			timer = TimerAnnounce
		}
		if waits[timer]++; !slices.Equal(eff.Arm, []protocol.Timer{timer}) {
			t.Errorf("after %T the server arms %v, want %s", e, eff.Arm, timer)
		}
	}))
	// The start and two of three announcements; the third and five of six chunks.
	if want := map[protocol.Timer]int{TimerAnnounce: 3, TimerRows: 6}; !cmp.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
}
