package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/live"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/catalogue/profile"
)

// infoOptions holds the flags of mercer data info.
type infoOptions struct {
	columns        catalogue.Columns
	csv            prepare.CSV
	origin         origin.Origin
	sql            origin.SQL
	maxBytes       int64
	values, schema bool
}

// source returns the program or the query that gives the table. If the table is a file, the source's method Given
// returns false.
func (o *infoOptions) source() origin.Origin {
	from := o.origin
	from.MaxBytes = strictyaml.Positive(o.maxBytes)
	if o.sql != (origin.SQL{}) {
		from.SQL = &o.sql
	}
	return from
}

func (o *infoOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.values, "values", false, "also show the least, the greatest and the mean number of each column")
	f.BoolVar(&o.schema, "schema", false, "print a data dictionary, with a catalogue entry as its comment")
	csvFlags(cmd, &o.csv)
	f.StringSliceVar(&o.origin.Command, "command", nil, "program that writes the table as CSV, and its arguments, separated by commas, in place of a file")
	f.StringSliceVar(&o.origin.Env, "env", nil, "environment variables that --command gets beside PATH, HOME and LANG, separated by commas")
	f.StringVar(&o.sql.DSNEnv, "dsn-env", "", "environment variable with the connection string of a PostgreSQL database, in place of a file")
	f.StringVar(&o.sql.SQLite, "sqlite", "", "SQLite file, in place of a file with a table")
	f.StringVar(&o.sql.QueryFile, "query", "", "file with the SELECT for --dsn-env or --sqlite")
	f.DurationVar(&o.origin.Timeout.Duration, "timeout", 0, "longest time that a program or a query may take; default 10m")
	f.Int64Var(&o.maxBytes, "max-bytes", 0, "most bytes that a program or a query may give; default 16 GiB")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		switch {
		case f.Changed("max-bytes") && o.maxBytes <= 0:
			return usage("--max-bytes %d lets no byte through; write a number above 0, or leave the flag out", o.maxBytes)
		case f.Changed("timeout") && o.origin.Timeout.Duration <= 0:
			return usage("--timeout %v leaves no time; write a time above zero, such as 10m, or leave the flag out", o.origin.Timeout)
		}
		return nil
	}
}

// textFormat returns the format of the table's text that the flags describe.
func (o *infoOptions) textFormat() prepare.Mapping { return prepare.Mapping{CSV: o.csv} }

// infoCells describes the columns of a table whose cells are text.
type infoCells struct {
	Profile    []infoColumn      `json:"profile"`
	Problems   []profile.Problem `json:"problems"`
	More       int               `json:"more_problems"`
	Dictionary string            `json:"dictionary,omitempty"` // only with --schema
	Entry      string            `json:"entry,omitempty"`

	values bool
	answer bool // whether the table is the answer of a query
}

// infoColumn describes one column. Statistics of its numbers are included only with --values.
type infoColumn struct {
	profile.Column
	Least    *float64 `json:"least,omitempty"`
	Greatest *float64 `json:"greatest,omitempty"`
	Mean     *float64 `json:"mean,omitempty"`
}

// errMapped is the error that flags describe a text format, although the table holds numbers.
var errMapped = errors.New("the table has no cells of text; leave out " + formatFlags)

// formatFlags lists the flags that describe the format of a text.
const formatFlags = "--csv-delimiter, --decimal, --thousands, --missing, --comment, --names, --headers, --quote and --encoding"

// withoutCells returns an error if --schema is given for a table whose cells are not text. Otherwise it returns err.
func (o *infoOptions) withoutCells(ref string, err error) error {
	if err == nil && o.schema {
		return usage("%s has no columns of text with names; use --schema for CSV texts with a header and for parquet files only, or name the columns: --names, or --headers in place of a first line", ref)
	}
	return err
}

// describedTable is the profile of a table, with the names of its label and id columns.
type describedTable struct {
	*profile.Table
	name, label, id string
	own             prepare.Mapping
	origin          origin.Origin
}

// cells describes a CSV text or a parquet file. It returns nil for other formats.
func (a *app) cells(ref string, own prepare.Mapping, c catalogue.Columns) (d *describedTable, err error) {
	rows, found, err := a.library().Open(ref, own, []string{c.ID, c.Label})
	if err != nil || !found {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return describedBy(rows.Records, rows.Name, own, c)
}

// liveCells describes the table that a program or a query gives.
func liveCells(ctx context.Context, from origin.Origin, own prepare.Mapping, c catalogue.Columns) (d *describedTable, err error) {
	rows, err := live.Source{Origin: from, Folder: ".", Mapping: own}.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if d, err = describedBy(rows, from.Name(), own, c); err == nil {
		d.origin = from
	}
	return d, err
}

// describedBy reads all rows and describes their columns.
func describedBy(rows dataset.Records, name string, own prepare.Mapping, c catalogue.Columns) (d *describedTable, err error) {
	names := rows.Columns()
	d = &describedTable{name: name, own: own, label: resolve(c.Label, names, lastNamed(names), labelNames...), id: resolve(c.ID, names, -1, "id")}
	d.Table, err = profile.Read(rows, profile.Asked{Own: own, Label: d.label, ID: d.id, Guessed: d.guessesLabel(c)})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// lastNamed returns the index of the last column that has a name, 0 if no column has one, or -1 without columns.
func lastNamed(names []string) int {
	at := len(names) - 1
	for at > 0 && dataset.IsUnnamed(names[at]) {
		at--
	}
	return at
}

// resolve returns the name of the column that a flag selects, or "" if it selects no column.
// Without a flag it returns the first column with a likely name, or else the column at index
// fallback.
func resolve(flag string, names []string, fallback int, likely ...string) string {
	at := fallback
	switch n, err := strconv.Atoi(flag); {
	case flag != "" && slices.Contains(names, flag):
		return flag
	case flag == "none":
		return ""
	case flag == "last":
		at = len(names) - 1
	case flag != "" && err == nil && n >= 0 && n < len(names):
		at = n
	case flag != "":
		return flag // the table reader reports an unknown name
	default:
		if j := slices.IndexFunc(names, func(name string) bool { return slices.Contains(likely, strings.ToLower(name)) }); j >= 0 {
			at = j
		}
	}
	if at < 0 {
		return ""
	}
	return names[at]
}

// firstFatal returns the first problem that no schema can solve, or nil. If the reader stopped at
// this problem, it returns the reader's error.
func (d *describedTable) firstFatal(err error) error {
	at := slices.IndexFunc(d.Problems, func(p profile.Problem) bool { return p.Fatal })
	if at < 0 {
		return nil
	}
	var syntax *dataset.SyntaxError
	if errors.As(err, &syntax) && syntax.Line == d.Problems[at].Line {
		return err
	}
	return &dataset.SyntaxError{Name: d.name, Line: d.Problems[at].Line, Err: errors.New(d.Problems[at].Text)}
}

// add adds the description of the columns to the result.
func (r *dataInfoResult) add(d *describedTable, o infoOptions) {
	c := &infoCells{Profile: []infoColumn{}, Problems: d.Problems, More: d.More, values: o.values, answer: d.origin.SQL != nil}
	for _, column := range d.Columns {
		shown := infoColumn{Column: column}
		if o.values && column.Type == prepare.Number && !column.Unread && column.Name != d.id {
			shown.Least, shown.Greatest, shown.Mean = &column.Least, &column.Greatest, &column.Mean
		}
		c.Profile = append(c.Profile, shown)
	}
	if c.Problems == nil {
		c.Problems = []profile.Problem{}
	}
	if o.schema {
		s := profile.Suggestion{Table: d.Table, Own: d.own, Path: d.name, Origin: d.origin, Label: d.label, ID: d.id, Guessed: d.guessesLabel(o.columns), Values: o.values}
		c.Dictionary, c.Entry = s.Dictionary(), s.Entry()
	}
	if r.infoCells = c; r.infoNumbers == nil { // the table does not consist of numbers
		r.Schemed = schemed
		r.Rows, r.Columns, r.IDs, r.ClassCount = d.Rows, len(d.Columns), d.id != "", len(d.Classes)
		if r.ClassCount <= maxClasses {
			for _, label := range slices.Sorted(maps.Keys(d.Classes)) {
				r.Classes = append(r.Classes, infoClass{label, d.Classes[label]})
			}
		}
		for _, name := range []string{d.id, d.label} {
			if name != "" {
				r.Columns--
			}
		}
	}
	if d.guessesLabel(o.columns) { // the last column might hold free text or numbers
		r.Classes, r.Guessed = []infoClass{}, d.label
	}
}

// guessesLabel reports whether the last column counts as the labels, because no flag and no column name says
// which column holds them.
func (d *describedTable) guessesLabel(c catalogue.Columns) bool {
	return c.Label == "" && d.label != "" && !slices.Contains(labelNames, strings.ToLower(d.label))
}

// labelNames are the names by which a column of labels is recognised without --label.
var labelNames = []string{"label", "y", "target"}

// print writes a line for each column, and then all problems.
func (c *infoCells) print(p *printer) {
	t := &tableOf{header: []string{"column", "type", "missing", "distinct"}}
	if c.values {
		t.header = append(t.header, "least", "greatest", "mean")
	}
	for _, column := range c.Profile {
		row := []any{column.Name, string(column.Type), column.Missing, column.Distinct}
		switch {
		case column.Format != "":
			row[1] = "date " + column.Format
		case column.Type == prepare.Boolean:
			row[1] = "boolean " + column.NoYes()
		}
		for _, v := range []*float64{column.Least, column.Greatest, column.Mean} {
			switch {
			case v != nil:
				row = append(row, fmt.Sprintf("%.6g", *v))
			case c.values:
				row = append(row, "")
			}
		}
		t.add(row...)
	}
	p.linef("")
	p.join(t.print(p.w))
	if len(c.Problems) > 0 {
		p.linef("\n%s", humanize.Count(len(c.Problems)+c.More, "problem"))
	}
	for _, same := range byText(c.Problems) {
		p.linef("  %s", sentence(same, c.answer))
	}
	if c.More > 0 {
		p.linef("  and %d more", c.More)
	}
}

// byText groups problems that have the same text. Groups are in the order of their first lines.
func byText(list []profile.Problem) (groups [][]profile.Problem) {
	at := make(map[string]int)
	for _, problem := range list {
		i, known := at[problem.Text]
		if !known {
			i = len(groups)
			at[problem.Text], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], problem)
	}
	return groups
}

// linesNamed is the largest number of lines that one sentence names.
const linesNamed = 5

// sentence describes several problems with the same text in one sentence. The answer of a query has rows and
// no lines.
func sentence(same []profile.Problem, answer bool) string {
	lines := humanize.List(same, linesNamed, func(p profile.Problem) string { return strconv.Itoa(p.Line) })
	switch {
	case len(same) == 1 && (!answer || same[0].Line == 0):
		return same[0].String()
	case len(same) == 1:
		return fmt.Sprintf("row %s of the answer: %s", lines, same[0].Text)
	case answer:
		return fmt.Sprintf("rows %s of the answer: %s", lines, same[0].Text)
	}
	return fmt.Sprintf("lines %s: %s", lines, same[0].Text)
}
