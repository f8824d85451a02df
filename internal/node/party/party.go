package party

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// Config holds the settings and resources of a party; every field is required.
type Config struct {
	Name     string
	Reader   *job.Reader
	Identity *identity.Identity
	Roster   *roster.Roster // approved by the operator
	Conn     transport.Conn
	Vault    vault.Vault
	Keepsake Keepsake
	// Policy returns the operator's policy for a table of the catalogue; an error says
	// that there is no such table.
	Policy   func(table string) (Policy, error)
	Releases disclosure.Ledger
	// Aligned takes the ids of a finished job between holders of columns, in the
	// order of the job.
	Aligned func(id job.ID, ids []string) error
	// Recommended takes a finished recommender's list for this party's
	// person, best first.
	Recommended func(id job.ID, list []method.Recommendation) error
	// Load reads the table that a job names, from the operator's catalogue. A job that
	// asks for other labels, ids or columns than the catalogue offers is refused.
	Load func(d job.Data) (method.Table, error)
	// Seed draws a session's seed. The label tells sessions apart, for
	// programs that must not use true randomness.
	Seed   func(label string) [32]byte
	Usage  Usage
	Logger *slog.Logger
	Limits Limits
}

// Limits are for how long a party holds something of a job. Zero values mean the
// defaults.
type Limits struct {
	// Unclosed is the time after which the party destroys a job by itself that its
	// coordinator has not closed; default 30 days.
	Unclosed time.Duration
	// Retention is the time after which what a job left is erased; by default nothing is erased by age.
	Retention time.Duration
	// Asking is the time between the party's questions about its jobs' ends; default 1 hour.
	Asking time.Duration
}

func (l Limits) withDefaults() Limits {
	l.Unclosed = cmp.Or(l.Unclosed, 30*24*time.Hour)
	l.Asking = cmp.Or(l.Asking, time.Hour)
	return l
}

// Usage reports the processor time and memory that the process has used, for the job's result.
type Usage func() (cpuSeconds float64, peakRSS uint64)

// Party is the daemon. Its fields belong to the goroutine of Run.
type Party struct {
	Config
	exchange  *mail.Exchange
	boss      string // the coordinator's name
	jobs      map[job.ID]*work
	sessions  map[protocol.SessionID]*running
	finished  chan finished
	questions chan *question
	withdrawn chan *question
	again     chan struct{} // a question may be asked again
	orders    chan order
	pending   []*question // asked and not yet answered, at most maxQuestions
	refusals  refusals
	over      chan struct{} // closed when Run returns
	running   sync.WaitGroup
}

// New returns a party; Run starts it.
func New(c Config) *Party {
	c.Limits = c.Limits.withDefaults()
	return &Party{
		Config:    c,
		exchange:  mail.New(c.Name, c.Identity, c.Roster, c.Conn, c.Logger),
		boss:      c.Roster.Coordinator().Name,
		jobs:      make(map[job.ID]*work),
		sessions:  make(map[protocol.SessionID]*running),
		finished:  make(chan finished),
		questions: make(chan *question),
		withdrawn: make(chan *question),
		again:     make(chan struct{}, 1),
		orders:    make(chan order),
		over:      make(chan struct{}),
	}
}

// Run serves the federation until ctx ends. What it leaves unfinished, another
// Party on the same vault resumes. Run is called once.
func (p *Party) Run(ctx context.Context) error {
	defer close(p.over)
	ctx, stop := context.WithCancelCause(ctx)
	defer p.running.Wait()
	defer stop(nil)
	if err := p.resume(ctx); err != nil {
		stop(nil)
		return errors.Join(err, p.leave(ctx))
	}
	p.running.Go(func() { stop(p.exchange.Run(ctx)) })
	p.review(ctx)
	often := time.NewTicker(p.Limits.Asking)
	defer often.Stop()
	for {
		select {
		case <-ctx.Done():
			return p.leave(ctx)
		case in := <-p.exchange.Control():
			p.control(ctx, in)
		case f := <-p.finished:
			if err := p.conclude(ctx, f); err != nil {
				p.Logger.Error("could not conclude a session", "session", f.r.ID().String(), "error", err)
			}
		case q := <-p.questions:
			p.ask(q)
		case <-p.again:
		case <-often.C:
			p.review(ctx)
		case o := <-p.orders:
			o.done <- o.run(ctx)
		case q := <-p.withdrawn:
			if err := p.withdraw(ctx, q); err != nil {
				p.Logger.Error("could not withdraw a question", "job", q.job.String(), "error", err)
			}
		}
		p.askNext(ctx)
	}
}

// leave waits for the drivers to stop; their sessions stay open.
func (p *Party) leave(ctx context.Context) error {
	for _, r := range p.sessions {
		if r.active {
			<-p.finished
		}
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("party: %w", err)
	}
	return nil
}

// errNotNow marks a failure of this process or its surroundings, after which a
// control message is put back and comes again.
var errNotNow = errors.New("it will be tried again")

func notNow(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; %w", err, errNotNow)
}

// retryDelay is the time that a message waits if it could not be handled.
const retryDelay = 100 * time.Millisecond

// control handles one control message. It is acknowledged once what it asks
// for is durable; a message that cannot be handled now comes again.
func (p *Party) control(ctx context.Context, in driver.Inbound) {
	m := in.Message
	if m.Sender != p.boss {
		p.Logger.Warn("only the coordinator commands a party", "message", m.Header.String())
		p.acknowledge(in)
		return
	}
	err := p.handle(ctx, m)
	if err != nil {
		p.Logger.Warn("could not handle a control message", "message", m.Header.String(), "error", err)
	}
	if !errors.Is(err, errNotNow) {
		p.acknowledge(in)
		return
	}
	if err := in.Later(retryDelay); err != nil {
		p.Logger.Warn("could not put a message back", "error", err)
	}
}

func (p *Party) acknowledge(in driver.Inbound) {
	if err := in.Ack(); err != nil {
		p.Logger.Warn("could not acknowledge a message", "error", err)
	}
}

func (p *Party) handle(ctx context.Context, m protocol.Message) error {
	switch m.Kind {
	case control.KindProposal:
		return p.propose(ctx, m)
	case control.KindDirectory:
		return p.begin(ctx, m)
	case control.KindAbort:
		return p.abort(ctx, m)
	case control.KindClosing:
		return p.close(ctx, m)
	case control.KindRefusal:
		return p.refused(m)
	case control.KindBusy:
		return p.putOff(m)
	case control.KindForget:
		return p.forget(ctx, m)
	}
	return fmt.Errorf("party: %q is no control message", m.Kind)
}

// tell sends a control message to the coordinator.
func (p *Party) tell(ctx context.Context, id protocol.SessionID, kind string, body []byte) error {
	if err := p.exchange.Tell(ctx, p.boss, id, kind, body); err != nil {
		return notNow(fmt.Errorf("party: telling the coordinator: %w", err))
	}
	return nil
}
