package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/descriptor"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/transport"
)

// Server is a NATS server in this process.
type Server struct {
	cfg     Config
	nats    *server.Server
	steward *natsgo.Conn
	ferries []*natsgo.Conn // of members, see ferry
	log     *logger
	lock    *os.File
	stop    func() error // once
}

// Start runs a server and returns when members can connect. It listens only after every
// queue exists, and it writes nothing if the port is taken: that is a [*PortTakenError].
// The caller must call Shutdown.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if err := tryPort(cfg); err != nil {
		return nil, err
	}
	lock, err := lockFolder(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	s := &Server{cfg: cfg, log: &logger{log: cfg.Logger, secure: cfg.TLS != nil}, lock: lock}
	s.stop = sync.OnceValue(s.halt)
	s.warnOfSpace()
	s.warnOfConnections()
	if err := s.run(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("nats: %w", err), s.stop())
	}
	return s, nil
}

// tryPort detects a taken port early, with a clear error; the server would only log it.
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

// lockFolder keeps a second server from the same queues, which both would destroy.
func lockFolder(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return disk.Lock(filepath.Join(dir, "lock"))
}

func (s *Server) run(ctx context.Context) error {
	key, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	opts, err := s.options(key)
	if err != nil {
		return err
	}
	if s.nats, err = server.NewServer(opts); err != nil {
		return err
	}
	s.nats.SetLogger(s.log, s.cfg.TLS != nil, false) // callers without TLS are a detail to the server
	s.nats.Start()
	if err := s.log.reason(); err != nil {
		return err
	}
	if err := s.openHub(); err != nil {
		return err
	}
	if s.steward, err = hire(ctx, s, key); err != nil {
		return err
	}
	s.nats.AcceptLoop(make(chan struct{}))
	return s.log.reason()
}

// options returns the settings of the NATS server. Their generous limits are for slow
// lines, where a batch of deliveries takes long; loopback and local networks never reach
// them.
func (s *Server) options(key nkeys.KeyPair) (*server.Options, error) {
	pub, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	accounts, err := newAccounts(s.cfg.Members)
	if err != nil {
		return nil, err
	}
	hub := server.NewAccount(hubName)
	o := &server.Options{
		ServerName: "mercer",
		Host:       s.cfg.Host,
		Port:       s.cfg.Port,
		DontListen: true, // until the queues exist
		NoSigs:     true,

		JetStream:          true,
		StoreDir:           s.cfg.Dir,
		SyncAlways:         true,
		JetStreamMaxStore:  1 << 50, // the stream has the limit; one here would keep the stream from opening after a reduction
		JetStreamMaxMemory: 1 << 20, // nothing lives in memory

		MaxPayload:    transport.MaxMessageBytes + 64<<10,
		PingInterval:  pingInterval,
		MaxPingsOut:   pingsOut,
		MaxConn:       s.cfg.connections(),
		AuthTimeout:   handshakeLimit.Seconds(),
		WriteDeadline: time.Minute,
		MaxPending:    maxPending,
		MaxSubs:       maxSubscriptions + len(transport.Lanes())*len(s.cfg.Members), // the steward's; a member's account has less
		TLSTimeout:    handshakeLimit.Seconds(),

		Accounts: []*server.Account{hub},
		Nkeys:    []*server.NkeyUser{stewardLogin(hub, pub)},
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if s.cfg.TLS != nil {
		if o.TLSConfig, err = listening(s.cfg.TLS); err != nil {
			return nil, err
		}
		o.TLSHandshakeFirst = true
	}
	for i, m := range s.cfg.Members {
		login, err := s.cfg.isolate(hub, accounts[i], m)
		if err != nil {
			return nil, err
		}
		o.Accounts = append(o.Accounts, accounts[i])
		o.Nkeys = append(o.Nkeys, login)
	}
	return o, nil
}

// newAccounts returns an account for each member. Only a configuration file can set the
// accounts' bounds.
func newAccounts(members []Member) ([]*server.Account, error) {
	var file strings.Builder
	file.WriteString("accounts {\n")
	for _, m := range members {
		fmt.Fprintf(&file, "%q: {limits: {max_conn: %d, max_subs: %d}}\n", "member-"+m.Name, maxConnections, maxSubscriptions)
	}
	file.WriteString("}\n")
	var o server.Options
	if err := o.ProcessConfigString(file.String()); err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	byName := make(map[string]*server.Account, len(members))
	for _, a := range o.Accounts {
		byName[a.Name] = a
	}
	list := make([]*server.Account, len(members))
	for i, m := range members {
		if list[i] = byName["member-"+m.Name]; list[i] == nil {
			return nil, fmt.Errorf("no account for %q", m.Name)
		}
	}
	return list, nil
}

// stewardLogin returns the login of the steward, for this process only.
func stewardLogin(hub *server.Account, key string) *server.NkeyUser {
	return &server.NkeyUser{Nkey: key, Account: hub, AllowedConnectionTypes: map[string]struct{}{"IN_PROCESS": {}}}
}

// openHub opens the hub's store, which may hold old queues.
func (s *Server) openHub() error {
	hub, err := s.nats.LookupAccount(hubName)
	if err != nil {
		return err
	}
	if err := hub.EnableJetStream(nil, nil); err != nil {
		return fmt.Errorf("queues in %s: %w", s.cfg.Dir, err)
	}
	return nil
}

// Addr returns the address at which the server listens: host:port.
func (s *Server) Addr() string { return s.nats.Addr().String() }

// URL returns the address that members on this machine pass to [Dial].
func (s *Server) URL() string { return "nats://" + s.Addr() }

// Dial connects a member in the server's own process, without a port.
func (s *Server) Dial(ctx context.Context, name string, key nkeys.KeyPair, o Options) (transport.Conn, error) {
	c, err := connect("", name, key, o, natsgo.InProcessServer(s.nats))
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	return c.greeted(ctx, "the server in this process")
}

// Shutdown stops the server. It returns when everything is on disk and nothing runs any
// more, or with ctx's error while the server is still stopping.
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
	if s.steward != nil {
		s.steward.Close()
	}
	for _, f := range s.ferries {
		f.Close()
	}
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	return s.lock.Close()
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
	watchEvery = 2 * time.Second // between two checks of Watch
	// watchFailures is the number of checks in a row that must fail: a busy machine may
	// miss one, because the server waits only a millisecond for itself.
	watchFailures = 3
)

// Watch returns a [*StoreError] once the queues cannot be written, or nil when ctx
// ends.
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
		if failures++; health.StatusCode == http.StatusOK || s.blind() {
			failures = 0
		}
		if failures >= watchFailures && ctx.Err() == nil {
			return &StoreError{s.cfg.Dir, health.Error}
		}
	}
}

// blind reports whether the queues cannot be checked because this process has too many
// files open, which is temporary.
func (s *Server) blind() bool {
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

// warnOfSpace warns at the start if the disk may be full before the queues are.
func (s *Server) warnOfSpace() {
	var room int64
	for _, lane := range transport.Lanes() {
		room += s.cfg.room(lane)
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

// warnOfConnections warns at the start if all members together may leave this process no
// file.
func (s *Server) warnOfConnections() {
	if need, may := s.cfg.outside(), 2*descriptor.Strangers(); need > may {
		s.cfg.Logger.Warn("members may take more than half of the files and connections that this process may have open; raise the limit (ulimit -n)",
			"members", len(s.cfg.Members), "connections", need, "half", may)
	}
}
