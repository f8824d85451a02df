package nats

import (
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

// Options are a member's settings of its connection. The zero value is ready for use.
type Options struct {
	TLS    ed25519.PublicKey // the server's key; nil: no TLS, on this machine only
	Logger *slog.Logger      // nil: silent
}

const (
	pingInterval = 20 * time.Second
	pingsOut     = 3 // unanswered ones until a connection counts as lost
	longestWait  = 5 * time.Second
	shortestWait = 50 * time.Millisecond
)

// conn is one member's connection, including its attempts to connect.
type conn struct {
	name string
	key  string // public
	log  *slog.Logger
	nc   *natsgo.Conn
	js   jetstream.JetStream
	link *link

	inboxes  []*inbox // by lane
	run      string   // drawn; distinguishes this process from others with its identity
	since    time.Time
	serving  atomic.Bool   // connected once; set with meeting held
	meeting  sync.Mutex    // held while a message of another process is handled, which may end the link
	twin     []byte        // key of messages between processes with this identity
	asked    challenges    // with meeting held
	refused  string        // run of the last process that was refused; with meeting held
	strange  *budget       // of lines about invalid messages of unknown senders
	failures *budget       // of lines about a server that cannot be the right one
	patience time.Duration // wait for a server that has no queue for a receiver
	silence  time.Duration // wait for an answer of the server before a request counts as lost

	once sync.Once
	gone chan struct{} // the client's last callback has run
}

// Dial connects the member called name to the server at url, see [ParseAddress]. It waits
// for the server until ctx ends. The connection then restores itself without limit. Only
// two events end it: a server that refuses the member, with a [*CredentialError] or a
// [*PermissionError], and another process with the same identity, with a [*TwinError]. If a
// server answers without the key in o, or without the required TLS, the log says so
// ([*LineError]).
func Dial(ctx context.Context, url, name string, key nkeys.KeyPair, o Options) (transport.Conn, error) {
	at, err := ParseAddress(url)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	if at.NeedsTLS() && len(o.TLS) == 0 {
		return nil, fmt.Errorf("nats: %s is reached with TLS only; give the server's key in Options.TLS", at)
	}
	c, err := connect("nats://"+at.String(), name, key, o, natsgo.SetCustomDialer(caller{o.TLS}))
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	return c.greeted(ctx, url)
}

// greeted returns an interface for its callers: a nil *conn in an interface would not be
// nil.
func (c *conn) greeted(ctx context.Context, where string) (transport.Conn, error) {
	if err := c.greet(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("nats: %q cannot connect to %s: %w", c.name, where, err), c.Close())
	}
	return c, nil
}

func connect(url, name string, key nkeys.KeyPair, o Options, extra ...natsgo.Option) (*conn, error) {
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
		name: name, key: pub, twin: twin, asked: challenges{}, log: o.Logger, link: newLink(), patience: 5 * time.Second, silence: 2 * heartbeat,
		gone: make(chan struct{}),
		run:  cryptorand.Text(), since: time.Now(),
		strange: &budget{most: 5, every: time.Minute}, failures: &budget{most: 3, every: time.Minute},
	}
	for _, lane := range transport.Lanes() {
		c.inboxes = append(c.inboxes, newInbox(c, lane))
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	options := append(c.options(), natsgo.Nkey(pub, key.Sign))
	if c.nc, err = natsgo.Connect(url, append(options, extra...)...); err != nil {
		return nil, err
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

// options returns the settings of the NATS client. It buffers nothing while the connection
// is lost, because Send has then failed and returns an error. The server, which is not
// trusted, cannot redirect its members to other servers. A process does not receive its own
// messages to others with its identity.
func (c *conn) options() []natsgo.Option {
	return []natsgo.Option{
		natsgo.Name(c.name),
		natsgo.CustomInboxPrefix(replyPrefix(c.name)),
		natsgo.IgnoreDiscoveredServers(),
		natsgo.NoEcho(),
		natsgo.RetryOnFailedConnect(true),
		natsgo.MaxReconnects(-1),
		natsgo.CustomReconnectDelay(backoff),
		natsgo.ReconnectBufSize(-1),
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

// backoff doubles from 50 ms to 5 s; its random half keeps the members of a federation from
// returning all at once.
func backoff(attempt int) time.Duration {
	d := longestWait
	if attempt < 7 {
		d = min(d, shortestWait<<max(attempt, 0))
	}
	return d/2 + rand.N(d/2)
}

// greet waits for the first connection and opens an inbox. The server refuses the inbox if
// the key belongs to another member; another process with this identity also prevents it.
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
	c.log.Info("connected", "member", c.name)
	c.link.up()
}

func (c *conn) onDisconnect(_ *natsgo.Conn, err error) {
	if err != nil {
		c.log.Warn("connection lost; trying to restore it", "member", c.name, "error", err)
	}
	c.link.down(err)
}

func (c *conn) onFailure(_ *natsgo.Conn, err error) {
	var line *LineError
	if errors.As(err, &line) {
		c.complain(line)
	} else {
		c.log.Debug("the server is unreachable; trying again", "member", c.name, "error", err)
	}
	c.link.down(err)
}

// complain logs an error that only an operator can correct, unless it was logged just now.
func (c *conn) complain(err *LineError) {
	if ok, unsaid := c.failures.allow(time.Now()); ok {
		c.log.Error("not the coordinator's line; trying again", "member", c.name, "error", err, "unsaid_before", unsaid)
	}
}

// onError handles unrequested errors of the server. A member under its own name never makes
// a forbidden request.
func (c *conn) onError(_ *natsgo.Conn, _ *natsgo.Subscription, err error) {
	c.log.Warn("the server complains", "member", c.name, "error", err)
	if errors.Is(err, natsgo.ErrPermissionViolation) {
		c.link.kill(&PermissionError{Member: c.name, Err: err})
	}
}

// onClosed is the last callback. The client stops by itself only if the server refuses the
// key twice in a row.
func (c *conn) onClosed(nc *natsgo.Conn) {
	err := nc.LastError()
	switch {
	case errors.Is(err, natsgo.ErrAuthorization), errors.Is(err, natsgo.ErrAuthExpired):
		err = &CredentialError{Member: c.name, Key: c.key, Err: err}
	case err == nil:
		err = transport.ErrClosed
	}
	c.link.kill(err)
	close(c.gone)
}

// Close sends pending acknowledgements first.
func (c *conn) Close() error {
	c.once.Do(func() {
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

// link is the state of the connection. The callbacks of the NATS client write it; senders
// and the receiver wait for it.
type link struct {
	mu      sync.Mutex
	era     context.Context // lasts as long as the current connection; nil without one
	end     context.CancelFunc
	last    error // the reason for the failure of the last attempt
	dead    error // the reason why there will be no other connection
	changed chan struct{}
}

// up starts an era.
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

// down ends an era, or records why none started.
func (l *link) down(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endEra()
	if err != nil {
		l.last = err
	}
	l.announce()
}

// kill ends the link permanently, for the first given reason.
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

// ended returns why the link is dead, nil while it lives.
func (l *link) ended() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// wait returns the era of an open connection. Its errors are final: ctx ended, or the link
// is dead.
func (l *link) wait(ctx context.Context) (context.Context, error) {
	for {
		l.mu.Lock()
		era, last, dead, changed := l.era, l.last, l.dead, l.changed
		l.mu.Unlock()
		switch {
		case dead != nil:
			return nil, dead
		case ctx.Err() != nil && era == nil && last != nil:
			return nil, fmt.Errorf("%w while the server is unreachable: %w", ctx.Err(), last)
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

// within returns a context that ends with ctx, with the era, and after limit.
func within(ctx, era context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(era, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// pause waits before another try, unless the connection was lost: then the caller waits for
// the next one instead.
func pause(ctx, era context.Context, attempt int) {
	ctx, cancel := within(ctx, era, backoff(attempt))
	defer cancel()
	<-ctx.Done()
}

// budget bounds the number of log lines about strangers: some at once, then one at
// intervals.
type budget struct {
	most  int           // at once
	every time.Duration // one more

	mu     sync.Mutex
	spent  int
	since  time.Time // of the last refill
	unsaid int
}

// allow reports whether one more line may be written, and how many were suppressed since
// the last one.
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
