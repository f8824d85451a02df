package prepare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
)

// read reads a text with its cells beside the features.
func read(t *testing.T, text string, table prepare.Table) (*dataset.Set, error) {
	t.Helper()
	records, err := dataset.OpenCSV("stays.csv", strings.NewReader(text), dataset.CSVForm{})
	if err != nil {
		t.Fatal(err)
	}
	table.Name = "stays.csv"
	return prepare.Read(records, table)
}

// Groups, and cells by which rows are cut, are kept beside the features, and are features only
// where somebody says so.
func TestCellsBesideTheFeatures(t *testing.T) {
	const text = "patient,admitted,age,died\np1,2023-12-31,40,no\np2,2024-01-01,50,yes\np1,2024-05-01,41,no\n"
	set, err := read(t, text, prepare.Table{Label: "died", Group: "patient", Cut: "admitted"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Columns, []string{"age"}) || !slices.Equal(set.Groups, []string{"p1", "p2", "p1"}) || !slices.Equal(set.Cut, []string{"2023-12-31", "2024-01-01", "2024-05-01"}) {
		t.Errorf("columns %v, groups %v, cells %v", set.Columns, set.Groups, set.Cut)
	}
	set, err = read(t, text, prepare.Table{Label: "died", Cut: "age", Features: []string{"age"}})
	if err != nil || !slices.Equal(set.Columns, []string{"age"}) || !slices.Equal(set.Cut, []string{"40", "50", "41"}) {
		t.Errorf("a feature to cut at: %+v, %v", set, err)
	}
}

// Parties that write dates and units in their own ways have the same cells.
func TestCellsAreWrittenAsAllPartiesWriteThem(t *testing.T) {
	schema := prepare.Schema{{Name: "admitted", Type: prepare.Date, Format: "%d.%m.%Y", As: prepare.Month}, {Name: "weight", Unit: "kg"}}
	for i := range schema {
		if err := schema[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	mapping := prepare.Mapping{Columns: map[string]prepare.Theirs{"grams": {As: "weight", Unit: "g", Times: 0.001}}}
	const text = "admitted,grams\n31.12.2023,70500\n01.01.2024,81000\n"
	for cut, bound := range map[string]string{"admitted": "2024-01-01", "weight": "80"} {
		set, err := read(t, text, prepare.Table{Schema: schema, Mapping: mapping, Cut: cut})
		if err != nil {
			t.Fatal(err)
		}
		b, err := dataset.ParseBound(bound)
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := b.From(set.Cut); err != nil || !slices.Equal(rows, []int{1}) {
			t.Errorf("%s from %s: cells %v, rows %v, %v", cut, bound, set.Cut, rows, err)
		}
	}
}

func TestCellsBesideThatAreRefused(t *testing.T) {
	for want, tt := range map[string]struct {
		text  string
		table prepare.Table
	}{
		`stays.csv:1: there is no column "day" to hold later rows out by`:            {"age\n1\n", prepare.Table{Cut: "day"}},
		`stays.csv:1: there is no column "patient" to take the groups from`:          {"age\n1\n", prepare.Table{Group: "patient"}},
		`stays.csv:3: column "day" is empty, but decides whether the row is held`:    {"day,age\n2024-01-01,1\n,2\n", prepare.Table{Cut: "day"}},
		`stays.csv:2: column "patient" is empty, but rows of one group are held out`: {"patient,age\n,1\n", prepare.Table{Group: "patient"}},
		`stays.csv:1: there is no column "height"`:                                   {"age,day\n1,2\n", prepare.Table{Cut: "day", Features: []string{"height"}}},
	} {
		if _, err := read(t, tt.text, tt.table); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
