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

// event describes a session for the record.
func (p *Party) event(kind audit.Kind, r *running) audit.Event {
	e := p.eventOf(kind, r.work)
	e.Session, e.Stage = r.session.ID().String(), r.step
	for _, a := range r.admission {
		e.Releases = append(e.Releases, audit.Release{Kind: string(a.kind), ID: a.id})
	}
	return e
}

// eventOf describes a job, or a question about one, for the record.
func (p *Party) eventOf(kind audit.Kind, w *work) audit.Event {
	roster, spec := p.Roster.Hash(), sha256.Sum256(w.job.Encode())
	e := audit.Event{
		Kind: kind, Job: w.id.String(), Name: w.job.Name, Spec: hex.EncodeToString(spec[:]), Table: w.table(),
		Parties: w.parties(), Roster: hex.EncodeToString(roster[:]), Policy: p.policyHash(w.table()),
	}
	if d := w.job.Data.Dictionary; d != nil {
		e.Dictionary = d.Name + " " + d.Hash()
	}
	return e
}

// policyHash returns the hash of the policy that applies to a table, or "" if the catalogue has no such
// table.
func (p *Party) policyHash(table string) string {
	policy, err := p.Policy(table)
	if err != nil {
		return ""
	}
	b, err := json.Marshal(policy)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// addToRecord adds an event that has happened already. If it cannot, the party goes on, and logs the error.
func (p *Party) addToRecord(e audit.Event) {
	if err := p.Audit.Append(e); err != nil {
		p.Logger.Error("could not write the audit record", "event", string(e.Kind), "job", e.Job, "session", e.Session, "error", err)
	}
}

// addEndToRecord adds the end of a session, with the bytes of its messages.
func (p *Party) addEndToRecord(f finished) {
	e := p.event(audit.Ended, f.r)
	e.Sent, e.Received, e.Outcome = f.traffic.Sent, f.traffic.Received, "done"
	if f.err != nil {
		e.Outcome = shortened(f.err.Error())
	}
	p.addToRecord(e)
}

// declined counts refused proposals for the record.
type declined struct {
	refusals     // of the last day, as far as they have a line
	skipped  int // since the last line
}

// recordRefusal adds a refused proposal. A coordinator can cause any number of them, so in a day only
// [maxRefused] of them have a line. The next line has the number of the others.
func (p *Party) recordRefusal(session string, proposal []byte, why error) {
	now := time.Now()
	if p.declined.full(now) {
		p.declined.skipped++
		return
	}
	e := audit.Event{Kind: audit.Refused, Session: session, Outcome: shortened(why.Error()), Skipped: p.declined.skipped}
	if prop, err := control.DecodeProposal(proposal); err == nil {
		sum := sha256.Sum256(prop.Spec)
		e.Job, e.Spec = prop.Job.String(), hex.EncodeToString(sum[:])
		_, e.Name = p.named(proposal)
	}
	p.declined.refusals, p.declined.skipped = append(p.declined.refusals, now), 0
	p.addToRecord(e)
}

// maxOutcome bounds the text of an event, which may quote what a peer has sent.
const maxOutcome = 4 << 10

func shortened(text string) string {
	if len(text) > maxOutcome {
		return text[:maxOutcome] + "..."
	}
	return text
}
