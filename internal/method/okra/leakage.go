package okra

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
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
	lines["server"] = append(lines["server"], "Another job over the same rows would tell it more, up to every cell, if columns, labels, scaling, schema, preparation or the rows' own values differ, or if it sums them up (moments): each party's release ledger holds such a job until its operator approves it.")
	if learner.Twofold(s.Job) {
		lines["server"] = append(lines["server"], "Each training row travels as two, with the columns of one view each, and is counted twice above. The server learns which two belong together, and the products within each view: more than products of whole rows, and of a view of one column that column, up to its sign.")
	}
	s.fittedLeakage(lines)
	if c := changesOf(s.Job); c != nil {
		c.leakage(s.Job, c.Withdrawn, lines)
	}
	if c := continuing(s.Job); c != nil {
		c.leakage(s.Job, s.left, lines)
		lines["server"] = append(lines["server"], "Parties of the earlier job send the rows that they have got since then. The server learns how many, and their products with all rows.")
	}
	if lasting(s.Job) {
		lines["server"] = append(lines["server"], "The coordinator keeps the encoded rows, their labels and products after the job, sealed, until mercer job forget.")
		lines["coalition"] = append(lines["coalition"], "Every party keeps the seed of these rows until mercer job forget, so that a later job can continue this one.")
	}
	rows.FiguresLeakage(lines, s.Assessment)
	for role := range lines {
		lines[role] = slices.Compact(lines[role])
	}
	return lines
}

// fittedLeakage states the leakage of what the parties have fitted, and among whom.
func (s *server) fittedLeakage(lines map[string][]string) {
	c, features := changesOf(s.Job), int(s.facts.Features)
	switch {
	case continuing(s.Job) != nil:
		rows.KeptLeakage(s.Case, lines)
	case c == nil:
		rows.Leakage(s.Case, lines, features)
	default:
		rows.Leakage(c.first(s.Case), lines, features)
	}
	if c != nil && c.refits(s.Job) {
		rows.RefitLeakage(c.first(s.Case), c.last(s.Case), lines, features)
	}
}

// leakage adds the consequences of the changes to the statement of a job's leakage.
func (c *Changes) leakage(j *job.Job, leavers []string, lines map[string][]string) {
	add := func(role, format string, args ...any) {
		lines[role] = append(lines[role], fmt.Sprintf(format, args...))
	}
	late, left, fitted := strings.Join(c.Late, " and "), strings.Join(leavers, " and "), j.Data.Fits()
	if late != "" && !c.refits(j) {
		add("coalition", "Late: %s got the seed under which the rows before were encoded, with the consent of every party that had it. One newcomer together with the server reads those rows too.", late)
		if fitted {
			add("party", "Late: %s learns %s.", late, rows.FittedOf(j))
		}
	}
	for _, a := range c.Added {
		add("server", "Added: %s sent a part of its rows after the first session. The server learns which these are, and their products with all rows.", a.Party)
	}
	if left == "" {
		return
	}
	add("server", "Withdrawn: %s. The server has dropped the rows, their products and what was learnt from them. Nothing here proves that it kept no copy.", left)
	switch {
	case c.refits(j):
		add("coalition", "Withdrawn: %s knows the first seed only. But rows that stayed were sent under both seeds: their Gram matrices show the server which are which, and with the first seed it can decode the second session.", left)
	default:
		add("coalition", "Withdrawn: %s still has the seed. Together with the server it reads every row that was sent under it, those of newcomers included. Only a new seed and new rows end this.", left)
	}
	if fitted && !c.refits(j) {
		add("party", "A trace of %s stays in %s, which was fitted on its rows too. %s", left, rows.TraceOf(j), c.otherwise())
	}
}

// otherwise names the job in which a leaver's trace would go.
func (c *Changes) otherwise() string {
	if c.continues() {
		return "With a job that continues none it would go, and every row would travel again."
	}
	return "With preparation: refit it would go, and every row would travel again."
}
