package nats

import (
	"testing"

	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/transporttest"
)

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	transporttest.Run(t, func(t *testing.T, n transporttest.Network) transporttest.Join {
		return newFederation(t, func(c *Config) { c.AckWait, c.Share = n.AckWait, n.Share }).dial
	})
}

func TestConformanceByTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	key, _ := tlsKey(1)
	transporttest.Run(t, func(t *testing.T, n transporttest.Network) transporttest.Join {
		return newFederation(t, func(c *Config) { c.AckWait, c.Share, c.TLS = n.AckWait, n.Share, key }).dial
	})
}

// A member in the server's own process needs no port and reaches the others.
func TestInProcess(t *testing.T) {
	f := newFederation(t, nil)
	server, err := f.server.Dial(t.Context(), "server", f.keys["server"], Options{})
	if err != nil {
		t.Fatal(err)
	}
	north := f.join("north")
	for _, way := range []struct {
		from, to       transport.Conn
		sender, target string
	}{{north, server, "north", "server"}, {server, north, "server", "north"}} {
		f.send(way.from, way.target, "hello")
		if d := f.receive(way.to); string(d.Data) != "hello" || d.From != way.sender {
			t.Errorf("got %q from %q, want hello from %s", d.Data, d.From, way.sender)
		}
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}
