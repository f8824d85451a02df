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
		`stays.csv:1: there is no column "day" to hold later rows out by`:                                                                {"age\n1\n", prepare.Table{Cut: "day"}},
		`stays.csv:1: there is no column "patient" to take the groups from`:                                                              {"age\n1\n", prepare.Table{Group: "patient"}},
		`stays.csv:3: column "day" is empty, but decides whether the row is held`:                                                        {"day,age\n2024-01-01,1\n,2\n", prepare.Table{Cut: "day"}},
		`stays.csv:2: column "patient" is empty, but rows of one group are held out`:                                                     {"patient,age\n,1\n", prepare.Table{Group: "patient"}},
		`stays.csv:1: there is no column "height"`:                                                                                       {"age,day\n1,2\n", prepare.Table{Cut: "day", Features: []string{"height"}}},
		`stays.csv:1: there is no column "w" to take the weights from`:                                                                   {"age\n1\n", prepare.Table{Weight: "w"}},
		`stays.csv:3: column "w" is empty, but each row needs a weight; fill the cell, or write 0 for a row that must not train`:         {"w,age\n1,1\n,2\n", prepare.Table{Weight: "w"}},
		`stays.csv:2: column "w" holds "NaN", which is not a finite number; write a finite number as the weight, such as 1`:              {"w,age\nNaN,1\n", prepare.Table{Weight: "w"}},
		`stays.csv:2: column "w" holds "-inf", which is not a finite number; write a finite number as the weight, such as 1`:             {"w,age\n-inf,1\n", prepare.Table{Weight: "w"}},
		`stays.csv:2: column "w" holds "often", which is not a number; write a finite number as the weight, such as 1`:                   {"w,age\noften,1\n", prepare.Table{Weight: "w"}},
		`stays.csv:2: column "w" holds "1e141", which is above 1e+140 in magnitude, the largest number for training; correct the weight`: {"w,age\n1e141,1\n", prepare.Table{Weight: "w"}},
		`stays.csv:2: column "w" holds "1e300", which is above 1e+140 in magnitude, the largest number for training; correct the weight`: {"w,age\n1e300,1\n", prepare.Table{Weight: "w", Mapping: prepare.Mapping{Columns: map[string]prepare.Theirs{"w": {Times: 1e10}}}}},
		`stays.csv:3: column "w" holds "-0.5", which is outside the dictionary's range of 0 to 2; correct the weight, or the range`:      {"w,age\n2,1\n-0.5,2\n", prepare.Table{Weight: "w", Weights: [2]float64{0, 2}}},
	} {
		if _, err := read(t, tt.text, tt.table); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Weights are read in the form and the unit of the file, and are no feature.
func TestWeightsAreRead(t *testing.T) {
	mapping := prepare.Mapping{CSV: prepare.CSV{Delimiter: ";", Decimal: ","}, Columns: map[string]prepare.Theirs{"Gewicht": {As: "w", Times: 0.001}}}
	records, err := dataset.OpenCSV("stays.csv", strings.NewReader("Gewicht;age\n1500,5;40\n-2;50\n0;60\n"), mapping.Form())
	if err != nil {
		t.Fatal(err)
	}
	set, err := prepare.Read(records, prepare.Table{Weight: "w", Mapping: mapping})
	if err != nil || !slices.Equal(set.Weights, []float64{1.5005, -0.002, 0}) || !slices.Equal(set.Columns, []string{"age"}) {
		t.Errorf("%+v, %v", set, err)
	}
}
