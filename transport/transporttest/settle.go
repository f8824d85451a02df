package transporttest

import (
	"time"

	"github.com/mercer-fl/mercer/transport"
)

func testAck(b *bench) {
	north, south := b.join("north"), b.join("south")
	b.requireQuietAfter(south, func() {
		b.send(north, "south", "hello")
		b.ack(b.receiveHello(south))
	})
}

func testNoAck(b *bench) {
	north, south := b.join("north"), b.join("south")
	b.requireQuietAfter(south, func() {
		b.send(north, "south", "hello")
		b.receiveHello(south)
		b.ack(b.receiveHello(south))
	})
}

func (b *bench) receiveHello(c transport.Conn) transport.Delivery {
	b.Helper()
	d := b.receive(c)
	if string(d.Data) != "hello" || d.From != "north" {
		b.Errorf("got %q from %q, want \"hello\" from \"north\"", d.Data, d.From)
	}
	return d
}

// requireQuietAfter fails the test if a message arrives at c after the function exchange has
// acknowledged all messages that it sent. On a busy machine an acknowledgement can reach the network
// later than AckWait after the delivery; the network then repeats the delivery rightly. So the exchange
// is tried several times, and the test fails only if a message arrives after every try.
func (b *bench) requireQuietAfter(c transport.Conn, exchange func()) {
	b.Helper()
	const tries = 5
	for range tries {
		exchange()
		d, quiet := b.quiet(c, 2*short)
		if quiet {
			return
		}
		for ; !quiet; d, quiet = b.quiet(c, 2*short) {
			b.ack(d)
		}
	}
	b.Fatalf("in each of %d tries a message arrived after it was acknowledged", tries)
}

func testLater(b *bench) {
	const delay = 200 * time.Millisecond
	north, south := b.join("north"), b.join("south")
	b.send(north, "south", "first")
	d := b.receive(south)
	b.send(north, "south", "second")
	before := time.Now()
	b.later(d, delay)
	second := b.receive(south) // the second message arrives although the first was put back
	if string(second.Data) != "second" {
		b.Fatalf("got %q while the first was put back, want \"second\"", second.Data)
	}
	b.ack(second)
	again := b.receive(south)
	if waited := time.Since(before); waited < delay {
		b.Errorf("the message was delivered again after %v, want at least %v", waited, delay)
	}
	if string(again.Data) != "first" {
		b.Errorf("%q was delivered again, want \"first\"", again.Data)
	}
	b.later(again, 0)
	b.ack(b.receive(south))
}

func testLaterThenAck(b *bench) {
	north, south := b.join("north"), b.join("south")
	b.requireQuietAfter(south, func() {
		b.send(north, "south", "hello")
		d := b.receive(south)
		b.later(d, short/2)
		b.ack(d)
		b.ack(d) // a repeated acknowledgement has no effect
	})
}

func testAway(b *bench) {
	north := b.join("north")
	b.close(b.join("south"))
	b.send(north, "south", "while you were out")
	b.ack(b.receive(b.join("south")))
}

func testRestart(b *bench) {
	north, south := b.join("north"), b.join("south")
	for _, text := range []string{"a", "b", "c", "d"} {
		b.send(north, "south", text)
	}
	for range 4 {
		if d := b.receive(south); string(d.Data) == "b" {
			b.ack(d)
		}
	}
	b.close(south)
	got := b.collect(b.join("south"), 3)
	for _, text := range []string{"a", "c", "d"} {
		if got[text] != 1 {
			b.Errorf("%q was delivered %d times after the restart, want once", text, got[text])
		}
	}
}

func testSettleAfterClose(b *bench) {
	north, south := b.join("north"), b.join("south")
	b.send(north, "south", "hello")
	d := b.receive(south)
	b.close(south)
	b.is(d.Ack(), transport.ErrClosed)
	b.is(d.Later(time.Millisecond), transport.ErrClosed)
	b.ack(b.receive(b.join("south")))
}

// collect acknowledges n deliveries and counts them by content.
func (b *bench) collect(c transport.Conn, n int) map[string]int {
	b.Helper()
	got := make(map[string]int, n)
	for range n {
		d := b.receive(c)
		got[string(d.Data)]++
		b.ack(d)
	}
	return got
}
