package transporttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mercer-fl/mercer/transport"
)

// Members returns the names of the members that a network under test must have.
func Members() []string { return []string{"north", "south", "east", "server"} }

// Join connects the member called name. The suite closes the connection.
type Join func(name string) (transport.Conn, error)

// Network holds the settings of the network that a part of the suite needs.
type Network struct {
	AckWait time.Duration // time after which unsettled deliveries are repeated
	Share   int           // number of messages that one sender can have in one queue
}

// Start creates a network and returns the function that connects members to it. It registers the
// network's removal by t.Cleanup.
type Start func(t *testing.T, n Network) Join

const (
	short = 500 * time.Millisecond // AckWait for tests that wait for a repeated delivery; longer than an acknowledgement takes on a busy machine
	long  = 30 * time.Second       // AckWait that is never over during a test
	bound = 30 * time.Second       // limit for all waits, also on a busy machine

	ample  = 256 // share that is never exhausted
	scarce = 3   // share so small that a test can exhaust it
)

// Run runs the suite. Every part runs in each lane, in parallel with the other parts and on its
// own network. A part must not leave a goroutine behind.
func Run(t *testing.T, start Start) {
	before := goleak.IgnoreCurrent()
	t.Run("parts", func(t *testing.T) { runParts(t, start) }) // t.Run returns when all parallel parts have ended
	endsAll(t, before)
}

func runParts(t *testing.T, start Start) {
	for _, part := range []struct {
		name    string
		ackWait time.Duration
		share   int
		test    func(*bench)
	}{
		{"delivers once what is acknowledged", short, ample, testAck},
		{"repeats what is not acknowledged", short, ample, testNoAck},
		{"repeats what is put back, not too early", long, ample, testLater},
		{"keeps acknowledged what was put back before", short, ample, testLaterThenAck},
		{"carries every size up to the limit", long, ample, testSizes},
		{"refuses one byte more", long, ample, testTooLarge},
		{"refuses a receiver that does not exist", long, ample, testNoMember},
		{"keeps no reference to what was sent", long, ample, testOwnCopy},
		{"carries many senders at once", long, ample, testManySenders},
		{"serves several receivers of one member", long, ample, testTwoReceivers},
		{"stores for a member who is away", long, ample, testAway},
		{"keeps what a receiver had not acknowledged", long, ample, testRestart},
		{"refuses to settle after closing", long, ample, testSettleAfterClose},
		{"wakes who waits when it closes", long, ample, testCloseWhileWaiting},
		{"refuses everything once closed", long, ample, testClosed},
		{"stops waiting when the context ends", long, ample, testContext},
		{"makes who has used its share up wait", long, scarce, testShare},
		{"lets no sender's share hold up others", long, scarce, testShareOfOne},
		{"delivers what comes behind a share that is put back", long, scarce, testPutBackShare},
		{"delivers one lane while the other is full", long, scarce, testOtherLane},
	} {
		for _, lane := range transport.Lanes() {
			t.Run(fmt.Sprint(part.name, "/", lane), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), bound)
				t.Cleanup(cancel)
				part.test(&bench{t, ctx, lane, start(t, Network{part.ackWait, part.share})})
			})
		}
	}
}

// endsAll fails if goroutines are left after the suite. A goroutine that writes to a busy disk
// while the server closes can take longer than goleak waits.
func endsAll(t *testing.T, before goleak.Option) {
	for end := time.Now().Add(bound); ; {
		err := goleak.Find(before)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Error(err)
			return
		}
	}
}

// bench holds the connections and limits of one part of the suite.
type bench struct {
	*testing.T
	ctx     context.Context
	lane    transport.Lane
	connect Join
}

func (b *bench) join(name string) transport.Conn {
	b.Helper()
	c, err := b.connect(name)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { b.close(c) })
	return c
}

func (b *bench) close(c transport.Conn) {
	b.Helper()
	if err := c.Close(); err != nil {
		b.Error(err)
	}
}

func (b *bench) send(c transport.Conn, to, text string) {
	b.Helper()
	if err := c.Send(b.ctx, to, b.lane, []byte(text)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) receive(c transport.Conn) transport.Delivery {
	b.Helper()
	d, err := c.Receive(b.ctx, b.lane)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func (b *bench) ack(d transport.Delivery) {
	b.Helper()
	if err := d.Ack(); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) later(d transport.Delivery, delay time.Duration) {
	b.Helper()
	if err := d.Later(delay); err != nil {
		b.Fatal(err)
	}
}

// quiet reports whether no message arrives within d, else it returns the message.
func (b *bench) quiet(c transport.Conn, d time.Duration) (transport.Delivery, bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, d)
	defer cancel()
	got, err := c.Receive(ctx, b.lane)
	if err != nil {
		b.is(err, context.DeadlineExceeded)
	}
	return got, err != nil
}

func (b *bench) requireQuiet(c transport.Conn, d time.Duration) {
	b.Helper()
	if got, quiet := b.quiet(c, d); !quiet {
		b.Fatalf("%d bytes from %q arrived, want nothing", len(got.Data), got.From)
	}
}

func (b *bench) is(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("error %v, want one that is %q", err, want)
	}
}

// testShare checks that an acknowledgement frees a part of the sender's share and a delivery
// does not.
func testShare(b *bench) {
	north, south := b.join("north"), b.join("south")
	b.fill(north, "south")
	d := b.receive(south)
	b.requireFull(north, "south")
	sent := make(chan error, 1)
	go func() { sent <- north.Send(b.ctx, "south", b.lane, []byte("one more")) }()
	for string(d.Data) != "one more" { // skips the message of requireFull, which may arrive first
		b.ack(d)
		d = b.receive(south)
	}
	b.ack(d)
	if err := <-sent; err != nil {
		b.Fatal(err)
	}
}

// testShareOfOne checks that an exhausted share of a queue blocks one sender in this queue only.
// The sender can still send to other members, and other senders can send to the queue.
func testShareOfOne(b *bench) {
	north, south, east := b.join("north"), b.join("south"), b.join("east")
	b.fill(north, "server")
	b.requireFull(north, "server")
	b.send(south, "server", "from south")
	b.send(north, "east", "to east")
	b.ack(b.receive(east))
	if got := b.collect(b.join("server"), scarce+1); got["from south"] != 1 {
		b.Errorf("%v were delivered, want the message of \"south\" among them", got)
	}
}

// testPutBackShare checks that a receiver that puts back all messages of one sender still gets
// other senders' messages.
func testPutBackShare(b *bench) {
	north, south, server := b.join("north"), b.join("south"), b.join("server")
	b.fill(north, "server")
	for range scarce {
		b.later(b.receive(server), time.Minute)
	}
	for i := range scarce {
		b.send(south, "server", fmt.Sprint(i))
		d := b.receive(server)
		if string(d.Data) != fmt.Sprint(i) || d.From != "south" {
			b.Fatalf("%q from %q was delivered, want the message of \"south\"", d.Data, d.From)
		}
		b.ack(d)
	}
}

// testOtherLane checks that full queues in one lane do not block messages in another lane.
func testOtherLane(b *bench) {
	north, south, server := b.join("north"), b.join("south"), b.join("server")
	for _, sender := range []transport.Conn{north, south} {
		b.fill(sender, "server")
	}
	for range 2 * scarce {
		b.later(b.receive(server), time.Minute)
	}
	b.requireFull(north, "server")
	b.lane = b.otherLane()
	b.send(north, "server", "word")
	if d := b.receive(server); string(d.Data) != "word" || d.From != "north" {
		b.Errorf("%q from %q was delivered, want \"word\" from \"north\"", d.Data, d.From)
	}
}

// otherLane returns the lane other than b.lane, the lane under test.
func (b *bench) otherLane() transport.Lane {
	if b.lane == transport.Bulk {
		return transport.Control
	}
	return transport.Bulk
}

// fill exhausts a sender's share of a receiver's queue.
func (b *bench) fill(c transport.Conn, to string) {
	b.Helper()
	for i := range scarce {
		b.send(c, to, fmt.Sprint("filler ", i))
	}
}

// requireFull fails the test if a sender can send another message.
func (b *bench) requireFull(c transport.Conn, to string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, short)
	defer cancel()
	b.is(c.Send(ctx, to, b.lane, []byte("too much")), context.DeadlineExceeded)
}
