package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/transport"
)

// A member that exhausts its share of every queue, whose receivers are away or settle
// nothing, makes only itself wait. The attack represents a member with its own program and
// all defaults; several of them are no stronger while each has its own share.
func TestFullSharesOfOneMember(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, func(c *Config) { c.Center = "server" })
	nc, _ := f.raw("north")
	for _, to := range []string{"south", "east", "server"} {
		f.fill(nc, subject(transport.Bulk, "north", to))
	}
	f.fill(nc, subject(transport.Control, "north", "server"))
	south, east, server := f.join("south"), f.join("east"), f.join("server")
	for _, c := range []transport.Conn{south, server} { // who put off all that north has sent
		for range f.cfg.withDefaults().share(transport.Bulk) {
			if err := f.receive(c).Later(time.Minute); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.send(south, "server", "rows")
	f.send(server, "south", "answer")
	f.send(east, "south", "more")
	for _, c := range []struct {
		conn transport.Conn
		want string
	}{{server, "rows"}, {south, "answer"}, {south, "more"}} {
		d := f.receive(c.conn)
		if string(d.Data) != c.want {
			t.Fatalf("%q came from %s, want %q", d.Data, d.From, c.want)
		}
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	f.hears(east, server, "report")
	f.hears(server, south, "closing")
}

// fill sends to a subject until the server refuses.
func (f *federation) fill(nc *natsgo.Conn, subject string) {
	f.Helper()
	for range 1000 {
		m, err := nc.Request(subject, []byte("junk"), 5*time.Second)
		if err != nil {
			f.Fatal(err)
		}
		if strings.Contains(string(m.Data), "maximum messages per subject exceeded") {
			return
		}
	}
	f.Fatalf("a thousand messages fit on %s", subject)
}

// hears fails unless a control message arrives at once, before all messages that fill the
// lane.
func (f *federation) hears(from, to transport.Conn, text string) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), 5*time.Second)
	defer cancel()
	if err := from.Send(ctx, to.(*conn).name, transport.Control, []byte(text)); err != nil {
		f.Fatal(err)
	}
	for {
		d, err := to.Receive(ctx, transport.Control)
		if err != nil {
			f.Fatalf("%s did not hear %q: %v", to.(*conn).name, text, err)
		}
		if string(d.Data) == text && d.From == from.(*conn).name {
			return
		}
		if err := d.Later(time.Minute); err != nil {
			f.Fatal(err)
		}
	}
}

// Bulk messages that fill all room, which takes several members, leave the room of the
// control lane.
func TestFullDiskQuotaLeavesControl(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, func(c *Config) { c.MaxBytes, c.Share = 4<<20, 1000 })
	north, south := f.join("north"), f.join("south")
	for _, size := range []int{transport.MaxMessageBytes, 10 << 10, 0} {
		for refused := 0; refused < 3; refused++ { // once may be a slow machine
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			if north.Send(ctx, "east", transport.Bulk, make([]byte, size)) == nil {
				refused = -1
			}
			cancel()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := south.Send(ctx, "north", transport.Bulk, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v: there is room, and this test shows nothing", err)
	}
	f.hears(south, north, "closing")
}

// One member alone takes at most a quarter of the room, whatever the number of members, as
// long as every member may have two messages for every other.
func TestShareLeavesRoom(t *testing.T) {
	for _, c := range []struct{ members, want int }{{2, 256}, {9, 256}, {33, 64}, {513, 4}, {1025, 2}, {MaxMembers, 2}} {
		cfg := Config{Members: make([]Member, c.members)}.withDefaults()
		got := cfg.share(transport.Bulk)
		if got != c.want {
			t.Errorf("%d members: a share of %d messages, want %d", c.members, got, c.want)
		}
		if most := int64(got) * int64(c.members-1) * transport.MaxMessageBytes; got > 2 && most > cfg.MaxBytes/4 {
			t.Errorf("%d members: one takes %d bytes of %d", c.members, most, cfg.MaxBytes)
		}
	}
}

// Members other than the center send each other no control messages.
func TestControlGoesThroughTheCenter(t *testing.T) {
	onEachLine(t, func(c *Config) { c.Center = "server" }, func(t *testing.T, f *federation) {
		nc, complaints := f.raw("north")
		if err := nc.Publish(subject(transport.Control, "north", "south"), nil); err != nil {
			t.Fatal(err)
		}
		expectViolation(t, complaints, "command another")
	})
}

// A member that connects and subscribes without end is refused after a few of each, and
// others notice nothing: the server's memory is the coordinator's.
func TestConnectionsAndSubscriptionsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onEachLine(t, nil, func(t *testing.T, f *federation) {
		north := f.join("north")
		var open []*natsgo.Conn
		for range 300 {
			pub, err := f.keys["south"].PublicKey()
			if err != nil {
				t.Fatal(err)
			}
			nc, err := f.client(natsgo.Nkey(pub, f.keys["south"].Sign), natsgo.NoReconnect(),
				natsgo.ErrorHandler(func(*natsgo.Conn, *natsgo.Subscription, error) {}))
			if err == nil {
				t.Cleanup(nc.Close)
				open = append(open, nc)
			}
		}
		if n := len(open); n == 0 || n > maxConnections {
			t.Fatalf("one member has %d connections, want 1 to %d", n, maxConnections)
		}
		before := f.server.nats.NumSubscriptions()
		for i := range 2000 {
			if _, err := open[0].Subscribe(fmt.Sprintf("%s.%d", replyPrefix("south"), i), func(*natsgo.Msg) {}); err != nil {
				break // the server has ended the connection
			}
		}
		if err := open[0].FlushTimeout(2 * time.Second); err != nil {
			t.Logf("the connection with too many subscriptions: %v", err)
		}
		if more := f.server.nats.NumSubscriptions() - before; more > maxSubscriptions {
			t.Errorf("%d subscriptions of one connection, want %d at most", more, maxSubscriptions)
		}
		east := f.join("east")
		f.send(north, "east", "hello")
		f.receive(east)
	})
}

// All members are served in a federation with more members than one connection may have
// subscriptions.
func TestManyMembersAreServed(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := &federation{TB: t, keys: make(map[string]nkeys.KeyPair)}
	f.cfg = Config{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	const members = maxSubscriptions + 4
	for i := range members {
		f.cfg.Members = append(f.cfg.Members, f.newMember(fmt.Sprint("member-", i)))
	}
	f.start()
	t.Cleanup(f.shutdown)
	last := fmt.Sprint("member-", members-1)
	f.send(f.join("member-0"), last, "hello")
	f.receive(f.join(last))
}

// A member that asks for deliveries without end gets no more of the server's time than its
// pace allows, and it does not choose the request.
func TestFloodOfRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	north, south := f.join("north"), f.join("south")
	nc, _ := f.raw("east")
	requests := func() int {
		js, err := jetstream.New(f.server.steward)
		if err != nil {
			t.Fatal(err)
		}
		info, err := js.AccountInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return int(info.API.Total)
	}
	before, began := requests(), time.Now()
	var stop atomic.Bool
	asked := make(chan int)
	go func() {
		n := 0
		for ; !stop.Load(); n++ {
			if err := nc.Publish(askSubject(transport.Bulk, "east", "x.1"), []byte(`{"batch":1,"no_wait":true}`)); err != nil {
				t.Error(err)
				break
			}
		}
		asked <- n
	}()
	for time.Since(began) < 2*time.Second {
		f.send(north, "south", "hello")
		if err := f.receive(south).Ack(); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	n := <-asked
	served, most := requests()-before, asksPerSecond*int(2+time.Since(began).Seconds())
	t.Logf("%d requests, of which %d were served", n, served)
	if n < 5*most {
		t.Fatalf("%d requests are no flood", n)
	}
	if served > most {
		t.Errorf("%d of %d requests were served, want %d at most", served, n, most)
	}
}
