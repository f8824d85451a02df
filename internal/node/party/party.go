package party

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

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// Config holds the settings and resources of a party. Every field is required, except Limits, Version and the
// fields whose comments say that they can be nil. A process that plays all parties with its own data can leave out
// Approved, Peek and Recommended, too.
type Config struct {
	Name     string
	Reader   *job.Reader
	Identity *identity.Identity
	Roster   *roster.Roster // the member list that the operator approved, at the start; Adopt replaces it
	Conn     transport.Conn
	Vault    vault.Vault
	Retained Retained
	// Policy returns the operator's policy for a table of the catalogue, or an error if the
	// catalogue lacks the table.
	Policy func(table string) (Policy, error)
	// Approved reports whether the operator has approved a data dictionary for a table. It takes
	// the dictionary's hash.
	Approved func(hash, table string) (bool, error)
	// Studies keeps the studies that the operator has approved. It may be nil; then the party refuses
	// jobs of studies.
	Studies  Studies
	Releases disclosure.Ledger
	// Whence names the file or database that a table of the catalogue is read from, or returns "". By this name the
	// ledger recognises a table that was renamed. It may be nil.
	Whence func(table string) string
	// Noise returns the IDs of the releases of noise that the audit record has, as far as the ledger must have them. It
	// may be nil.
	Noise func() ([]string, error)
	// Failure returns why a job ended without a result, as far as the audit record knows; "" otherwise. It may be nil.
	Failure func(id string) (string, error)
	// Audit keeps the record of what the party consents to. A session that cannot be recorded is not
	// accepted.
	Audit Auditor
	// Head returns the part of the audit record that the coordinator learns: its last line, and how far the record
	// has come. It may be nil; then the coordinator is told nothing.
	Head func() control.Record
	// Restored returns an error if a party that was restored from a backup must not go on. It takes the last
	// head that the coordinator was told, or zero. It is nil for a party that was not restored.
	Restored func(head [32]byte) error
	// Consents stores the operator's decisions about single jobs. It may be nil if no policy says
	// "approve: each".
	Consents Consents
	// Alone reports whether the submitter of a job may approve it, because the home says that it has nobody else.
	// It may be nil: then the submitter may not.
	Alone func() bool
	// Peek reads a job's table like Load, for [Party.Check]. It stores nothing, freezes nothing and
	// reads the table anew at every call.
	Peek func(d job.Data) (method.Table, error)
	// Aligned stores the ids of the rows of a finished job by columns, in the job's order.
	Aligned func(id job.ID, ids []string) error
	// Alignments stores, for later jobs, how the rows of the parties match in a finished job.
	Alignments Items
	// Descriptions stores what lists show of a job that retained something here. It may be nil.
	Descriptions Items
	// History receives the party's events. If it is nil, the party makes one.
	History *overview.History
	// Recommended stores the items that a finished job recommends to this party's person, best
	// first.
	Recommended func(id job.ID, list []method.Recommendation) error
	// Notified stores a job's notices about the party's own table. They are for this party's operator
	// only.
	Notified func(id job.ID, lines []string) error
	// Failed is called with the error of a session that this party refused, or that failed at this
	// party, unless another member or this party's operator stopped the session. The error is for this
	// party's operator only. Failed may be nil.
	Failed func(cause error)
	// Judged stores predictions of held-out rows and their accuracy, if this party has the labels
	// of these rows. The coordinator gets neither the predictions nor the accuracy.
	Judged func(id job.ID, own *method.Judged) error
	// Version is the program's version, which the stored predictions record.
	Version string
	// Load reads a job's table from the operator's catalogue. It refuses a job that asks for other
	// labels, ids or columns than the catalogue offers. Every call with the same id, of a job or of
	// a question, returns the same rows, unless they come from a file that has changed meanwhile.
	Load func(id job.ID, d job.Data) (method.Table, error)
	// Stream is like Load, for protocols with the trait Streams. The table may come in blocks. If Stream
	// is nil, Load is called.
	Stream func(id job.ID, d job.Data) (method.Table, error)
	// Snapshots stores the rows that Load has read from changeable sources, until their jobs end
	// here.
	Snapshots Snapshots
	// Seed draws a session's seed. The label names the session, for programs that must not use true
	// randomness.
	Seed   func(label string) [32]byte
	Usage  Usage
	Logger *slog.Logger
	Limits Limits
	// Today returns the time, and whether the time is trusted, so that things can be erased by their age. If it
	// is nil, the system's clock is trusted.
	Today func() (now time.Time, trusted bool)
}

// Limits holds the times for which a party keeps the state of jobs, and the interval at which it looks at them and asks
// about them. Zero values mean the defaults.
type Limits struct {
	// Unclosed is the time after which the party destroys a job that its coordinator has not
	// closed. The default is 30 days.
	Unclosed time.Duration
	// Retention says when the party erases what jobs have left here. By default it erases nothing by age.
	Retention retention.Times
	// Asking is the interval at which the party asks the coordinator about the jobs whose state it holds, and
	// destroys and erases what is too old. The default is 1 hour.
	Asking time.Duration
}

func (l Limits) withDefaults() Limits {
	l.Unclosed = cmp.Or(l.Unclosed, 30*24*time.Hour)
	l.Asking = cmp.Or(l.Asking, time.Hour)
	return l
}

// Usage reports the processor time and the peak memory of this process, for the job's result.
type Usage func() (cpuSeconds float64, peakRSS uint64)

// Party is the daemon of one data holder. Its fields belong to the goroutine of Run, except channels, locked and atomic
// ones.
type Party struct {
	Config
	admits    admitter
	members   atomic.Pointer[roster.Roster] // the roster that the last Adopt has put in force; nil before the first
	router    *mail.Router
	boss      string // the coordinator's name
	jobs      map[job.ID]*work
	sessions  map[protocol.SessionID]*running
	finished  chan finished
	questions chan *question
	withdrawn chan *question
	retry     chan struct{} // wakes Run to send a question that the coordinator had put off
	tasks     chan task
	pending   []*question // unanswered questions, at most maxQuestions
	refusals  refusals
	declined  declined
	awaits    map[job.ID]*awaiting // jobs that await the operator's approval
	stalls    tally.Tally          // counts how often other parties have stalled
	over      chan struct{}        // closed when Run returns
	running   sync.WaitGroup
	shown     shown // what other goroutines may read of the jobs
}

// New returns a party; Run starts it.
func New(c Config) *Party {
	c.Limits = c.Limits.withDefaults()
	c.History = cmp.Or(c.History, overview.NewHistory())
	return &Party{
		Config:    c,
		admits:    c.Releases,
		router:    mail.New(c.Name, c.Identity, c.Roster, c.Conn, c.Logger),
		boss:      c.Roster.Coordinator().Name,
		jobs:      make(map[job.ID]*work),
		sessions:  make(map[protocol.SessionID]*running),
		awaits:    make(map[job.ID]*awaiting),
		finished:  make(chan finished),
		questions: make(chan *question),
		withdrawn: make(chan *question),
		retry:     make(chan struct{}, 1),
		tasks:     make(chan task),
		over:      make(chan struct{}),
		shown:     shown{filled: make(chan struct{})},
	}
}

// roster returns the roster in force.
func (p *Party) roster() *roster.Roster { return cmp.Or(p.members.Load(), p.Config.Roster) }

// Run serves the federation until ctx ends, the transport fails, or the party cannot go on, for example
// with a session ([ErrStalled]). It is called once. Another Party on the same vault resumes unfinished sessions.
func (p *Party) Run(ctx context.Context) error {
	defer close(p.over)
	ctx, stop := context.WithCancelCause(ctx)
	defer p.running.Wait()
	defer stop(nil)
	receive := sync.OnceFunc(func() { p.running.Go(func() { stop(p.router.Run(ctx)) }) })
	if p.Restored != nil {
		receive()
		if err := p.confirm(ctx); ctx.Err() != nil {
			return p.leave(ctx)
		} else if err != nil {
			return fmt.Errorf("party: %w", err)
		}
	}
	if err := p.resume(ctx); err != nil {
		stop(nil)
		return errors.Join(err, p.leave(ctx))
	}
	receive()
	p.review(ctx)
	often := time.NewTicker(p.Limits.Asking)
	defer often.Stop()
	for {
		p.showJobs()
		select {
		case <-ctx.Done():
			return p.leave(ctx)
		case in := <-p.router.Control():
			p.control(ctx, in)
		case f := <-p.finished:
			err := p.conclude(ctx, f)
			if errors.Is(err, ErrStalled) {
				stop(nil)
				return errors.Join(err, p.leave(ctx))
			}
			if err != nil {
				p.Logger.Error("could not conclude a session", "session", f.r.ID().String(), "error", err)
			}
		case q := <-p.questions:
			p.ask(q)
		case <-p.retry:
		case <-often.C:
			p.review(ctx)
		case o := <-p.tasks:
			o.done <- o.run(ctx)
		case q := <-p.withdrawn:
			if err := p.withdraw(ctx, q); err != nil {
				p.Logger.Error("could not withdraw a question", "job", q.job.String(), "error", err)
			}
		}
		p.askNext(ctx)
	}
}

// askNext sends the oldest pending question to the coordinator, unless it has been sent already. The
// other questions wait, because a coordinator refuses a party that asks several at a time. The
// coordinator answers with a proposal, a refusal, or the request to ask later.
func (p *Party) askNext(ctx context.Context) {
	for len(p.pending) > 0 && !p.pending[0].sent && !time.Now().Before(p.pending[0].from) {
		q := p.pending[0]
		q.sent = true
		body := (&control.Question{Job: q.job, Rows: uint32(q.set.X.Rows()), Tag: q.tag, Source: q.source}).Encode()
		if err := p.tell(ctx, control.Topic(q.job), control.KindQuestion, body); err != nil {
			p.reply(q, nil, err)
		}
	}
}

// withdraw removes a question whose caller has gone, and stops the question's session.
func (p *Party) withdraw(ctx context.Context, q *question) error {
	if !slices.Contains(p.pending, q) {
		return nil // the question is already answered
	}
	p.reply(q, nil, context.Canceled)
	why := errAborted(p.Name, "the question was withdrawn")
	switch {
	case q.running != nil:
		return p.stop(ctx, q.running, why)
	case q.work != nil:
		return p.stopAll(ctx, q.work, why)
	}
	return nil
}

// leave waits for the drivers to stop, and leaves their sessions open.
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

// errNotNow marks a temporary failure of this process or its surroundings. The party puts the
// control message back, so that it is delivered again.
var errNotNow = errors.New("the party will try again")

func notNow(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; %w", err, errNotNow)
}

// retryDelay is the time before the party tries again to handle a message.
const retryDelay = 100 * time.Millisecond

// control handles one control message. It acknowledges the message after its effect is durable. A
// message that cannot be handled now is delivered again.
func (p *Party) control(ctx context.Context, in driver.Inbound) {
	m := in.Message
	if m.Sender != p.boss {
		p.Logger.Warn("ignored a control message that is not from the coordinator", "message", m.Header.String())
		p.acknowledge(in)
		return
	}
	err := p.handle(ctx, m)
	if err != nil && !errors.Is(err, errAwaiting) { // await has logged it once
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
	case control.KindStall:
		return p.stalled(m)
	case control.KindRecord:
		return nil // an answer that came after the party went on
	}
	return fmt.Errorf("party: the control message has unknown kind %q", m.Kind)
}

// abort ends a session, or a question, that failed elsewhere.
func (p *Party) abort(ctx context.Context, m protocol.Message) error {
	f, err := control.DecodeRefusal(m.Body)
	if err != nil {
		return err
	}
	if q := p.asked(m.Session); q != nil {
		p.reply(q, nil, &fault.Error{Code: f.Code, Err: errors.New(f.Sentence())})
	}
	if r, known := p.sessions[m.Session]; known && r.report == nil {
		return p.stop(ctx, r, errAborted(p.boss, f.Sentence()))
	}
	return nil
}

// begin starts a session when the directory with all members' keys arrives. A repeated directory
// changes nothing.
func (p *Party) begin(ctx context.Context, m protocol.Message) error {
	r, known := p.sessions[m.Session]
	if !known {
		return fmt.Errorf("party: a directory arrived for session %v, which is not open here", m.Session)
	}
	if r.begun || r.report != nil {
		return nil
	}
	d, err := p.directory(r, m.Body)
	if err == nil {
		err = p.attempt(r)
	}
	if err != nil && !disk.Failed(err) {
		return p.conclude(ctx, finished{r: r, err: err})
	}
	if err == nil {
		err = r.Put(vault.Directory, m.Body)
	}
	if err != nil {
		r.late = true
		return p.postpone(ctx, m.Session, err)
	}
	p.start(ctx, r, d)
	if r.late {
		return p.tellStall(ctx, m.Session, fault.NoTrouble)
	}
	return nil
}

// forget erases everything that a job retained here, because the coordinator has erased its own part.
func (p *Party) forget(ctx context.Context, m protocol.Message) error {
	f, err := control.DecodeForget(m.Body)
	if err != nil {
		return err
	}
	gone, err := p.Forget(f.Job)
	if err != nil {
		return notNow(err)
	}
	return p.tell(ctx, control.Topic(f.Job), control.KindForgotten, (&control.Forgotten{Job: f.Job, Gone: gone}).Encode())
}

// putOff schedules a question again, because the coordinator is busy with other questions of this
// party. Those other questions may date from before a restart.
func (p *Party) putOff(m protocol.Message) error {
	b, err := control.DecodeQuestion(m.Body)
	if err != nil {
		return err
	}
	for _, q := range p.pending {
		if q.sent && q.tag == b.Tag {
			q.sent, q.from = false, time.Now().Add(askAgain)
			time.AfterFunc(askAgain, func() {
				select {
				case p.retry <- struct{}{}:
				default: // the channel already has a signal for Run
				}
			})
		}
	}
	return nil
}

// refused handles the coordinator's refusal of a job's questions, or of one inquiry. A refusal of a job's
// questions leaves those that are running.
func (p *Party) refused(m protocol.Message) error {
	f, err := control.DecodeRefusal(m.Body)
	if err != nil {
		return err
	}
	why := &fault.Error{Code: f.Code, Err: errors.New(f.Sentence())}
	for _, q := range slices.Clone(p.pending) {
		if control.Topic(q.job) == m.Session && q.sent && q.running == nil && q.work == nil {
			p.reply(q, nil, why)
		}
		if q.inquiry != nil && control.Topic(q.inquiry.ID()) == m.Session {
			p.reply(q, nil, why)
		}
	}
	return nil
}

// tell sends a control message to the coordinator.
func (p *Party) tell(ctx context.Context, id protocol.SessionID, kind string, body []byte) error {
	if err := p.router.Tell(ctx, p.boss, id, kind, body); err != nil {
		return notNow(fmt.Errorf("party: could not send a message to the coordinator: %w", err))
	}
	return nil
}

// Snapshots stores the rows of changeable sources, and which edition a job uses, sealed under a key for each job.
type Snapshots interface {
	// Jobs lists the jobs that have a snapshot.
	Jobs() ([]vault.Retained, error)
	// Erase destroys a job's snapshot. It returns no error if the job has none.
	Erase(id job.ID) ([]vault.Item, error)
}

func (p *Party) eraseSnapshot(id job.ID) error {
	_, err := p.Snapshots.Erase(id)
	return err
}
