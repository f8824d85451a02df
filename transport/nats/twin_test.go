package nats

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// A second process with a member's identity is told of the first, which keeps
// its queue, also when the server begins anew.
func TestTwinRefused(t *testing.T) {
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

// Of many that begin at once one is left.
func TestTwinsAtOnce(t *testing.T) {
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

// Two that have served meet when connections come back. One goes on, whichever
// asks, and the other stops, whether it hears or is heard first.
func TestTwinsWhoServe(t *testing.T) {
	for name, run := range map[string]string{"who asks gives way": "Z", "who asks succeeds": "2"} {
		t.Run(name, func(t *testing.T) {
			f := newFederation(t, nil)
			south := f.join("south").(*conn)
			other, err := connect(f.server.URL(), "south", f.keys["south"], Options{Logger: f.cfg.Logger})
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

// A connection whose process is gone is succeeded, once it had time to speak. If it
// speaks later, one of both stops.
func TestTwinIsGone(t *testing.T) {
	f := newFederation(t, nil)
	gone, _ := f.raw("south")
	heard, err := gone.SubscribeSync(twinSubject("south"))
	if err == nil {
		err = gone.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	south := f.join("south").(*conn)
	f.send(f.join("north"), "south", "hello")
	f.receive(south)
	if _, err := heard.NextMsg(time.Second); err != nil {
		t.Fatal(err)
	}
	late := &conn{name: "south", run: strings.Repeat("2", runSize), since: time.Now(), nc: gone}
	if err := late.tell(late.presence()); err != nil { // as it was when it lost its way
		t.Fatal(err)
	}
	for own := true; own; {
		m, err := heard.NextMsg(time.Second)
		if err != nil {
			t.Fatal(err)
		}
		p, err := decodePresence(m.Data)
		if own = p.Run == late.run; err != nil || !own && (p.Run != south.run || !p.Serving) {
			t.Fatalf("who came late is told %s, %v", m.Data, err)
		}
	}
	late.serving.Store(true)
	if err := late.tell(late.presence()); err != nil {
		t.Fatal(err)
	}
	_, err = south.Receive(t.Context(), transport.Bulk)
	var twin *TwinError
	if !errors.As(err, &twin) {
		t.Fatal(err)
	}
}

// What cannot be understood ends no connection.
func TestTwinNonsense(t *testing.T) {
	f := newFederation(t, nil)
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
}

// show returns the text that people read of another process.
func show(p presence) string {
	e := &TwinError{Member: "south", Address: p.Address, Process: p.Process, Since: p.Since}
	return e.Error()
}

func TestTwinErrorIsPlainText(t *testing.T) {
	p, err := decodePresence([]byte(`{"run": "` + strings.Repeat("A", runSize) + `", "address": "fe80::1%\u001b[2J", "process": 7}`))
	if err != nil {
		t.Fatal(err)
	}
	if text := show(p); strings.Contains(text, "\x1b") || !strings.Contains(text, "from fe80::1 (process 7, ") {
		t.Errorf("%q", text)
	}
	if text := show(presence{}); !strings.Contains(text, "from an unknown address") {
		t.Errorf("%q", text)
	}
}

func FuzzDecodePresence(f *testing.F) {
	good, err := json.Marshal(presence{Run: strings.Repeat("A", runSize), Address: netip.MustParseAddr("::1"), Process: 3, Since: time.Now()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"address": "fe80::1%eth0"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodePresence(b)
		if err != nil {
			return
		}
		for _, c := range show(p) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q is shown as %q", b, show(p))
			}
		}
	})
}
