package nats

import (
	"strings"
	"testing"
	"time"
	"unicode"

	natsgo "github.com/nats-io/nats.go"
)

// connection returns a member's connection as the server sees it.
func (f *federation) connection(name string) (Connection, bool) {
	f.Helper()
	list, err := f.server.Connections()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range list {
		if c.Member == name {
			return c, true
		}
	}
	return Connection{}, false
}

// The server sees a member from its login to the end of its connection, with the version that its program
// gives. The member sees the same, by its callback.
func TestPresence(t *testing.T) {
	f := newFederation(t, nil)
	if list, err := f.server.Connections(); err != nil || len(list) > 0 {
		t.Fatalf("connections before anybody connects: %v, %v", list, err)
	}
	began := time.Now()
	told := make(chan bool, 10)
	name := f.cfg.Members[1].Name
	c, err := Dial(t.Context(), f.server.URL(), name, f.keys[name], Options{Version: "v1.2.3", Connected: func(is bool) { told <- is }})
	if err != nil {
		t.Fatal(err)
	}
	got, open := f.connection(name)
	if !open || got.Version != "v1.2.3" || got.Since.Before(began.Add(-time.Second)) || got.Since.After(time.Now().Add(time.Second)) {
		t.Errorf("%+v, open %t", got, open)
	}
	if _, open := f.connection(f.cfg.Members[0].Name); open {
		t.Error("a member that never connected is in the list")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	f.eventually("the member that has left is not in the list", func() bool {
		_, open := f.connection(name)
		return !open
	})
	if first, last := <-told, <-told; !first || last {
		t.Errorf("the member was told %t, then %t", first, last)
	}
}

// A stranger is no member's connection, and a member's word about its version is bounded.
func TestPresenceOfLiars(t *testing.T) {
	f := newFederation(t, nil)
	if nc, err := natsgo.Connect(f.server.URL(), natsgo.Name("north mercer v9")); err == nil {
		nc.Close()
		t.Fatal("a stranger has connected")
	}
	f.raw(f.cfg.Members[0].Name)
	f.eventually("the member is in the list", func() bool {
		_, open := f.connection(f.cfg.Members[0].Name)
		return open
	})
	list, err := f.server.Connections()
	if err != nil || len(list) != 1 || list[0].Version != "" {
		t.Errorf("%+v, %v; want one connection without a version", list, err)
	}
	for name, want := range map[string]string{
		"north": "", "north mercer v1": "v1", "north mercer v1\x1b[31m": "v1 [31m", "north mercer " + strings.Repeat("v", maxVersion+1): "", "mercer": "",
	} {
		if got := versionOf(name); got != want {
			t.Errorf("versionOf(%q) is %q, want %q", name, got, want)
		}
	}
}

// The load counts the messages that wait in all queues, and the limit is what the configuration allows.
func TestLoad(t *testing.T) {
	f := newFederation(t, func(c *Config) { c.MaxBytes = 1 << 30 })
	from, to := f.cfg.Members[0].Name, f.cfg.Members[1].Name
	c := f.join(from)
	before, err := f.server.Load()
	if err != nil || !before.Accepts || before.Messages != 0 || before.Limit != 1<<30+1<<28 || before.Free == 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	f.send(c, to, strings.Repeat("x", 1000))
	after, err := f.server.Load()
	if err != nil || after.Messages != 1 || after.Bytes < 1000 || after.Bytes > 10_000 {
		t.Errorf("%+v, %v; want one message", after, err)
	}
	d := f.receive(f.join(to))
	if err := d.Ack(); err != nil {
		t.Fatal(err)
	}
	f.eventually("no message waits after the only one was acknowledged", func() bool {
		now, err := f.server.Load()
		return err == nil && now.Messages == 0
	})
	f.shutdown()
	if ended, err := f.server.Load(); err != nil || ended.Accepts {
		t.Errorf("a server that has stopped: %+v, %v", ended, err)
	}
}

// Whatever name a member's client gives, its version is short and printable.
func FuzzVersionOf(f *testing.F) {
	f.Add("north mercer v1.2.3")
	f.Add("north mercer \x1b[31m\xff")
	f.Fuzz(func(t *testing.T, name string) {
		v := versionOf(name)
		if len(v) > maxVersion || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q", v)
		}
	})
}
