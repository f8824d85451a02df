package nats

import (
	"context"
	"crypto/ed25519"
	"flag"
	"log/slog"
	"net"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/transporttest"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil { // most of their time they wait
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// federation is a server with the suite's members.
type federation struct {
	testing.TB
	cfg    Config
	keys   map[string]nkeys.KeyPair
	server *Server
}

// newFederation starts a server; change may adjust its configuration.
func newFederation(t testing.TB, change func(*Config)) *federation {
	t.Helper()
	f := &federation{TB: t, keys: make(map[string]nkeys.KeyPair)}
	f.cfg = Config{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, name := range transporttest.Members() {
		f.cfg.Members = append(f.cfg.Members, f.newMember(name))
	}
	if change != nil {
		change(&f.cfg)
	}
	f.start()
	t.Cleanup(f.shutdown)
	return f
}

func (f *federation) newMember(name string) Member {
	f.Helper()
	key, public := newKey(f)
	f.keys[name] = key
	return Member{Name: name, Key: public}
}

// newKey draws a member's key and returns its public half, too.
func newKey(t testing.TB) (key nkeys.KeyPair, public string) {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err == nil {
		public, err = key.PublicKey()
	}
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

func (f *federation) start() {
	f.Helper()
	s, err := Start(f.Context(), f.cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.server = s
}

func (f *federation) shutdown() {
	f.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := f.server.Shutdown(ctx); err != nil {
		f.Error(err)
	}
}

// restart stops the server and starts another on the same port and folder.
func (f *federation) restart(pause time.Duration) {
	f.Helper()
	f.cfg.Port = f.port()
	f.shutdown()
	time.Sleep(pause)
	f.start()
}

func (f *federation) port() int { return f.server.nats.Addr().(*net.TCPAddr).Port }

// pin returns the server's key as members know it, nil without TLS.
func (f *federation) pin() ed25519.PublicKey {
	if f.cfg.TLS == nil {
		return nil
	}
	return f.cfg.TLS.Public().(ed25519.PublicKey)
}

// onEachLine runs a test on a federation whose members connect by TCP, on one whose members connect by
// WebSocket, and on one to which some members were added while the server ran.
func onEachLine(t *testing.T, change func(*Config), test func(*testing.T, *federation)) {
	t.Helper()
	if change == nil {
		change = func(*Config) {}
	}
	for name, line := range map[string]func(*Config){"TCP": func(*Config) {}, "WebSocket": byWSS} {
		t.Run(name, func(t *testing.T) {
			test(t, newFederation(t, func(c *Config) { change(c); line(c) }))
		})
	}
	t.Run("changed", func(t *testing.T) {
		var all []Member
		f := newFederation(t, func(c *Config) {
			change(c)
			all, c.Members = c.Members, c.Members[len(c.Members)-1:]
		})
		f.changeTo(all...)
		test(t, f)
	})
}

// changeTo changes the members of the running server.
func (f *federation) changeTo(members ...Member) {
	f.Helper()
	if err := f.server.Change(f.Context(), members, nil); err != nil {
		f.Fatal(err)
	}
	f.cfg.Members = members
}

// url returns the address that members call.
func (f *federation) url() string {
	if f.cfg.WSS != "" {
		return "wss://" + f.server.WSS()
	}
	return f.server.URL()
}

func (f *federation) dial(name string) (transport.Conn, error) {
	c, err := Dial(f.Context(), f.url(), name, f.keys[name], Options{TLS: f.pin(), Logger: f.cfg.Logger})
	if err == nil {
		c.(*conn).patience = 100 * time.Millisecond
	}
	return c, err
}

func (f *federation) join(name string) transport.Conn {
	f.Helper()
	c, err := f.dial(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := c.Close(); err != nil {
			f.Error(err)
		}
	})
	return c
}

func (f *federation) send(c transport.Conn, to, text string) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), 5*time.Second)
	defer cancel()
	if err := c.Send(ctx, to, transport.Bulk, []byte(text)); err != nil {
		f.Fatal(err)
	}
}

func (f *federation) receive(c transport.Conn) transport.Delivery {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), 5*time.Second)
	defer cancel()
	d, err := c.Receive(ctx, transport.Bulk)
	if err != nil {
		f.Fatal(err)
	}
	return d
}

// quiet fails if anything arrives within d.
func (f *federation) quiet(c transport.Conn, d time.Duration) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), d)
	defer cancel()
	if got, err := c.Receive(ctx, transport.Bulk); err == nil {
		f.Fatalf("%q from %q arrived, want nothing", got.Data, got.From)
	}
}

// raw logs in as a member with a client that follows no rules. The server's complaints go
// to the channel.
func (f *federation) raw(name string) (*natsgo.Conn, <-chan error) {
	f.Helper()
	pub, err := f.keys[name].PublicKey()
	if err != nil {
		f.Fatal(err)
	}
	complaints := make(chan error, 100)
	nc, err := f.client(natsgo.Nkey(pub, f.keys[name].Sign), natsgo.CustomInboxPrefix(replyPrefix(name)),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { complaints <- err }))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(nc.Close)
	return nc, complaints
}

// client connects a NATS client to the port that members call.
func (f *federation) client(options ...natsgo.Option) (*natsgo.Conn, error) {
	f.Helper()
	at, err := ParseAddress(f.url())
	if err != nil {
		f.Fatal(err)
	}
	return natsgo.Connect(at.forClient(), append(options, natsgo.SetCustomDialer(newCaller(at, Options{TLS: f.pin()})))...)
}

// stored counts the messages in the stream by subject.
func (f *federation) stored() map[string]uint64 {
	f.Helper()
	js, err := jetstream.New(f.server.steward)
	if err != nil {
		f.Fatal(err)
	}
	s, err := js.Stream(f.Context(), stream(transport.Bulk))
	if err != nil {
		f.Fatal(err)
	}
	info, err := s.Info(f.Context(), jetstream.WithSubjectFilter(">"))
	if err != nil {
		f.Fatal(err)
	}
	return info.State.Subjects
}

// waiting counts a member's queued, undelivered messages.
func (f *federation) waiting(name string) uint64 {
	f.Helper()
	js, err := jetstream.New(f.server.steward)
	if err != nil {
		f.Fatal(err)
	}
	c, err := js.Consumer(f.Context(), stream(transport.Bulk), name)
	if err != nil {
		f.Fatal(err)
	}
	return c.CachedInfo().NumPending
}

// eventually waits until a condition holds, and fails the test if it does not within 20 s.
func (f *federation) eventually(what string, is func() bool) {
	f.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("not in time: %s", what)
		}
	}
}
