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

// dataInfoResult summarises a table at first sight.
type dataInfoResult struct {
	Name       string      `json:"name"`
	Rows       int         `json:"rows"`
	Columns    int         `json:"columns"`
	Names      []string    `json:"column_names,omitempty"` // of the features; left out when there are more than maxNames
	IDs        bool        `json:"ids"`
	ClassCount int         `json:"class_count"`
	Classes    []infoClass `json:"classes"` // [] when there are more than maxClasses
	// Schemed warns of OKRA for a table that only a schema makes numbers of.
	Schemed string `json:"meaning,omitempty"`
	*infoNumbers
	*infoCells
}

// schemed is true of every table of words or with gaps, whatever its schema.
const schemed = "This table has words or gaps, and a job needs a schema to make numbers of them. A word becomes a column of 0 and 1, and so does a gap with indicator: such columns lie on a grid, and so may others. Once rows outnumber the prepared columns, an OKRA server can compute the columns on a grid, or some of them, by lattice reduction. Treat them as readable by the server; the leakage of the finished job says what holds for its rows."

// infoNumbers holds figures of a table of numbers without gaps.
type infoNumbers struct {
	Sparsity float64  `json:"sparsity"`
	Min      *float64 `json:"min,omitempty"` // with --values
	Max      *float64 `json:"max,omitempty"`
	Grid     infoGrid `json:"grid"`
}

type infoClass struct {
	Label string `json:"label"`
	Rows  int    `json:"rows"`
}

// maxNames bounds the columns that are listed.
const maxNames = 20

// infoGrid reports whether the values lie on a grid, and what that means for
// OKRA.
type infoGrid struct {
	Varying int     `json:"varying_columns"`
	OnGrid  int     `json:"grid_columns"`
	Step    float64 `json:"step"` // that all columns share, or 0
	Attack  string  `json:"lattice_attack"`
	Meaning string  `json:"meaning"`
}

// maxClasses bounds the classes that are listed: the labels of a regression
// are all different.
const maxClasses = 100

func (a *app) dataInfo() *cobra.Command {
	var o infoOptions
	cmd := &cobra.Command{
		Use:   "info [NAME|FILE]",
		Short: "Show the shape of a table, its classes, and what OKRA would give away",
		Long: `Read a whole table and show its shape, its columns, its classes, and whether its
values lie on a grid. With OKRA the server learns all inner products between rows;
for values on a grid, these products can give away the rows themselves.

Of a CSV text or a parquet file each column has a line: its type by its cells, its
gaps and its different words. Every problem is listed with line and column. Numbers
of the data are shown with --values only.

--schema prints a data dictionary for all members, and as its comment an entry for the
catalogue, to be corrected by somebody who knows the data. Ranges are general
knowledge: none is guessed without --values.

In place of a file a program may write the table as CSV (--command), or a database
may give it (--dsn-env or --sqlite, with --query). They are read as a party's
catalogue has them read: without a shell, within limits, and only if nobody else may
change the program.

For an archive (.npz), #NAME after its name chooses the array of the features. A
folder of JPEG or PNG files with a sub-folder for each class is a table of grey
values, 0 to 255. #64x64 resizes the images, #rgb keeps the colours, #64x64,rgb
does both.`,
		Example: "  mercer data info bundled:digits\n  mercer data info patients.csv --label diagnosis --id patient\n  mercer data info export.csv --label diagnosis --csv-delimiter ';' --missing NA --schema\n  mercer data info --sqlite ward.db --query cohort.sql --schema\n  mercer data info mnist.npz#x_train --label y_train\n  mercer data info slices#88x104",
		Args: func(cmd *cobra.Command, given []string) error {
			if o.source().Given() {
				return args()(cmd, given)
			}
			return args("NAME or FILE")(cmd, given)
		},
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if from := o.source(); from.Given() {
				return a.informLive(ctx, from, o)
			}
			return a.inform(args[0], o)
		}),
	}
	columnFlags(cmd, &o.columns)
	o.flags(cmd)
	return cmd
}

// csvFlags are for commands that read a text whose form no catalogue tells.
func csvFlags(cmd *cobra.Command, form *prepare.CSV) {
	f := cmd.Flags()
	f.StringVar(&form.Delimiter, "csv-delimiter", "", "sign between fields; default a comma, or a semicolon or tab in a first line without commas")
	f.StringVar(&form.Decimal, "decimal", "", "sign between a number's whole part and its decimals: . or ,")
	f.StringSliceVar(&form.Missing, "missing", nil, "words that stand for a gap, separated by commas")
	f.StringVar(&form.Encoding, "encoding", "", "encoding of the text: "+strings.Join(dataset.Encodings(), ", "))
}

// columnFlags are for commands that read a table.
func columnFlags(cmd *cobra.Command, c *catalogue.Columns) {
	cmd.Flags().StringVar(&c.Label, "label", "", "column of the labels: a name, a number from 0, last or none")
	cmd.Flags().StringVar(&c.ID, "id", "", "column of the row ids: a name or a number from 0")
	cmd.Flags().IntVar(&c.Width, "features", 0, "number of columns beside label and id, for LIBSVM text that names none of the last columns; default counted from the file")
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

// The verdicts on the lattice attack.
const (
	attackApplies  = "applies"
	attackTooShort = "too few rows" // as yet: more rows may come
	attackMixed    = "applies in part"
	attackNone     = "does not apply"
)

// triedColumns is up to how many columns the attack has been run.
const triedColumns = 100

// gridOf judges the table as the pooled rows of a job would be judged: the
// server of OKRA sees the inner products of all of them.
func gridOf(s dataset.Summary) infoGrid {
	g := infoGrid{Varying: s.Varying, OnGrid: s.OnGrid, Step: s.Step}
	switch {
	case s.OnGrid == 0:
		g.Attack = attackNone
		g.Meaning = "The values lie on no coarse grid (65,536 levels a column or fewer), so lattice reduction as it is known does not give them away. The server still learns all inner products between rows: distances, duplicates, clusters."
		if s.Rows > s.Varying {
			g.Meaning += fmt.Sprintf(" And since the %d rows outnumber the %d columns that vary, it can separate columns that are statistically independent of each other.", s.Rows, s.Varying)
		}
	case s.OnGrid < s.Varying:
		g.Attack = attackMixed
		g.Meaning = fmt.Sprintf("%d of %d columns that vary lie on a grid. Once rows outnumber columns, lattice reduction computes them from the inner products, all or some of them as the others are few or many; do not rely on OKRA to hide those columns from the server.", s.OnGrid, s.Varying)
	case s.Rows <= s.Varying:
		g.Attack = attackTooShort
		g.Meaning = fmt.Sprintf("All columns lie on a grid, and the %d rows do not outnumber the %d columns that vary. Once the rows of all parties outnumber the columns that vary in them, an OKRA server can compute every value up to the order and sign of the columns.", s.Rows, s.Varying)
	default:
		g.Attack = attackApplies
		g.Meaning = fmt.Sprintf("All columns lie on a grid and the %d rows outnumber the %d columns that vary: from the inner products alone an OKRA server can compute every value, up to the order and sign of the columns, by lattice reduction. Treat the rows as readable by the server.", s.Rows, s.Varying)
		if s.Varying > triedColumns {
			g.Meaning += fmt.Sprintf(" (The attack has been run on up to about %d columns; nothing is known to stop it beyond.)", triedColumns)
		}
	}
	return g
}

// Print writes the facts, the columns, the classes and what the grid means.
func (r dataInfoResult) Print(w io.Writer) error {
	if r.infoCells != nil && r.Dictionary != "" {
		entry := strings.ReplaceAll(strings.TrimSuffix(r.Entry, "\n"), "\n", "\n# ") + "\n" // its first line is a comment
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
	p.linef("classes   %d", r.ClassCount)
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

// inform reads a table twice: as numbers, and cell by cell where its format has cells of text.
func (a *app) inform(ref string, o infoOptions) (Result, error) {
	own := o.own()
	if err := own.Check(); err != nil {
		return nil, usage("%w", err)
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
	if errors.As(err, &none) || err != nil && o.columns.Width > 0 { // the width is of a table of numbers
		return nil, err
	}
	cells, cellErr := a.cells(ref, own, o.columns)
	switch {
	case cellErr != nil && !own.Empty():
		return nil, cellErr
	case cells == nil || headless || cells.Rows == 0 && cells.refusal(nil) == nil:
		return r, o.withoutCells(ref, err)
	}
	return a.told(r, cells, o, err)
}

// informLive reads once what a program or a query gives, cell by cell.
func (a *app) informLive(ctx context.Context, from origin.Origin, o infoOptions) (Result, error) {
	own := o.own()
	if err := cmp.Or(own.Check(), from.Check("", own.CSV)); err != nil {
		return nil, usage("%w", err)
	}
	if o.columns.Width > 0 {
		return nil, usage("--features is for files whose columns have no names; leave it out")
	}
	cells, err := liveCells(ctx, from, own, o.columns)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if cells.Rows == 0 && cells.refusal(nil) == nil {
		return nil, fault.BadInputf("%s gives no rows; correct it, or its limits", from.Name())
	}
	return a.told(dataInfoResult{Name: from.Name(), Classes: []infoClass{}}, cells, o, nil)
}

// told completes a result by the cells, and prints it before a problem that no schema mends.
func (a *app) told(r dataInfoResult, cells *described, o infoOptions, err error) (Result, error) {
	r.add(cells, o)
	if wrong := cells.refusal(err); wrong != nil && !a.json {
		if !o.schema {
			wrong = errors.Join(r.Print(terminal{a.stdout}), wrong)
		}
		return nil, wrong
	}
	return r, nil
}
