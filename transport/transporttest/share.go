package transporttest

import (
	"context"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// testShare: an acknowledgement, not a delivery, makes room.
func testShare(b *bench) {
	north, south := b.join("north"), b.join("south")
	b.fill(north, "south")
	d := b.receive(south)
	b.full(north, "south")
	sent := make(chan error, 1)
	go func() { sent <- north.Send(b.ctx, "south", b.lane, []byte("one more")) }()
	b.ack(d)
	if err := <-sent; err != nil {
		b.Fatal(err)
	}
	b.collect(south, scarce)
}

// testShareOfOne: a member that fills its share of an absent receiver's queue stops neither
// others from sending there nor itself from sending elsewhere.
func testShareOfOne(b *bench) {
	north, south, east := b.join("north"), b.join("south"), b.join("east")
	b.fill(north, "server")
	b.full(north, "server")
	b.send(south, "server", "from south")
	b.send(north, "east", "to east")
	b.ack(b.receive(east))
	if got := b.collect(b.join("server"), scarce+1); got["from south"] != 1 {
		b.Errorf("%v came, want the message of south among them", got)
	}
}

// testPutBackShare: a receiver that puts all messages of one sender back still gets
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
			b.Fatalf("%q came from %q, want the message of south", d.Data, d.From)
		}
		b.ack(d)
	}
}

// testOtherLane: queues that are full, delivered and not settled in one lane, hide
// nothing in another.
func testOtherLane(b *bench) {
	north, south, server := b.join("north"), b.join("south"), b.join("server")
	for _, sender := range []transport.Conn{north, south} {
		b.fill(sender, "server")
	}
	for range 2 * scarce {
		b.later(b.receive(server), time.Minute)
	}
	b.full(north, "server")
	b.lane = b.other()
	b.send(north, "server", "word")
	if d := b.receive(server); string(d.Data) != "word" || d.From != "north" {
		b.Errorf("%q came from %q, want word from north", d.Data, d.From)
	}
}

// other returns the lane that is not the part's.
func (b *bench) other() transport.Lane {
	if b.lane == transport.Bulk {
		return transport.Control
	}
	return transport.Bulk
}

// fill uses a sender's share up.
func (b *bench) fill(c transport.Conn, to string) {
	b.Helper()
	for i := range scarce {
		b.send(c, to, fmt.Sprint("filler ", i))
	}
}

// full fails if a sender can send more.
func (b *bench) full(c transport.Conn, to string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, short)
	defer cancel()
	b.is(c.Send(ctx, to, b.lane, []byte("too much")), context.DeadlineExceeded)
}
