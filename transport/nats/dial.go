package nats

import (
	"cmp"
	"context"
	"crypto/ed25519"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/transport"
)

// Options holds a member's settings for its connection. The zero value is ready for use.
type Options struct {
	TLS    ed25519.PublicKey // the server's TLS key; nil means no TLS, which is allowed only on this machine
	Proxy  *Proxy            // HTTP proxy through which the member connects; requires TLS; nil means none
	Logger *slog.Logger      // receives log messages; nil discards them
	// Version is the program's version, of at most 64 bytes, which the server can show; "" for none.
	Version string
	// Connected is called whenever the connection has been opened (true) or lost (false). It must not
	// block. It can be nil.
	Connected func(bool)
}

const (
	pingInterval = 20 * time.Second
	pingsOut     = 3 // number of unanswered pings after which a connection counts as lost
	longestWait  = 5 * time.Second
	shortestWait = 50 * time.Millisecond
)

// conn is one member's connection. It restores itself after interruptions.
type conn struct {
	name string
	key  string // public nkey of the member
	log  *slog.Logger
	nc   *natsgo.Conn
	js   jetstream.JetStream
	link *link
	call *caller // nil for a member in the server's process

	inboxes  []*inbox             // one inbox for each lane
	version  string               // see Options.Version
	notify   func(connected bool) // see Options.Connected
	run      string               // random name of this process; other processes can have the same identity
	since    time.Time
	serving  atomic.Bool   // whether the process has ever connected; written only under the lock meeting
	meeting  sync.Mutex    // serialises the handling of messages from other processes, which can end the link
	twin     []byte        // key that authenticates messages between processes with this identity
	asked    challenges    // challenges to other processes; guarded by meeting
	refused  string        // random name of the process that was refused last; guarded by meeting
	strange  *budget       // limits log lines about invalid messages of unknown senders
	failures *budget       // limits log lines about a wrong server or proxy at the address
	patience time.Duration // how long Send waits while the server has no queue for the receiver
	silence  time.Duration // time without an answer after which a request counts as lost

	url         string      // address of the server, for log lines
	unreachable atomic.Bool // whether the log says that the server is unreachable

	once sync.Once
	gone chan struct{} // closed when the client's last callback has run
}

// Dial connects the member called name to the server at url, an address that [ParseAddress]
// accepts. It waits for the server until ctx ends. The connection then restores itself without
// limit. Besides Close, only two events end it: a server that refuses the member, with a
// [*CredentialError] or a [*PermissionError], and another process with the same identity, with a [*TwinError]. If
// something else fails, the log says what: a server without the key in o or the required TLS
// ([*LineError]), a proxy ([*ProxyError]), the server's name ([*NameError]). If ctx ends first,
// Dial returns this error.
func Dial(ctx context.Context, url, name string, key nkeys.KeyPair, o Options) (transport.Conn, error) {
	at, err := o.parse(url)
	if err != nil {
		return nil, err
	}
	c, err := connect(url, name, key, o, newCaller(at, o))
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	return c.waitConnected(ctx, url)
}

// parse decodes the address of a server, and checks that the options have a TLS key if the connection
// needs TLS.
func (o Options) parse(url string) (Address, error) {
	at, err := ParseAddress(url)
	switch {
	case err != nil:
		return at, fmt.Errorf("nats: %w", err)
	case at.NeedsTLS() && len(o.TLS) == 0:
		return at, fmt.Errorf("nats: a connection to %s requires TLS; set Options.TLS to the server's key", at)
	case o.Proxy != nil && len(o.TLS) == 0:
		return at, fmt.Errorf("nats: a connection through the proxy %s requires TLS; set Options.TLS to the server's key", o.Proxy)
	}
	return at, nil
}

// waitConnected waits until the first connection is open. It returns an interface value, because a
// nil *conn in an interface would not be nil.
func (c *conn) waitConnected(ctx context.Context, where string) (transport.Conn, error) {
	if err := c.greet(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("nats: %q cannot connect to %s: %w", c.name, where, err), c.Close())
	}
	return c, nil
}

// connect returns a connection that opens itself, by the caller or by the options in extra.
func connect(url, name string, key nkeys.KeyPair, o Options, call *caller, extra ...natsgo.Option) (*conn, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	pub, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	twin, err := twinKey(key)
	if err != nil {
		return nil, err
	}
	c := &conn{
		name: name, url: url, key: pub, twin: twin, asked: challenges{}, log: o.Logger, link: newLink(), call: call, patience: 5 * time.Second, silence: 2 * heartbeat,
		gone:    make(chan struct{}),
		version: o.Version, notify: o.Connected,
		run: cryptorand.Text(), since: time.Now(),
		strange: &budget{most: 5, every: time.Minute}, failures: &budget{most: 3, every: time.Minute},
	}
	for _, lane := range transport.Lanes() {
		c.inboxes = append(c.inboxes, newInbox(c, lane))
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.notify == nil {
		c.notify = func(bool) {}
	}
	options := append(c.options(), natsgo.Nkey(pub, key.Sign))
	if call != nil {
		options = append(options, natsgo.SetCustomDialer(call), natsgo.SkipHostLookup()) // the caller, or its proxy, looks names up
		url = call.at.forClient()
	}
	if c.nc, err = natsgo.Connect(url, append(options, extra...)...); err != nil {
		return nil, err
	}
	if call != nil {
		c.link.record(call.lastError()) // the NATS client calls no handler when the first attempt fails
	}
	if c.js, err = jetstream.New(c.nc); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if _, err = c.nc.Subscribe(twinSubject(name), c.meet); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func newInbox(c *conn, lane transport.Lane) *inbox {
	return &inbox{conn: c, lane: lane, turn: make(chan struct{}, 1)}
}

func newLink() *link { return &link{changed: make(chan struct{})} }

// options returns the settings of the NATS client. The client buffers nothing while the connection
// is lost, because Send repeats a message until the server has confirmed it. The server, which is not
// trusted, cannot redirect its members to other servers. A process does not receive the messages that it
// sends to other processes with its identity.
func (c *conn) options() []natsgo.Option {
	return []natsgo.Option{
		natsgo.Name(clientName(c.name, c.version)),
		natsgo.CustomInboxPrefix(replyPrefix(c.name)),
		natsgo.IgnoreDiscoveredServers(),
		natsgo.NoEcho(),
		natsgo.RetryOnFailedConnect(true),
		natsgo.MaxReconnects(-1),
		natsgo.CustomReconnectDelay(backoff),
		natsgo.ReconnectBufSize(-1),
		natsgo.SyncQueueLen(inboxRoom),
		natsgo.PingInterval(pingInterval),
		natsgo.MaxPingsOutstanding(pingsOut),
		natsgo.FlusherTimeout(10 * time.Second),
		natsgo.ConnectHandler(c.onConnect),
		natsgo.ReconnectHandler(c.onConnect),
		natsgo.DisconnectErrHandler(c.onDisconnect),
		natsgo.ReconnectErrHandler(c.onFailure),
		natsgo.ErrorHandler(c.onError),
		natsgo.ClosedHandler(c.onClosed),
	}
}

// backoff returns the time to wait before an attempt to connect. The time doubles with every
// attempt, from 50 ms to 5 s. Half of the time is random, so that the members of a federation do
// not reconnect all at once.
func backoff(attempt int) time.Duration {
	d := longestWait
	if attempt < 7 {
		d = min(d, shortestWait<<max(attempt, 0))
	}
	return d/2 + rand.N(d/2)
}

// greet waits for the first connection and opens an inbox. It fails if the key belongs to
// another member, or if another process uses this identity.
func (c *conn) greet(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		era, err := c.link.wait(ctx)
		if err != nil {
			return err
		}
		err = c.inboxes[transport.Control].open(ctx, era)
		if err == nil {
			return c.serve()
		}
		c.log.Debug("cannot open the inbox; trying again", "member", c.name, "error", err)
		pause(ctx, era, attempt)
	}
}

func (c *conn) onConnect(*natsgo.Conn) {
	c.unreachable.Store(false)
	c.log.Info("connected", "member", c.name)
	c.notify(true)
	c.link.up()
}

func (c *conn) onDisconnect(_ *natsgo.Conn, err error) {
	err = c.cause(err)
	if err != nil {
		c.log.Warn("connection lost; trying to restore it", "member", c.name, "error", err)
	}
	c.notify(false)
	c.link.down(err)
}

func (c *conn) onFailure(_ *natsgo.Conn, err error) {
	err = c.cause(err)
	var called callError
	if c.call != nil && c.call.at.WebSocket && !errors.As(err, &called) { // the call succeeded, and what followed did not
		err = &LineError{c.call.at.String(), true, fmt.Errorf("%w: %w", errNoWebSocket, err)}
	}
	var line *LineError
	var proxy *ProxyError
	switch {
	case errors.As(err, &line):
		c.complain("the server does not have the expected TLS; trying again", line)
	case errors.As(err, &proxy) && proxy.answered():
		c.complain("the proxy opens no connection; trying again", proxy)
	default:
		c.report(err)
	}
	c.link.down(err)
}

// cause returns the caller's own error in place of the NATS client's statement that no server is
// available.
func (c *conn) cause(err error) error {
	if errors.Is(err, natsgo.ErrNoServers) && c.call != nil {
		return cmp.Or(c.call.lastError(), err)
	}
	return err
}

// complain logs an error that only an operator can correct. It does nothing if it has logged
// such errors very recently.
func (c *conn) complain(what string, err error) {
	if ok, unsaid := c.failures.allow(time.Now()); ok {
		c.log.Error(what, "member", c.name, "error", err, "unsaid_before", unsaid)
	}
}

// report logs that the server is unreachable: the first failure in a row as a warning, and others
// for debugging only. Connecting ends the row.
func (c *conn) report(err error) {
	level := slog.LevelDebug
	if !c.unreachable.Swap(true) {
		level = slog.LevelWarn
	}
	c.log.Log(context.Background(), level, "the server is unreachable; trying again until it answers", "member", c.name, "server", c.url, "error", err)
}

// onError handles errors that the server sends without a request. A member that uses its own
// name never makes a forbidden request.
func (c *conn) onError(_ *natsgo.Conn, _ *natsgo.Subscription, err error) {
	c.log.Warn("the server complains", "member", c.name, "error", err)
	if errors.Is(err, natsgo.ErrPermissionViolation) {
		c.link.kill(&PermissionError{Member: c.name, Err: err})
	}
}

// onClosed is the last callback of the NATS client. The client stops by itself only if the
// server refuses the key twice in a row.
func (c *conn) onClosed(nc *natsgo.Conn) {
	err := nc.LastError()
	switch {
	case errors.Is(err, natsgo.ErrAuthorization), errors.Is(err, natsgo.ErrAuthExpired):
		err = &CredentialError{Member: c.name, Key: c.key, Known: c.serving.Load(), Err: err}
	case err == nil:
		err = transport.ErrClosed
	}
	c.link.kill(err)
	close(c.gone)
}

// Close sends pending acknowledgements and then closes the connection.
func (c *conn) Close() error {
	c.once.Do(func() {
		if c.call != nil {
			c.call.hangUp() // the NATS client would wait for a call that is under way
		}
		if c.nc.IsConnected() {
			if err := c.nc.FlushTimeout(time.Second); err != nil {
				c.log.Debug("some acknowledgements may be lost", "member", c.name, "error", err)
			}
		}
		c.link.kill(transport.ErrClosed)
		c.nc.Close()
		<-c.gone
	})
	return nil
}

// link records whether the connection is open, lost or ended. Callbacks of the NATS client
// change it, and senders and receivers wait for it.
type link struct {
	mu      sync.Mutex
	era     context.Context // context of the current connection, which ends with it; nil without a connection
	end     context.CancelFunc
	last    error // error of the last attempt to connect
	dead    error // error that ended the link permanently
	changed chan struct{}
}

// up records that a connection has been opened. It creates the context era of the connection.
func (l *link) up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead != nil {
		return
	}
	l.endEra()
	l.era, l.end = context.WithCancel(context.Background())
	l.announce()
}

// down records that the connection is lost, or that an attempt to connect has failed.
func (l *link) down(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endEra()
	if err != nil {
		l.last = err
	}
	l.announce()
}

// record keeps the error of an attempt to connect, for wait. It changes nothing if err is nil.
func (l *link) record(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = cmp.Or(err, l.last)
}

// kill ends the link permanently. It keeps only the first reason.
func (l *link) kill(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endEra()
	if l.dead == nil {
		l.dead = err
	}
	l.announce()
}

func (l *link) endEra() {
	if l.era != nil {
		l.end()
		l.era, l.end = nil, nil
	}
}

func (l *link) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// ended returns the error that ended the link permanently, or nil.
func (l *link) ended() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// wait waits for an open connection and returns a context that ends when the connection is lost.
// Its errors are final: ctx has ended, or the link has ended permanently.
func (l *link) wait(ctx context.Context) (context.Context, error) {
	for {
		l.mu.Lock()
		era, last, dead, changed := l.era, l.last, l.dead, l.changed
		l.mu.Unlock()
		switch {
		case dead != nil:
			return nil, dead
		case ctx.Err() != nil && era == nil && last != nil:
			return nil, fmt.Errorf("%w, while the server is unreachable: %w", ctx.Err(), last)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case era != nil:
			return era, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// within returns a context that ends when ctx or era ends, or after limit.
func within(ctx, era context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(era, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// pause waits before another attempt. It returns at once if the connection is lost, because the
// caller then waits for the next connection.
func pause(ctx, era context.Context, attempt int) {
	ctx, cancel := within(ctx, era, backoff(attempt))
	defer cancel()
	<-ctx.Done()
}

// budget limits the number of log lines of one kind. It allows a number of lines at once, and one
// more line after each interval.
type budget struct {
	most  int           // number of lines allowed at once
	every time.Duration // interval after which one more line is allowed

	mu     sync.Mutex
	spent  int
	since  time.Time // time of the last refill
	unsaid int
}

// allow reports whether the budget allows one more line. It also returns the number of lines
// suppressed since the last line.
func (b *budget) allow(now time.Time) (ok bool, unsaid int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if back := now.Sub(b.since) / b.every; back > 0 || b.since.IsZero() {
		b.spent = max(0, b.spent-int(min(back, time.Duration(b.most))))
		b.since = now
	}
	if b.spent >= b.most {
		b.unsaid++
		return false, 0
	}
	b.spent++
	unsaid, b.unsaid = b.unsaid, 0
	return true, unsaid
}
