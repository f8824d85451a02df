package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/runs"
	"github.com/mercer-fl/mercer/internal/method/local"
)

// checkedJob describes the tables of a job for mercer simulate as they were read.
type checkedJob struct {
	Name  string      `json:"name"`
	Sites []readTable `json:"sites"`
}

// readTable describes one site's table as it was read.
type readTable struct {
	Party   string       `json:"party"`
	Rows    int          `json:"rows"`
	Dropped int          `json:"rows_left_out"` // number of rows left out: without a label, or with a gap in a column that must be complete
	Columns []readColumn `json:"columns"`
	Label   *readColumn  `json:"label,omitempty"` // nil if the site has no labels
}

// readColumn describes one column as it was read, in the dictionary's unit and words.
type readColumn struct {
	Name     string              `json:"name"`
	From     string              `json:"from"` // name in the site's file
	Type     prepare.Type        `json:"type"`
	Unit     string              `json:"unit,omitempty"`
	Gaps     int                 `json:"gaps"`
	Least    *float64            `json:"least,omitempty"` // nil if the column has no numbers
	Greatest *float64            `json:"greatest,omitempty"`
	Mean     *float64            `json:"mean,omitempty"`
	Words    []prepare.WordCount `json:"words,omitempty"`
}

func (a *app) jobCheck() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "check JOB.yaml",
		Short: "Show how simulate reads the tables of a job; with --home, say whether a party would accept the job",
		Long: `Read the tables of a job as mercer simulate reads them, and show how each column was
read, in the dictionary's units and words: its name in the site's file, its type, its
gaps, the least, the greatest and the mean number, or the rows of each word. Nothing
is trained or written. The figures are data of the tables: they are for a person who
may see all of them.

With --home PARTY the command asks a party, whose daemon need not run: would it accept
this job now? The party reads its table and compares its ledger, as it does for a
proposal of the coordinator; it records and sends nothing. The exit code is 0 if it would
accept, 3 if it would refuse, with the key of the file that refuses, and 2 if the job
or the table cannot be used. The command lists what depends on other parties.`,
		Example: "  mercer job check job.yaml\n  mercer job check job.yaml --json\n  mercer job check job.yaml --home ./north",
		Args:    args("JOB.yaml"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if home != "" {
				return a.checkAtParty(ctx, a.at(home), args[0])
			}
			return a.checkTables(ctx, args[0])
		}),
	}
	cmd.Flags().StringVar(&home, "home", "", "home folder of a party that would accept or refuse the job; default: read the tables for simulate")
	return cmd
}

// checkTables describes the tables of a job for mercer simulate.
func (a *app) checkTables(ctx context.Context, path string) (Result, error) {
	f, err := a.readSimulable(path)
	if err != nil {
		return nil, err
	}
	j := runs.Of(f.job)[0].Job
	if local.Of(a.local, j).Play != nil {
		return nil, usage("the job has no tables of parties to show, because protocol %s has devices with one record each; show the table with mercer data info", j.Protocol.Name())
	}
	shares, err := partition.Shares(j, a.loader(ctx))
	a.notices.reword(f.words())
	if err != nil {
		return nil, f.words().inError(f.locate(err))
	}
	r := checkedJob{Name: f.job.Name}
	for _, s := range shares {
		r.Sites = append(r.Sites, readTableOf(j, s))
	}
	return r, nil
}

// readTableOf describes how a party's table was read.
func readTableOf(j *job.Job, s partition.Share) readTable {
	set := s.Table.Set
	from := func(name string) string { return ownName(j, s.Party, name) }
	t := readTable{Party: s.Party, Rows: set.X.Rows(), Dropped: set.Unlabelled, Columns: []readColumn{}}
	if f, typed := set.X.(*prepare.Frame); typed {
		t.Dropped += f.Dropped
		for _, c := range f.Summary() {
			t.Columns = append(t.Columns, readColumn{c.Name, from(c.Name), c.Type, c.Unit, c.Gaps, finite(c.Least), finite(c.Greatest), finite(c.Mean), c.Words})
		}
	} else {
		t.Columns = readNumbers(set, from)
	}
	if set.Labels != nil {
		t.Label = readLabels(j, from(j.Data.Label), set)
	}
	return t
}

// ownName returns the name that a party's file gives to a column.
func ownName(j *job.Job, party, name string) string {
	for _, s := range j.Data.Sources {
		if s.Party == party {
			return s.Mapping.OwnName(name)
		}
	}
	return name
}

// finite returns a pointer to a number, or nil for NaN, which JSON does not have.
func finite(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// readNumbers describes the columns of a table of numbers without gaps.
func readNumbers(set *dataset.Set, from func(name string) string) []readColumn {
	all, row := make([]span, set.X.Cols()), make([]float64, set.X.Cols())
	for i := range set.X.Rows() {
		for k, v := range set.X.Row(i, row) {
			all[k].add(v)
		}
	}
	list := make([]readColumn, len(all))
	for k, s := range all {
		name := fmt.Sprintf("column %d", k)
		if set.Columns != nil {
			name = set.Columns[k]
		}
		list[k] = s.column(name, from(name))
	}
	return list
}

// span summarises numbers.
type span struct {
	least, greatest, sum float64
	n                    int
}

func (s *span) add(v float64) {
	if s.n == 0 {
		s.least, s.greatest = v, v
	}
	s.least, s.greatest, s.sum, s.n = min(s.least, v), max(s.greatest, v), s.sum+v, s.n+1
}

// column describes a column with these numbers.
func (s span) column(name, from string) readColumn {
	c := readColumn{Name: name, From: from, Type: prepare.Number}
	if s.n > 0 {
		c.Least, c.Greatest, c.Mean = finite(s.least), finite(s.greatest), finite(s.sum/float64(s.n))
	}
	return c
}

// readLabels describes the labels: numbers of a regression, or else classes.
func readLabels(j *job.Job, from string, set *dataset.Set) *readColumn {
	if numbers, err := set.Targets(); err == nil && j.Task().Numbers {
		var s span
		for _, v := range numbers {
			s.add(v)
		}
		c := s.column(j.Data.Label, from)
		return &c
	}
	return &readColumn{Name: j.Data.Label, From: from, Type: prepare.Category, Words: prepare.CountWords(set.Labels)}
}

// Print writes a table for each site.
func (r checkedJob) Print(w io.Writer) error {
	p := &printer{w: w}
	for i, s := range r.Sites {
		if i > 0 {
			p.linef("")
		}
		p.linef("%s: %s%s", s.Party, humanize.Count(s.Rows, "row"), leftOut(s.Dropped))
		t := &tableOf{header: []string{"column", "in the file", "type", "gaps", "read as"}}
		for _, c := range s.Columns[:min(len(s.Columns), columnsShown)] {
			t.add(c.Name, c.From, string(c.Type), c.Gaps, c.values())
		}
		if s.Label != nil {
			t.add(s.Label.Name, s.Label.From, "label", 0, s.Label.values())
		}
		p.join(t.print(w))
		if more := len(s.Columns) - columnsShown; more > 0 {
			p.linef("and %s more; --json lists all", humanize.Count(more, "column"))
		}
	}
	return p.err
}

func leftOut(rows int) string {
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s left out", humanize.Count(rows, "row"))
}

// Limits of what is printed: columns of a site, and words of a column.
const (
	columnsShown = 60
	wordsShown   = 8
)

// values describes the values of a column in a line.
func (c readColumn) values() string {
	switch {
	case c.Words != nil:
		return humanize.List(c.Words, wordsShown, func(w prepare.WordCount) string { return fmt.Sprintf("%s %d", w.Word, w.Rows) })
	case c.Mean == nil:
		return "no value"
	}
	return strings.TrimSpace(fmt.Sprintf("%s to %s, mean %s %s", sixDigits(*c.Least), sixDigits(*c.Greatest), sixDigits(*c.Mean), c.Unit))
}

// sixDigits formats a number with at most six digits.
func sixDigits(v float64) string { return fmt.Sprintf("%.6g", v) }
