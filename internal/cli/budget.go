package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/privacy"
)

func (a *app) budget() *cobra.Command {
	cmd := commandGroup("budget", "Show what jobs with privacy have spent of each table's privacy budget")
	cmd.Example = "  mercer budget show --home ./shop\n  mercer budget settle --spent 4 --home ./shop"
	cmd.AddCommand(a.budgetShow(), a.budgetSettle())
	return cmd
}

// tableBudget prints the privacy budget of one table.
type tableBudget struct {
	Table   string           `json:"table"`
	Listed  bool             `json:"in_catalogue"`
	Epsilon float64          `json:"epsilon,omitempty"` // epsilon of the budget; 0 if the table has no budget
	Delta   float64          `json:"delta,omitempty"`
	Unknown bool             `json:"unknown,omitempty"` // nobody knows what was spent, so nothing is left
	Spent   float64          `json:"spent"`             // epsilon of all jobs at Delta, or else defaultDelta; 0 if Unknown
	Left    float64          `json:"left"`              // epsilon of one more job at the budget's delta; 0 without one
	Jobs    []budgetSpending `json:"jobs"`
	Voids   []budgetVoid     `json:"voids"`
}

// budgetSpending prints the cost of one job, or of unknown jobs together.
type budgetSpending struct {
	ID       string    `json:"id,omitempty"` // id of the job; "" if the audit record does not have it, as for unknown jobs
	Job      string    `json:"job"`          // name of the job; "" for what an operator has stated about unknown jobs
	Table    string    `json:"table,omitempty"`
	Day      string    `json:"day,omitempty"`
	Time     time.Time `json:"time,omitzero"`     // when the job spent or reserved the cost; zero if the audit record does not have the time
	Outcome  string    `json:"outcome,omitempty"` // "done", or why the job ended without a result
	Failed   bool      `json:"failed,omitempty"`
	Epsilon  float64   `json:"epsilon"`
	Delta    float64   `json:"delta"`
	Reserved bool      `json:"reserved,omitempty"` // whether the job is open and has sent nothing yet
	Release  string    `json:"release"`
}

// budgetVoid prints a release without noise.
type budgetVoid struct {
	Kind    method.ReleaseKind `json:"kind"`
	Job     string             `json:"job"`
	Day     string             `json:"day,omitempty"`
	Release string             `json:"release"`
}

// defaultDelta is the delta at which spendings of a table without a budget are added up.
const defaultDelta = 1e-6

func budgetOf(b daemon.TableBudget) tableBudget {
	r := tableBudget{Table: b.Table, Listed: b.Listed, Epsilon: b.Budget.Epsilon, Delta: b.Budget.Delta, Unknown: b.Unknown, Jobs: []budgetSpending{}, Voids: []budgetVoid{}}
	if !b.Unknown {
		r.Spent = b.Account.Spent(cmp.Or(b.Budget.Delta, defaultDelta))
	}
	if b.Budget != (privacy.Guarantee{}) {
		r.Left = b.Left(b.Budget)
	}
	for _, s := range b.Spendings {
		by := b.Payers[s.ID]
		r.Jobs = append(r.Jobs, budgetSpending{by.Job, s.Job, s.Table, s.Day, by.Time, by.Outcome, by.Failed(), s.Epsilon, s.Delta, s.State == disclosure.Admitted, s.ID})
	}
	for _, v := range b.Voids {
		r.Voids = append(r.Voids, budgetVoid{v.Kind, v.Job, v.Day, v.ID})
	}
	return r
}

type budgetList struct {
	Tables []tableBudget `json:"tables"`
}

// Print writes each table with its budget, what its jobs have spent, and what voids it.
func (r budgetList) Print(w io.Writer) error {
	p := &printer{w: w}
	if len(r.Tables) == 0 {
		p.linef("no table has a privacy budget (privacy in its policy), and no job with privacy has used one")
	}
	for _, t := range r.Tables {
		p.linef("%s", t.text())
		for _, s := range t.Jobs {
			p.linef("    %s", s.text(t.Table))
		}
		for _, v := range t.Voids {
			p.linef("    %-16s  void: job %s released %s without noise (release %s)", v.Day, v.Job, v.Kind, v.Release)
		}
		if len(t.Voids) > 0 {
			p.linef("%s", paragraph("    The budget bounds what the jobs with noise tell of a person. Releases without noise are outside it, and so nothing bounds what all of them tell together."))
		}
	}
	return p.err
}

// text describes a table's budget in a line.
func (t tableBudget) text() string {
	name := t.Table
	if !t.Listed {
		name += " (not in the catalogue any more)"
	}
	switch {
	case t.Unknown && t.Epsilon > 0:
		return fmt.Sprintf("%s: epsilon %g at delta %g; nobody knows what was spent, so it counts as spent (mercer budget settle)", name, t.Epsilon, t.Delta)
	case t.Unknown:
		return name + ": no privacy budget, and nobody knows what was spent"
	case t.Epsilon == 0:
		return fmt.Sprintf("%s: no privacy budget; epsilon %s at delta %g is spent", name, upwards(t.Spent), defaultDelta)
	}
	return fmt.Sprintf("%s: epsilon %g at delta %g; %s is spent, and one job with epsilon %g is left", name, t.Epsilon, t.Delta, upwards(t.Spent), t.Left)
}

// upwards writes a number with three digits, rounded up, unless it exceeds them by two millionths or less.
func upwards(v float64) string {
	if v == 0 {
		return "0"
	}
	digit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return fmt.Sprintf("%.3g", math.Ceil(v/digit*(1-2e-6))*digit)
}

// text describes what a job has spent of the budget of a table.
func (s budgetSpending) text(table string) string {
	what := strings.TrimSuffix("job "+s.Job+" "+s.ID, " ")
	if s.Job == "" {
		what = "unknown jobs, as an operator has stated"
	}
	if s.Failed {
		what += ", which ended without a result"
	}
	if s.Table != "" && s.Table != table {
		what += ", under the table's name " + s.Table
	}
	if s.Reserved {
		what += ", which has sent nothing yet"
	}
	return fmt.Sprintf("%-16s  epsilon %g at delta %g: %s (release %s)", s.when(), s.Epsilon, s.Delta, what, s.Release)
}

// when returns the time of a spending, or its day if the time is unknown.
func (s budgetSpending) when() string {
	if s.Time.IsZero() {
		return s.Day
	}
	return minute(s.Time)
}

func (a *app) budgetShow() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the privacy budget of each table, and what has spent it",
		Long: `Show the privacy budget of each table, which jobs have spent how much of it, and the
largest epsilon that one more job could have. A table has one budget under all its names:
the ledger knows it by its name in the catalogue, by the file or database that it is read
from, and by the dictionary of its jobs. The costs of jobs add up as zero-concentrated
differential privacy, so the epsilon of two jobs together is less than the sum of theirs.
The list also names the releases without noise of the same table or people. They void the
guarantee: no budget bounds what they tell. Jobs have their ids and times from the home's
audit record, oldest first, and a job that has failed is named as such.`,
		Example: "  mercer budget show --home ./shop\n  mercer budget show --home ./shop --json",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			list, err := a.at(home).Budgets(a.reader)
			r := budgetList{Tables: []tableBudget{}}
			for _, b := range list {
				r.Tables = append(r.Tables, budgetOf(b))
			}
			return r, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// settledBudget prints an operator's statement about unknown jobs.
type settledBudget struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta,omitempty"`
}

// Print writes the statement, which counts from now on.
func (r settledBudget) Print(w io.Writer) error {
	p := &printer{w: w}
	if r.Epsilon == 0 {
		p.linef("unknown jobs count as having spent nothing")
	} else {
		p.linef("unknown jobs count as having spent epsilon %g at delta %g of each table of this home", r.Epsilon, r.Delta)
	}
	return p.err
}

func (a *app) budgetSettle() *cobra.Command {
	var home string
	var spent privacy.Guarantee
	cmd := &cobra.Command{
		Use:   "settle",
		Short: "State what jobs that the home does not know have spent of its privacy budgets",
		Long: `State what jobs have spent of the privacy budgets that the home does not know about. A
home that was restored from an old backup, or that has lost a part of its ledger, refuses
all jobs with privacy until then. Ask the coordinator and the other parties which jobs with
privacy have run since the backup: their results name epsilon and delta. Give the epsilon
of all of them together, or more. It counts for each table of this home. The audit record
has the statement, with your user.`,
		Example: "  mercer budget settle --spent 4 --delta 1e-6 --home ./shop\n  mercer budget settle --spent 0 --home ./shop",
		Args:    args(),
	}
	cmd.RunE = a.run(func(context.Context, []string) (Result, error) {
		if !cmd.Flags().Changed("spent") {
			return nil, fault.BadInputf("--spent is missing; give the epsilon that unknown jobs have spent at most, or 0 for nothing")
		}
		if spent.Epsilon == 0 {
			spent.Delta = 0
		}
		err := a.at(home).SettleBudget(a.reader, spent)
		return settledBudget(spent), err
	})
	a.homeFlag(cmd, &home)
	cmd.Flags().Float64Var(&spent.Epsilon, "spent", 0, "epsilon that unknown jobs have spent at most; 0 for nothing")
	cmd.Flags().Float64Var(&spent.Delta, "delta", defaultDelta, "delta at which they have spent it")
	return cmd
}
