package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// Auditor keeps a record: an [audit.Log].
type Auditor interface {
	Append(e audit.Event) error
}

// Config holds the settings and resources of a coordinator. Every field is required, except Heads, Own,
// Workers, MaxRunning, Retention, Today, Version, Broker, Audit, Forwarding and History.
type Config struct {
	Reader   *job.Reader
	Identity *identity.Identity
	Roster   *roster.Roster // the roster at the start; ChangeRoster replaces it
	Conn     transport.Conn
	Vault    vault.Vault
	Jobs     string // path of the folder that contains the jobs' folders
	// Heads is the path of the folder with the last head of each party's audit record. If it is "", no head
	// is kept.
	Heads     string
	Artifacts Artifacts // store of finished jobs' artifacts
	// Own is true if one operator owns all rows and this process has started all members. The
	// coordinator then also runs jobs that only one process can run, and keeps private models,
	// because nobody else can query them.
	Own bool
	// Workers computes parts of grids in other processes. If it is nil, this process computes everything.
	Workers learner.Workers
	// MaxRunning bounds the jobs that run at a time, except jobs that an earlier process began. 0 means
	// DefaultMaxRunning.
	MaxRunning int
	// Retention says how long a job and what it left are kept after its end.
	Retention retention.Times
	// Today returns the time, and whether the time is trusted, so that things can be erased by their age. If it
	// is nil, the system's clock is trusted.
	Today func() (now time.Time, trusted bool)
	// Seed returns 32 secret bytes: the seed of a session, or the bytes from which a job's id is taken. The
	// label names the session or the job, for programs that must not use true randomness.
	Seed   func(label string) [32]byte
	Usage  Usage
	Logger *slog.Logger
	// Version is this program's version, which each result records.
	Version string
	// Progress receives the progress of a stage of a job or of a prediction query. It must not block. Jobs that run
	// side by side call it at the same time.
	Progress func(id job.ID, p protocol.Progress)
	// Broker tells which members are connected. If it is nil, the coordinator does not know.
	Broker Broker
	// Audit keeps the record of who submitted which job, and of what was erased. If it is nil, nothing is recorded.
	Audit Auditor
	// Forwarding describes how the audit record is sent to a syslog server. It may be nil.
	Forwarding func() *overview.Forwarding
	// History receives the coordinator's events. If it is nil, the coordinator makes one.
	History *overview.History
}

// Usage returns the processor time and the peak memory of this process, for the job's result.
type Usage func() (cpuSeconds float64, peakRSS uint64)

// Coordinator is the daemon that conducts a federation's jobs. It is safe for concurrent use.
type Coordinator struct {
	Config
	name       string
	router     *mail.Router
	queue      chan struct{} // tells Run that a job may be waiting
	questions  *queue
	turns      *learner.Turns
	complaints tally.Tally // counts complaints about parties
	began      time.Time
	attendance *overview.Attendance

	submitting sync.Mutex // serialises submissions, because each job gets the next number
	changing   sync.Mutex // held while a job's status is changed in memory and on disk

	current atomic.Pointer[roster.Roster] // the roster that the last ChangeRoster has put in force; nil before the first

	mu      sync.Mutex
	jobs    map[job.ID]*Job
	order   []job.ID
	runners map[job.ID]*runner // the runners of the jobs that run
	inboxes map[protocol.SessionID]chan driver.Inbound
	open    map[protocol.SessionID]keptSession // sessions that are not yet destroyed, without those of unreadable jobs
	deleted map[job.ID]bool                    // ids of deleted jobs
	changed chan struct{}                      // closed at the next change of any job's status, and then replaced
	// notices lists the parties that the coordinator is now telling how their jobs ended, or the head that
	// it has kept of their audit record.
	notices map[string]bool
}

// keptSession is a session in the vault with the id of its job.
type keptSession struct {
	vault.Session
	job job.ID
}

// New returns a coordinator that continues the jobs and sessions of an earlier process.
func New(c Config) (*Coordinator, error) {
	name := c.Roster.Coordinator().Name
	c.MaxRunning = cmp.Or(c.MaxRunning, DefaultMaxRunning)
	if c.Audit == nil {
		c.Audit = audit.Discard{}
	}
	c.History = cmp.Or(c.History, overview.NewHistory())
	began := overview.Now()
	co := &Coordinator{
		Config:    c,
		name:      name,
		began:     began,
		router:    mail.New(name, c.Identity, c.Roster, c.Conn, c.Logger),
		queue:     make(chan struct{}, 1),
		questions: newQueue(),
		turns:     learner.NewTurns(c.Workers),
		runners:   make(map[job.ID]*runner),
		jobs:      make(map[job.ID]*Job),
		inboxes:   make(map[protocol.SessionID]chan driver.Inbound),
		open:      make(map[protocol.SessionID]keptSession),
		deleted:   make(map[job.ID]bool),
		changed:   make(chan struct{}),
		notices:   make(map[string]bool),

		attendance: overview.NewAttendance(absent(c.Roster, began)...),
	}
	if err := co.readJobs(); err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	if err := co.readSessions(); err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	return co, nil
}

func newQueue() *queue { return &queue{refusing: make(map[string]bool)} }

// readSessions keeps the sessions of unfinished jobs to resume them, and the sessions of jobs that this
// program cannot read. It destroys the other sessions. A prediction is not resumed after a restart,
// since the party that asked can ask again.
func (c *Coordinator) readSessions() error {
	open, lost, err := c.Vault.Open()
	if err != nil {
		return err
	}
	for _, l := range lost {
		// The session's job will fail if it has not ended, because a session's id is used only once.
		c.Logger.Error("a session was open and is lost; its secrets are destroyed", "session", l.ID.String(), "error", l.Err)
	}
	for _, s := range open {
		if s.Anew() != nil {
			c.Logger.Warn("a session has lost its journal and was begun anew", "session", s.ID().String())
		}
		id, described, err := c.jobOf(s)
		if errors.Is(err, errSetAside) {
			c.Logger.Warn("kept a session: this program cannot read its job", "session", s.ID().String(), "job", id.String())
			continue
		}
		if err != nil {
			return err
		}
		if described != nil {
			c.open[s.ID()] = keptSession{s, id}
			c.router.Announce(described)
			continue
		}
		if err := s.Destroy("the coordinator was restarted"); err != nil {
			c.Logger.Error("could not destroy the secrets of an ended session; the next start tries again",
				"session", s.ID().String(), "error", err)
		}
	}
	return nil
}

// errSetAside reports that this program cannot read a session's job. The session is kept.
var errSetAside = errors.New("coordinator: this program cannot read the job and sets it aside")

// jobOf returns the id of a session's job. It also returns the session's description if the job
// will resume the session.
func (c *Coordinator) jobOf(s vault.Session) (id job.ID, described *protocol.Session, err error) {
	body, err := s.Get(vault.Proposal)
	if err != nil {
		return id, nil, err
	}
	p, err := control.DecodeProposal(body)
	if err != nil {
		return id, nil, nil //nolint:nilerr // another program's: it cannot be resumed
	}
	j, known := c.jobs[p.Job]
	if known && j.State == overview.Unreadable {
		return p.Job, nil, errSetAside
	}
	if !known || j.Over() || p.Predicts() {
		return p.Job, nil, nil
	}
	if described, err = protocol.NewSession(p.Descriptor); err != nil {
		return p.Job, nil, nil //nolint:nilerr // another program's, too
	}
	return p.Job, described, nil
}

// Run serves the federation until ctx ends, or until an error of the transport or the disk. Another
// coordinator on the same folders resumes unfinished jobs.
func (c *Coordinator) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop(nil)
	running.Go(func() { stop(c.router.Run(ctx)) })
	running.Go(func() { c.dispatch(ctx, &running) })
	running.Go(func() { c.keepRetaining(ctx) })
	running.Go(func() { c.watchMembers(ctx) })
	for {
		c.startRunners(ctx, &running, stop)
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("coordinator: %w", err)
			}
			return nil
		case <-c.queue:
		}
	}
}

// dispatch passes each control message to the goroutine that waits for it.
func (c *Coordinator) dispatch(ctx context.Context, running *sync.WaitGroup) {
	for {
		select {
		case <-ctx.Done():
			return
		case in := <-c.router.Control():
			switch in.Message.Kind {
			case control.KindQuestion:
				c.hearQuestion(ctx, in, running)
			case control.KindHoldings:
				c.admitHoldings(ctx, in, running.Go)
			case control.KindRecord:
				c.hearRecord(ctx, in, running.Go)
			default:
				c.deliver(in)
			}
		}
	}
}

// deliver puts a control message into its session's inbox. If no goroutine listens for the session, it
// drops the message, since the coordinator no longer needs it, or will ask for it again; but it records a
// late confirmation that a party has erased a job. It also drops a message that is too long.
func (c *Coordinator) deliver(in driver.Inbound) {
	c.mu.Lock()
	box := c.inboxes[in.Message.Session]
	c.mu.Unlock()
	if size := len(in.Message.Body); size > maxControlBytes {
		c.complain("dropped a control message that is too long", in.Message.Sender, "message", in.Message.Header.String(), "bytes", size)
		box = nil
	}
	if box != nil {
		select {
		case box <- in:
			return
		default: // the inbox is full, so the broker must deliver the message later
			c.later(in, waitForRoom)
			return
		}
	}
	if in.Message.Kind == control.KindForgotten {
		c.confirmed(in.Message.Sender, in.Message.Body)
	}
	c.acknowledge(in)
}

// complain logs a party's fault, but not every repetition.
func (c *Coordinator) complain(what, party string, args ...any) {
	if n, tell := c.complaints.Count(what, party); tell {
		c.Logger.Warn(what, append([]any{"party", party, "so far", n}, args...)...)
	}
}

// confirmed records a late confirmation that a party has erased its part of a job.
func (c *Coordinator) confirmed(party string, body []byte) {
	f, err := control.DecodeForgotten(body)
	if err != nil {
		c.complain("a confirmation that cannot be read", party, "error", err)
		return
	}
	c.mu.Lock()
	j := c.jobs[f.Job]
	waited := j != nil && slices.Contains(j.Silent, party)
	c.mu.Unlock()
	if !waited {
		return
	}
	err = c.setStatus(j, func(s *Status) error {
		s.Silent = slices.DeleteFunc(slices.Clone(s.Silent), func(name string) bool { return name == party })
		return nil
	})
	c.Logger.Info("a party has erased its part of a job", "party", party, "job", f.Job.String(), "erased", f.Gone)
	if err != nil {
		c.Logger.Warn("could not record that a party has erased its part", "error", err)
	}
}

func (c *Coordinator) later(in driver.Inbound, after time.Duration) {
	if err := in.Later(after); err != nil {
		c.Logger.Warn("could not put a message back", "error", err)
	}
}

func (c *Coordinator) acknowledge(in driver.Inbound) {
	if err := in.Ack(); err != nil {
		c.Logger.Warn("could not acknowledge a message", "error", err)
	}
}

// listen opens the inbox of a session's control messages. The returned function closes the inbox
// and acknowledges unread messages.
func (c *Coordinator) listen(id protocol.SessionID) (<-chan driver.Inbound, func()) {
	box := make(chan driver.Inbound, inboxSize)
	c.mu.Lock()
	c.inboxes[id] = box
	c.mu.Unlock()
	return box, func() {
		c.mu.Lock()
		delete(c.inboxes, id)
		c.mu.Unlock()
		for len(box) > 0 {
			c.acknowledge(<-box)
		}
	}
}

// errAborted is the error of a job that the operator has aborted.
var errAborted = errors.New("the operator aborted the job")

// Abort ends a queued or running job. The job fails, and the next job of its parties begins when the aborted
// job is closed: its secrets are destroyed, except at parties that do not answer in time.
// When Abort returns, the abort is on disk, so no crash undoes it.
// The parties learn of it later. If the job already has its outcome, Abort returns an error.
//
// Abort does not wait for the coordinator's own computation, which soon ends and then frees its
// memory.
func (c *Coordinator) Abort(id job.ID) error {
	return c.abortBecause(id, "the operator aborted a job", fmt.Sprintf("aborted by the operator of %s", c.name))
}

// abortBecause is Abort with a line for the log, and with the reason that the job's failure gives.
func (c *Coordinator) abortBecause(id job.ID, line, why string) error {
	c.mu.Lock()
	j, known := c.jobs[id]
	c.mu.Unlock()
	if !known {
		return fmt.Errorf("coordinator: %w: %v", ErrNoJob, id)
	}
	if err := c.setStatus(j, c.abort(id, why)); err != nil {
		return err
	}
	c.record(j, slog.LevelWarn, line, overview.Event{Kind: overview.Aborted}, "reason", why)
	c.stopRunner(id, protocol.Blame(c.name, protocol.KindAborted, errAborted))
	c.nudge() // a job may have waited only for this one
	return nil
}

// abort returns the change of a job's status that aborts the job. A queued job ends at once,
// because it has nothing to destroy.
func (c *Coordinator) abort(id job.ID, why string) func(*Status) error {
	return func(s *Status) error {
		switch s.State {
		case overview.Queued:
			s.State, s.Ended = overview.Failed, overview.Now()
		case overview.Running:
		default:
			return fault.BadInputf("coordinator: job %v is %s; only a job that is queued or running can be aborted", id, s.State)
		}
		s.Failure = &Failure{Code: fault.CodeFailed, Message: why, Told: why}
		return nil
	}
}

// Rotate makes all members erase every job that a later job could continue, so that no member keeps a seed
// for rows that the coordinator has. It fails if such a job has not ended, and leaves out jobs that this
// program cannot read. It returns the erased items of each job. It includes jobs that were erased before,
// because a crash may have come before all parties had the request.
func (c *Coordinator) Rotate(ctx context.Context) (map[job.ID]*Forgotten, error) {
	var ended []job.ID
	for _, j := range c.List() {
		switch {
		case j.State == overview.Unreadable || !c.continuable(j):
		case !j.Over():
			return nil, fault.BadInputf("coordinator: job %v is %s, and a later job could continue it; wait for its end, or abort it", j.ID, j.State)
		default:
			ended = append(ended, j.ID)
		}
	}
	done, errs := make([]*Forgotten, len(ended)), make([]error, len(ended))
	var forgetting sync.WaitGroup // the erasures run in parallel, because each waits for absent parties
	for i, id := range ended {
		forgetting.Go(func() { done[i], errs[i] = c.Forget(ctx, id) })
	}
	forgetting.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := make(map[job.ID]*Forgotten)
	for i, id := range ended {
		all[id] = done[i]
	}
	c.Logger.Info("rotated the epoch: no earlier job can be continued", "jobs", len(all))
	return all, nil
}

// continuable reports whether a later job can continue this job.
func (c *Coordinator) continuable(j Job) bool {
	m, err := method.Of(j.Spec)
	if err != nil {
		return false
	}
	s, err := m.Server(c.instance(j.ID, j.Spec))
	if err != nil {
		return false
	}
	l := s.Later
	return l != nil && l.Lasts()
}
