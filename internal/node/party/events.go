package party

import (
	"log/slog"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// Events returns the latest events at this party.
func (p *Party) Events() *overview.History { return p.History }

// record logs an event of a job, and keeps it. A prediction query that several parties help to answer only has lines in
// the log.
func (p *Party) record(w *work, level slog.Level, line string, e overview.Event, more ...any) {
	e.Job, e.Name = w.id.String(), w.job.Name
	if w.inquiry != nil {
		e.Log(p.Logger, level, line, more...)
		return
	}
	p.History.Record(p.Logger, level, line, e, more...)
}

// recordEnd records the end of a session.
func (p *Party) recordEnd(f finished) {
	session := []any{"session", f.r.ID().String()}
	if f.err == nil {
		p.record(f.r.work, slog.LevelInfo, "a session has ended", overview.Event{Kind: overview.StageEnded, Stage: f.r.step}, session...)
		return
	}
	p.logOwn(f)
	e := overview.Event{Kind: overview.HasFailed, Stage: f.r.step, Code: fault.CodeOf(f.err), Blamed: blamed(f.err)}
	p.record(f.r.work, slog.LevelError, "a session failed", e, append(session, "error", f.err)...)
}
