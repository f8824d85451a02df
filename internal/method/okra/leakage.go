package okra

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// leakage describes in plain words what each role learns, computed for this job.
func (s *server) leakage() map[string][]string {
	spec := job.As[Settings](s.Job.Protocol).Spec()
	lines := okra.Leakage(okra.Facts{
		Parties: len(s.Parties), TotalRows: len(s.upload.Test()), Features: int(s.facts.Features),
		Grid: s.facts.Grid == method.AllGrid, Mixed: s.facts.Grid == method.SomeGrid, Encoder: spec.Encoder, Mode: spec.Mode, Labels: s.upload.Labels() != nil,
	})
	if s.Job.Task().Numbers {
		lines["server"] = append(lines["server"], "The labels of this job are the numbers to be predicted: the server learns each of them exactly.")
	}
	lines["server"] = append(lines["server"], "Another job over other columns, labels, scaling or values of the same rows would tell it more: each party's release ledger holds such a job until its operator approves it.")
	rows.Leakage(s.Case, lines, int(s.facts.Features))
	for role := range lines {
		lines[role] = slices.Compact(lines[role])
	}
	return lines
}
