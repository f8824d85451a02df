package party

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
)

// Auditor keeps the record of what the party consents to and of what leaves it: an [audit.Log].
type Auditor interface {
	Append(e audit.Event) error
}

// sessionEvent describes a session for the audit record.
func (p *Party) sessionEvent(kind audit.Kind, r *running) audit.Event {
	e := p.jobEvent(kind, r.work)
	e.Session, e.Stage = r.session.ID().String(), r.step
	for _, a := range r.admission {
		e.Releases = append(e.Releases, audit.Release{Kind: string(a.kind), ID: a.id, Epsilon: a.out.Epsilon, Delta: a.out.Delta})
	}
	return e
}

// jobEvent describes a job, or a question about one, for the audit record.
func (p *Party) jobEvent(kind audit.Kind, w *work) audit.Event {
	roster := p.roster().Hash()
	e := audit.Event{
		Kind: kind, Job: w.id.String(), Name: w.job.Name, Spec: specHash(w.job), Table: w.table(),
		Parties: w.parties(), Roster: hex.EncodeToString(roster[:]), Policy: p.policyHash(w.table()),
	}
	if kind == audit.Accepted || kind == audit.Approved || kind == audit.Rejected {
		e.Submitter = known(w.submitter)
	}
	if d := w.job.Data.Dictionary; d != nil {
		e.Dictionary = d.Name + " " + d.Hash()
	}
	if s := w.job.Study; s != nil {
		e.Study = s.Name + " " + s.Hash()
	}
	return e
}

// policyHash returns the hash of the policy that applies to a table, or "" if there is none: a record without
// the policy is better than no record.
func (p *Party) policyHash(table string) string {
	policy, err := p.Policy(table)
	if err != nil {
		return ""
	}
	b, err := json.Marshal(policy)
	if err != nil {
		return ""
	}
	return hashOf(b)
}

// hashOf returns the SHA-256 of a text in hexadecimal, as the audit record writes it.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// audit adds to the audit record an event that has happened already. If it cannot, the party goes on, and
// logs the error.
func (p *Party) audit(e audit.Event) {
	if err := p.Audit.Append(e); err != nil {
		p.Logger.Error("could not write the audit record", "event", string(e.Kind), "job", e.Job, "session", e.Session, "error", err)
	}
}

// auditEnd adds the end of a session to the audit record, with the bytes of its messages.
func (p *Party) auditEnd(f finished) {
	e := p.sessionEvent(audit.Ended, f.r)
	e.Sent, e.Received, e.Outcome = f.traffic.Sent, f.traffic.Received, "done"
	if f.err != nil {
		e.Outcome = shortened(f.err.Error())
	}
	p.audit(e)
}

// declined counts refused proposals for the audit record.
type declined struct {
	refusals     // times of the last day's refusals that have a line in the record
	skipped  int // number of refusals without a line since the last line
}

// auditRefusal adds a refused proposal to the audit record. A coordinator can cause any number of them, so in
// a day only [maxRefused] of them have a line. The next line has the number of the others.
func (p *Party) auditRefusal(session string, proposal []byte, why error) {
	now := time.Now()
	if p.declined.full(now) {
		p.declined.skipped++
		return
	}
	e := audit.Event{Kind: audit.Refused, Session: session, Outcome: shortened(why.Error()), Skipped: p.declined.skipped}
	if prop, err := control.DecodeProposal(proposal); err == nil {
		e.Spec = hashOf(prop.Spec)
		e.Job, e.Name = p.named(proposal)
	}
	p.declined.refusals, p.declined.skipped = append(p.declined.refusals, now), 0
	p.audit(e)
}

// maxOutcome bounds the text of an event in bytes. The text may quote what a peer has sent.
const maxOutcome = 4 << 10

// shortened returns a text of at most maxOutcome bytes, and dots if it was longer.
func shortened(text string) string {
	if len(text) > maxOutcome {
		return text[:maxOutcome] + "..."
	}
	return text
}
