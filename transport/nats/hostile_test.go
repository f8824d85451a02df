package nats

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mercer-fl/mercer/transport"
)

// The server is not trusted: its deliveries must be for this member, and only an
// acknowledgement may settle them.
func TestAcceptsOnlyItsOwn(t *testing.T) {
	c := newInbox(&conn{name: "north", log: slog.New(slog.DiscardHandler)}, transport.Bulk)
	const ack = "$JS.ACK.MERCER.north.1.2.3.4.5"
	for _, m := range []struct {
		subject, reply string
		size           int
		ok             bool
	}{
		{"mercer.msg.south.north", ack, 10, true},
		{"mercer.msg.south.north", ack, transport.MaxMessageBytes, true},
		{"mercer.msg.south.north", ack, transport.MaxMessageBytes + 1, false},
		{"mercer.msg.south.east", ack, 10, false},
		{"mercer.msg.south.north.x", ack, 10, false},
		{"mercer.msg..north", ack, 10, false},
		{"mercer.msg.north", ack, 10, false},
		{"mercer.ctl.south.north", ack, 10, false}, // of the other lane
		{"mercer.msg.south.north", "$JS.ACK.CONTROL.north.1.2.3.4.5", 10, false},
		{"chat", ack, 10, false},
		{"mercer.msg.south.north", "mercer.msg.north.south", 10, false},
		{"mercer.msg.south.north", "$JS.ACK.MERCER.south.1.2.3.4.5", 10, false},
		{"mercer.msg.south.north", "$JS.ACK.MERCER.north.0.2.3.4.5", 10, false},
		{"mercer.msg.south.north", "$JS.ACK.MERCER.north.x", 10, false},
		{"mercer.msg.south.north", "$JS.ACK.MERCER.north.", 10, false},
	} {
		d, ok := c.accept(&natsgo.Msg{Subject: m.subject, Reply: m.reply, Data: make([]byte, m.size)})
		if ok != m.ok || ok && d.From != "south" {
			t.Errorf("%s, to be settled by %s: accepted %v from %q, want %v", m.subject, m.reply, ok, d.From, m.ok)
		}
	}
}

// The server's status of a request decides whether and when to ask again.
func TestHeeds(t *testing.T) {
	for _, m := range []struct {
		box, status, pending string
		left                 int
		pause                string
	}{
		{"x.1", "100", "", 7, ""},
		{"x.1", "408", "3", 0, ""},
		{"x.1", "409", "3", 0, ""},
		{"x.1", "409", "", 0, "409 because"},
		{"x.1", "503", "", 0, "503 because"},
		{"x.1", "", "", 0, "because"},
		{"x.0", "408", "3", 7, ""}, // of an older request
	} {
		c := &inbox{conn: &conn{name: "north"}, box: "x", request: 1, remaining: 7}
		h := natsgo.Header{"Status": {m.status}, "Description": {"because"}}
		if m.pending != "" {
			h.Set("Nats-Pending-Messages", m.pending)
		}
		err := c.heed(&natsgo.Msg{Subject: boxSubject("north", m.box), Header: h})
		if (err == nil) != (m.pause == "") || err != nil && !strings.Contains(err.Error(), m.pause) || c.remaining != m.left {
			t.Errorf("status %q on %s: error %v and %d left, want %q and %d", m.status, m.box, err, c.remaining, m.pause, m.left)
		}
	}
}

// A message that is put back again and again is delivered ever more rarely.
func TestLaterDoubles(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		times int
		want  time.Duration
	}{
		{0, 1, 0}, {0, 50, 0},
		{20 * time.Millisecond, 1, 20 * time.Millisecond},
		{20 * time.Millisecond, 3, 80 * time.Millisecond},
		{20 * time.Millisecond, 1 << 40, 5 * time.Second},
		{time.Minute, 1, time.Minute}, {time.Minute, 9, time.Minute},
	} {
		if got := slower(c.delay, c.times); got != c.want {
			t.Errorf("delivered %d times and put back for %v: waits %v, want %v", c.times, c.delay, got, c.want)
		}
	}
}

// Only errors that another try may correct are retried.
func TestFinal(t *testing.T) {
	c := &conn{patience: time.Minute}
	for _, e := range []struct {
		err   error
		since time.Time
		final bool
	}{
		{errors.New("timeout"), time.Time{}, false},
		{&jetstream.APIError{Code: 503, Description: "maximum bytes exceeded"}, time.Time{}, false},
		{&jetstream.APIError{Code: 400, Description: "malformed"}, time.Time{}, true},
		{jetstream.ErrNoStreamResponse, time.Now(), false},
		{jetstream.ErrNoStreamResponse, time.Now().Add(-time.Hour), true},
	} {
		got := c.permanentError(e.err, e.since)
		if (got != nil) != e.final || got != nil && !errors.Is(got, e.err) {
			t.Errorf("%v since %v: final error %v, want one: %v", e.err, e.since, got, e.final)
		}
	}
}

func TestBackoff(t *testing.T) {
	for attempt := range 100 {
		most := min(longestWait, shortestWait<<min(attempt, 10))
		if d := backoff(attempt - 1); attempt > 0 && (d < shortestWait/2 || d > most) {
			t.Errorf("attempt %d waits %v, want at most %v", attempt, d, most)
		}
	}
}

// A link informs all that wait, once it is open and once it is dead.
func TestLink(t *testing.T) {
	l := newLink()
	ctx, cancel := context.WithCancel(t.Context())
	eras := make(chan context.Context)
	for range 2 {
		go func() {
			era, err := l.wait(ctx)
			if err != nil {
				t.Error(err)
			}
			eras <- era
		}()
	}
	l.up()
	first := <-eras
	if second := <-eras; first != second || first.Err() != nil {
		t.Error("two who waited got different eras, or one that is over")
	}
	l.up() // a reconnect whose loss nobody reported
	if again, err := l.wait(ctx); err != nil || again == first || first.Err() == nil {
		t.Errorf("a new connection did not end the era before it: %v", err)
	}
	cancel()
	if _, err := l.wait(ctx); err == nil {
		t.Error("an ended context got a connection")
	}
	l.kill(transport.ErrClosed)
	l.kill(context.Canceled)
	l.up()
	if _, err := l.wait(t.Context()); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("error %v, want the first reason", err)
	}
}

// Subjects come from the server, which is not trusted.
func FuzzSubject(f *testing.F) {
	f.Add("mercer.msg.south.north")
	f.Add("$JS.ACK.MERCER.north.1.2.3.4.5")
	f.Add("mercer.ask.msg.north.x.1")
	f.Add("....")
	f.Add("mercer.ctl.south.north")
	f.Add("$JS.ACK.CONTROL.north.1.2.3.4.5")
	f.Fuzz(func(t *testing.T, s string) {
		for _, lane := range transport.Lanes() {
			if from, ok := sender(lane, s, "north"); ok && subject(lane, from, "north") != s {
				t.Errorf("%q comes from %q", s, from)
			}
			if n, ok := deliveries(lane, s, "north"); ok && (n < 1 || !strings.HasPrefix(s, ackPrefix(lane, "north"))) {
				t.Errorf("%q acknowledges delivery %d", s, n)
			}
			if strings.HasPrefix(s, askSubject(lane, "north", "")) && askSubject(lane, "north", box(lane, "north", s)) != s {
				t.Errorf("%q asks for something else", s)
			}
		}
		if checkName(s) == nil && (len(s) > maxNameBytes || strings.ContainsAny(s, ".*> \t\r\n/\\")) {
			t.Errorf("%q passes for a name", s)
		}
	})
}
