package prepare

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
)

// What a summary says is in the schema's units and words, whatever the file writes.
func TestSummary(t *testing.T) {
	rows, err := dataset.OpenCSV("t", strings.NewReader("Alter;Ort;raucht;Tag;Rest;leer\n10,5;nord;ja;03.02.2024;x;\n20;Sued;nein;05.07.2024;z;\n;nord;ja;05.07.2023;q;\n"), dataset.CSVForm{Delimiter: ';'})
	if err != nil {
		t.Fatal(err)
	}
	set, err := Read(rows, Table{Name: "t", Mapping: Mapping{CSV: CSV{Decimal: ","}, Columns: map[string]Theirs{
		"Alter": {As: "age", Times: 2}, "Ort": {As: "place", Values: map[string]string{"nord": "north", "Sued": "south"}}, "raucht": {As: "smoker"}, "Tag": {As: "year"}, "Rest": {As: "rest"}, "leer": {As: "empty"},
	}}, Schema: Schema{
		{Name: "age", Missing: FillMedian, Range: [2]float64{0, 100}}, {Name: "place", Type: Category, Categories: []string{"north", "south"}}, {Name: "smoker", Type: Boolean, True: []string{"ja"}, False: []string{"nein"}},
		{Name: "year", Type: Date, Format: "%d.%m.%Y", As: Year}, {Name: "rest", Type: Category, Categories: []string{"x", "y"}, Unknown: UnknownOther}, {Name: "empty", Missing: FillMedian, Range: [2]float64{0, 1}},
	}.checked(t)})
	if err != nil {
		t.Fatal(err)
	}
	var got []ColumnSummary
	for _, s := range set.X.(*Frame).Summary() {
		got = append(got, ColumnSummary{Column: Column{Name: s.Name}, Gaps: s.Gaps, Least: s.Least, Greatest: s.Greatest, Mean: s.Mean, Words: s.Words})
	}
	nan := math.NaN()
	want := []ColumnSummary{
		{Column: Column{Name: "age"}, Gaps: 1, Least: 21, Greatest: 40, Mean: 30.5},
		{Column: Column{Name: "place"}, Least: nan, Greatest: nan, Mean: nan, Words: []WordCount{{"north", 2}, {"south", 1}}},
		{Column: Column{Name: "smoker"}, Least: nan, Greatest: nan, Mean: nan, Words: []WordCount{{"true", 2}, {"false", 1}}},
		{Column: Column{Name: "year"}, Least: 2023, Greatest: 2024, Mean: 2023 + 2./3},
		{Column: Column{Name: "rest"}, Least: nan, Greatest: nan, Mean: nan, Words: []WordCount{{"(other)", 2}, {"x", 1}}},
		{Column: Column{Name: "empty"}, Gaps: 3, Least: nan, Greatest: nan, Mean: nan},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 || a != a && b != b })); d != "" {
		t.Error(d)
	}
}

// checked completes the columns' defaults.
func (s Schema) checked(t *testing.T) Schema {
	t.Helper()
	for i := range s {
		if err := s[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
