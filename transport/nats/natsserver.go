package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/descriptor"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/transport"
)

// Server is a NATS server that runs in this process.
type Server struct {
	cfg     Config                 // settings at the start
	inForce atomic.Pointer[Config] // the same settings with the present members, which Change replaces
	nats    *server.Server
	key     nkeys.KeyPair // the steward's login
	line    *tls.Config   // TLS settings; nil without TLS; a reload must have the same pointer
	steward *natsgo.Conn
	gate    *gate // port for WebSocket; nil if there is none
	log     *logger
	lock    *os.File
	stop    func() error // stops the server once

	changing sync.Mutex       // held while the members change, and while the server stops
	posts    map[string]*post // posts by the member's name; guarded by changing
}

// Start runs a server and returns when members can connect. The server accepts connections only after
// every queue exists. If a port is taken, Start writes nothing and returns a [*PortTakenError]. The
// caller must call Shutdown.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if err := tryPort(cfg); err != nil {
		return nil, err
	}
	gate, err := openGate(cfg)
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(cfg.Dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("nats: %w", err), gate.close())
	}
	s := &Server{cfg: cfg, log: &logger{log: cfg.Logger, secure: cfg.TLS != nil, gate: gate}, gate: gate, lock: lock, posts: make(map[string]*post)}
	s.inForce.Store(&cfg)
	s.stop = sync.OnceValue(s.halt)
	s.warnOfSpace()
	s.warnOfConnections()
	if err := s.run(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("nats: %w", err), s.stop())
	}
	return s, nil
}

// tryPort returns a clear error if the port is taken. The NATS server would only log it.
func tryPort(cfg Config) error {
	l, err := net.Listen("tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return &PortTakenError{Host: cfg.Host, Port: cfg.Port, Err: err}
	}
	if err != nil {
		return fmt.Errorf("nats: cannot listen: %w", err)
	}
	return l.Close()
}

// lockFolder locks the folder of the queues, because two servers would destroy the queues.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return disk.Lock(filepath.Join(dir, "lock"))
}

func (s *Server) run(ctx context.Context) (err error) {
	if s.key, err = nkeys.CreateUser(); err != nil {
		return err
	}
	if s.cfg.TLS != nil {
		if s.line, err = serverTLS(s.cfg.TLS); err != nil {
			return err
		}
	}
	opts, err := s.options(s.cfg, server.NewAccount(hubName))
	if err != nil {
		return err
	}
	if s.nats, err = server.NewServer(opts); err != nil {
		return err
	}
	s.nats.SetLogger(s.log, s.cfg.TLS != nil, false) // logs debug lines if TLS is on, because debug lines name clients without TLS
	s.nats.Start()
	if err := s.log.reason(); err != nil {
		return err
	}
	if err := s.openHub(); err != nil {
		return err
	}
	if s.steward, err = hire(s); err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	s.nats.AcceptLoop(make(chan struct{}))
	s.gate.start(strings.TrimPrefix(s.nats.WebsocketURL(), "wss://"), s.clients, s.log)
	return s.log.reason()
}

// prepare creates the queues and the posts of the first members.
func (s *Server) prepare(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.arrange(ctx, s.cfg); err != nil {
		return err
	}
	if err := s.answerGuests(); err != nil {
		return err
	}
	return s.openPosts(s.cfg, s.cfg.Members)
}

// options returns the settings of the NATS server for the members of cfg. Its time limits allow for slow
// networks, on which a batch of deliveries takes long. The account hub receives its exports.
func (s *Server) options(cfg Config, hub *server.Account) (*server.Options, error) {
	pub, err := s.key.PublicKey()
	if err != nil {
		return nil, err
	}
	accounts, err := newAccounts(cfg)
	if err != nil {
		return nil, err
	}
	o := &server.Options{
		ServerName: "mercer",
		Host:       cfg.Host,
		Port:       cfg.Port,
		DontListen: true, // run starts to listen after the queues exist
		NoSigs:     true,

		JetStream:          true,
		StoreDir:           cfg.Dir,
		SyncAlways:         true,
		JetStreamMaxStore:  1 << 50, // practically unlimited, because a low limit could prevent a stream from opening
		JetStreamMaxMemory: 1 << 20, // minimal, because all streams are on disk

		MaxPayload:    transport.MaxMessageBytes + 64<<10,
		PingInterval:  pingInterval,
		MaxPingsOut:   pingsOut,
		MaxConn:       cfg.maxConnections(),
		AuthTimeout:   handshakeLimit.Seconds(),
		WriteDeadline: time.Minute,
		MaxPending:    maxPending,
		MaxSubs:       maxSubscriptions + len(transport.Lanes())*MaxMembers, // limit for the steward, which needs more subscriptions than a member's account allows; a reload cannot change it
		TLSTimeout:    handshakeLimit.Seconds(),

		Accounts: []*server.Account{hub},
		Nkeys:    []*server.NkeyUser{stewardLogin(hub, pub)},
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if s.line != nil {
		o.TLSConfig, o.TLSHandshakeFirst = s.line, true
	}
	if s.gate != nil {
		o.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, TLSConfig: o.TLSConfig, HandshakeTimeout: handshakeLimit}
	}
	for _, m := range cfg.Members {
		login, err := cfg.isolate(hub, accounts[accountName(m.Name)], m)
		if err != nil {
			return nil, err
		}
		o.Nkeys = append(o.Nkeys, login)
	}
	for _, g := range cfg.Guests {
		login, err := admitGuest(hub, accounts[guestAccount(g.Name)], g)
		if err != nil {
			return nil, err
		}
		o.Nkeys = append(o.Nkeys, login)
	}
	o.Accounts = slices.AppendSeq(o.Accounts, maps.Values(accounts))
	return o, nil
}

// newAccounts returns the accounts of members and guests by their names. It writes a configuration, because
// only a configuration can set the limits of accounts.
func newAccounts(cfg Config) (map[string]*server.Account, error) {
	var file strings.Builder
	file.WriteString("accounts {\n")
	for _, m := range cfg.Members {
		fmt.Fprintf(&file, "%q: {limits: {max_conn: %d, max_subs: %d}}\n", accountName(m.Name), maxConnections, maxSubscriptions)
	}
	for _, g := range cfg.Guests {
		fmt.Fprintf(&file, "%q: {limits: {max_conn: %d, max_subs: %d, max_payload: %d}}\n", guestAccount(g.Name), guestConnections, guestSubscriptions, MaxRequest)
	}
	file.WriteString("}\n")
	var o server.Options
	if err := o.ProcessConfigString(file.String()); err != nil {
		return nil, fmt.Errorf("cannot create the accounts: %w", err)
	}
	byName := make(map[string]*server.Account, len(o.Accounts))
	for _, a := range o.Accounts {
		byName[a.Name] = a
	}
	if len(byName) != len(cfg.Members)+len(cfg.Guests) {
		return nil, fmt.Errorf("the server has created %d accounts for %d members and %d guests", len(byName), len(cfg.Members), len(cfg.Guests))
	}
	return byName, nil
}

// accountName returns the name of a member's account.
func accountName(member string) string { return "member-" + member }

// stewardLogin returns the login of the steward, which works only within this process.
func stewardLogin(hub *server.Account, key string) *server.NkeyUser {
	return &server.NkeyUser{Nkey: key, Account: hub, AllowedConnectionTypes: map[string]struct{}{"IN_PROCESS": {}}}
}

// openHub opens the store of the hub account, which can hold queues of an earlier server.
func (s *Server) openHub() error {
	hub, err := s.nats.LookupAccount(hubName)
	if err != nil {
		return err
	}
	if err := hub.EnableJetStream(nil, nil); err != nil {
		return fmt.Errorf("cannot open the queues in %s: %w", s.cfg.Dir, err)
	}
	return nil
}

// Addr returns the address host:port at which the server listens.
func (s *Server) Addr() string { return s.nats.Addr().String() }

// URL returns the address that members on this machine pass to [Dial].
func (s *Server) URL() string { return "nats://" + s.Addr() }

// WSS returns the address host:port at which the server listens for WebSocket, or "".
func (s *Server) WSS() string {
	if s.gate == nil {
		return ""
	}
	return s.gate.listener.Addr().String()
}

// Dial connects a member in the server's own process, without a port.
func (s *Server) Dial(ctx context.Context, name string, key nkeys.KeyPair, o Options) (transport.Conn, error) {
	c, err := connect("", name, key, o, nil, natsgo.InProcessServer(s.nats))
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	return c.waitConnected(ctx, "the server in this process")
}

// Shutdown stops the server. It returns when everything is on disk and all goroutines have
// ended. If ctx ends first, it returns an error and the server continues to stop.
func (s *Server) Shutdown(ctx context.Context) error {
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
		return fmt.Errorf("nats: the server is still stopping: %w", ctx.Err())
	}
}

func (s *Server) halt() error {
	closed := s.gate.close()
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.steward != nil {
		s.steward.Close()
	}
	for _, p := range s.posts {
		p.ferry.Close()
	}
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	return errors.Join(closed, s.lock.Close())
}

// StoreError reports that the queues cannot be written any more, because the disk is full
// or broken. After the first such error the server accepts no message again, even if there
// is room later: only a new server opens the queues again. Messages accepted before are not
// lost.
type StoreError struct {
	Dir    string
	Reason string
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("nats: the queues in %s cannot be written (%s); make room there or repair the disk, and start the coordinator again: no message that was sent is lost", e.Dir, e.Reason)
}

const (
	watchEvery = 2 * time.Second // time between two checks of Watch
	// watchFailures is the number of consecutive checks that must fail. A single check can fail
	// on a busy machine, because the server waits only a millisecond for its own answer.
	watchFailures = 3
)

// Watch waits until the queues cannot be written and then returns a [*StoreError]. It returns
// nil when ctx ends.
func (s *Server) Watch(ctx context.Context) error { return s.watch(ctx, watchEvery) }

func (s *Server) watch(ctx context.Context, every time.Duration) error {
	often := time.NewTicker(every)
	defer often.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-often.C:
		}
		health := s.nats.Healthz(&server.HealthzOptions{Account: hubName})
		if failures++; health.StatusCode == http.StatusOK || s.lacksFiles() {
			failures = 0
		}
		if failures >= watchFailures && ctx.Err() == nil {
			return &StoreError{s.cfg.Dir, health.Error}
		}
	}
}

// lacksFiles reports whether the process has too many open files to check the queues. This state is
// temporary.
func (s *Server) lacksFiles() bool {
	folder, err := os.Open(s.cfg.Dir)
	if err == nil {
		err = folder.Close()
	}
	if !descriptor.Exhausted(err) {
		return false
	}
	s.cfg.Logger.Warn("cannot check the queues: too many files and connections are open; raise the limit (ulimit -n)", "error", err)
	return true
}

// warnOfSpace logs a warning if the disk has less free space than the queues can take.
func (s *Server) warnOfSpace() {
	var room int64
	for _, lane := range transport.Lanes() {
		room += s.cfg.maxQueueBytes(lane)
	}
	free, err := disk.Free(s.cfg.Dir)
	switch {
	case err != nil:
		s.cfg.Logger.Warn("cannot find the free space of the queues' disk", "folder", s.cfg.Dir, "error", err)
	case free < uint64(room):
		s.cfg.Logger.Warn("the queues' disk has less free space than the queues may take; the coordinator ends when it is full",
			"folder", s.cfg.Dir, "free_bytes", free, "queues_bytes", room)
	}
}

// warnOfConnections logs a warning if the members' connections can take most file descriptors of
// this process.
func (s *Server) warnOfConnections() {
	need, may := s.cfg.portConnections(), 2*descriptor.Strangers()
	if s.gate != nil {
		need += filesAtGate * s.gate.most
	}
	if need > may {
		s.cfg.Logger.Warn("members may take more than half of the files and connections that this process may have open; raise the limit (ulimit -n)",
			"members", len(s.cfg.Members), "connections", need, "half", may)
	}
}
