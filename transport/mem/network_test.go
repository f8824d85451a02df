package mem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/mem"
)

func join(t rapid.TB, net *mem.Network, name string) transport.Conn {
	t.Helper()
	c, err := net.Join(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestJoinRefuses(t *testing.T) {
	net := mem.NewNetwork()
	north := join(t, net, "north")
	if _, err := net.Join("north"); err == nil || !strings.Contains(err.Error(), `"north" is connected already`) {
		t.Errorf("a second north: error %v", err)
	}
	if _, err := net.Join(""); err == nil {
		t.Error("a member without a name was let in")
	}
	if err := north.Close(); err != nil {
		t.Fatal(err)
	}
	join(t, net, "north")
}

// A full queue makes senders wait; an acknowledgement, not a delivery, makes
// room.
func TestSendWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &mem.Network{AckWait: time.Hour, Share: 1}
		north, south := join(t, net, "north"), join(t, net, "south")
		send := func(ctx context.Context) error { return north.Send(ctx, "south", transport.Bulk, make([]byte, 600)) }
		if err := send(t.Context()); err != nil {
			t.Fatal(err)
		}
		d, err := south.Receive(t.Context(), transport.Bulk)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := send(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a send into a full queue: error %v, want a wait", err)
		}
		sent := make(chan error)
		go func() { sent <- send(t.Context()) }()
		synctest.Wait()
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	})
}

func TestCloseWakesSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &mem.Network{Share: 1}
		north := join(t, net, "north")
		join(t, net, "south")
		for range 2 {
			go func() {
				err := north.Send(t.Context(), "south", transport.Bulk, []byte("ab"))
				if err != nil && !errors.Is(err, transport.ErrClosed) {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if err := north.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	})
}

// Whatever receivers do in whatever order, a letter is in the queue exactly until it is
// acknowledged.
func TestNothingLostNothingKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(*testing.T) { storm(rt) })
	})
}

func storm(t *rapid.T) {
	net := &mem.Network{AckWait: time.Second}
	c := join(t, net, "north")
	waiting := map[string]bool{}
	for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
		switch rapid.IntRange(0, 4).Draw(t, "step") {
		case 0, 1:
			text := fmt.Sprint(i)
			if err := c.Send(context.Background(), "north", transport.Bulk, []byte(text)); err != nil {
				t.Fatal(err)
			}
			waiting[text] = true
		case 2:
			if d, ok := poll(t, c, time.Minute); ok {
				settle(t, d, waiting)
			} else if len(waiting) > 0 {
				t.Fatalf("%d letters are lost", len(waiting))
			}
		case 3:
			time.Sleep(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
		case 4:
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			c = join(t, net, "north")
		}
	}
	for range len(waiting) {
		d, ok := poll(t, c, time.Minute)
		if !ok || !waiting[string(d.Data)] {
			t.Fatalf("got %q (%v) while %d letters wait", d.Data, ok, len(waiting))
		}
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
		delete(waiting, string(d.Data))
	}
	if d, ok := poll(t, c, time.Minute); ok {
		t.Fatalf("%q came after it was acknowledged", d.Data)
	}
}

func poll(t *rapid.T, c transport.Conn, patience time.Duration) (transport.Delivery, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d, err := c.Receive(ctx, transport.Bulk)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return d, err == nil
}

func settle(t *rapid.T, d transport.Delivery, waiting map[string]bool) {
	if !waiting[string(d.Data)] {
		t.Fatalf("%q came after it was acknowledged", d.Data)
	}
	var err error
	switch rapid.IntRange(0, 2).Draw(t, "settle") {
	case 0:
		err = d.Ack()
		delete(waiting, string(d.Data))
	case 1:
		err = d.Later(time.Duration(rapid.IntRange(0, 5000).Draw(t, "delay")) * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSend(b *testing.B) {
	for _, size := range []int{1 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			net := mem.NewNetwork()
			c, err := net.Join("north")
			if err != nil {
				b.Fatal(err)
			}
			data := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := c.Send(b.Context(), "north", transport.Bulk, data); err != nil {
					b.Fatal(err)
				}
				d, err := c.Receive(b.Context(), transport.Bulk)
				if err != nil {
					b.Fatal(err)
				}
				if err := d.Ack(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
