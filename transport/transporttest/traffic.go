package transporttest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

func testSizes(b *bench) {
	north, south := b.join("north"), b.join("south")
	for _, size := range []int{0, 1, 0, 0, 4096, 512<<10 + 2048, transport.MaxMessageBytes} {
		want := bytes.Repeat([]byte{0xa5}, size)
		if size > 1 {
			want[0], want[size-1] = 1, 2
		}
		if err := north.Send(b.ctx, "south", b.lane, want); err != nil {
			b.Fatal(err)
		}
		d := b.receive(south)
		if !bytes.Equal(d.Data, want) {
			b.Errorf("a message of %d bytes arrived changed, with %d bytes", size, len(d.Data))
		}
		b.ack(d)
	}
}

func testTooLarge(b *bench) {
	north := b.join("north")
	b.join("south")
	err := north.Send(b.ctx, "south", b.lane, make([]byte, transport.MaxMessageBytes+1))
	b.is(err, transport.ErrTooLarge)
}

func testNoMember(b *bench) {
	b.is(b.join("north").Send(b.ctx, "atlantis", b.lane, []byte("hello")), transport.ErrNoMember)
}

func testOwnCopy(b *bench) {
	north, south := b.join("north"), b.join("south")
	data := []byte("hello")
	if err := north.Send(b.ctx, "south", b.lane, data); err != nil {
		b.Fatal(err)
	}
	copy(data, "jelly")
	d := b.receive(south)
	if string(d.Data) != "hello" {
		b.Errorf("got %q, want the data at the time of sending", d.Data)
	}
	b.ack(d)
}

// testManySenders checks concurrent sends by several goroutines of several members, while their
// receiver receives.
func testManySenders(b *bench) {
	const each, lanes = 25, 2
	server := b.join("server")
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, name := range []string{"north", "south", "east"} {
		c := b.join(name)
		for lane := range lanes {
			wg.Go(func() { b.chatter(c, name, lane, each) })
		}
	}
	want := 3 * lanes * each
	if got := b.collect(server, want); len(got) != want {
		b.Errorf("%d different messages arrived, want %d", len(got), want)
	}
}

func (b *bench) chatter(c transport.Conn, name string, lane, n int) {
	for i := range n {
		if err := c.Send(b.ctx, "server", b.lane, fmt.Appendf(nil, "%s %d %d", name, lane, i)); err != nil {
			b.Error(err)
			return
		}
	}
}

// testTwoReceivers checks that two callers of Receive get different messages. A caller that stops
// waiting must not block the other caller.
func testTwoReceivers(b *bench) {
	north, south := b.join("north"), b.join("south")
	got := make(chan string)
	for range 2 {
		go func() {
			d, err := south.Receive(b.ctx, b.lane)
			if err != nil {
				b.Error(err)
				got <- ""
				return
			}
			if err := d.Ack(); err != nil {
				b.Error(err)
			}
			got <- string(d.Data)
		}()
	}
	time.Sleep(50 * time.Millisecond) // gives both receivers time to wait in Receive
	b.requireQuiet(south, 50*time.Millisecond)
	b.send(north, "south", "one")
	b.send(north, "south", "two")
	if first, second := <-got, <-got; first == second {
		b.Errorf("both got %q", first)
	}
}

func testCloseWhileWaiting(b *bench) {
	south := b.join("south")
	failed := make(chan error, 1)
	go func() {
		_, err := south.Receive(b.ctx, b.lane)
		failed <- err
	}()
	time.Sleep(50 * time.Millisecond) // gives the receiver time to wait
	b.close(south)
	b.is(<-failed, transport.ErrClosed)
	b.close(south) // a second Close has no effect
}

func testClosed(b *bench) {
	north, south := b.join("north"), b.join("south")
	b.send(north, "south", "hello")
	b.close(south)
	b.is(south.Send(b.ctx, "north", b.lane, []byte("hello")), transport.ErrClosed)
	_, err := south.Receive(b.ctx, b.lane)
	b.is(err, transport.ErrClosed)
}

func testContext(b *bench) {
	north, south := b.join("north"), b.join("south")
	ctx, cancel := context.WithCancel(b.ctx)
	failed := make(chan error, 1)
	go func() {
		_, err := south.Receive(ctx, b.lane)
		failed <- err
	}()
	time.Sleep(50 * time.Millisecond) // gives the receiver time to wait
	cancel()
	b.is(<-failed, context.Canceled)
	b.is(north.Send(ctx, "south", b.lane, []byte("hello")), context.Canceled)
	b.send(north, "south", "still here") // the connection still works
	b.ack(b.receive(south))
}
