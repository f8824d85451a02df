package nats

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/mercer-fl/mercer/transport"
)

// A second process with a member's identity learns of the first, which keeps its queue,
// also after the server restarts.
func TestTwinRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	north, south := f.join("north"), f.join("south")
	for range 2 {
		began := time.Now()
		_, err := f.dial("south")
		var twin *TwinError
		if !errors.As(err, &twin) || twin.Address != netip.MustParseAddr("127.0.0.1") || twin.Process != os.Getpid() || time.Since(twin.Since) > time.Minute {
			t.Fatalf("a second process got error %v", err)
		}
		if took := time.Since(began); took > twinLimit {
			t.Errorf("it was refused after %v", took)
		}
		f.send(north, "south", "hello")
		if err := f.receive(south).Ack(); err != nil {
			t.Fatal(err)
		}
		f.restart(0)
		f.send(north, "south", "both are connected again")
		if err := f.receive(south).Ack(); err != nil {
			t.Fatal(err)
		}
	}
}

// Of many that start at once one remains.
func TestTwinsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	type result struct {
		conn transport.Conn
		err  error
	}
	results := make(chan result)
	const processes = 6
	for range processes {
		go func() {
			c, err := f.dial("south")
			results <- result{c, err}
		}()
	}
	var left []transport.Conn
	for range processes {
		r := <-results
		var twin *TwinError
		switch {
		case r.err == nil:
			left = append(left, r.conn)
			defer func() {
				if err := r.conn.Close(); err != nil {
					t.Error(err)
				}
			}()
		case !errors.As(r.err, &twin):
			t.Error(r.err)
		}
	}
	if len(left) != 1 {
		t.Fatalf("%d of %d processes with one identity are connected", len(left), processes)
	}
	f.send(f.join("north"), "south", "hello")
	f.receive(left[0])
}

// Two that have served meet when connections are restored. One stays, whichever asks, and
// the other stops, whether it receives or sends first.
func TestTwinsWhoServe(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, run := range map[string]string{"who asks gives way": "Z", "who asks succeeds": "2"} {
		t.Run(name, func(t *testing.T) {
			f := newFederation(t, nil)
			south := f.join("south").(*conn)
			other, err := connect(f.server.URL(), "south", f.keys["south"], Options{Logger: f.cfg.Logger}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := other.Close(); err != nil {
					t.Error(err)
				}
			}()
			other.run = strings.Repeat(run, runSize)
			south.run = strings.Repeat("M", runSize)
			other.serving.Store(true)
			stays, goes := south, other
			if run < "M" {
				stays, goes = other, south
			}
			greeted := other.greet(t.Context())
			_, err = goes.Receive(t.Context(), transport.Bulk)
			var twin *TwinError
			if !errors.As(err, &twin) || (greeted == nil) != (stays == other) {
				t.Errorf("who goes has error %v, who asked %v", err, greeted)
			}
			f.send(f.join("north"), "south", "hello")
			f.receive(stays)
		})
	}
}

// ghost is a client that receives and sends the messages between processes with one
// identity.
type ghost struct {
	*federation
	key   []byte
	nc    *natsgo.Conn
	heard *natsgo.Subscription
}

// ghost logs in with south's identity.
func (f *federation) ghost() *ghost {
	f.Helper()
	key, err := twinKey(f.keys["south"])
	if err != nil {
		f.Fatal(err)
	}
	g := &ghost{federation: f, key: key}
	g.nc, _ = f.raw("south")
	if g.heard, err = g.nc.SubscribeSync(twinSubject("south")); err == nil {
		err = g.nc.Flush()
	}
	if err != nil {
		f.Fatal(err)
	}
	return g
}

func (g *ghost) say(w saying) {
	g.Helper()
	b, err := seal(g.key, w)
	if err != nil {
		g.Fatal(err)
	}
	g.repeat(b)
}

// repeat sends a message that may have been sent before.
func (g *ghost) repeat(b []byte) {
	g.Helper()
	if err := g.nc.Publish(twinSubject("south"), b); err != nil {
		g.Fatal(err)
	}
}

// next returns the next message of another run than its own.
func (g *ghost) next(but string) saying {
	g.Helper()
	for {
		m, err := g.heard.NextMsg(time.Second)
		if err != nil {
			g.Fatal(err)
		}
		if w, err := unseal(g.key, m.Data); err == nil && w.Run != but {
			return w
		}
	}
}

// everything returns all that was said.
func (g *ghost) everything() (all [][]byte) {
	for {
		m, err := g.heard.NextMsg(200 * time.Millisecond)
		if err != nil {
			return all
		}
		all = append(all, m.Data)
	}
}

// A connection of a dead process is replaced, after it had time to answer. If it answers
// later, one of both stops.
func TestTwinIsGone(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	g := f.ghost()
	south := f.join("south").(*conn)
	f.send(f.join("north"), "south", "hello")
	f.receive(south)
	g.everything()
	late := presence{Run: strings.Repeat("2", runSize), Since: time.Now()} // as it was when it lost its way
	g.say(saying{presence: late, Asks: "one"})
	if w := g.next(late.Run); w.Run != south.run || !w.Serving || w.Answers != "one" {
		t.Fatalf("who came late is told %+v", w)
	}
	late.Serving = true
	g.say(saying{presence: late, Asks: "two"})
	w := g.next(late.Run)
	if w.Answers != "two" {
		t.Fatalf("who came late is told %+v", w)
	}
	g.say(saying{presence: late, Answers: w.Asks, Asks: "three"})
	_, err := south.Receive(t.Context(), transport.Bulk)
	var twin *TwinError
	if !errors.As(err, &twin) {
		t.Fatal(err)
	}
	if w := g.next(late.Run); w.Answers != "three" || w.Asks != "" {
		t.Errorf("who stays is told %+v", w)
	}
}

// Neither the server nor anybody on the way has a message that ends a process: none without
// the identity's key, and no repeated one, at any time, in any session.
func TestTwinMessagesOfOthersEndNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	g := f.ghost()
	first, err := f.dial("south")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.dial("south"); err == nil {
		t.Fatal("two processes with one identity")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	recorded := g.everything()
	if len(recorded) < 4 {
		t.Fatalf("%d messages recorded", len(recorded))
	}
	ended := make(chan struct{})
	repeated := make(chan error, 1)
	go func() { // also while the next process has yet to begin
		for {
			for _, b := range recorded {
				if err := g.nc.Publish(twinSubject("south"), b); err != nil {
					repeated <- err
					return
				}
			}
			select {
			case <-ended:
				repeated <- g.nc.Flush()
				return
			case <-time.After(300 * time.Millisecond): // so that the process has answers left
			}
		}
	}()
	south := f.join("south").(*conn)
	close(ended)
	if err := <-repeated; err != nil {
		t.Fatal(err)
	}
	g.everything()
	other := presence{Run: strings.Repeat("2", runSize), Serving: true, Since: time.Now()}
	line, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	g.repeat(line) // as if there were no key
	g.say(saying{presence: other, Answers: strings.Repeat("A", runSize)})
	stranger := *g
	stranger.key = bytes.Repeat([]byte{7}, 32)
	g.say(saying{presence: other, Asks: "one"})
	w := g.next(other.Run)
	stranger.say(saying{presence: other, Answers: w.Asks}) // the right challenge, another key
	changed, err := seal(g.key, saying{presence: other, Answers: w.Asks})
	if err != nil {
		t.Fatal(err)
	}
	changed[len(changed)-3] ^= 1
	g.repeat(changed)
	if err := g.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	f.send(f.join("north"), "south", "hello")
	f.receive(south)
	if err := south.link.ended(); err != nil {
		t.Fatal(err)
	}
	g.say(saying{presence: other, Answers: w.Asks}) // the right one ends it
	if _, err := south.Receive(t.Context(), transport.Bulk); !errors.As(err, new(*TwinError)) {
		t.Fatal(err)
	}
}

// Repeated challenges get few answers.
func TestTwinAnswersAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	south := f.join("south").(*conn)
	g := f.ghost()
	b, err := seal(g.key, saying{presence: presence{Run: strings.Repeat("2", runSize)}, Asks: "one"})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 * maxChallenges {
		g.repeat(b)
	}
	if err := g.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	f.send(f.join("north"), "south", "hello")
	f.receive(south)
	answers := 0
	for _, b := range g.everything() {
		if w, err := unseal(g.key, b); err == nil && w.Run == south.run {
			answers++
		}
	}
	if answers == 0 || answers > maxChallenges {
		t.Errorf("%d answers, at most %d", answers, maxChallenges)
	}
}

func TestChallengesDoNotLast(t *testing.T) {
	q, now := challenges{}, time.Now()
	one := q.draw(now)
	if one == q.draw(now) {
		t.Error("one challenge twice")
	}
	if !q.isOpen(one, now) || q.isOpen("", now) {
		t.Error("the wrong challenge is open")
	}
	if q.isOpen(one, now.Add(challengeLife+1)) {
		t.Error("an answer counts late")
	}
	for range 3 * maxChallenges {
		q.draw(now)
	}
	if q.mayDraw(now) || !q.mayDraw(now.Add(challengeLife+1)) || len(q) > 0 {
		t.Errorf("%d challenges", len(q))
	}
}

// Invalid messages end no connection.
func TestTwinNonsense(t *testing.T) {
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		south := f.join("south")
		other, _ := f.raw("south")
		for _, text := range []string{"", "{}", `{"run": 7}`, strings.Repeat(" ", 1<<16), `{"run": "` + strings.Repeat("x", 1000) + `"}`} {
			if err := other.Publish(twinSubject("south"), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Flush(); err != nil {
			t.Fatal(err)
		}
		f.send(f.join("north"), "south", "hello")
		f.receive(south)
	})
}

// show returns the text about another process that people read.
func show(p presence) string {
	e := &TwinError{Member: "south", Address: p.Address, Process: p.Process, Since: p.Since}
	return e.Error()
}

func TestTwinErrorIsPlainText(t *testing.T) {
	p, err := decodeSaying([]byte(`{"run": "` + strings.Repeat("A", runSize) + `", "address": "fe80::1%\u001b[2J", "process": 7}`))
	if err != nil {
		t.Fatal(err)
	}
	if text := show(p.presence); strings.Contains(text, "\x1b") || !strings.Contains(text, "from fe80::1 (process 7, ") {
		t.Errorf("%q", text)
	}
	if text := show(presence{}); !strings.Contains(text, "from an unknown address") {
		t.Errorf("%q", text)
	}
}

func FuzzDecodeSaying(f *testing.F) {
	good, err := json.Marshal(presence{Run: strings.Repeat("A", runSize), Address: netip.MustParseAddr("::1"), Process: 3, Since: time.Now()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"address": "fe80::1%eth0"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodeSaying(b)
		if err != nil {
			return
		}
		for _, c := range show(p.presence) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q is shown as %q", b, show(p.presence))
			}
		}
	})
}
