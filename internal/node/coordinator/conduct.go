package coordinator

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

const (
	inboxSize    = 1024
	waitForRoom  = 20 * time.Millisecond
	waitForPlace = time.Second
	// maxControlBytes bounds the size in bytes of a control message from a party.
	maxControlBytes = 32 << 10
)

// conducted is the state of a session that the coordinator conducts.
type conducted struct {
	job         *Job
	stage       uint16
	step        string
	plan        *method.Session
	announce    []byte   // announcement that the proposal of the session carries
	leftEarlier []string // parties that left the session before this one; gather does not wait for them
	session     *protocol.Session
	kept        vault.Session
	keys        identity.SessionKeys
	run         *method.Run // nil if the coordinator is not a member
	inbox       <-chan driver.Inbound
	reports     map[string]*control.Report
	accepted    map[string]control.Acceptance
	stalls      control.Stalls
	herald      *herald
}

// conduct runs one session, waits until every party that must report has done
// so, and returns the parties' reports. In a session that allows absences, a party
// that does not report in time counts as absent.
func (c *Coordinator) conduct(ctx context.Context, w *course, index uint16, step method.Step) (map[string]*control.Report, error) {
	d, err := c.prepare(w, index, step)
	if err != nil {
		return nil, err
	}
	if err := c.runToEnd(ctx, d); err != nil {
		return nil, err
	}
	w.recordEnd(control.Place(index), d.summary())
	return d.reports, nil
}

// recordEnd records that a session has ended, and informs the coordinator's side of the protocol.
func (w *course) recordEnd(step int, e method.End) {
	w.ends = append(w.ends, e)
	w.hub.Ended(step, e)
}

// leftEarlier returns the parties that were asked to join the session before the given session, and did
// not finish it. The given session does not wait for these parties when it begins.
func (w *course) leftEarlier(next *method.Session) []string {
	for _, e := range w.ends {
		if e.Session == next.Parent {
			return slices.DeleteFunc(slices.Clone(w.job.Spec.Parties()), func(name string) bool {
				return slices.Contains(e.Stayed, name) || !slices.Contains(e.Asked, name) // a party that was never asked to join did not leave
			})
		}
	}
	return nil
}

// runToEnd runs the session to its end. If the session ended before a restart, runToEnd restores
// its result.
func (c *Coordinator) runToEnd(ctx context.Context, d *conducted) error {
	if done, err := d.kept.Get(vault.Report); err != nil {
		return err
	} else if done != nil {
		c.router.Forget(d.session.ID())
		d.reports, err = c.restoreEnded(d, done)
		return err
	}
	var hangUp func()
	d.inbox, hangUp = c.listen(d.session.ID())
	defer hangUp()
	defer c.heraldFor(ctx, d)()
	if err := c.gather(ctx, d); err != nil {
		return c.callOff(ctx, d, c.explain(ctx, d, err, c.awaitsJoining(d)))
	}
	if err := c.perform(ctx, d); err != nil {
		return c.callOff(ctx, d, c.explain(ctx, d, err, c.awaitsReports(d)))
	}
	c.router.Forget(d.session.ID())
	if err := d.kept.Put(vault.Report, encodeReports(d.reports)); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrInterrupted, err)
	}
	return nil
}

// summary returns which members were asked to join the session, which parties finished it, and what
// the parties' reports say together.
func (d *conducted) summary() method.End {
	e := method.End{Session: d.session.ID(), Words: make(map[string]learner.FigurePermission)}
	for _, m := range d.session.Members {
		e.Asked = append(e.Asked, m.Name)
		r := d.reports[m.Name]
		if r == nil {
			continue
		}
		e.Sent, e.Received, e.Facts = e.Sent+r.Sent, e.Received+r.Received, e.Facts.Join(r.Facts)
		e.Words[m.Name] = r.Word
		if r.Code == fault.CodeDone {
			e.Stayed = append(e.Stayed, m.Name)
		}
	}
	return e
}

// prepare opens the session in the vault and builds the coordinator's machine.
func (c *Coordinator) prepare(w *course, index uint16, step method.Step) (*conducted, error) {
	d := &conducted{job: w.job, stage: index, step: step.Name, reports: make(map[string]*control.Report), accepted: make(map[string]control.Acceptance)}
	var err error
	hub := w.hub
	if d.announce, err = hub.Announce(control.Place(index)); err != nil {
		return nil, err
	}
	if d.plan, err = step.Session.After(hub.Public(), d.announce); err != nil {
		return nil, err
	}
	among, err := c.roster().Subset(w.parties)
	if err != nil {
		return nil, fault.Public(fault.BadInput(err))
	}
	if d.session, err = protocol.NewSession(d.plan.Descriptor(w.job.ID, int(index), among.Hash(), w.job.Attempt)); err != nil {
		return nil, err
	}
	d.leftEarlier = w.leftEarlier(d.plan)
	if d.kept, err = c.openSession(d); err != nil {
		return nil, err
	}
	if d.keys, err = identity.DeriveSession(d.kept.Seed()); err != nil {
		return nil, err
	}
	if d.session.Index(c.name) < 0 {
		return d, nil
	}
	d.run, err = hub.Build(control.Place(index), c.setup(d))
	return d, err
}

// setup returns the parameters with which the coordinator builds its machine.
func (c *Coordinator) setup(d *conducted) method.Setup {
	return method.Setup{
		Setup: protocol.Setup{Session: d.session, Self: c.name, Seed: d.kept.Seed(), Anew: d.kept.Anew()}, Announced: d.announce,
		Sign: func(message []byte) []byte { return ed25519.Sign(c.Identity.SigningKey(), message) },
		Key:  c.signer,
	}
}

// openSession returns the session that an earlier process created in the vault, or creates a new
// session. It fails if an earlier process has created it and its journal is lost: it never runs again.
func (c *Coordinator) openSession(d *conducted) (vault.Session, error) {
	c.mu.Lock()
	left, found := c.open[d.session.ID()]
	c.mu.Unlock()
	if found {
		return left, nil
	}
	seed := c.Seed(fmt.Sprintf("%s/%d/%d/%s", d.job.label(), d.stage, d.job.Attempt, c.name))
	created, err := c.Vault.Create(d.session.ID(), seed, d.proposal().Encode())
	switch {
	case disk.Failed(err):
		return nil, fault.Disk.Of(err)
	case errors.Is(err, vault.ErrUsed):
		text := c.name + " lost its journal of the session; submit the job again"
		return nil, &fault.Error{Code: fault.CodeFailed, Err: fmt.Errorf("%s: %w", text, err), Public: text}
	case err != nil:
		return nil, err
	}
	c.router.Announce(d.session) // parties may send messages before the coordinator begins
	c.mu.Lock()
	c.open[d.session.ID()] = keptSession{created, d.job.ID}
	c.mu.Unlock()
	return created, nil
}

func (d *conducted) proposal() *control.Proposal {
	return &control.Proposal{Job: d.job.ID, Spec: d.job.Spec.Encode(), Stage: d.stage, Descriptor: d.session.Descriptor, Announced: d.announce, Inquiry: d.job.inquiry, Submitter: d.job.Submitter}
}

// restoreEnded restores the result of a session that ended before a restart.
func (c *Coordinator) restoreEnded(d *conducted, reports []byte) (map[string]*control.Report, error) {
	if d.run != nil {
		if err := driver.Replay(d.run.Machine, d.run.InputHash, d.kept.Records()); err != nil {
			return nil, err
		}
		if err := d.run.Finish(); err != nil {
			return nil, err
		}
	}
	return decodeReports(reports)
}

// otherMembers returns the session's members without the coordinator.
func (c *Coordinator) otherMembers(d *conducted) []string {
	var names []string
	for _, m := range d.session.Members {
		if m.Name != c.name {
			names = append(names, m.Name)
		}
	}
	return names
}

// gather proposes the session and waits until every party has accepted that did not leave earlier. When
// the time is up, the session begins without the missing parties, if it allows so many to be absent. After
// a restart of a session that allows absences, gather takes the parties that were present before, because
// only their keys are in the directory.
func (c *Coordinator) gather(ctx context.Context, d *conducted) error {
	began, err := d.begun()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.joinTime())
	defer cancel()
	proposal := d.proposal().Encode()
	if err := c.tellAll(ctx, c.otherMembers(d), d.session.ID(), control.KindProposal, proposal); err != nil {
		return c.joinError(ctx, d, err)
	}
	since := overview.Now()
	defer c.setWaiting(d.job, nil)
	reminder := time.NewTimer(waitNotice)
	defer reminder.Stop()
	for !began {
		w := c.waiting(d, since)
		if len(w.Parties) == 0 {
			break
		}
		c.setWaiting(d.job, w)
		select {
		case <-ctx.Done():
			return c.joinError(ctx, d, interrupted(ctx))
		case <-reminder.C:
			c.recordWaiting(d, w)
			reminder.Reset(waitAgain)
		case in := <-d.inbox:
			if err := c.handle(d, in); err != nil {
				return c.joinError(ctx, d, err)
			}
		}
	}
	return nil
}

// askerJoins is the longest time within which a party must accept the session in which the coordinator
// alone answers its query. The time can be short, because the party is waiting for this session.
const askerJoins = 30 * time.Second

// joinTime returns the time that the parties have to accept a session.
func (d *conducted) joinTime() time.Duration {
	join := d.job.Spec.Timeout.Join
	if d.stage == control.StagePredict {
		join = min(join, askerJoins)
	}
	return join
}

// begun restores the list of present parties of a session that began before a restart, and reports
// whether it did so. It returns false for every session from which no party is allowed to be absent:
// all parties of such a session must accept again.
func (d *conducted) begun() (bool, error) {
	if d.plan.Absent == 0 {
		return false, nil
	}
	body, err := d.kept.Get(vault.Directory)
	if err != nil || body == nil {
		return false, err
	}
	list, err := control.DecodeDirectory(body)
	for _, a := range list {
		if !a.Absent() {
			d.accepted[a.Member] = a
		}
	}
	return err == nil, err
}

// joinError returns err unless the time for joining is up. Then it returns an error that names a party
// that did not join in time, or nil if the session can begin without the missing parties.
func (c *Coordinator) joinError(ctx context.Context, d *conducted, err error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	if missing := len(c.otherMembers(d)) - len(d.accepted); missing <= d.plan.Absent {
		c.Logger.Warn("a session begins without some of its parties", "session", d.session.ID().String(), "missing", missing)
		return nil
	}
	for _, name := range c.otherMembers(d) {
		if _, ok := d.accepted[name]; !ok {
			return protocol.Blame(name, protocol.KindSilent, fmt.Errorf("did not join within %v; start its party daemon and %s", d.joinTime(), d.job.retryAdvice()))
		}
	}
	return err
}

// handle records a control message to a session.
func (c *Coordinator) handle(d *conducted, in driver.Inbound) error {
	defer c.acknowledge(in)
	return c.note(d, in.Message)
}

// note records a control message from a party. A repeated message changes nothing.
func (c *Coordinator) note(d *conducted, m protocol.Message) error {
	if d.session.Index(m.Sender) < 0 {
		c.complain("a control message from a stranger to the session", m.Sender, "message", m.Header.String())
		return nil
	}
	switch m.Kind {
	case control.KindAcceptance:
		return c.noteAcceptance(d, m)
	case control.KindRefusal:
		f, err := control.DecodeRefusal(m.Body)
		if err != nil {
			return protocol.Blame(m.Sender, protocol.KindMalformed, err)
		}
		if slices.Contains(d.leftEarlier, m.Sender) {
			c.Logger.Info("a party that has left does not come back", "party", m.Sender, "session", d.session.ID().String(), "reason", f.Sentence())
			return nil
		}
		return refusedBy(m.Sender, f)
	case control.KindReport:
		return c.noteReport(d, m)
	case control.KindStall:
		return c.noteStall(d, m)
	}
	c.complain("an unexpected control message", m.Sender, "message", m.Header.String())
	return nil
}

// rejectedError is the refusal of a party whose operator has rejected the job.
type rejectedError struct {
	Rejection
	text string
}

func (e *rejectedError) Error() string { return e.text }

// refusedBy returns the error that corresponds to a party's refusal of a session.
func refusedBy(party string, f *control.Refusal) error {
	text := fmt.Sprintf("%s refused: %s", party, f.Sentence())
	why := errors.New(text)
	if reason, is := f.Rejection(); is {
		why = &rejectedError{Rejection{Party: party, Reason: reason}, text}
	}
	return fault.Public(&fault.Error{Code: f.Code, Err: why})
}

func (c *Coordinator) noteAcceptance(d *conducted, m protocol.Message) error {
	a, err := control.DecodeAcceptance(m.Body)
	if err == nil && a.Member != m.Sender {
		err = fmt.Errorf("the acceptance names %q, which did not send it", a.Member)
	}
	if err == nil {
		err = a.Verify(d.session.ID(), c.signer(m.Sender))
	}
	if err != nil {
		return protocol.Blame(m.Sender, protocol.KindMalformed, err)
	}
	d.accepted[m.Sender] = *a
	d.stalls.Note(&control.Stall{Member: m.Sender}, time.Now())
	return nil
}

func (c *Coordinator) noteReport(d *conducted, m protocol.Message) error {
	r, err := control.DecodeReport(m.Body)
	switch {
	case err != nil:
	case !(r.CPU >= 0) || math.IsInf(r.CPU, 0): // the result stores this number in JSON, which has no NaN and no infinity
		err = fmt.Errorf("the report has %v seconds of processor time; a finite number of at least 0 is required", r.CPU)
	case r.Blamed != "" && r.Blamed != protocol.Transport && d.session.Index(r.Blamed) < 0:
		err = fmt.Errorf("the report blames %q, which is not a member of the session", r.Blamed)
	}
	if err != nil {
		return protocol.Blame(m.Sender, protocol.KindMalformed, err)
	}
	d.reports[m.Sender] = r
	if r.Code == fault.CodeDone {
		return nil
	}
	if d.plan.Absent > 0 { // the session tolerates absent parties, and its machine checks later that enough remain
		c.Logger.Warn("a party has left a session", "party", m.Sender, "session", d.session.ID().String(), "reason", r.Sentence())
		return nil
	}
	return reported(m.Sender, r)
}

// reported returns the error that corresponds to a party's report of a failed session.
func reported(party string, r *control.Report) error {
	text := fmt.Sprintf("%s reports: %s", party, r.Sentence())
	return &fault.Error{Code: r.Code, Blamed: r.Blamed, Err: errors.New(text), Public: text}
}

func (c *Coordinator) signer(member string) ed25519.PublicKey {
	key, _ := c.roster().SigningKey(member)
	return key
}

// interrupted returns the error for a context that was cancelled or has expired. The reason is a
// timeout, an abort, the job's deadline, a newer query of the same party, or the end of the daemon.
func interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ctx.Err()
	case errors.Is(cause, errAborted), errors.Is(cause, errDeadline), errors.Is(cause, errOvertaken):
		return cause
	}
	return fmt.Errorf("%w: %w", driver.ErrInterrupted, cause)
}
