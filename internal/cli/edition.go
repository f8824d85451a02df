package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

// editionResult describes a new edition of a table, or says why no edition was made.
type editionResult struct {
	Table      string `json:"table"`
	Dictionary string `json:"dictionary"`
	Edition    int    `json:"edition,omitempty"`
	Training   int    `json:"training,omitempty"`
	HeldOut    int    `json:"held_out,omitempty"`
	Unlabelled int    `json:"unlabelled,omitempty"` // number of rows that were left out because they had no label
	Lack       int    `json:"lack,omitempty"`       // number of people who are missing for the next edition
	// The field Beside lists the differences to earlier editions that concern only few people.
	Beside []edition.Beside `json:"beside,omitempty"`
}

func resultOf(e edition.Edition) editionResult {
	return editionResult{Table: e.Table, Dictionary: e.Name, Edition: e.Number, Training: e.Training, HeldOut: e.HeldOut, Unlabelled: e.Unlabelled, Beside: e.Beside}
}

// Print names the edition that jobs now use.
func (r editionResult) Print(w io.Writer) error {
	p := &printer{w: w}
	if r.Lack > 0 {
		p.linef("table %s has no new edition for dictionary %s: too few people were added, removed or changed, in training or held out; %s missing for a group of %d", r.Table, r.Dictionary, areOf(r.Lack), edition.Least)
		if r.Edition > 0 {
			p.linef("jobs read edition %d; try again later", r.Edition)
		} else {
			p.linef("no job can read the table by it yet; try again later")
		}
		return p.err
	}
	p.linef("edition %d of table %s for dictionary %s: %d training rows, %d held out", r.Edition, r.Table, r.Dictionary, r.Training, r.HeldOut)
	if r.Unlabelled > 0 {
		p.linef("    left out %s without a label", humanize.Count(r.Unlabelled, "row"))
	}
	tellFew(p, r.Beside)
	return p.err
}

// tellFew prints which jobs on a new edition need an operator's approval. A job on the new edition
// and a job on an earlier edition could together reveal data of the few people who changed.
func tellFew(p *printer, list []edition.Beside) {
	if len(list) > 0 && list[0].Outdated() {
		p.linef("    an earlier version of Mercer compared it with earlier editions, so that all jobs await approval if jobs read those; freeze the table again")
		return
	}
	for _, b := range list {
		if of := jobsBeside(b); len(of) > 0 {
			p.linef("    fewer than %d people were added, removed or changed since edition %d; if jobs read that one, these await approval: %s", edition.Least, b.Number, strings.Join(of, "; "))
		}
	}
}

// jobsBeside describes the jobs that need approval because of an earlier edition. A difference that
// affects jobs that release rows as well as jobs that release sums has one entry, for all jobs.
func jobsBeside(b edition.Beside) (of []string) {
	all := edition.Few{Any: b.Rows.Any && b.Sums.Any, Columns: inBoth(b.Rows.Columns, b.Sums.Columns), Labels: inBoth(b.Rows.Labels, b.Sums.Labels)}
	of = append(of, describeFew(all, "all jobs")...)
	of = append(of, describeFew(notIn(b.Rows, all), "rows")...)
	of = append(of, describeFew(notIn(b.Sums, all), "sums")...)
	if b.Sums.Any {
		return of // describeFew has already listed all sums
	}
	for _, one := range []struct {
		sums   string
		labels map[string][]string
	}{{"sums for each class of ", b.Classes}, {"sums that predict the number ", b.Numbers}, {"counts of those held out for each class of ", b.HeldOut}} {
		for _, label := range slices.Sorted(maps.Keys(one.labels)) {
			of = append(of, one.sums+label+inColumns(one.labels[label]))
		}
	}
	return of
}

// elementsExcept returns the elements of list that do not occur in exceptions.
func elementsExcept(list, exceptions []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(exceptions, name) })
}

// inBoth returns the names that are in both lists.
func inBoth(a, b []string) []string { return elementsExcept(a, elementsExcept(a, b)) }

// notIn returns f without the columns and labels in exceptions.
func notIn(f, exceptions edition.Few) edition.Few {
	if exceptions.Any {
		return edition.Few{}
	}
	return edition.Few{Any: f.Any, Columns: elementsExcept(f.Columns, exceptions.Columns), Labels: elementsExcept(f.Labels, exceptions.Labels)}
}

// describeFew describes the jobs of one kind that need approval. It leaves out columns and labels
// if all jobs of this kind need approval.
func describeFew(f edition.Few, jobs string) (of []string) {
	if f.Any || slices.Contains(f.Columns, "") {
		return []string{jobs}
	}
	if len(f.Columns) > 0 {
		of = append(of, jobs+inColumns(f.Columns))
	}
	if len(f.Labels) > 0 {
		of = append(of, jobs+" with label "+strings.Join(f.Labels, ", "))
	}
	return of
}

// inColumns returns " over " and the names of the columns, or "" for all columns.
func inColumns(columns []string) string {
	if slices.Contains(columns, "") {
		return ""
	}
	return " over " + strings.Join(columns, ", ")
}

func wereOf(n int) string {
	if n == 1 {
		return "1 person was"
	}
	return strconv.Itoa(n) + " people were"
}

func areOf(n int) string {
	if n == 1 {
		return "1 person is"
	}
	return strconv.Itoa(n) + " people are"
}

func (a *app) dataFreeze() *cobra.Command {
	var home, name string
	cmd := &cobra.Command{
		Use:   "freeze TABLE",
		Short: "Freeze a table of a home, so that jobs read it as it is now",
		Long: `Make the next edition of a table for a data dictionary that this home has approved.
Jobs that name the dictionary read the newest edition, never the table itself.

A new edition must not single out a small group. The people added, removed or changed
since any earlier edition must be none or at least ten, both in training and held out.
Otherwise the command says how many people are missing, and jobs continue with the
edition before.

Approving a dictionary makes the first edition. Without a dictionary, jobs read
editions of a CSV or parquet file of numbers: the first job makes the first edition,
by the dictionary "numbers", and this command makes the next.`,
		Example: "  mercer data freeze admissions --home ./north\n  mercer data freeze admissions --dictionary cohort --home ./north",
		Args:    args("TABLE"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			h := a.at(home)
			d, err := approvedFor(h, args[0], name)
			if err != nil {
				return nil, err
			}
			made, err := h.Freeze(ctx, a.reader, d, args[0])
			var few *edition.LackError
			if errors.As(err, &few) {
				before, err := h.Editions().Newest(args[0], d.Hash())
				if errors.Is(err, edition.ErrNone) {
					err = nil
				}
				return editionResult{Table: args[0], Dictionary: d.Name, Edition: before.Number, Lack: few.Lack}, err
			}
			return resultOf(made), err
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&name, "dictionary", "", "name or hash of the dictionary; default the one approved last for the table")
	return cmd
}

// withdrawal counts the people who were withdrawn from a table.
type withdrawal struct {
	Table    string          `json:"table"`
	People   int             `json:"people"`  // number of people whom the operator named
	Company  int             `json:"company"` // number of people whom the operator did not name, but who were withdrawn too
	Absent   []string        `json:"absent"`  // people whom the operator named and no edition contains
	Editions []editionResult `json:"editions"`
	Erased   []editionResult `json:"erased,omitempty"` // editions that were erased, because they could not be remade without the people
}

func withdrawalOf(table string, done daemon.Withdrawal) withdrawal {
	r := withdrawal{Table: table, People: done.People, Company: done.Company, Absent: append([]string{}, done.Absent...), Editions: []editionResult{}}
	for _, e := range done.Editions {
		r.Editions = append(r.Editions, resultOf(e))
	}
	for _, e := range done.Erased {
		r.Erased = append(r.Erased, resultOf(e))
	}
	return r
}

// Print counts the withdrawn people and names the new editions without them.
func (r withdrawal) Print(w io.Writer) error {
	p := &printer{w: w}
	if n := r.People - len(r.Absent); n > 0 {
		p.linef("%s withdrawn from table %s for good: no edition has them any more, and no later one will", areOf(n), r.Table)
	}
	if len(r.Absent) > 0 {
		p.linef("no edition of table %s has %s, and none ever will", r.Table, dataset.Quote(strings.Join(r.Absent, ", ")))
	}
	if r.Company > 0 {
		p.linef("also withdrawn: %s, drawn by this home's key, so that the editions do not reveal whom you named", peopleOf(r.Company))
	}
	for _, e := range r.Editions {
		if err := e.Print(w); err != nil {
			return err
		}
	}
	for _, e := range r.Erased {
		p.linef("edition %d for dictionary %s is erased: this home has revoked the dictionary, and the catalogue's entry cannot read the edition as it is now", e.Edition, e.Dictionary)
	}
	p.linef("older editions are erased; a running job with one of them ends when its daemon restarts")
	return p.err
}

func (a *app) dataWithdraw() *cobra.Command {
	var home string
	var yes, absent bool
	cmd := &cobra.Command{
		Use:   "withdraw TABLE ID...",
		Short: "Withdraw people from a table for good",
		Long: `Withdraw people from a table for good, by their ids or, where the catalogue's entry
names a group, by their groups. For each dictionary, the newest edition is made again
without them and the older ones are erased. No later edition has them, even if the
table does.

If you withdraw fewer than ten people together, nine others, drawn by this home's key,
are withdrawn with them, also for good. Otherwise two jobs, one before and one after,
would reveal whom you named. Then remove the rows from the table, and withdraw the
people from other tables. The models of earlier jobs stay: mercer job forget erases
them.`,
		Example: "  mercer data withdraw admissions p-1071 --home ./north\n  mercer data withdraw admissions p-1071 p-2044 --home ./north --yes",
		Args: func(cmd *cobra.Command, given []string) error {
			return args("TABLE", "ID")(cmd, given[:min(len(given), 2)])
		},
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if err := a.at(home).CheckTable(a.reader, args[0]); err != nil {
				return nil, err
			}
			if !yes {
				if err := a.askYes("This cannot be undone, and may withdraw others too. Type yes:", "no one is withdrawn", "answer yes, or use --yes"); err != nil {
					return nil, err
				}
			}
			var done daemon.Withdrawal
			var err error
			if h := a.at(home); absent {
				done, err = h.WithdrawAhead(a.reader, args[0], args[1:])
			} else {
				done, err = h.Withdraw(ctx, a.reader, args[0], args[1:])
			}
			if err != nil {
				return nil, err
			}
			return withdrawalOf(args[0], done), nil
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "withdraw without asking")
	cmd.Flags().BoolVar(&absent, "absent", false, "also withdraw people who are neither in the table nor in an edition, so that no job ever uses their rows")
	return cmd
}

// approvedFor returns the dictionary with the given name or hash that was approved last for the table. Without a name
// it returns the one that was approved last. For a table without approvals, and for the name "numbers" if no approved
// dictionary has it, it returns the dictionary of plain numbers.
func approvedFor(h daemon.Home, table, name string) (*job.Dictionary, error) {
	list, err := h.Dictionaries().List()
	if err != nil {
		return nil, err
	}
	for _, o := range slices.Backward(list) {
		if o.Table == table && (name == "" || o.Name == name || o.Hash == name || o.Short() == name) {
			return h.Dictionaries().Find(o.Name, o.Hash)
		}
	}
	if numbers := job.OfNumbers(); name == numbers.Name || name == "" {
		return numbers, nil
	}
	return nil, usage("this home has approved no dictionary %q for table %q; mercer federation dictionary list shows the approvals", name, table)
}

func (a *app) edition() *cobra.Command {
	cmd := commandGroup("edition", "List and erase the editions of a home's tables")
	cmd.Example = "  mercer edition list --home ./north"
	cmd.AddCommand(a.editionList(), a.editionErase())
	return cmd
}

// editionList lists the editions of tables.
type editionList struct {
	Editions []edition.Edition `json:"editions"`
}

// Print lists the editions, with the newest last.
func (r editionList) Print(w io.Writer) error {
	p := &printer{w: w}
	if len(r.Editions) == 0 {
		p.linef("no table of this home has been frozen; approving a data dictionary freezes one")
	}
	for _, e := range r.Editions {
		waits := ""
		if e.Lack > 0 {
			waits = "; at the last attempt at the next one, " + wereOf(e.Lack) + " missing"
		}
		p.linef("%s  %s  edition %d for %s: %d training rows, %d held out%s", e.Day, e.Table, e.Number, e.Name, e.Training, e.HeldOut, waits)
		tellFew(p, e.Beside)
	}
	return p.err
}

func (a *app) editionList() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the editions of a home's tables, and how many people were missing at the last attempt at a new one",
		Example: "  mercer edition list --home ./north",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			list, err := a.at(home).Editions().List()
			return editionList{append([]edition.Edition{}, list...)}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// erasedEdition names an edition whose rows were erased.
type erasedEdition struct {
	Table, Dictionary string
	Number            int
}

// Print names the erased edition.
func (r erasedEdition) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("edition %d of table %s for dictionary %s is erased; this home still knows which people it distinguished, without their rows", r.Number, r.Table, r.Dictionary)
	return p.err
}

func (a *app) editionErase() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "erase TABLE DICTIONARY NUMBER",
		Short: "Erase the rows of an edition",
		Long: `Overwrite the key of an edition's rows. Jobs then read the newest remaining edition.
This home still knows which people the editions distinguished, as digests under its own
key, so that a later edition singles out no small group.`,
		Example: "  mercer edition erase admissions cohort 1 --home ./north",
		Args:    args("TABLE", "DICTIONARY", "NUMBER"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			number, err := strconv.Atoi(args[2])
			if err != nil {
				return nil, usage("edition %q is not a number; mercer edition list shows the editions", args[2])
			}
			err = a.at(home).Editions().Erase(args[0], args[1], number)
			if errors.Is(err, edition.ErrNone) {
				return nil, usage("there is no edition %s; mercer edition list shows the editions", strings.Join(args, " "))
			}
			return erasedEdition{args[0], args[1], number}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

func peopleOf(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}
