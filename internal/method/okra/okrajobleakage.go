package okra

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/report"
)

// leakageFacts returns the properties of the job on which its leakage depends.
func (s *server) leakageFacts() okra.Facts {
	spec := job.As[Settings](s.Job.Protocol).Spec()
	return okra.Facts{
		Parties: len(s.Parties), TotalRows: len(s.upload.Test()), Features: int(s.facts.Features),
		Dependent: s.dependent(), Grid: s.facts.Grid == method.AllGrid, Mixed: s.facts.Grid == method.SomeGrid, Encoder: spec.Encoder, BlockWidth: spec.BlockWidth, Mode: spec.Mode, Labels: s.upload.Labels() != nil,
	}
}

// dependent reports whether some rows depend on the other rows. It returns false without computing the rank
// if the leakage does not depend on that: if the rows are not on a grid, or outnumber the features.
// Otherwise the rank takes less time to compute than the Gram matrix took.
func (s *server) dependent() bool {
	gram := s.upload.Gram()
	if s.facts.Grid != method.AllGrid || s.facts.Features != 0 && gram.Rows > int(s.facts.Features) {
		return false
	}
	return method.RankOf(gram) < gram.Rows
}

// queriesTell is the sentence about queries to a model with open predictions.
const queriesTell = "The party that queries learns the model's decisions, and from enough of them something about the rows that the model holds."

// partyReads lists further sentences, for [rows.Expose], about how parties reconstruct something of others'
// rows.
func partyReads(j *job.Job) []string {
	if j.Prediction == job.Open {
		return []string{queriesTell}
	}
	return nil
}

// leakage describes in plain words what each role learns in this job.
func (s *server) leakage(f okra.Facts) map[string][]string {
	lines := okra.Leakage(f)
	if s.Job.Task().Numbers {
		lines["server"] = append(lines["server"], "The labels of this job are the numbers to be predicted: the server learns each of them exactly.")
	}
	lines["server"] = append(lines["server"], "Another job over the same rows would reveal more to the server, up to every cell, if columns, labels, scaling, schema, preparation or the rows' own values differ, or if that job computes sums over the rows (moments). Each party's release ledger blocks such a job until the party's operator approves it.")
	if learner.UsesViews(s.Job) {
		lines["server"] = append(lines["server"], "Each training row is sent as two rows, with the columns of one view each, and is counted twice above. The server learns which two belong together, and the products within each view. This reveals more than products of whole rows; a view with a single column reveals that column up to its sign.")
	}
	s.fittedLeakage(lines)
	if c := changesOf(s.Job); c != nil {
		c.leakage(s.Job, c.Withdrawn, lines)
	}
	if c := changesContinuing(s.Job); c != nil {
		c.leakage(s.Job, s.leavers, lines)
		lines["server"] = append(lines["server"], "Parties of the earlier job send the rows that they have added since then. The server learns their number and their products with all rows.")
	}
	if isContinuable(s.Job) {
		lines["server"] = append(lines["server"], "The coordinator keeps the encoded rows, their labels and products after the job, sealed, until mercer job forget.")
		lines["coalition"] = append(lines["coalition"], "Every party keeps the seed of these rows until mercer job forget, so that a later job can continue this one.")
	}
	rows.FiguresLeakage(lines, s.Assessment)
	for role := range lines {
		lines[role] = slices.Compact(lines[role])
	}
	return lines
}

// fittedLeakage adds to the leakage statement what each role learns from the fit of the
// preparation. It names the parties that took part in the fit.
func (s *server) fittedLeakage(lines map[string][]string) {
	c, features := changesOf(s.Job), int(s.facts.Features)
	if changesContinuing(s.Job) != nil {
		rows.KeptLeakage(s.Instance, lines)
	} else {
		rows.Leakage(s.fitting(), lines, features)
	}
	if c != nil && c.refits(s.Job) {
		rows.RefitLeakage(c.firstInstance(s.Instance), c.lastInstance(s.Instance), lines, features)
	}
}

// fitting returns the job with only the parties that fit the preparation of the first session.
func (s *server) fitting() method.Instance {
	if c := changesOf(s.Job); c != nil {
		return c.firstInstance(s.Instance)
	}
	return s.Instance
}

// leakage adds the consequences of changing parties to a job's leakage statement.
func (c *Changes) leakage(j *job.Job, leavers []string, lines map[string][]string) {
	add := func(role, format string, args ...any) {
		lines[role] = append(lines[role], fmt.Sprintf(format, args...))
	}
	late, left, fitted := strings.Join(c.Late, " and "), strings.Join(leavers, " and "), j.Data.Fits()
	if late != "" && !c.refits(j) {
		add("coalition", "Late: %s received the seed of the earlier rows, with the consent of every party that had it. One newcomer together with the server reads those rows too.", late)
		if fitted {
			add("party", "Late: %s learns %s.", late, rows.FittedOf(j))
		}
	}
	for _, a := range c.Added {
		add("server", "Added: %s sent a part of its rows after the first session. The server learns which rows these are, and their products with all rows.", a.Party)
	}
	if left == "" {
		return
	}
	add("server", "Withdrawn: %s. The server has deleted the rows, their products and everything learnt from them. Nothing proves that it kept no copy.", left)
	switch {
	case c.refits(j):
		add("coalition", "Withdrawn: %s knows the first seed only. But the remaining rows were sent under both seeds. Their Gram matrices show the server which rows are the same, and with the first seed it can decode the second session.", left)
	default:
		add("coalition", "Withdrawn: %s still has the seed. Together with the server it reads every row that was sent under it, those of newcomers included. Only a new seed and new rows end this.", left)
	}
	if fitted && !c.refits(j) {
		add("party", "A trace of %s stays in %s, which was fitted on its rows too. %s", left, rows.TraceOf(j), c.removalHint())
	}
}

// removalHint describes the other job that would remove the trace of the parties that left.
func (c *Changes) removalHint() string {
	if c.continues() {
		return "A job that continues no earlier one would remove it, and every row would be sent again."
	}
	return "With preparation: refit it would be removed, and every row would be sent again."
}

// Details holds results that only two kinds of jobs have: jobs whose parties change, and jobs that
// continue an earlier job.
type Details struct {
	Changes   *Figures   `json:"changes,omitempty"`
	Continued *Continued `json:"continued,omitempty"`
}

// Continued describes the cost of a job that continues an earlier job.
type Continued struct {
	Job  string   `json:"job"` // the id of the earlier job
	Late []string `json:"late"`
	Phase
	ProductsShare float64 `json:"products_of_all"` // Products divided by the number of products between all rows
}

// Phase counts the costs of one session and of the preceding sessions that order and scale columns.
type Phase struct {
	Sent     uint64           `json:"sent_bytes"` // the bytes that all parties sent, in all messages
	Rows     map[string]int64 `json:"row_bytes"`  // the bytes of rows and labels that each party sent
	Products int64            `json:"products"`   // the number of computed inner products of two rows
}

// Figures describes how the parties of a job changed and what the change cost.
type Figures struct {
	Late      []string `json:"late"`
	Withdrawn []string `json:"withdrawn"`
	// For each party, the map Added holds the share of the party's rows that it adds after the first
	// session.
	Added       map[string]float64 `json:"added,omitempty"`
	Preparation string             `json:"preparation"` // "keep", "refit", or "none" if the job fits no preparation
	First       Phase              `json:"first"`
	Changed     Phase              `json:"changed"`
	// Fresh holds the costs of a session in which the remaining parties and newcomers send all their rows. If
	// newcomers had to agree on the column order, Fresh includes that cost.
	Fresh         Phase   `json:"fresh"`
	BytesShare    float64 `json:"bytes_of_fresh"`
	ProductsShare float64 `json:"products_of_fresh"`
	// Equal reports whether the model equals the model from the fresh session, bit for bit.
	Equal bool `json:"equals_fresh"`
}

// presentChanges shows how the parties changed and what the change cost.
func presentChanges(_ *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[Details](r)
	switch {
	case err != nil || d == nil:
		return nil, err
	case d.Continued != nil:
		return d.Continued.presentCosts(), nil
	case d.Changes == nil:
		return nil, nil
	}
	f := d.Changes
	table := method.Block{Header: []string{"session", "sent", "products of rows"}}
	for _, row := range []struct {
		name string
		Phase
	}{{"first", f.First}, {"after the change", f.Changed}, {"all rows sent again", f.Fresh}} {
		table.Rows = append(table.Rows, []string{row.name, humanize.Bytes(row.Sent), fmt.Sprint(row.Products)})
	}
	return &method.Presentation{
		More:  []report.Row{{Label: "Changes", Value: f.parties() + "; " + f.costs() + "; " + f.equality()}},
		Later: []method.Block{{Line: f.parties()}, table, {Line: f.costs()}, {Line: f.equality()}},
	}, nil
}

// presentCosts shows how many bytes of rows and labels each party has sent, and the job's costs.
func (f *Continued) presentCosts() *method.Presentation {
	table := method.Block{Header: []string{"party", "rows and labels"}}
	for _, name := range slices.Sorted(maps.Keys(f.Rows)) {
		table.Rows = append(table.Rows, []string{name, humanize.Bytes(uint64(f.Rows[name]))})
	}
	text := fmt.Sprintf("continues job %s; late: %s", f.Job, cmp.Or(strings.Join(f.Late, ", "), "nobody"))
	costs := fmt.Sprintf("all parties sent %s; %d products of rows were computed, %.1f %% of those of all rows", humanize.Bytes(f.Sent), f.Products, 100*f.ProductsShare)
	return &method.Presentation{
		More:  []report.Row{{Label: "Continues", Value: text + "; " + costs}},
		Later: []method.Block{{Line: text}, table, {Line: costs}},
	}
}

func (f *Figures) parties() string {
	var added []string
	for _, name := range slices.Sorted(maps.Keys(f.Added)) {
		added = append(added, fmt.Sprintf("%s %g %% of its rows", name, 100*f.Added[name]))
	}
	return fmt.Sprintf("late: %s; withdrawn: %s; added: %s; preparation: %s",
		cmp.Or(strings.Join(f.Late, ", "), "nobody"), cmp.Or(strings.Join(f.Withdrawn, ", "), "nobody"), cmp.Or(strings.Join(added, ", "), "nothing"), f.Preparation)
}

func (f *Figures) costs() string {
	return fmt.Sprintf("the change took %.1f %% of the bytes and %.1f %% of the products", 100*f.BytesShare, 100*f.ProductsShare)
}

func (f *Figures) equality() string {
	switch {
	case f.Preparation == string(Refit):
		return "all rows were sent again: this is a fresh run"
	case f.Equal:
		return "the model equals the model from all rows sent again, bit for bit"
	}
	return "the model differs from the model from all rows sent again"
}
