package stage

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Roles of a leakage statement, in the order in which they are read.
func Roles() []string {
	return []string{"server", "leader", "active", "passive", "party", "coalition", "broker"}
}

// leakage says in plain words what each role learns, computed for this job.
func (s *Server) leakage(f method.Facts) map[string][]string {
	if is[*gramKeys](s.Job) {
		return s.gramLeakage(f)
	}
	lines := okra.Leakage(okra.Facts{
		Parties: len(s.Cast.Parties), TotalRows: len(s.upload.Test()), Features: int(f.Features),
		Grid: f.Grid == method.AllGrid, Mixed: f.Grid == method.SomeGrid, Encoder: string(job.As[*okraKeys](s.Job.Protocol).Encoder), Labels: s.upload.Labels() != nil,
	})
	if s.Job.Learner.Name.Regresses() {
		lines["server"] = append(lines["server"], "The labels of this job are the numbers to be predicted: the server learns each of them exactly.")
	}
	lines["server"] = append(lines["server"], "Another job over other columns, labels, scaling or values of the same rows would tell it more: each party's release ledger holds such a job until its operator approves it.")
	for role, more := range s.headingLeakage() {
		lines[role] = append(lines[role], more...)
	}
	if s.Job.Data.Scale != job.None {
		facts := scale.Facts{Method: scale.Method(s.Job.Data.Scale), Leader: s.Cast.Parties[0], Parties: len(s.Cast.Parties), Columns: int(f.Features)}
		for role, more := range scale.Leakage(facts) {
			lines[role] = append(lines[role], more...)
		}
	}
	for role := range lines {
		lines[role] = slices.Compact(lines[role])
	}
	return lines
}
