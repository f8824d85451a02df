package cli

import (
	"errors"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/daemon"
)

// newRows describes a table of new rows.
type newRows struct {
	data    string
	columns catalogue.Columns
	home    string // whose catalogue says how the table is written, by the entry as; "" for none
	as      string
	csv     prepare.CSV // how a text is written of which no entry tells
}

// told reports whether flags say how the text is written.
func (n newRows) told() bool {
	return n.csv.Delimiter+n.csv.Decimal+n.csv.Encoding != "" || n.csv.Missing != nil
}

// load reads the rows as the training rows were read, and prepares them.
func (a *app) load(n newRows, made *prepare.Preparation) (*dataset.Set, error) {
	if made == nil && n.as == "" && !n.told() {
		return a.library().Load(n.data, n.columns)
	}
	t, err := a.describe(n)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return a.library().LoadTable(n.data, t)
	}
	t.Schema = made.Schema()
	set, err := a.library().LoadTable(n.data, t)
	if err != nil {
		return nil, err
	}
	f, typed := set.X.(*prepare.Frame)
	if !typed {
		return nil, errors.New("cli: a table with a schema was read without one")
	}
	set, err = made.Prepare(set, f)
	if err != nil {
		return nil, usage("%w", err)
	}
	return set, nil
}

// describe tells the reader of tables what the flags and the catalogue say.
func (a *app) describe(n newRows) (t prepare.Table, err error) {
	t.Mapping.CSV = n.csv
	if n.as != "" {
		if n.told() {
			return t, usage("the entry that --as names says how DATA is written; leave --csv-delimiter, --decimal, --missing and --encoding out")
		}
		if t, err = daemon.Home(n.home).Table(a.reader, n.as); err != nil {
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

func decodePreparation(content []byte, err error) (*prepare.Preparation, error) {
	if err != nil || content == nil {
		return nil, err
	}
	return prepare.Decode(content)
}
