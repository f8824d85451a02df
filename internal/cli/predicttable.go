package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/catalogue"
)

// newRows describes a table of new rows.
type newRows struct {
	data    string
	shown   string // name of the table in messages
	columns catalogue.Columns
	home    string      // home of the party that --job asks; unless jobFile is set, its catalogue has the entry as
	as      string      // name of the catalogue entry, or the party of jobFile, that describes the table; "" for none
	jobFile string      // path of the job file whose sources describe the table; "" if the home's catalogue describes it
	absent  bool        // allows a table without some columns, if the schema can fill them
	csv     prepare.CSV // format of a text without a catalogue entry
}

// describesFormat reports whether a flag describes the format of the text.
func (n newRows) describesFormat() bool { return !n.csv.Empty() }

// load reads new rows in the same way as the training rows, and prepares them. It refuses numbers
// that no job could have trained on.
func (a *app) load(n newRows, made *prepare.Preparation) (*dataset.Set, error) {
	set, err := a.readRows(n, made)
	if err != nil {
		return nil, err
	}
	if err := dataset.CheckMagnitude(set); err != nil {
		return nil, usage("%w", err)
	}
	return set, nil
}

func (a *app) readRows(n newRows, made *prepare.Preparation) (*dataset.Set, error) {
	if made == nil && n.as == "" && !n.describesFormat() {
		return a.library().Load(n.data, n.columns)
	}
	t, err := a.describe(n)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return a.library().LoadTable(n.data, t)
	}
	t.Schema, t.Absent, t.New = made.Schema(), n.absent, true
	set, err := a.library().LoadTable(n.data, t)
	if err != nil {
		return nil, n.lacking(t, err)
	}
	f, typed := set.X.(*prepare.Frame)
	if !typed {
		return nil, errors.New("cli: the table was read without its schema")
	}
	if n.as == "" {
		a.noteUnits(n.shown, t.Schema)
	}
	for _, column := range f.Absent {
		a.notices.add(fmt.Sprintf("notice: %s has no column %q: every row was filled as a gap is", n.shown, column))
	}
	set, err = made.Prepare(set, f)
	if err != nil {
		return nil, usage("%w", err)
	}
	return set, nil
}

// noteUnits names the units in which the numbers of a table without a description were read.
func (a *app) noteUnits(table string, schema prepare.Schema) {
	inUnits := slices.DeleteFunc(slices.Clone(schema), func(c prepare.Column) bool { return c.Unit == "" })
	if len(inUnits) == 0 {
		return
	}
	list := humanize.List(inUnits, mostUnits, func(c prepare.Column) string { return fmt.Sprintf("%q in %s", c.Name, c.Unit) })
	a.notices.add(fmt.Sprintf("notice: %s was read with %s; describe a table in other units or words by --as", table, list))
}

// mostUnits is the largest number of units that a notice lists.
const mostUnits = 5

// lacking adds advice to the error of a missing column. It returns other errors unchanged.
func (n newRows) lacking(t prepare.Table, err error) error {
	var unlike *prepare.UnlikeError
	if !errors.As(err, &unlike) || !unlike.Missing() {
		return err
	}
	column, training := t.Mapping.OwnName(unlike.Column), "the training table had it"
	if unlike.Like != "" && column == unlike.Column {
		got, want := fuzzymatch.Quote(unlike.Like, column)
		return usage("%s has the column %s where the training table had %s, which differ only by case, blanks or Unicode form; rename the column of %s to %s", n.shown, got, want, n.shown, want)
	}
	if column != unlike.Column {
		training = fmt.Sprintf("the training table had it (it is %s's name of %q; if another site wrote the file, name that site by --as)", n.as, unlike.Column)
	}
	cure := "add the column, or fill it in every row with --allow-missing-columns"
	if !t.Schema[t.Schema.Index(unlike.Column)].Filled() {
		cure = "add the column, since the job's schema does not fill its gaps"
	}
	if n.as == "" {
		cure += "; if the training table has other names for its columns, describe them by --as, see mercer predict --help"
	}
	return usage("%s has no column %q, but %s; %s", n.shown, column, training, cure)
}

// describe returns the description of the table that the flags and the catalogue entry give.
func (a *app) describe(n newRows) (t prepare.Table, err error) {
	t.Mapping.CSV = n.csv
	if n.as != "" {
		if n.describesFormat() {
			return t, usage("%s", "--as already describes how DATA is written; remove "+formatFlags)
		}
		if t, err = a.entry(n); err != nil {
			return t, err
		}
	}
	if n.columns.Label != "" {
		t.Label = n.columns.Label
	}
	if t.Label == "none" {
		t.Label = ""
	}
	if n.columns.ID != "" {
		t.ID = prepare.IDRule{Columns: []string{n.columns.ID}}
	}
	return t, nil
}

// entry returns the description of a table in the job file or in the home's catalogue.
func (a *app) entry(n newRows) (t prepare.Table, err error) {
	if n.jobFile == "" {
		return a.at(n.home).Table(a.reader, n.as)
	}
	a.reader = a.readerBeside(n.jobFile)
	j, err := a.readJob(n.jobFile)
	if err != nil {
		return t, err
	}
	var parties []string
	for _, s := range j.Data.Sources {
		if s.Party == n.as {
			t = j.Data.Table(s)
			return prepare.Table{Mapping: t.Mapping, ID: t.ID}, nil
		}
		parties = append(parties, s.Party)
	}
	if parties == nil {
		return t, usage("%s has no \"sources\", which would describe tables; remove --job-file and --as", n.jobFile)
	}
	return t, usage("%s has no source %q; write --as with one of %s", n.jobFile, n.as, strings.Join(parties, ", "))
}

func decodePreparation(content []byte, err error) (*prepare.Preparation, error) {
	if err != nil || content == nil {
		return nil, err
	}
	return prepare.Decode(content)
}
