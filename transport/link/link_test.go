package link

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/mem"
	"github.com/mercer-fl/mercer/transport/transporttest"
)

// slow is a line on which 1,000 bytes hold for a second.
var slow = Line{Rate: 1000, Latency: 100 * time.Millisecond}

// members connects members of one network by lines.
func members(t *testing.T, l Line, names ...string) (*Clock, map[string]transport.Conn) {
	t.Helper()
	c, err := NewClock(l)
	if err != nil {
		t.Fatal(err)
	}
	net, conns := mem.NewNetwork(), make(map[string]transport.Conn)
	for _, name := range names {
		inner, err := net.Join(name)
		if err != nil {
			t.Fatal(err)
		}
		conns[name] = c.Conn(name, inner)
	}
	return c, conns
}

// pass sends a message of n bytes and receives it.
func pass(t *testing.T, from, to transport.Conn, name string, n int) {
	t.Helper()
	send(t, from, name, n)
	receive(t, to, n)
}

func send(t *testing.T, from transport.Conn, to string, n int) {
	t.Helper()
	if err := from.Send(t.Context(), to, transport.Bulk, bytes.Repeat([]byte{7}, n)); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, to transport.Conn, n int) {
	t.Helper()
	d, err := to.Receive(t.Context(), transport.Bulk)
	if err != nil || !bytes.Equal(d.Data, bytes.Repeat([]byte{7}, n)) {
		t.Fatalf("got %d bytes, error %v; want %d", len(d.Data), err, n)
	}
	if err := d.Ack(); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, c *Clock, d time.Duration) {
	t.Helper()
	if got := c.Elapsed(); got != d {
		t.Errorf("the clock shows %v, want %v", got, d)
	}
}

func TestAMessageTakesLatencyAndItsBytes(t *testing.T) {
	c, m := members(t, slow, "a", "b")
	pass(t, m["a"], m["b"], "b", 1000)
	want(t, c, 1100*time.Millisecond)
	pass(t, m["b"], m["a"], "a", 500)
	want(t, c, 1700*time.Millisecond)
	if n, k := c.Sent(); n != 1500 || k != 2 {
		t.Errorf("%d bytes in %d messages", n, k)
	}
}

func TestMessagesToOneMemberShareItsLine(t *testing.T) {
	c, m := members(t, slow, "hub", "a", "b", "d")
	for _, from := range []string{"a", "b", "d"} {
		pass(t, m[from], m["hub"], "hub", 1000)
	}
	want(t, c, 3100*time.Millisecond)
}

func TestMessagesOfOneMemberShareItsLine(t *testing.T) {
	c, m := members(t, slow, "hub", "a", "b")
	pass(t, m["hub"], m["a"], "a", 1000)
	pass(t, m["hub"], m["b"], "b", 1000)
	want(t, c, 2100*time.Millisecond)
}

func TestLinesOfOtherMembersRunSideBySide(t *testing.T) {
	c, m := members(t, slow, "a", "b", "d", "e")
	pass(t, m["a"], m["b"], "b", 1000)
	pass(t, m["d"], m["e"], "e", 1000)
	want(t, c, 1100*time.Millisecond)
}

func TestLossLowersTheRate(t *testing.T) {
	c, m := members(t, Line{Rate: 1000, Loss: 0.5}, "a", "b")
	pass(t, m["a"], m["b"], "b", 1000)
	want(t, c, 2*time.Second)
}

func TestClocksMoveWithWhatArrivedOnly(t *testing.T) {
	c, m := members(t, slow, "a", "b")
	send(t, m["a"], "b", 1000)
	want(t, c, 0)
	receive(t, m["b"], 1000)
	want(t, c, 1100*time.Millisecond)
	early, late := letter{from: "a", to: "b", hash: [32]byte{1}}, letter{from: "a", to: "b", hash: [32]byte{2}}
	c.send(early, 1000)
	c.send(late, 1000)
	for _, l := range []letter{late, early} { // delivered in the other order: no clock goes back
		c.arrive(l)
		want(t, c, 3100*time.Millisecond)
	}
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	transporttest.Run(t, func(t *testing.T, n transporttest.Network) transporttest.Join {
		c, err := NewClock(Line{Rate: 1e9})
		if err != nil {
			t.Fatal(err)
		}
		net := &mem.Network{AckWait: n.AckWait, Share: n.Share}
		join := func(name string) (transport.Conn, error) {
			inner, err := net.Join(name)
			if err != nil {
				return nil, err
			}
			return c.Conn(name, inner), nil
		}
		for _, name := range transporttest.Members() {
			conn, err := join(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return join
	})
}

func TestLinesThatCarryNothingAreRefused(t *testing.T) {
	for name, l := range map[string]Line{
		"no rate": {}, "less than no rate": {Rate: -1}, "less than no latency": {Rate: 1, Latency: -1},
		"all lost": {Rate: 1, Loss: 1}, "less than nothing lost": {Rate: 1, Loss: -.1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewClock(l); err == nil || !strings.HasPrefix(err.Error(), "link: the ") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAMemberWithoutALineIsNamed(t *testing.T) {
	c, err := NewClock(slow)
	if err != nil {
		t.Fatal(err)
	}
	net := mem.NewNetwork()
	bare, err := net.Join("bare")
	if err != nil {
		t.Fatal(err)
	}
	inner, err := net.Join("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.Send(t.Context(), "a", transport.Control, []byte("hi")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Conn("a", inner).Receive(context.Background(), transport.Control); err == nil || !strings.Contains(err.Error(), `from "bare", whose connection does not use this clock`) {
		t.Errorf("error %v", err)
	}
}
