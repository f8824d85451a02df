package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/cells"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport/nats"
	"golang.org/x/sys/cpu"
)

// Options holds the settings of a daemon's flags. Reader and Logger are required, and so are Report for a daemon
// with a web page, and Ready for a server of many devices. Otherwise the zero value of a field is the default.
type Options struct {
	Reader *job.Reader
	Listen string // address of a coordinator; overrides the configuration
	// AbandonOpenSessions makes the daemon destroy sessions that another build of this program left
	// open.
	AbandonOpenSessions bool
	// Seed returns a predictable seed for each label. Nil means random seeds.
	Seed  func(label string) [32]byte
	Ready func(addr string) // called once the daemon serves requests
	// Reload has a value whenever the operator asks the daemon by a signal to read its files again: the roster and the
	// setting "roles", at a party also the catalogue and the policies, and at a coordinator the invitations. Nil means
	// never.
	Reload <-chan os.Signal
	Logger *slog.Logger
	// Report writes a result for the web page.
	Report ReportWriter
	// Version is the program's version that results record.
	Version string
}

func (o Options) seed() func(string) [32]byte {
	if o.Seed == nil {
		return coordinator.RandomSeed
	}
	o.Logger.Warn("every seed of this process can be predicted: --insecure-seed is for tests only")
	return o.Seed
}

// coordinatorHome is a coordinator's home with what the daemon has opened before its sessions.
type coordinatorHome struct {
	Home
	id         *identity.Identity
	config     *Config
	members    *roster.Roster  // roster at the daemon's start; the field membership has the roster in force
	offer      learner.Workers // lets other processes compute cells of grids; nil: no other process does
	monitor    monitor
	membership *membership
	broker     *nats.Server
}

// RunCoordinator runs the coordinator of a federation until ctx ends.
func RunCoordinator(ctx context.Context, h Home, o Options) (err error) {
	o.Reader = h.Knowing(o.Reader)
	id, c, members, err := h.openJoined(o.Reader)
	if err != nil {
		return err
	}
	if boss := members.Coordinator().Name; boss != c.Name {
		return fault.BadInputf("%s is a party of this federation, not its coordinator; use the home of coordinator %s", c.Name, boss)
	}
	at := coordinatorHome{Home: h, id: id, config: c, members: members}
	if at.offer, err = h.workers(c, o); err != nil {
		return err
	}
	lock, err := h.lockHome()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if at.monitor, err = openMonitor(c.Metrics); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.monitor.close()) }()
	// Start the broker before the vault and the record are opened, because the broker might be unable to listen.
	at.membership = h.newMembership(o.Reader, c, id, members, o.Logger)
	if at.broker, err = startBroker(ctx, at.membership, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.broker.Shutdown(context.WithoutCancel(ctx))) }()
	return at.coordinate(ctx, o)
}

// coordinate opens the sessions, the record and the connection, and runs the coordinator until ctx ends.
func (h coordinatorHome) coordinate(ctx context.Context, o Options) (err error) {
	kept, err := h.vault(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	artifacts, err := vault.OpenArtifacts(h.retained(), h.id.KEMKey())
	if err != nil {
		return err
	}
	record, err := h.openAudit(o, h.members)
	if err != nil {
		return err
	}
	conn, err := h.broker.Dial(ctx, h.config.Name, h.id.NKey(), nats.Options{Logger: o.Logger, Version: o.Version})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	days := h.calendar(o.Logger)
	forward, err := h.forwarder(h.config, o.Logger)
	if err != nil {
		return err
	}
	co, err := coordinator.New(coordinator.Config{
		Reader: o.Reader, Identity: h.id, Roster: h.members, Conn: conn, Vault: kept, Jobs: h.Jobs(), Heads: h.path("heads"), Artifacts: artifacts,
		Workers: h.offer, MaxRunning: h.config.maxRunning(), Retention: h.config.Retention, Today: days.today, Seed: o.seed(), Usage: Usage, Logger: o.Logger, Version: o.Version,
		Progress: func(job.ID, protocol.Progress) {}, Broker: brokerView{h.broker}, Audit: record, Forwarding: forward.shown,
	})
	if err != nil {
		return h.otherBuild(err)
	}
	at := running{h.broker, co, record}
	return h.serve(ctx, o, at, func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		var beside sync.WaitGroup
		defer beside.Wait()
		defer stop()
		beside.Go(func() { h.membership.keep(ctx, o.Reload, at) })
		beside.Go(func() { forward.run(ctx) })
		beside.Go(func() { cutter{record, h.config.Retention.Audit, days.today, o.Logger}.run(ctx) })
		return runWatched(ctx, h.broker, co.Run)
	})
}

// serve opens the page and the control sockets, and serves them and the monitor while run runs.
func (h coordinatorHome) serve(ctx context.Context, o Options, at running, run func(context.Context) error) (err error) {
	gate := h.gate(h.config, h.members, h.membership.rules)
	seen, err := h.openPage(h.config.Page, coordinatorPage{at.co, h.Home, o.Reader, o.Report}, nil, gate, o.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, seen.close()) }()
	open, err := h.openDoors(h.config.Roles)
	if err != nil {
		return err
	}
	warnOfStrangers(o.Logger, h.config.Roles)
	requests := admin.Coordinator(at.co, gate, o.Logger).Reloading(func() error { return h.membership.reload(ctx, at) }).Inviting(seen.invite)
	return serve(ctx, o, open, requests, h.monitor.of(at.co), seen, func(ctx context.Context) error {
		if o.Ready != nil {
			o.Ready(h.broker.Addr())
		}
		return run(ctx)
	})
}

// workers returns the offer of cells to other processes, or nil if the configuration has none.
func (h Home) workers(c *Config, o Options) (learner.Workers, error) {
	if c.Cells.Folder == "" {
		return nil, nil
	}
	b, err := build()
	if err != nil {
		return nil, err
	}
	offer := &cells.Offer{Path: c.Cells.Folder, Wait: cmp.Or(c.Cells.Wait.Duration, time.Minute), Build: b, Logger: o.Logger}
	if !filepath.IsAbs(offer.Path) {
		offer.Path = h.path(offer.Path)
	}
	return offer, offer.Check()
}

// runWatched calls the function run, and stops it if the broker cannot write its queues to the
// disk. A new process can continue once the disk has space.
func runWatched(ctx context.Context, broker *nats.Server, run func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	broken := make(chan error, 1)
	go func() {
		broken <- broker.Watch(ctx)
		stop()
	}()
	err := run(ctx)
	stop()
	return errors.Join(<-broken, err)
}

func (h Home) vault(o Options) (*vault.Disk, error) {
	b, err := build()
	if err != nil {
		return nil, err
	}
	v, err := vault.OpenDisk(h.path("vault"), b)
	if err == nil && o.AbandonOpenSessions {
		v.Abandon()
	}
	return v, err
}

// build returns a text that identifies this program and the CPU instructions that it will use.
// Floating-point results, and so replays of sessions, depend on both.
func build() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("daemon: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("daemon: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("daemon: %w", err)
	}
	return fmt.Sprintf("%s %s/%s avx2=%t avx512=%t", hex.EncodeToString(h.Sum(nil)[:8]), runtime.GOOS, runtime.GOARCH, cpu.X86.HasAVX2, cpu.X86.HasAVX512F), nil
}

// otherBuild adds advice to the error that another build of this program left sessions open.
func (h Home) otherBuild(err error) error {
	var foreign *vault.BuildError
	if !errors.As(err, &foreign) {
		return err
	}
	return fault.BadInputf("%s holds %d open sessions that only another build of this program can continue; run that build until mercer job list shows no open job, or give up the sessions with --abandon-open-sessions (their jobs fail): %w",
		h, len(foreign.Sessions), foreign.Err)
}

func startBroker(ctx context.Context, m *membership, o Options) (*nats.Server, error) {
	h, c := m.home, m.config
	members, guests := m.present()
	listen := c.Listen
	if o.Listen != "" {
		listen = o.Listen
	}
	host, port, err := splitAddress(listen)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if err := h.mayListen(host, c, members); err != nil {
		return nil, err
	}
	cfg := nats.Config{Host: host, Port: port, WSS: c.ListenWSS, Dir: h.path("queues"), Center: c.Name, Guests: guests, AnswerGuest: m.answer, Logger: o.Logger}
	if len(members.Coordinator().TLS) > 0 {
		cfg.TLS = m.id.TLSKey()
	}
	cfg.Members = loginsOf(members)
	s, err := nats.Start(ctx, cfg)
	if err != nil {
		return nil, c.cannotListen(listen, err)
	}
	if c.ListenWSS != "" {
		o.Logger.Info("parties can connect by WebSocket", "address", s.WSS())
	}
	return s, nil
}

// cannotListen returns an error of the broker with the setting that the operator can change. listen is the
// address for TCP.
func (c *Config) cannotListen(listen string, err error) error {
	setting := func(address string) string {
		if address == c.ListenWSS {
			return "in listen_wss"
		}
		return "with --listen"
	}
	var taken *nats.PortTakenError
	if errors.As(err, &taken) {
		return fault.BadInputf("another program uses port %d on %s; stop that program, or choose another port %s",
			taken.Port, taken.Host, setting(net.JoinHostPort(taken.Host, strconv.Itoa(taken.Port))))
	}
	var noListen *net.OpError
	if !errors.As(err, &noListen) || noListen.Op != "listen" {
		return err
	}
	at := listen
	if noListen.Addr != nil {
		at = noListen.Addr.String()
	}
	if errors.Is(err, fs.ErrPermission) {
		return fault.BadInputf("this user may not listen on %s (%w); choose a port above 1023 %s, or start the daemon with the capability CAP_NET_BIND_SERVICE", at, noListen.Err, setting(at))
	}
	return fault.BadInputf("this machine cannot listen on %s (%w); choose another address %s", at, noListen.Err, setting(at))
}

// serve calls run, and meanwhile serves a daemon's control sockets, its monitor and its page. When ctx or one of
// the four ends, all of them end.
func serve(ctx context.Context, o Options, at doors, requests *admin.Requests, m monitor, s pageServer, run func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	var served, monitored, shown error
	running.Go(func() {
		defer stop()
		served = at.serve(ctx, requests)
	})
	running.Go(func() {
		defer stop()
		monitored = m.serve(ctx, o.Logger)
	})
	running.Go(func() {
		defer stop()
		shown = s.serve(ctx, o.Logger)
	})
	err := run(ctx)
	stop()
	running.Wait()
	return errors.Join(err, served, monitored, shown)
}
