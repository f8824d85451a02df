package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
)

// checkedJob says how the tables of a job for mercer simulate were read.
type checkedJob struct {
	Name  string      `json:"name"`
	Sites []readTable `json:"sites"`
}

// readTable says how one site's table was read.
type readTable struct {
	Party   string       `json:"party"`
	Rows    int          `json:"rows"`
	Dropped int          `json:"rows_left_out"` // rows without a label, or with a gap in a complete column
	Columns []readColumn `json:"columns"`
	Label   *readColumn  `json:"label,omitempty"` // nil at a site without labels
}

// readColumn says how one column was read: in the dictionary's unit and words.
type readColumn struct {
	Name     string              `json:"name"`
	From     string              `json:"from"` // name in the site's file
	Type     prepare.Type        `json:"type"`
	Unit     string              `json:"unit,omitempty"`
	Gaps     int                 `json:"gaps"`
	Least    *float64            `json:"least,omitempty"` // nil without numbers
	Greatest *float64            `json:"greatest,omitempty"`
	Mean     *float64            `json:"mean,omitempty"`
	Words    []prepare.WordCount `json:"words,omitempty"`
}

func (a *app) jobCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check JOB.yaml",
		Short: "Read the tables of a job for simulate, and show how each column was read",
		Long: `Read the tables of a job as mercer simulate reads them, and show how each column was
read, in the dictionary's units and words: its name in the site's file, its type, its
gaps, the least, the greatest and the mean number, or the rows of each word. Nothing
is trained or written. The figures are data of the tables: they are for a person who
may see all of them.`,
		Example: "  mercer job check job.yaml\n  mercer job check job.yaml --json",
		Args:    args("JOB.yaml"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			a.reader = a.reader.Knowing(dictionariesBeside(args[0]))
			f, err := a.readJobFile(args[0])
			if err != nil {
				return nil, err
			}
			if err := f.job.Simulable(); err != nil {
				return nil, badJob(err)
			}
			shares, err := partition.Shares(f.job, a.loader(ctx))
			a.notices.reword(f.words())
			if err != nil {
				return nil, f.words().inError(f.locate(err))
			}
			r := checkedJob{Name: f.job.Name}
			for _, s := range shares {
				r.Sites = append(r.Sites, readTableOf(f.job, s))
			}
			return r, nil
		}),
	}
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
		for k := range set.X.Cols() {
			name := fmt.Sprintf("column %d", k)
			if set.Columns != nil {
				name = set.Columns[k]
			}
			t.Columns = append(t.Columns, readNumbers(name, from(name), columnOf(set.X, k)))
		}
	}
	if set.Labels != nil {
		t.Label = readLabels(j, from(j.Data.Label), set)
	}
	return t
}

// ownName returns the name that a party's file gives to a column.
func ownName(j *job.Job, party, name string) string {
	for _, s := range j.Data.Sources {
		for own, theirs := range s.Mapping.Columns {
			if s.Party == party && theirs.As == name {
				return own
			}
		}
	}
	return name
}

// finite returns a pointer to a number for JSON, which has no NaN: nil in its place.
func finite(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

func columnOf(x dataset.Table, k int) []float64 {
	list, row := make([]float64, x.Rows()), make([]float64, x.Cols())
	for i := range list {
		list[i] = x.Row(i, row)[k]
	}
	return list
}

// readNumbers describes a column of numbers without gaps.
func readNumbers(name, from string, list []float64) readColumn {
	c := readColumn{Name: name, From: from, Type: prepare.Number}
	if len(list) == 0 {
		return c
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	c.Least, c.Greatest, c.Mean = finite(slices.Min(list)), finite(slices.Max(list)), finite(sum/float64(len(list)))
	return c
}

// readLabels describes the labels: numbers of a regression, or else classes.
func readLabels(j *job.Job, from string, set *dataset.Set) *readColumn {
	if numbers, err := set.Targets(); err == nil && j.Task().Numbers {
		c := readNumbers(j.Data.Label, from, numbers)
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
		for _, c := range s.Columns {
			t.add(c.Name, c.From, string(c.Type), c.Gaps, c.values())
		}
		if s.Label != nil {
			t.add(s.Label.Name, s.Label.From, "label", 0, s.Label.values())
		}
		p.join(t.print(w))
	}
	return p.err
}

func leftOut(rows int) string {
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s left out", humanize.Count(rows, "row"))
}

// wordsShown is the number of words that one line names.
const wordsShown = 8

// values describes the values of a column in a line.
func (c readColumn) values() string {
	switch {
	case c.Words != nil:
		return humanize.List(c.Words, wordsShown, func(w prepare.WordCount) string { return fmt.Sprintf("%s %d", w.Word, w.Rows) })
	case c.Mean == nil:
		return "no value"
	}
	return strings.TrimSpace(fmt.Sprintf("%s to %s, mean %s %s", decimals6(*c.Least), decimals6(*c.Greatest), decimals6(*c.Mean), c.Unit))
}

// decimals6 formats a number with at most six digits.
func decimals6(v float64) string { return fmt.Sprintf("%.6g", v) }
