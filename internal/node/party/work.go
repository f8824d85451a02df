package party

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	documents "github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/protocol"
)

// work is this party's state of a job, or of a question about new rows.
type work struct {
	id        job.ID
	job       *job.Job
	plan      []method.Step
	method    *method.Protocol     // the job's protocol; nil for a question
	side      *method.PartySide    // this party's side of the job; nil before it reads the table
	sessions  []*running           // sessions in the order of the plan's steps
	asked     bool                 // the ledger has admitted all of the job's releases that are known so far
	admission []admission          // releases that the ledger has admitted
	attempt   uint32               // attempt number of the session that asked the ledger last
	beside    []method.ReleaseKind // kinds of releases that accompany the job's admitted releases
	cpu       float64              // CPU seconds of the process when it took up the job
	submitter access.Person        // who submitted the job, as the coordinator says

	// The fields below belong to a question about new rows. The party holds it like a job of its
	// own.
	inquiry *control.Inquiry
	opened  method.Inquirer
	// preparation is the fitted preparation that the question's job retained here.
	preparation []byte
	about       method.Question
	question    *question // this party's own question; nil if another party asks
}

// holder returns the party's side of the job. If the table has not been read, it returns a side
// that cannot build any step.
func (w *work) holder() *method.PartySide {
	if w.side == nil { // the party has not yet read the table, or could not read it again after a restart
		return method.Unread()
	}
	return w.side
}

// work returns the known or new job to which a proposal belongs.
func (p *Party) work(prop *control.Proposal) (*work, error) {
	if w, known := p.jobs[prop.Job]; known {
		if !bytes.Equal(w.job.Encode(), prop.Spec) {
			return nil, refuse("the job id already belongs to another job file")
		}
		return w, p.stillAsked(w)
	}
	if prop.Inquiry != nil {
		return p.inquired(prop)
	}
	j, err := p.Reader.Parse("proposal", prop.Spec)
	if errors.Is(err, job.ErrUnapproved) || errors.Is(err, job.ErrStudyUnapproved) {
		return nil, fault.Public(fault.Forbidden(err))
	}
	if err != nil {
		return nil, parseError(err)
	}
	if !bytes.Equal(j.Encode(), prop.Spec) {
		return nil, refuse("the proposed job file is not in canonical form")
	}
	if _, err := p.among(j.Parties()); err != nil {
		return nil, err
	}
	w := &work{id: prop.Job, job: j, submitter: prop.Submitter}
	if w.method, err = method.Of(j); err == nil {
		w.plan, err = w.method.Plan(p.instance(w))
	}
	if err != nil {
		return nil, fault.Public(fault.BadInput(err)) // the error is public, because it quotes only the proposal
	}
	w.cpu, _ = p.Usage()
	return w, nil
}

// parseError makes an error of a proposed job file public, because it quotes only the proposal. It keeps
// an error about this home's file of a dictionary or study to the party's own log.
func parseError(err error) error {
	var unread *fs.PathError
	var damaged *documents.DamagedError
	if errors.As(err, &unread) || errors.As(err, &damaged) {
		return fault.Unsaid.Of(err)
	}
	return fault.Public(fault.BadInput(err))
}

// instance returns the job with its members.
func (p *Party) instance(w *work) method.Instance {
	return method.Instance{Job: w.job, ID: w.id, Coordinator: p.boss, Parties: w.job.Parties()}
}

// parties returns the parties of the job, or the parties that must help with the question.
func (w *work) parties() []string {
	if w.inquiry != nil {
		return w.about.Parties
	}
	return w.job.Parties()
}

// others returns parties without this one.
func (p *Party) others(parties []string) []string {
	return slices.DeleteFunc(slices.Clone(parties), func(name string) bool { return name == p.Name })
}

// among returns the part of the approved roster that the participants of a job have. It refuses unless
// all of them are parties of the roster, and this party is among them. A coordinator that named itself a
// party would receive the values that parties keep from the coordinator, first of all their scales.
func (p *Party) among(parties []string) (*roster.Roster, error) {
	some, err := p.roster().Subset(parties)
	if err != nil {
		return nil, refuse("%w that this party's operator approved", err)
	}
	if !slices.Contains(parties, p.Name) {
		return nil, refuse("the job does not name this party")
	}
	return some, nil
}

// table returns the name of the catalogue's table that a job or a question uses. The rows of this
// party's own question come from its operator, and the question's model belongs to the job's table.
func (w *work) table() string {
	if w.inquiry != nil && w.question == nil && w.inquiry.Source != "" {
		return w.inquiry.Source
	}
	return w.job.Data.Source
}

// describe recomputes the session's description from the proposal's job. So a coordinator cannot
// describe one session and run another.
func (p *Party) describe(w *work, prop *control.Proposal) (*method.Session, error) {
	if int(prop.Stage) >= len(w.plan) || w.plan[prop.Stage].Session == nil {
		return nil, fault.Publicf("party: stage %d of the job has no session", prop.Stage)
	}
	if w.active() {
		return nil, fault.Publicf("party: another session of the job is still running here")
	}
	s, err := w.plan[prop.Stage].Session.After(w.holder().Public(), prop.Announced)
	if err != nil {
		return nil, err
	}
	among, err := p.among(w.parties())
	if err != nil {
		return nil, err
	}
	want := s.Descriptor(prop.Job, int(prop.Stage), among.Hash(), prop.Descriptor.Attempt)
	if prop.Descriptor.Roster != want.Roster {
		return nil, refuse("the coordinator's roster differs from the roster that this party's operator approved, in the keys of the job's members")
	}
	if !bytes.Equal(prop.Descriptor.Encode(), want.Encode()) {
		return nil, refuse("the proposed session differs from the session that the job file describes")
	}
	return s, p.inOrder(w, prop)
}

// inOrder checks that the party has finished all earlier stages and runs each stage only once. A
// second attempt would reveal the same rows, scaled twice, under other keys.
func (p *Party) inOrder(w *work, prop *control.Proposal) error {
	for i, st := range w.plan[:prop.Stage] {
		if r := w.at(i); st.Session != nil && st.Session.Has(p.Name) && (r == nil || !r.done) {
			if r != nil && r.failed != nil {
				return r.failed
			}
			return fault.Publicf("party: stage %s has not ended here", st.Name)
		}
	}
	if r := w.at(int(prop.Stage)); r != nil && !bytes.Equal(r.proposal.Descriptor.Encode(), prop.Descriptor.Encode()) {
		return refuse("stage %s was accepted before, in another attempt", w.plan[prop.Stage].Name)
	}
	return nil
}

// errUnusable marks an error about a table as a fault in the data. An error with a public text
// keeps this text.
func errUnusable(err error) error {
	switch n := fault.NoticeOf(err); {
	case err == nil:
		return nil
	case n.Trouble == fault.Unsaid:
		return fault.Data.Of(err)
	case n.Code == fault.CodeFailed && n.Text != "":
		return fault.BadInput(err)
	}
	return err
}

// at returns the job's session of a stage, or nil.
func (w *work) at(stage int) *running {
	for _, r := range w.sessions {
		if int(r.proposal.Stage) == stage {
			return r
		}
	}
	return nil
}

// active reports whether a session of the job is running.
func (w *work) active() bool {
	for _, r := range w.sessions {
		if r.active {
			return true
		}
	}
	return false
}

// errAborted returns the error of a session that the member by has ended, for the reason why.
func errAborted(by, why string) error {
	if why == "" {
		why = "it gave no reason"
	}
	return protocol.Blame(by, protocol.KindAborted, fault.Publicf("%s", why))
}

// figurePermission says whether this party permits accuracy figures over its own held-out rows. The
// table's policy decides it.
func (p *Party) figurePermission(w *work) learner.FigurePermission {
	own := w.holder()
	if own.OwnFigures == nil {
		return learner.Denied
	}
	policy, err := p.Policy(w.table())
	switch {
	case err != nil || !policy.OwnFigures:
		return learner.Denied
	case own.OwnFigures() != nil:
		return learner.TooFew
	}
	return learner.Allowed
}
