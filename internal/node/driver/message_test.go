package driver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// script is a machine made of one function; its zero effects accept.
type script func(protocol.Event) (protocol.Effects, error)

func (s script) Step(e protocol.Event) (protocol.Effects, error) { return s(e) }

func scripted(t testing.TB, f func(s *protocol.Session, e protocol.Event) (protocol.Effects, error)) *testbed {
	return newTestbed(t, func(s *protocol.Session) protocol.Machine {
		return script(func(e protocol.Event) (protocol.Effects, error) { return f(s, e) })
	}, nil)
}

var over = protocol.Effects{End: &protocol.End{}}

// kindOf returns the kind of a received message, or "".
func kindOf(e protocol.Event) string {
	if r, ok := e.(protocol.Received); ok {
		return r.Message.Kind
	}
	return ""
}

func (w *testbed) incoming(kind string, n int) protocol.Message {
	return numbered(w.session, peer, self, kind, n, []byte(kind))
}

func wantBlame(t *testing.T, err error, party string, kind protocol.Kind) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != party || blame.Kind != kind {
		t.Fatalf("%v, want blame on %s (%s)", err, party, kind)
	}
}

// sealedAs asserts what the journal's last record is.
func (w *testbed) sealedAs(want string) {
	w.t.Helper()
	last := w.log.records[len(w.log.records)-1]
	if !strings.Contains(last.Ended, want) || last.Ended == "" || w.log.synced != len(w.log.records) {
		w.t.Fatalf("the journal ends with %+v (%d of %d on disk), want an outcome with %q", last, w.log.synced, len(w.log.records), want)
	}
}

func TestEquivocationEndsTheSession(t *testing.T) {
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if kindOf(e) == "Last" {
			return over, nil
		}
		return protocol.Effects{}, nil
	})
	other := w.incoming("Word", 1)
	other.Body = []byte("another")
	w.broker.post(w.incoming("Word", 1), other, w.incoming("Last", 0))
	err := w.run(t.Context(), nil)
	wantBlame(t, err, peer, protocol.KindEquivocation)
	w.sealedAs("two messages with different bodies")
	if got := len(w.log.records); got != 3 {
		t.Fatalf("%d records, want the start, the word and the outcome", got)
	}
}

// bound is a machine that must go on.
type bound struct{ protocol.Machine }

func (bound) MustGoOn() bool { return true }

// A machine that must go on refuses the second of two messages under one header, and its session continues.
func TestEquivocationDoesNotEndAMachineThatMustGoOn(t *testing.T) {
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if kindOf(e) == "Last" {
			return over, nil
		}
		return protocol.Effects{}, nil
	})
	other := w.incoming("Word", 1)
	other.Body = []byte("another")
	w.broker.post(w.incoming("Word", 1), other, w.incoming("Last", 0))
	c := w.config(w.log, w.log.Records())
	c.Machine = bound{c.Machine}
	w.broker.connect()
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := len(w.log.records); got != 4 {
		t.Fatalf("%d records, want the start, the word, the last and the outcome", got)
	}
}

func TestDuplicatesAreAcknowledgedAndNotStepped(t *testing.T) {
	var steps []string
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		steps = append(steps, kindOf(e))
		if kindOf(e) == "Last" {
			return over, nil
		}
		return protocol.Effects{}, nil
	})
	word := w.incoming("Word", 1)
	w.broker.post(word, word, word, w.incoming("Last", 0))
	if err := w.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"", "Word", "Last"}, steps); diff != "" {
		t.Fatal(diff)
	}
	if got := len(w.diary.kinds("ack")); got != 4 {
		t.Fatalf("%d acknowledgements, want 4: %v", got, w.diary.kinds("ack"))
	}
	checkOrder(t, w.diary.all())
}

// A redelivery shares its place in the broker's queue with the message that
// is not on disk yet; its acknowledgement would be the first one's.
func TestDuplicateIsNotAcknowledgedBeforeTheFirstIsOnDisk(t *testing.T) {
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if kindOf(e) == "Last" {
			return over, nil
		}
		return protocol.Effects{}, nil
	})
	word := w.incoming("Word", 1)
	w.broker.post(word, word, w.incoming("Last", 0))
	if err := w.run(t.Context(), at("sync", 0, errCrash)); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	if acks := w.diary.kinds("ack"); len(acks) > 0 {
		t.Fatalf("%v before anything was on disk", acks)
	}
}

func TestRefusedMessageLeavesTheSessionAlive(t *testing.T) {
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		switch kindOf(e) {
		case "Junk":
			return protocol.Effects{}, protocol.Blame(peer, protocol.KindMalformed, errors.New("not a number"))
		case "Last":
			return over, nil
		}
		return protocol.Effects{}, nil
	})
	w.broker.post(w.incoming("Junk", 1), w.incoming("Last", 0))
	if err := w.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := len(w.log.records); got != 3 {
		t.Fatalf("%d records: a refused event must not be in the journal", got)
	}
	if len(w.broker.queue) > 0 {
		t.Fatalf("%v was not acknowledged", w.broker.queue[0].Header)
	}
}

// Adversary: a member that sends messages without end, which the machine refuses. The log has few of
// them, and the first one of another member.
func TestRefusedMessagesAreLoggedByDoubling(t *testing.T) {
	var log strings.Builder
	d := newDriver(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	refuse := func(sender string) {
		d.refuse(Inbound{Message: protocol.Message{Header: protocol.Header{Sender: sender}}}, errors.New("no"))
	}
	for range 1 << 10 {
		refuse("many")
	}
	refuse("few")
	if lines := strings.Count(log.String(), "\n"); lines != 16+6+1 || !strings.Contains(log.String(), `message="few>`) {
		t.Errorf("%d lines: %s", lines, log.String())
	}
}

// Earlier refusals explain a silence; the blamed party does not change.
func TestSilenceIsExplained(t *testing.T) {
	silent := protocol.Blame(peer, protocol.KindSilent, errors.New("no Rows within a minute"))
	refuse := func(err error) func(*protocol.Session, protocol.Event) (protocol.Effects, error) {
		return func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
			switch kindOf(e) {
			case "Rows":
				return protocol.Effects{}, err
			case "Last":
				return protocol.Effects{End: &protocol.End{Err: silent}}, nil
			}
			return protocol.Effects{}, nil
		}
	}
	for _, c := range []struct {
		name  string
		err   error
		fault error
		kind  protocol.Kind
		text  string
	}{
		{"blamed", protocol.Blame(peer, protocol.KindMalformed, errors.New("not a number")), nil, protocol.KindMalformed, "not a number; then the member went silent"},
		{"plain", errors.New("no room for it"), nil, protocol.KindSilent, "within a minute; an earlier message from this member was refused: no room for it"},
		{"sealed to nobody", nil, protocol.Blame(peer, protocol.KindMalformed, errors.New("does not open")), protocol.KindMalformed, "does not open; then the member went silent"},
		{"nothing refused", nil, nil, protocol.KindSilent, "within a minute"},
		{"past", protocol.ErrPast, nil, protocol.KindSilent, "within a minute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := scripted(t, refuse(c.err))
			w.broker.connect()
			m := w.incoming("Rows", 1)
			w.broker.in <- Inbound{Message: m, Fault: c.fault, Receipt: slip{w.broker, m.Header, w.broker.in}}
			m = w.incoming("Last", 0)
			w.broker.in <- Inbound{Message: m, Receipt: slip{w.broker, m.Header, w.broker.in}}
			_, err := Run(t.Context(), w.config(w.log, w.log.Records()))
			wantBlame(t, err, peer, c.kind)
			if !strings.HasSuffix(err.Error(), c.text) {
				t.Fatalf("%v, want ...%q", err, c.text)
			}
			w.sealedAs(c.text)
			if got := len(w.diary.kinds("ack")); got != 2 {
				t.Fatalf("%d acknowledgements, want 2", got)
			}
		})
	}
}

func TestLaterPutsTheMessageBack(t *testing.T) {
	resumed := 0
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if _, ok := e.(protocol.Resumed); ok {
			resumed++
		}
		if kindOf(e) == "Bulk" && resumed < 3 {
			return protocol.Effects{}, protocol.ErrLater
		}
		if kindOf(e) == "Bulk" {
			return over, nil
		}
		return protocol.Effects{Resume: resumed < 3}, nil
	})
	w.broker.post(w.incoming("Bulk", 0))
	if err := w.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if len(w.broker.queue) > 0 {
		t.Fatal("the message was accepted and not acknowledged")
	}
}

// A receipt that fails means that the message comes again, and nothing worse.
func TestFailedReceiptsDoNotEndTheSession(t *testing.T) {
	refused := false
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		switch {
		case kindOf(e) == "Bulk" && !refused:
			refused = true
			return protocol.Effects{}, protocol.ErrLater
		case kindOf(e) == "Last":
			return over, nil
		}
		return protocol.Effects{}, nil
	})
	w.broker.post(w.incoming("Bulk", 0), w.incoming("Bulk", 0), w.incoming("Last", 0))
	err := w.run(t.Context(), func(kind string, _ int) error {
		if kind == "later" || kind == "ack" {
			return transport.ErrClosed
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(w.diary.kinds("failed")); got != 3 {
		t.Fatalf("%d receipts failed, want 3: %v", got, w.diary.kinds("failed"))
	}
}

func TestClaimOfAnotherSessionEndsTheSession(t *testing.T) {
	w := newTestbed(t, newWorker, hub)
	w.ledger.held["block/1"] = protocol.SessionID{66}
	err := w.run(t.Context(), nil)
	var held *journal.HeldError
	if !errors.As(err, &held) || errors.Is(err, ErrInterrupted) {
		t.Fatalf("%v, want a HeldError", err)
	}
	w.sealedAs("block/1")
	if _, sent := w.broker.sent[name(numbered(w.session, self, peer, "Rows", 2, nil).Header)]; sent {
		t.Fatal("a message went out under a name that another session holds")
	}
}

func TestAbortFromOutside(t *testing.T) {
	w := scripted(t, func(*protocol.Session, protocol.Event) (protocol.Effects, error) { return protocol.Effects{}, nil })
	ctx, abort := context.WithCancelCause(t.Context())
	abort(protocol.Blame(peer, protocol.KindAborted, errors.New("the job was called off")))
	err := w.run(ctx, nil)
	wantBlame(t, err, peer, protocol.KindAborted)
	if errors.Is(err, ErrInterrupted) {
		t.Fatal("an abort is final")
	}
	w.sealedAs("called off")
}

// A machine that has found a misbehaving member keeps its verdict, though it is stopped before its last
// messages are sent.
func TestOwnVerdictOutlivesAnAbort(t *testing.T) {
	verdict := protocol.Blame(peer, protocol.KindInconsistent, errors.New("wrong sum"))
	w := scripted(t, func(s *protocol.Session, _ protocol.Event) (protocol.Effects, error) {
		return protocol.Effects{Send: []protocol.Message{numbered(s, self, peer, "Why", 0, nil)}, End: &protocol.End{Err: verdict}}, nil
	})
	ctx, abort := context.WithCancelCause(t.Context())
	err := w.run(ctx, func(kind string, _ int) error {
		if kind == "send" {
			abort(protocol.Blame("boss", protocol.KindAborted, errors.New("stop")))
			return ctx.Err()
		}
		return nil
	})
	wantBlame(t, err, peer, protocol.KindInconsistent)
	w.sealedAs("wrong sum")
}

func TestSendThatCannotWorkIsFinal(t *testing.T) {
	w := newTestbed(t, newWorker, hub)
	err := w.run(t.Context(), at("send", 2, transport.ErrNoMember))
	if !errors.Is(err, transport.ErrNoMember) || errors.Is(err, ErrInterrupted) {
		t.Fatalf("%v, want a final error", err)
	}
	w.sealedAs("no such member")
}

// A machine that has asked for more work gets it, also if a message comes in between whose step
// asks for none. Which of the two comes first is chance; in 20 sessions both do.
func TestAMessageTakesNoWorkBack(t *testing.T) {
	for range 20 {
		w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
			if _, resumed := e.(protocol.Resumed); resumed {
				return over, nil
			}
			return protocol.Effects{Resume: kindOf(e) == "First"}, nil
		})
		w.broker.post(w.incoming("First", 0), w.incoming("Second", 0))
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		err := w.run(ctx, nil)
		stop()
		if err != nil {
			t.Fatalf("the machine waits for its work: %v", err)
		}
	}
}

func TestMachineThatRefusesItsOwnEvents(t *testing.T) {
	w := scripted(t, func(*protocol.Session, protocol.Event) (protocol.Effects, error) {
		return protocol.Effects{}, errors.New("no")
	})
	if err := w.run(t.Context(), nil); err == nil || errors.Is(err, ErrInterrupted) {
		t.Fatalf("%v, want a final error", err)
	}
	w.sealedAs("refused the event protocol.Start")
}

func TestClosedMailInterrupts(t *testing.T) {
	w := scripted(t, func(*protocol.Session, protocol.Event) (protocol.Effects, error) { return protocol.Effects{}, nil })
	w.broker.connect()
	close(w.broker.in)
	if _, err := Run(t.Context(), w.config(w.log, w.log.Records())); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
}

// A session whose mail is closed takes the messages that it holds, completes its work, and sends its
// messages: only a machine that needs another message is interrupted.
func TestClosedMailEndsWhatNeedsNone(t *testing.T) {
	for range 20 { // the driver takes one of several events by chance
		w := scripted(t, func(s *protocol.Session, e protocol.Event) (protocol.Effects, error) {
			switch e.(type) {
			case protocol.Received:
				return protocol.Effects{Resume: true}, nil
			case protocol.Resumed:
				return protocol.Effects{Send: []protocol.Message{numbered(s, self, peer, "Last", 0, []byte("x"))}, End: &protocol.End{}}, nil
			}
			return protocol.Effects{}, nil
		})
		w.broker.post(w.incoming("First", 0))
		w.broker.connect()
		close(w.broker.in)
		if _, err := Run(t.Context(), w.config(w.log, w.log.Records())); err != nil {
			t.Fatal(err)
		}
		if len(w.broker.sent) != 1 {
			t.Fatalf("%d messages were sent", len(w.broker.sent))
		}
		w.sealedAs("done")
	}
}

// Damage is final; a journal that cannot be read now may be whole.
func TestUnreadableJournal(t *testing.T) {
	for _, c := range []struct {
		err   error
		final bool
	}{{fmt.Errorf("cut off: %w", journal.ErrLost), true}, {errors.New("too many open files"), false}} {
		w := newTestbed(t, newWorker, hub)
		_, err := w.runOn(t.Context(), w.log, func(yield func(journal.Record, error) bool) { yield(journal.Record{}, c.err) }, nil)
		if !errors.Is(err, c.err) || errors.Is(err, ErrInterrupted) == c.final {
			t.Errorf("%v: want final %v", err, c.final)
		}
		if sent := w.diary.kinds("send"); len(sent) > 0 {
			t.Errorf("%v was sent", sent)
		}
	}
}

// Many messages share one wait for the disk, and none waits without end.
func TestAcknowledgementsAreBatched(t *testing.T) {
	const n = 300
	seen := 0
	w := scripted(t, func(_ *protocol.Session, e protocol.Event) (protocol.Effects, error) {
		if kindOf(e) != "" {
			seen++
		}
		if seen == n {
			return over, nil
		}
		return protocol.Effects{}, nil
	})
	for i := range n {
		w.broker.post(w.incoming("Word", i))
	}
	if err := w.run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if acks := w.diary.kinds("ack"); len(acks) != n {
		t.Fatalf("%d acknowledgements of %d", len(acks), n)
	}
	if syncs := len(w.diary.kinds("sync")); syncs > n/maxUnacked+3 {
		t.Fatalf("%d waits for the disk for %d messages", syncs, n)
	}
}
