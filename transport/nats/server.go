package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/transport"
)

// Server is a NATS server within this process.
type Server struct {
	cfg     Config
	nats    *server.Server
	steward *natsgo.Conn
	log     *logger
	lock    *os.File
	stop    func() error // once
}

// Start runs a server and returns when members can connect. Nothing listens
// before every queue exists, and nothing is written when the port is taken:
// that is a [*PortTakenError]. Shutdown must be called in the end.
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
	s := &Server{cfg: cfg, log: &logger{log: cfg.Logger}, lock: lock}
	s.stop = sync.OnceValue(s.halt)
	s.warnOfSpace()
	if err := s.run(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("nats: %w", err), s.stop())
	}
	return s, nil
}

// tryPort finds out early, and in words, what the server would only log.
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

// lockFolder keeps a second server off the same queues, which both would
// destroy.
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
	s.nats.SetLogger(s.log, false, false)
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

// options: the generous limits are for thin lines, where a batch of deliveries
// takes long; loopback and local networks never see them.
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
		JetStreamMaxStore:  1 << 50, // the stream has the limit; one here would keep it from opening after a cut
		JetStreamMaxMemory: 1 << 20, // nothing lives in memory

		MaxPayload:    transport.MaxMessageBytes + 64<<10,
		PingInterval:  pingInterval,
		MaxPingsOut:   pingsOut,
		AuthTimeout:   10, // seconds
		WriteDeadline: time.Minute,
		MaxPending:    maxPending,
		MaxSubs:       maxSubscriptions + len(transport.Lanes())*len(s.cfg.Members), // the steward's; a member's account has less
		TLSConfig:     s.cfg.TLS,
		TLSTimeout:    10, // seconds

		Accounts: []*server.Account{hub},
		Nkeys:    []*server.NkeyUser{stewardLogin(hub, pub)},
	}
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
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

// openHub opens the hub's store, where old queues may lie.
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

// Dial connects a member that lives in the server's own process, without a
// port.
func (s *Server) Dial(ctx context.Context, name string, key nkeys.KeyPair, o Options) (transport.Conn, error) {
	c, err := connect("", name, key, o, natsgo.InProcessServer(s.nats))
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	return c.greeted(ctx, "the server in this process")
}

// Shutdown stops the server and returns when everything is on disk and nothing
// runs any more, or with ctx's error, while it goes on stopping.
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
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	return s.lock.Close()
}
