package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
)

func profiled(t *testing.T, in string, a Asked) *Table {
	t.Helper()
	rows, err := dataset.OpenCSV("t", strings.NewReader(in), a.Own.Form())
	if err != nil {
		t.Fatal(err)
	}
	table, err := Read(rows, a)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTypes(t *testing.T) {
	var in strings.Builder
	in.WriteString("n,b,c,many,d,german,free,none,flag\n")
	for i := range 200 {
		fmt.Fprintf(&in, "%d,%s,%s,w%d,2024-01-%02d,%d.3.2020,Person %d,,%d\n", i-100, []string{"Ja", "Nein"}[i%2], []string{"F", "M", ""}[i%3], i%30, i%28+1, i%31+1, i, i%2)
	}
	got := make(map[string]string)
	for _, c := range profiled(t, in.String(), Asked{}).Columns {
		got[c.Name] = fmt.Sprint(c.Type, " ", c.Missing, " ", c.Distinct, " ", c.Format, c.Words, " ", c.Least, " ", c.Greatest)
	}
	want := map[string]string{
		"n": "number 0 200 [] -100 99", "b": "boolean 0 2 [] 0 0", "c": "category 66 2 [F M] 0 0", "many": "category 0 30 [] 0 0", "d": "date 0 28 %Y-%m-%d[] 0 0",
		"german": "date 0 31 %d.%m.%Y[] 0 0", "free": "text 0 200 [] 0 0", "none": "empty 200 0 [] 0 0", "flag": "number 0 2 [] 0 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a suggestion says of words in several spellings, and of limits, can be read.
func TestSuggestionOfSpellings(t *testing.T) {
	var in strings.Builder
	in.WriteString("smoker,sex,crp\n")
	for i := range 60 {
		fmt.Fprintf(&in, "%s,%s,%s\n", []string{"Yes", "y", "yes", "No", "no", "N"}[i%6], []string{"F", "F", "f", "M"}[i%4], []string{"1.5", "<0.5", "3", "> 90", "7"}[i%5])
	}
	s := Suggestion{Table: profiled(t, in.String(), Asked{}), Path: "a.csv"}
	for text, lines := range map[string][]string{
		s.Dictionary(): {"    smoker: {type: boolean, true: [\"Yes\", \"y\"], false: [\"N\", \"No\"]}\n", "    sex: {type: category, categories: [F, M]} #", "    crp: {type: number} #"},
		s.Entry():      {"    sex: {values: {f: F}}\n", "    crp: {values: {\"<0.5\": \"0.25\", \"> 90\": \"90\"}} # half of each limit such as <5, the limit itself of >5, a gap for a code such as -99; correct them\n"},
	} {
		for _, line := range lines {
			if !strings.Contains(text, line) {
				t.Errorf("no line %q in\n%s", line, text)
			}
		}
	}
}

// Problems are listed in a bounded number, each cell with its line.
func TestProblemsAreBounded(t *testing.T) {
	table := profiled(t, "a,b\n"+strings.Repeat("1\n", 1000), Asked{})
	if len(table.Problems) != MaxProblems || table.More == 0 || table.Problems[3].Line != 5 {
		t.Errorf("%d problems and %d more", len(table.Problems), table.More)
	}
	gaps := profiled(t, "a,b\n"+strings.Repeat("1,\n", 400)+"x\n", Asked{Label: "b"})
	last := gaps.Problems[MaxProblems-1]
	if gaps.Rows != 400 || gaps.Columns[0].Least != 1 || gaps.More != 351 || !last.Fatal || last.Line != 402 {
		t.Errorf("%d rows, %d more problems, the last listed is %+v", gaps.Rows, gaps.More, last)
	}
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, "%d,2\n", i)
	}
	table = profiled(t, "a,b\n"+rows.String()+strings.Repeat("x,2\n", 100), Asked{})
	if n := len(table.Problems); n != perColumn+1 || table.Problems[n-1].String() != `column "a" has 90 more cells of another type` {
		t.Errorf("%d problems: %v", n, table.Problems)
	}
	table = profiled(t, "a,b\n1,\"x\n", Asked{})
	if len(table.Problems) == 0 || !table.Problems[0].Fatal {
		t.Errorf("an open quote: %v", table.Problems)
	}
}

func TestReadRefusesColumnsThatAreNotThere(t *testing.T) {
	rows, err := dataset.OpenCSV("t", strings.NewReader("a\n1\n"), dataset.CSVForm{})
	if err == nil {
		_, err = Read(rows, Asked{Label: "y"})
	}
	if err == nil || err.Error() != `no column is called "y"` {
		t.Error(err)
	}
}

// What is suggested is YAML that means what it says, whatever the words.
func TestSuggestion(t *testing.T) {
	own := prepare.Mapping{CSV: prepare.CSV{Delimiter: ";", Missing: []string{"-9", "#"}}}
	in := "who;a: b;yes;w;t\n" + strings.Repeat("1;null;2019-01-01;12;\n2;'x';#;7;\n3;~;2020-01-02;0;\n", 10)
	in = strings.ReplaceAll(in, "null", "{on}")
	s := Suggestion{Table: profiled(t, in, Asked{Own: own}), Own: own, Path: "data/my table.csv", ID: "who"}
	var dictionary struct {
		Kind     string
		Metadata struct{ Name string }
		Spec     struct {
			Columns  map[string]map[string]any
			Complete []string
			Labels   map[string]any
		}
	}
	if err := yaml.Unmarshal([]byte(s.Dictionary()), &dictionary); err != nil {
		t.Fatalf("%v\n%s", err, s.Dictionary())
	}
	spec := dictionary.Spec
	if dictionary.Kind != "Dictionary" || dictionary.Metadata.Name != "my-table" || spec.Labels != nil || !slices.Equal(spec.Complete, []string{"yes"}) {
		t.Errorf("%+v", dictionary)
	}
	want := map[string]map[string]any{
		"a: b": {"type": "category", "categories": []any{"'x'", "{on}", "~"}}, "yes": {"type": "date", "format": "%Y-%m-%d", "as": "year"}, "w": {"type": "number"},
	}
	if diff := cmp.Diff(want, spec.Columns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var entry map[string]struct {
		Path            string
		ID              string
		prepare.Mapping `yaml:",inline"`
	}
	if err := yaml.Unmarshal([]byte(s.Entry()), &entry); err != nil {
		t.Fatalf("%v\n%s", err, s.Entry())
	}
	e := entry["my table"]
	if diff := cmp.Diff(own.CSV, e.CSV); diff != "" || e.Path != "data/my table.csv" || e.ID != "who" || len(e.Drop) != 1 || e.Drop[0] != "t" {
		t.Errorf("%+v", e)
	}
	s.Values = true
	if !strings.Contains(s.Dictionary(), "w: {type: number, range: [0, 20]}") {
		t.Error(s.Dictionary())
	}
	for _, tt := range [][4]float64{{-7, 130, -7, 200}, {0, 0, 0, 1}, {3, 3, 0, 3}, {-.012, -.01, -.02, 0},
		{1930, 2022, 1900, 2100}, {35.5, 41, 30, 50}, {.21, .25, .2, .3}, {.05, .25, 0, .3}, {150, 195, 0, 200}} {
		if low, high := roundedRange(tt[0], tt[1]); low != tt[2] || high != tt[3] {
			t.Errorf("around %v: %v to %v", tt[:2], low, high)
		}
	}
}

// Rows without a label are no mistake that only another file solves: a key leaves them out.
func TestRowsWithoutALabelAreSuggested(t *testing.T) {
	asked := Asked{Label: "ill"}
	in := "a,ill\n" + strings.Repeat("1,u\n2,v\n3,\n4,NA\n", 5)
	s := Suggestion{Table: profiled(t, in, asked), Path: "t.csv", Label: "ill"}
	for _, p := range s.Problems {
		if p.Fatal {
			t.Errorf("%v is fatal", p)
		}
	}
	if p := s.Problems[0]; p.Line != 4 || !strings.HasPrefix(p.Text, `column "ill" is empty, but every row needs a label; fill the cell, or write label: {column: "ill", missing: drop-row}`) {
		t.Error(p)
	}
	for text, want := range map[string]string{s.Entry(): "\n  label: {column: ill, missing: drop-row}\n", s.Dictionary(): "\n  # Some rows have no label. In simulate, the job leaves them out by label: {column: ill, missing: drop-row}.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %s", text, want)
		}
	}
	s.Table = profiled(t, "a,ill\n"+strings.Repeat("1,u\n2,v\n", 9), asked)
	if text := s.Entry() + s.Dictionary(); !strings.Contains(text, "\n  label: ill\n") || strings.Contains(text, "drop-row") {
		t.Error(text)
	}
}

// repeated returns a table with one column whose cells repeat the given words.
func repeated(words ...string) string {
	return "i;x\n" + strings.Repeat("1;"+strings.Join(words, "\n1;")+"\n", 200/len(words))
}

// Names of months in other languages are suggested as a format.
func TestNamesOfMonthsAreSuggested(t *testing.T) {
	for in, want := range map[string]string{
		repeated("1. März 2024", "24. Dezember 2023"):       "%d. %B %Y",
		repeated("1. Mrz. 2024", "24. Dez 2023"):            "%d. %b %Y",
		repeated("1 février 2024", "24 août 2023"):          "%d %B %Y",
		repeated("1 févr. 2024", "24 déc. 2023"):            "%d %b %Y",
		repeated("1 de enero de 2024", "2 de maio de 2023"): "%d de %B de %Y",
		repeated("1 gennaio 2024", "24 maart 2023"):         "%d %B %Y",
		repeated("01-mrt-24", "24-dic-23"):                  "%d-%b-%y",
	} {
		c := profiled(t, in, Asked{Own: prepare.Mapping{CSV: prepare.CSV{Delimiter: ";"}}}).Columns[1]
		if c.Type != prepare.Date || c.Format != want {
			t.Errorf("%.40q is %s %s, want %s", in, c.Type, c.Format, want)
		}
	}
}

// Where commas separate fields, a comma before three digits in every cell separates thousands; where
// semicolons do, it may be the decimal sign.
func TestACommaBeforeThreeDigitsIsOfTheTable(t *testing.T) {
	for sign, want := range map[string]string{
		",": `column "x": 40 of 40 cells are numbers with commas between thousands: --thousands ,`,
		";": `column "x": 40 of 40 cells are numbers with a decimal comma: --decimal ,`,
	} {
		table := profiled(t, "x"+sign+"y\n"+strings.Repeat("\"814,162\""+sign+"1\n\"12,500\""+sign+"2\n", 20), Asked{})
		if len(table.Problems) != 1 || table.Problems[0].String() != want {
			t.Errorf("fields separated by %q: %v, want %s", sign, table.Problems, want)
		}
	}
}

// A column of numbers in another form is described as numbers, with the flag that reads it, and is
// never suggested for dropping.
func TestNumbersInOtherForms(t *testing.T) {
	tests := []struct {
		name string
		in   string
		own  prepare.CSV
		want string // "" for no problem
	}{
		{"decimal comma", repeated("0,5", "12,25"), prepare.CSV{}, `column "x": 200 of 200 cells are numbers with a decimal comma: --decimal ,`},
		{"decimal comma and whole numbers", repeated("0,5", "3"), prepare.CSV{}, `column "x": 200 of 200 cells are numbers with a decimal comma: --decimal ,`},
		{"read with the flag", repeated("0,5", "12,25"), prepare.CSV{Decimal: ","}, ""},
		{"English thousands", repeated("1,234.5", "2"), prepare.CSV{}, `column "x": 200 of 200 cells are numbers with commas between thousands: --thousands ,`},
		{"currency before thousands", repeated("$1,234", "$2,500,000"), prepare.CSV{}, `column "x": 200 of 200 cells are numbers with commas between thousands: --thousands ,`},
		{"currency after the form is known", repeated("$1,234", "$2,500,000"), prepare.CSV{Thousands: ","}, `column "x": 200 of 200 cells have "$" beside the number; give the column unit: "$" in the catalogue`},
		{"German thousands", repeated("1.234,5", "0,2"), prepare.CSV{}, `column "x": 200 of 200 cells are numbers with a decimal comma and points between thousands: --decimal , --thousands .`},
		{"French thousands", repeated("1\u202f234,5", "1\u00a0234,5"), prepare.CSV{}, `column "x": 200 of 200 cells are numbers with a decimal comma and blanks between thousands: --decimal , --thousands " "`},
		{"thousands beside the decimal sign", repeated("1.600", "0,5"), prepare.CSV{Decimal: ","}, `column "x": 200 of 200 cells are numbers with a decimal comma and points between thousands: --decimal , --thousands .`},
		{"thousands alone after the flag", repeated("1.600", "2.750"), prepare.CSV{Decimal: ","}, `column "x": 200 of 200 cells are numbers with a decimal comma and points between thousands: --decimal , --thousands .`},
		{"points after the wrong flag", repeated("1.6", "2.750"), prepare.CSV{Decimal: ","}, `column "x": 200 of 200 cells are numbers with a decimal point: --decimal .`},
		{"thousands beside a decimal comma", repeated("1.600", "0,5", "0,7", "0,9"), prepare.CSV{}, `column "x": 200 of 200 cells are numbers with a decimal comma and points between thousands: --decimal , --thousands .`},
		{"minus sign", repeated("\u22121.5", "2"), prepare.CSV{}, ""},
		{"percent", repeated("5%", "7.5 %"), prepare.CSV{}, `column "x": 200 of 200 cells have "%" beside the number; give the column unit: "%" in the catalogue`},
		{"currency", repeated("$5", "$7.5"), prepare.CSV{}, `column "x": 200 of 200 cells have "$" beside the number; give the column unit: "$" in the catalogue`},
		{"limits", repeated("<5", "7"), prepare.CSV{}, `column "x": 100 of 200 cells are limits such as <5; map each to a number by "values" in the catalogue, or give it by --missing`},
		{"two formats of dates", repeated("2024-03-01", "1.3.2024"), prepare.CSV{}, `column "x": 100 of 200 cells are dates by %Y-%m-%d and 100 by %d.%m.%Y; give the column format: ["%Y-%m-%d", "%d.%m.%Y"] in the catalogue`},
		{"SAS's dates", repeated("01MAR2024", "24DEC2023"), prepare.CSV{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			own := prepare.Mapping{CSV: tt.own}
			own.CSV.Delimiter = ";"
			table := profiled(t, tt.in, Asked{Own: own})
			var got []string
			for _, p := range table.Problems {
				got = append(got, p.String())
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("problems %q\nwant %q", got, tt.want)
			}
			want := prepare.Number
			if strings.Contains(tt.name, "dates") {
				want = prepare.Date
			}
			if table.Columns[1].Type != want {
				t.Errorf("type %s", table.Columns[1].Type)
			}
			s := Suggestion{Table: table, Own: own, Path: "t.csv", Values: true}
			if strings.Contains(s.Entry(), "drop") || strings.Contains(s.Dictionary(), "Inf") {
				t.Errorf("%s%s", s.Entry(), s.Dictionary())
			}
		})
	}
}

// What is suggested for a table in other forms reads it as it is.
func TestSuggestionReadsOtherForms(t *testing.T) {
	in := "sep=;\nkrea;share;tag;ort;y\n" + strings.Repeat("1.234,5;5%;2024-03-01;3;a\n0,5;7 %;1.3.2024;4;b\n", 20)
	s := Suggestion{Table: profiled(t, in, Asked{Label: "y"}), Path: "t.csv", Label: "y"}
	var entry map[string]struct {
		Path, Label     string
		prepare.Mapping `yaml:",inline"`
	}
	if err := yaml.Unmarshal([]byte(s.Entry()), &entry); err != nil {
		t.Fatalf("%v\n%s", err, s.Entry())
	}
	var dictionary struct {
		Spec struct{ Columns map[string]prepare.Column }
	}
	if err := yaml.Unmarshal([]byte(s.Dictionary()), &dictionary); err != nil {
		t.Fatalf("%v\n%s", err, s.Dictionary())
	}
	own := entry["t"].Mapping
	table := prepare.Table{Name: "t", Mapping: own, Label: "y"}
	for _, name := range []string{"krea", "share", "tag", "ort"} {
		c := dictionary.Spec.Columns[name]
		c.Name = name
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		table.Schema = append(table.Schema, c)
	}
	if err := own.Check(); err != nil {
		t.Fatal(err)
	}
	rows, err := dataset.OpenCSV("t", strings.NewReader(in), own.Form())
	if err != nil {
		t.Fatal(err)
	}
	set, err := prepare.Read(rows, table)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, s.Dictionary(), s.Entry())
	}
	if diff := cmp.Diff([][]float64{{1234.5, 5, 3, 3}, {.5, 7, 3, 4}}, [][]float64{set.X.Row(0, nil), set.X.Row(1, nil)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A form that would misread another column is not suggested.
func TestFormsThatExcludeEachOther(t *testing.T) {
	for _, in := range []string{"a;b\n" + strings.Repeat("0,5;1.5\n", 20), "a;b\n" + strings.Repeat("1,234.5;1 234.5\n", 20), "a;b\n" + strings.Repeat("0,5;1 234.5\n", 20)} {
		s := Suggestion{Table: profiled(t, in, Asked{}), Path: "t.csv"}
		if strings.Contains(s.Entry(), "decimal") || strings.Contains(s.Entry(), "thousands") {
			t.Errorf("%s", s.Entry())
		}
	}
}

// Points before three digits are suspect beside decimal commas.
func TestPointsThatMayBeThousands(t *testing.T) {
	table := profiled(t, "a;b\n"+strings.Repeat("1.118;0,5\n12;2,5\n", 20), Asked{})
	want := `column "a": 20 cells might have points between thousands, since other columns have a decimal comma: --decimal , --thousands .`
	if n := len(table.Problems); n != 2 || table.Problems[1].String() != want {
		t.Errorf("problems %v\nwant the second to be %s", table.Problems, want)
	}
	if table = profiled(t, "a;b\n"+strings.Repeat("1.118;5\n12;2\n", 20), Asked{}); len(table.Problems) != 0 {
		t.Errorf("without decimal commas: %v", table.Problems)
	}
	if table = profiled(t, "a;b\n"+strings.Repeat("1.118;0,5\n1.5;2,5\n", 20), Asked{}); len(table.Problems) != 1 {
		t.Errorf("beside a point that is decimal: %v", table.Problems)
	}
}

// Numbers with zeros in front are ids or codes, unless the column is the id.
func TestZerosInFront(t *testing.T) {
	in := "a,b,c\n" + strings.Repeat("007,0,0.5\n0012,10,00x\n", 20)
	table := profiled(t, in, Asked{})
	want := `column "a" has 40 numbers with zeros in front, as ids and codes have; name it by --id, or drop it`
	if len(table.Problems) != 1 || table.Problems[0].String() != want {
		t.Errorf("problems %v, want %s", table.Problems, want)
	}
	if table = profiled(t, "a,b\n007,1\n008,2\n009,3\n", Asked{ID: "a"}); len(table.Problems) != 0 {
		t.Errorf("a column of ids: %v", table.Problems)
	}
}

// The least number is 0, not -0.
func TestLeastIsNoNegativeZero(t *testing.T) {
	if c := profiled(t, "a\n-0\n-0.0\n", Asked{}).Columns[0]; math.Signbit(c.Least) || math.Signbit(c.Greatest) {
		t.Errorf("from %v to %v", c.Least, c.Greatest)
	}
}

// A column without a name is said, and suggested for dropping.
func TestUnnamedColumn(t *testing.T) {
	table := profiled(t, ",a\n"+strings.Repeat("1,2\n", 20), Asked{})
	if len(table.Problems) != 1 || table.Problems[0].String() != `column 1 (from 1) has no name; it is called "Unnamed: 0" and is no feature unless a key names it` {
		t.Error(table.Problems)
	}
	s := Suggestion{Table: table, Path: "t.csv"}
	if !strings.Contains(s.Entry(), `drop: ["Unnamed: 0"]`) || strings.Contains(s.Dictionary(), "Unnamed") {
		t.Errorf("%s%s", s.Entry(), s.Dictionary())
	}
}

// Labels in another form are said, too.
func TestLabelsInOtherForms(t *testing.T) {
	table := profiled(t, "a;y\n"+strings.Repeat("1;0,5\n2;1,25\n", 20), Asked{Label: "y"})
	if len(table.Problems) != 1 || table.Problems[0].String() != `column "y": 40 of 40 cells are numbers with a decimal comma: --decimal ,` {
		t.Error(table.Problems)
	}
}

// Gaps of a column that nobody named as the label are no problem.
func TestGapsOfAGuessedLabel(t *testing.T) {
	in := "a,note\n" + strings.Repeat("1,x\n2,\n", 20)
	if table := profiled(t, in, Asked{Label: "note"}); len(table.Problems) == 0 {
		t.Error("the gaps of a label are no problem")
	}
	if table := profiled(t, in, Asked{Label: "note", Guessed: true}); len(table.Problems) != 0 {
		t.Error(table.Problems)
	}
}

// A suggestion reads words that look like gaps as pandas does, and gives dates a range.
func TestSuggestionReadsGapsAndDates(t *testing.T) {
	in := "n,sex,shop,bags,seen,until,cyl,y\n" + strings.Repeat("1,F,unknown,None,2007-11-11,2009-01-01 10:00:00,4,a\nNA,M,A,Driver,NA,2009-01-02 10:00:00,6,b\n.,F,A,Driver,2010-01-02,2009-01-02 10:00:00.5,4,a\nInf,F,A,Driver,2010-01-02,2009-01-02 10:00:00,rotary,a\n", 10)
	s := Suggestion{Table: profiled(t, in, Asked{Label: "y"}), Path: "t.csv", Label: "y", Values: true}
	dictionary := s.Dictionary()
	for _, want := range []string{
		`"n": {type: number, range: [0, 1], missing: median}`, "sex: {type: category, categories: [F, M]}", "shop: {type: category, categories: [A, unknown]}",
		"bags: {type: category, categories: [Driver], missing: category}", `seen: {type: date, format: "%Y-%m-%d", as: year, range: [2000, 2020], missing: median}`,
		`until: {type: date, format: "%Y-%m-%d %H:%M:%S", as: month} # all dates are of one year`, `cyl: {type: category, categories: ["4", "6", rotary]}`,
	} {
		if !strings.Contains(dictionary, "    "+want) {
			t.Errorf("no %s in\n%s", want, dictionary)
		}
	}
	for _, want := range []string{`csv: {missing: [".", Inf, NA, None]} # missing: remove words that are values`, `until: {format: ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"]}`} {
		if !strings.Contains(s.Entry(), want) {
			t.Errorf("no %s in\n%s", want, s.Entry())
		}
	}
}

// Points and commas between thousands are told apart from decimal signs by the other columns.
func TestThousandsAreFoundBesideDecimals(t *testing.T) {
	for name, in := range map[string]string{
		"points": "a;b\n1.118;0,5\n286.000;1,25\n12.500;7,0\n",
		"commas": "a;b\n1,118;0.5\n286,000;1.25\n12,500;7.0\n",
		"both":   "a;b\n1,118;1,298.5\n286,000;12,000.25\n12,500;1,000.5\n",
	} {
		table := profiled(t, in, Asked{Own: prepare.Mapping{CSV: prepare.CSV{Delimiter: ";"}}})
		s := Suggestion{Table: table}
		want := map[string][2]string{"points": {",", "."}, "commas": {".", ","}, "both": {".", ","}}[name]
		if form := s.Form(); form.Decimal != want[0] || form.Thousands != want[1] {
			t.Errorf("%s: decimal %q, thousands %q", name, form.Decimal, form.Thousands)
		}
		if name == "commas" && (len(table.Problems) != 1 || table.Problems[0].Text != `column "a": 3 of 3 cells are numbers with commas between thousands: --thousands ,`) {
			t.Errorf("%s: %v", name, table.Problems)
		}
	}
}

// drafted returns the draft of a job from tables, by site, whose labels are in the column y.
func drafted(t *testing.T, tables ...[2]string) string {
	t.Helper()
	d := Draft{Label: "y", Protocol: Usual(len(tables))}
	for _, site := range tables {
		s := Suggestion{Table: profiled(t, site[1], Asked{Label: "y"}), Path: site[0] + ".csv", Label: "y"}
		d.Sites = append(d.Sites, Site{site[0], s})
	}
	return d.Job()
}

func TestDraftOfSeveralTables(t *testing.T) {
	rows := func(head string, cells ...string) string {
		return head + "\n" + strings.Repeat(strings.Join(cells, "\n")+"\n", 6)
	}
	text := drafted(t,
		[2]string{"north", rows("Age,sex,smoker,fever,y,extra", "30,F,Yes,0,no,1", "41.5,M,No,1,yes,2", "50,F,,0,no,3")},
		[2]string{"south", rows("age,sex,smoker,fever,y", "35,female,y,ja,yes", "60,male,n,nein,no", "70,female,y,ja,no")})
	for _, line := range []string{
		"metadata: {name: north-south}\n", "          age: {as: Age}\n", "        Age: {type: number, range: [0, 70]} #",
		`        sex: {type: category, categories: [F, M, female, male]} # only one site writes F, M, female, male: write under values, at each site, which words mean the same`,
		`        smoker: {type: boolean, true: ["Yes", "y"], false: ["No", "n"], missing: most-frequent}`,
		`        fever: {type: boolean, true: ["1", ja], false: ["0", nein]}`,
		"        # extra: {type: number, range: [0, 3]} # at north\n", `      labels: {"y": {classes: ["no", "yes"]}} # the positive class last`, "  learner: {name: svc, C: 1}\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	for words, want := range map[[2]string]string{ // the class that a test looks for is the last
		{"case", "control"}: "[control, case]", {"bad", "good"}: "[good, bad]", {"Benign", "malignant"}: "[Benign, malignant]", {"ill", "well"}: "[well, ill]", {"a", "b"}: "[a, b]",
	} {
		if text := drafted(t, [2]string{"north", rows("age,y", "1,"+words[0], "2,"+words[1])}); !strings.Contains(text, "classes: "+want+"}") {
			t.Errorf("classes %v without %s:\n%s", words, want, text)
		}
	}
	text = drafted(t, [2]string{"north", rows("%,a,A,y", "1,2,3,u", "4,5,6,v")}, [2]string{"south", rows("$,a,y", "1,2,u", "4,5,v")})
	for _, line := range []string{`# "%": {type`, `# "$": {type`, "# a: {type", "# A: {type"} { // names of signs alone differ; a stands for one of two
		if !strings.Contains(text, line) {
			t.Errorf("no comment %q in\n%s", line, text)
		}
	}
	var numbers strings.Builder
	numbers.WriteString("a,y\n")
	for i := range 60 {
		fmt.Fprintf(&numbers, "%d,%g\n", i, float64(i)/7)
	}
	if text := drafted(t, [2]string{"north", numbers.String()}); !strings.Contains(text, "learner: {name: ridge, alpha: 1}") || !strings.Contains(text, "protocol: {name: pooled}") {
		t.Errorf("measured labels of one table:\n%s", text)
	}
}
