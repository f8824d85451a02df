package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
)

// dataInfoResult summarises a table.
type dataInfoResult struct {
	Name       string      `json:"name"`
	Rows       int         `json:"rows"`
	Columns    int         `json:"columns"`
	Names      []string    `json:"column_names,omitempty"` // features of a table of numbers; nil above maxNames
	IDs        bool        `json:"ids"`
	ClassCount int         `json:"class_count"`
	Classes    []infoClass `json:"classes"` // empty if there are more than maxClasses, or if Guessed is not empty
	// Guessed is the last column, which counts as the labels if no column is called label, y or
	// target. Its words are not shown.
	Guessed string `json:"label_guessed,omitempty"`
	// Schemed warns that protocol OKRA reveals more about a table that needs a schema.
	Schemed string `json:"meaning,omitempty"`
	*infoNumbers
	*infoCells
}

// schemed is the warning for every table with words or gaps, whatever its schema.
const schemed = "This table has words or gaps, and a job needs a schema to turn them into numbers. A word becomes a column of 0 and 1, and so does a gap with indicator. Such columns lie on a grid, and others may too. Once there are more rows than prepared columns, an OKRA server can compute the columns on a grid, or some of them, by lattice reduction. Treat these columns as readable by the server. The leakage of the finished job says what holds for the rows of the job."

// infoNumbers holds statistics of a table of numbers without gaps.
type infoNumbers struct {
	Sparsity float64  `json:"sparsity"`
	Min      *float64 `json:"min,omitempty"` // only with --values
	Max      *float64 `json:"max,omitempty"`
	Grid     infoGrid `json:"grid"`
}

type infoClass struct {
	Label string `json:"label"`
	Rows  int    `json:"rows"`
}

// maxNames is the largest number of column names that are listed.
const maxNames = 20

// infoGrid counts the columns whose values are all multiples of a common step. It also says what
// this means for protocol OKRA.
type infoGrid struct {
	Varying int     `json:"varying_columns"`
	OnGrid  int     `json:"grid_columns"`
	Step    float64 `json:"step"` // the step if it is the same in all columns, or 0
	Attack  string  `json:"lattice_attack"`
	Meaning string  `json:"meaning"`
}

// maxClasses is the largest number of classes that are listed. The labels of a regression are
// usually all different.
const maxClasses = 100

func (a *app) dataInfo() *cobra.Command {
	var o infoOptions
	cmd := &cobra.Command{
		Use:   "info [NAME|FILE]",
		Short: "Show the shape of a table, its classes, and what OKRA would reveal",
		Long: `Read a whole table and show its shape, its columns, its classes, and whether its
values lie on a grid. With OKRA the server learns all inner products between rows.
If values lie on a grid, these products can be enough to compute the rows.

For a CSV text or a parquet file, each column has a line with its type, judged by its
cells, its gaps and its different words. Every problem is listed with line and column.
Numbers of the data are shown only with --values.

--schema prints a data dictionary for all members, with a catalogue entry as its
comment. Someone who knows the data must correct both. Ranges are general knowledge:
without --values, none is guessed.

In place of a file, a program can write the table as CSV (--command), or a database
can supply it (--dsn-env or --sqlite, with --query). The command reads them as a
party's catalogue does: without a shell, within limits, and only if no other user can
change the program.

For an archive (.npz), #NAME after its name chooses the array of the features. A
folder of JPEG or PNG files with a sub-folder for each class is a table of grey
values, 0 to 255. #64x64 resizes the images, #rgb keeps the colours, #64x64,rgb
does both.`,
		Example: "  mercer data info bundled:digits\n  mercer data info patients.csv --label diagnosis --id patient\n  mercer data info export.csv --label diagnosis --csv-delimiter ';' --missing NA --schema\n  mercer data info --sqlite ward.db --query cohort.sql --schema\n  mercer data info mnist.npz#x_train --label y_train\n  mercer data info slices#88x104",
		Args: func(cmd *cobra.Command, given []string) error {
			if o.source().Given() && len(given) > 0 {
				return usage("%s and the flags of a program or a query are both given; leave out one of them", given[0])
			}
			if o.source().Given() {
				return nil
			}
			return args("NAME or FILE")(cmd, given)
		},
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if from := o.source(); from.Given() {
				return a.informLive(ctx, from, o)
			}
			if err := o.source().Check(args[0], o.csv); err != nil {
				return nil, usage("%w", err)
			}
			return a.inform(args[0], o)
		}),
	}
	columnFlags(cmd, &o.columns)
	o.flags(cmd)
	return cmd
}

// csvFlags adds the flags that describe a CSV text without a catalogue entry.
func csvFlags(cmd *cobra.Command, form *prepare.CSV) {
	f := cmd.Flags()
	f.StringVar(&form.Delimiter, "csv-delimiter", "", "character between fields; default a comma, or a semicolon or tab if the first line has no comma")
	f.StringVar(&form.Decimal, "decimal", "", "decimal sign of numbers: . or ,")
	f.StringSliceVar(&form.Missing, "missing", nil, "words that mean a gap, separated by commas")
	f.StringVar(&form.Thousands, "thousands", "", "sign between thousands: , or . or a blank or '")
	f.StringVar(&form.Comment, "comment", "", "character that begins lines to skip, such as #")
	f.StringSliceVar(&form.Headers, "headers", nil, "names of all columns, separated by commas, in place of the header line's")
	f.StringSliceVar(&form.Names, "names", nil, "names of all columns, separated by commas, of a text without a header line")
	f.StringVar(&form.Quote, "quote", "", "sign around fields: \" or '; default \"")
	f.StringVar(&form.Encoding, "encoding", "", "encoding of the text: "+strings.Join(dataset.Encodings(), ", "))
}

// columnFlags adds the flags that name the columns of a table.
func columnFlags(cmd *cobra.Command, c *catalogue.Columns) {
	cmd.Flags().StringVar(&c.Label, "label", "", "column of the labels: a name, a number from 0, last or none")
	cmd.Flags().StringVar(&c.ID, "id", "", "column of the row ids: a name or a number from 0")
	cmd.Flags().IntVar(&c.Width, "features", 0, "number of columns beside label and id, for LIBSVM text that does not name its last columns; default counted from the file")
}

func describe(name string, set *dataset.Set, values bool) dataInfoResult {
	s := dataset.Summarize(set)
	r := dataInfoResult{
		Name: name, Rows: s.Rows, Columns: s.Cols, IDs: set.IDs != nil,
		ClassCount: len(s.Classes), Classes: []infoClass{},
		infoNumbers: &infoNumbers{Sparsity: s.Sparsity, Grid: gridOf(s)},
	}
	if values {
		r.Min, r.Max = &s.Min, &s.Max
	}
	if len(set.Columns) <= maxNames {
		r.Names = set.Columns
	}
	if len(s.Classes) <= maxClasses {
		for _, c := range s.Classes {
			r.Classes = append(r.Classes, infoClass(c))
		}
	}
	return r
}

// Verdicts on the lattice attack, which recovers rows from inner products.
const (
	attackApplies  = "applies"
	attackTooShort = "too few rows" // this table has too few rows for the attack, but all parties' tables together might have enough
	attackMixed    = "applies in part"
	attackNone     = "does not apply"
)

// triedColumns is the largest number of columns for which the attack was measured.
const triedColumns = 100

// gridOf describes what the lattice attack reveals if the table holds the rows of all parties. The
// server of OKRA sees the inner products of all rows.
func gridOf(s dataset.Summary) infoGrid {
	g := infoGrid{Varying: s.Varying, OnGrid: s.OnGrid, Step: s.Step}
	switch {
	case s.OnGrid == 0:
		g.Attack = attackNone
		g.Meaning = "The values lie on no coarse grid (65,536 levels a column or fewer), so known lattice reduction does not reveal them. The server still learns all inner products between rows: distances, duplicates, clusters."
		if s.Rows > s.Varying {
			g.Meaning += fmt.Sprintf(" The %d rows outnumber the %d columns that vary, so it can also separate columns that are statistically independent of each other.", s.Rows, s.Varying)
		}
	case s.OnGrid < s.Varying:
		g.Attack = attackMixed
		g.Meaning = fmt.Sprintf("%d of %d columns that vary lie on a grid. Once rows outnumber columns, lattice reduction computes them from the inner products: all of them if the other columns are few, some of them if these are many. Do not rely on OKRA to hide the columns on a grid from the server.", s.OnGrid, s.Varying)
	case s.Rows <= s.Varying:
		g.Attack = attackTooShort
		g.Meaning = fmt.Sprintf("All columns lie on a grid, and the %d rows do not outnumber the %d columns that vary. Once the rows of all parties outnumber these columns, an OKRA server can compute every value, up to the order and sign of the columns.", s.Rows, s.Varying)
	default:
		g.Attack = attackApplies
		g.Meaning = fmt.Sprintf("All columns lie on a grid, and the %d rows outnumber the %d columns that vary. From the inner products alone, an OKRA server can compute every value by lattice reduction, up to the order and sign of the columns. Treat the rows as readable by the server.", s.Rows, s.Varying)
		if s.Varying > triedColumns {
			g.Meaning += fmt.Sprintf(" (The attack was run on up to about %d columns; nothing is known that stops it with more.)", triedColumns)
		}
	}
	return g
}

// Print writes the facts, the columns, the classes and the verdict on the lattice attack.
func (r dataInfoResult) Print(w io.Writer) error {
	if r.infoCells != nil && r.Dictionary != "" {
		entry := strings.ReplaceAll(strings.TrimSuffix(r.Entry, "\n"), "\n", "\n# ") + "\n" // make every line a comment, as the first line is
		_, err := io.WriteString(w, r.Dictionary+"\n"+entry)
		return err
	}
	p := &printer{w: w}
	p.linef("%s: %s, %s", r.Name, humanize.Count(r.Rows, "row"), humanize.Count(r.Columns, "column"))
	if n := r.infoNumbers; n != nil && n.Min != nil {
		p.linef("values    %.6g to %.6g", *n.Min, *n.Max)
	}
	if n := r.infoNumbers; n != nil {
		p.linef("zeros     %.1f %%", 100*n.Sparsity)
		p.linef("grid      %d of %d columns that vary%s", n.Grid.OnGrid, n.Grid.Varying, step(n.Grid.Step))
	}
	if len(r.Names) > 0 {
		p.linef("features  %s", strings.Join(r.Names, ", "))
	}
	p.linef("row ids   %s", map[bool]string{true: "yes", false: "none"}[r.IDs])
	if r.Guessed != "" {
		p.linef("classes   %d in the last column, %s; --label NAME lists them", r.ClassCount, r.Guessed)
	} else {
		p.linef("classes   %d", r.ClassCount)
	}
	if len(r.Classes) > 0 {
		t := &tableOf{header: []string{"class", "rows", "share"}}
		for _, c := range r.Classes {
			t.add(c.Label, c.Rows, fmt.Sprintf("%.1f %%", 100*float64(c.Rows)/float64(r.Rows)))
		}
		p.linef("")
		p.join(t.print(w))
	}
	if r.infoCells != nil {
		r.infoCells.print(p)
	}
	meaning := r.Schemed
	if r.infoNumbers != nil {
		meaning = r.Grid.Meaning
	}
	p.linef("\n%s", paragraph("Under OKRA: "+meaning))
	return p.err
}

func step(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf(", in steps of %.6g", s)
}

// inform describes a table for the user. It reads the table as numbers, and also cell by cell if
// the cells can be text.
func (a *app) inform(ref string, o infoOptions) (Result, error) {
	own := o.textFormat()
	if err := own.Check(); err != nil {
		return nil, usage("%w", err)
	}
	if sign := guess(ref, dataset.GuessComment); sign != "" && own.CSV.Comment == "" {
		own.CSV.Comment = sign
		a.notices.add(fmt.Sprintf("notice: lines that begin with %s are read as comments here; a catalogue entry needs \"csv: {comment: '%s'}\"", sign, sign))
	}
	r := dataInfoResult{Name: ref, Classes: []infoClass{}}
	headless := false
	err := errMapped
	if own.Empty() {
		var set *dataset.Set
		if set, err = a.library().Load(ref, o.columns); err == nil {
			r, headless = describe(ref, set, o.values), set.Columns == nil
		}
	}
	var none *dataset.ColumnError
	if errors.As(err, &none) || err != nil && o.columns.Width > 0 { // --features requires a table of numbers
		return nil, err
	}
	cells, cellErr := a.cells(ref, own, o.columns)
	switch {
	case cellErr != nil && !own.Empty():
		return nil, cellErr
	case cells == nil || headless || cells.Rows == 0 && cells.firstFatal(nil) == nil:
		return r, o.withoutCells(ref, err)
	}
	return a.addCells(r, cells, o, err)
}

// informLive reads the table of a program or a query once, cell by cell.
func (a *app) informLive(ctx context.Context, from origin.Origin, o infoOptions) (Result, error) {
	own := o.textFormat()
	if err := cmp.Or(own.Check(), from.Check("", own.CSV)); err != nil {
		return nil, usage("%w", err)
	}
	if o.columns.Width > 0 {
		return nil, usage("--features cannot be used with a program or a query, whose columns have names; remove it")
	}
	cells, err := liveCells(ctx, from, own, o.columns)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if cells.Rows == 0 && cells.firstFatal(nil) == nil {
		return nil, fault.BadInputf("%s returns no rows; correct the program or query, or its limits", from.Name())
	}
	return a.addCells(dataInfoResult{Name: from.Name(), Classes: []infoClass{}}, cells, o, nil)
}

// addCells adds the description of a table's cells to the result of the command. If the table has a problem
// that no schema can solve, addCells returns this problem, after printing the result unless --schema is given.
// With --json it returns the result, which lists the problem.
func (a *app) addCells(r dataInfoResult, cells *describedTable, o infoOptions, err error) (Result, error) {
	r.add(cells, o)
	if wrong := cells.firstFatal(err); wrong != nil && !a.json {
		if !o.schema {
			wrong = errors.Join(r.Print(terminal{a.stdout}), wrong)
		}
		return nil, wrong
	}
	return r, nil
}
