package prepare

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
)

// checked returns a schema as a job file gives it.
func checked(t testing.TB, s Schema) Schema {
	t.Helper()
	s = append(Schema{}, s...)
	for j := range s {
		if err := s[j].Check(); err != nil {
			t.Fatalf("column %s: %v", s[j].Name, err)
		}
	}
	if s != nil {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// readText reads a CSV text.
func readText(in string, table Table) (*dataset.Set, error) {
	table.Name = "t.csv"
	records, err := dataset.OpenCSV("t.csv", strings.NewReader(in), table.Mapping.Form())
	if err != nil {
		return nil, err
	}
	return Read(records, table)
}

func frameOf(t testing.TB, in string, s Schema) *Frame {
	t.Helper()
	set, err := readText(in, Table{Schema: checked(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	return set.X.(*Frame)
}

// cellsOf writes out a frame's codes; g is a gap.
func cellsOf(f *Frame) [][]any {
	var all [][]any
	for i := range f.Rows() {
		var row []any
		f.Each(i, func(_ int, v float64) {
			if isGap(v) {
				row = append(row, "g")
			} else {
				row = append(row, v)
			}
		})
		all = append(all, row)
	}
	return all
}

func theirs(name string, t Theirs) Mapping { return Mapping{Columns: map[string]Theirs{name: t}} }

// A column without dimension may have the unit "-", which is no part of its cells: -5 stays negative, and 5-, which
// some programs write for -5, is refused.
func TestAMinusIsNoUnit(t *testing.T) {
	for _, unit := range []string{"-", "\u2212", "+-"} {
		table := Table{Schema: Schema{{Name: "a", Unit: unit}}, Mapping: theirs("a", Theirs{Unit: unit})}
		set, err := readText("a\n-5\n+3\n", table)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]any{{-5.0}, {3.0}}, cellsOf(set.X.(*Frame))); diff != "" {
			t.Errorf("unit %q (-want +got):\n%s", unit, diff)
		}
		if _, err := readText("a\n5-\n", table); err == nil || !strings.Contains(err.Error(), `holds "5-", which is not a number; correct the cell, or write the minus before the number, as in -5`) {
			t.Errorf("unit %q: %v", unit, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	number := Schema{{Name: "a", Range: [2]float64{0, 10}}}
	word := Schema{{Name: "a", Type: Category, Categories: []string{"F", "M"}}}
	plain := Schema{{Name: "a"}}
	tests := []struct {
		name, in string
		table    Table
		want     string
	}{
		{"no rows", "a\n", Table{Schema: number}, "t.csv: there are no rows; give at least one"},
		{"only gaps", "a\nNA\nNA\n", Table{Schema: Schema{{Name: "a", Missing: FillDropRow}}, Mapping: Mapping{CSV: CSV{Missing: []string{"NA"}}}}, "t.csv: all 2 rows have a gap and are dropped; write in the schema how gaps are filled"},
		{"second header", "a\n1\na\n", Table{Schema: number}, `t.csv:3: column "a" holds its own name, which is not a number; correct the cell, list the word under "csv: {missing: [...]}" in the catalogue, or give the column another type; remove the line if it repeats the header`},
		{"fields", "a,b\n1,2\n3\n", Table{Schema: number}, "t.csv:3: the row has 1 field, but the table has 2 columns; add or remove fields"},
		{"gap", "a,b\n1,2\n,3\n", Table{Schema: number}, `t.csv:3: column "a" is empty, but the schema does not allow gaps in this column; fill the cell, or add a fill such as "missing: median" to the schema`},
		{"word for a gap", "a\nNA\n", Table{Schema: number, Mapping: Mapping{CSV: CSV{Missing: []string{"NA"}}}}, `t.csv:2: column "a" holds "NA", which is empty, but the schema does not allow gaps in this column; fill the cell, or add a fill such as "missing: median" to the schema`},
		{"text", "a\nNA\n", Table{Schema: number}, `t.csv:2: column "a" holds "NA", which is not a number; correct the cell, list the word under "csv: {missing: [...]}" in the catalogue, or give the column another type`},
		{"NaN", "a\nNaN\n", Table{Schema: number}, `t.csv:2: column "a" holds "NaN", which is not a finite number; correct the cell, list the word under "csv: {missing: [...]}" in the catalogue, or give the column another type`},
		{"too large", "a\n1e999\n", Table{Schema: number}, `t.csv:2: column "a" holds "1e999", which is too large for a 64-bit float; correct the cell, list the word under "csv: {missing: [...]}" in the catalogue, or give the column another type`},
		{"comma", "a;b\n1,5;2\n", Table{Schema: number}, `t.csv:2: column "a" holds "1,5", which is not a number; correct the cell, or write csv: {decimal: ","} in the catalogue`},
		{"point", "a\n1.5\n", Table{Schema: number, Mapping: Mapping{CSV: CSV{Decimal: ","}}}, `t.csv:2: column "a" holds "1.5", which is not a number with a decimal comma; correct the cell, or write csv: {decimal: "."} in the catalogue`},
		{"above", "a\n10\n10.000001\n", Table{Schema: number}, `t.csv:3: column "a" holds "10.000001", which is outside the range of 0 to 10; correct the cell, widen the range, or write "outside: missing" or "outside: clip" in the schema`},
		{"no format", "d\n2024-01-02\n", Table{Schema: Schema{{Name: "d", Type: Date, As: Year}}}, `t.csv:2: column "d" holds "2024-01-02", which is a date of unknown form; write the file's "format" for the column in the catalogue, or one for all tables in the schema, such as format: "%Y-%m-%d"`},
		{"below", "a\n0\n-1e-9\n", Table{Schema: number}, `t.csv:3: column "a" holds "-1e-9", which is outside the range of 0 to 10; correct the cell, widen the range, or write "outside: missing" or "outside: clip" in the schema`},
		{"outside is a gap", "a\n11\n", Table{Schema: Schema{{Name: "a", Range: [2]float64{0, 10}, Outside: OutsideMissing}}}, `t.csv:2: column "a" holds "11", which is outside the range and counts as a gap, but the schema does not fill the column's gaps; add a fill such as "missing: median" to the schema`},
		{"no log", "a\n0\n", Table{Schema: Schema{{Name: "a", Transform: Log}}}, `t.csv:2: column "a" holds "0", which has no log; give the column a range, or another transform`},
		{"no log1p", "a\n-1\n", Table{Schema: Schema{{Name: "a", Transform: Log1p}}}, `t.csv:2: column "a" holds "-1", which has no log1p; give the column a range, or another transform`},
		{"no sqrt", "a\n-1\n", Table{Schema: Schema{{Name: "a", Transform: Sqrt}}}, `t.csv:2: column "a" holds "-1", which has no sqrt; give the column a range, or another transform`},
		{"overflow by times", "a\n1e308\n", Table{Schema: plain, Mapping: theirs("a", Theirs{Times: 1e10})}, `t.csv:2: column "a" holds "1e308", which is too large after multiplication by 1e+10; correct the cell, or the factor "times" in the catalogue`},
		{"unknown word", "a\nX\n", Table{Schema: word}, `t.csv:2: column "a" holds "X", which is none of the categories F, M; correct the cell, map the word by "values" in the catalogue, or write "unknown: other" in the schema`},
		{"word in another case", "a\nF\nf\n", Table{Schema: Schema{{Name: "a", Type: Category, Categories: []string{"F", "M"}, Unknown: UnknownOther}}}, `t.csv:3: column "a" holds "f", which differs from the category "F" only by case, blanks or Unicode form; write values: {"f": "F"} for the column in the catalogue`},
		{"word in another Unicode form", "a\no\u0308\n", Table{Schema: Schema{{Name: "a", Type: Category, Categories: []string{"\u00f6"}, Unknown: UnknownIgnore}}}, "t.csv:2: column \"a\" holds \"o\u0308\", which differs from the category \"\u00f6\" only by case, blanks or Unicode form; write values: {\"o\u0308\": \"\u00f6\"} for the column in the catalogue"},
		{"boolean", "a\nmaybe\n", Table{Schema: Schema{{Name: "a", Type: Boolean}}}, `t.csv:2: column "a" holds "maybe", which is neither one of true, yes, 1 nor one of false, no, 0; correct the cell, or map the word by "values" in the catalogue`},
		{"date", "a\n2024-02-30\n", Table{Schema: Schema{{Name: "a", Type: Date, Format: "%Y-%m-%d", As: Year}}}, `t.csv:2: column "a" holds "2024-02-30", which is not a date of the form %Y-%m-%d; correct the cell, or write the file's "format" for the column in the catalogue`},
		{"no column", "b\n1\n", Table{Schema: number}, `t.csv:1: there is no column "a"; correct the job, or rename the table's column in the catalogue`},
		{"column in another case", "A\n1\n", Table{Schema: number}, `t.csv:1: there is no column "a"; the table has "A": rename it in the catalogue by columns: {A: {as: a}}`},
		{"no label", "a\n1\n", Table{Schema: number, Label: "y"}, `t.csv:1: there is no column "y" to take the labels from; correct the job, or rename the table's column in the catalogue`},
		{"label by the file's own name", "a,Ereignis\n1,ill\n", Table{Schema: number, Label: "Ereignis", Mapping: theirs("Ereignis", Theirs{As: "cens"})}, `t.csv:1: there is no column "Ereignis" to take the labels from; the catalogue renames it to "cens"; write "cens"`},
		{"no id", "a\n1\n", Table{Schema: number, ID: IDRule{Columns: []string{"i"}}}, `t.csv:1: there is no column "i" to take the ids from; correct the job, or rename the table's column in the catalogue`},
		{"names in single quotes", "'a','y'\n1,x\n", Table{Schema: number, Label: "y"}, `t.csv:1: there is no column "a"; the names are in single quotes: write csv: {quote: "'"} in the catalogue`},
		{"empty label", "a,y\n1,x\n2,\n", Table{Schema: number, Label: "y"}, `t.csv:3: column "y" is empty, but every row needs a label; fill the cell, or write label: {column: "y", missing: drop-row} in the catalogue (in simulate, in the job) to leave out such rows`},
		{"label that is no number", "a,y\n1,inf\n", Table{Schema: number, Label: "y"}, `t.csv:2: column "y" holds "inf", which is not a finite number`},
		{"empty id", "a,i\n1,\n", Table{Schema: number, ID: IDRule{Columns: []string{"i"}}}, `t.csv:2: id column "i" is empty in this row; fill the cell or drop the row`},
		{"id that vanishes", "a,i\n1,x\n", Table{Schema: number, ID: IDRule{Columns: []string{"i"}, Normalize: []string{"digits"}}}, `t.csv:2: id column "i" has nothing left after "normalize"; correct the cell or drop the row`},
		{"id with the separator", "a,i\n1,x\x1fy\n", Table{Schema: number, ID: IDRule{Columns: []string{"i"}}}, `t.csv:2: id column "i" contains the character "\x1f", which separates the columns of an id; remove it`},
		{"equal ids", "a,i\n1,Xy\n2,z\n3,xY \n", Table{Schema: number, ID: IDRule{Columns: []string{"i"}, Normalize: []string{"trim", "lower"}}}, `t.csv:4: the id is also in line 2; keep one of the two rows`},
		{"unit without factor", "a\n1\n", Table{Schema: Schema{{Name: "a", Unit: "umol/L"}}, Mapping: theirs("a", Theirs{Unit: "mg/dL"})}, `t.csv:1: column "a" is in mg/dL, but the schema has umol/L; write the conversion factor as "times" in the catalogue`},
		{"unit that the schema has not", "a\n1\n", Table{Schema: plain, Mapping: theirs("a", Theirs{Unit: "mg/dL"})}, `t.csv:1: column "a" is in mg/dL by the catalogue, but the schema gives the column no unit; add the key "unit" in the schema, or remove it in the catalogue`},
		{"factor of words", "a\nF\n", Table{Schema: word, Mapping: theirs("a", Theirs{Times: 2})}, `t.csv:1: column "a" is a category, but the catalogue multiplies it by 2, which needs a number; remove the key "times"`},
		{"mapping of nothing", "a\n1\n", Table{Schema: number, Mapping: theirs("z", Theirs{As: "a"})}, `t.csv:1: the catalogue describes column "z", which the table does not have; correct the name`},
		{"value that is no number", "a\n<5\n", Table{Schema: number, Mapping: theirs("a", Theirs{Values: map[string]string{"<5": "few"}})}, `t.csv:2: column "a" holds "<5", which "values" turns into "few", which is not a number; correct "values" in the catalogue`},
		{"value of two meanings", "a\n<5\n", Table{Schema: number, Mapping: Mapping{CSV: CSV{Thousands: ".", Decimal: ","}, Columns: map[string]Theirs{"a": {Values: map[string]string{"<5": "2.500"}}}}}, `t.csv:2: column "a" holds "<5", which "values" turns into "2.500", which could be 2500 or 2.5; write the number without a sign between thousands`},
		{"drops nothing", "a\n1\n", Table{Schema: number, Mapping: Mapping{Drop: []string{"z"}}}, `t.csv:1: the catalogue lists column "z" under "drop" or "keep", but the table does not have it; correct the name`},
		{"two of one name", "a,b\n1,2\n", Table{Schema: number, Mapping: theirs("b", Theirs{As: "a"})}, `t.csv:1: columns "a" and "b" are both called "a"; drop one or rename it in the catalogue`},
		{"no features", "y\nx\n", Table{Label: "y"}, `t.csv:1: there are no feature columns; give at least one`},
		{"text without a schema", "a,y\nz,x\n", Table{Label: "y"}, `t.csv:2: column "a" holds "z", which is not a number; correct the cell, list the word under "csv: {missing: [...]}" in the catalogue, or give the column another type`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.table.Schema != nil {
				tt.table.Schema = checked(t, tt.table.Schema)
			}
			_, err := readText(tt.in, tt.table)
			var syntax *dataset.SyntaxError
			if !errors.As(err, &syntax) || err.Error() != tt.want {
				t.Fatalf("error %v\nwant  %s", err, tt.want)
			}
		})
	}
}

// The key values gives a number in the file's form or with a decimal point.
func TestValuesGiveNumbers(t *testing.T) {
	german := Mapping{CSV: CSV{Delimiter: ";", Thousands: ".", Decimal: ","}, Columns: map[string]Theirs{"a": {Values: map[string]string{"<0,5": "0.25", "<1": "0,5", "viel": "1500"}}}}
	set, err := readText("a\n1.234,5\n<0,5\n<1\nviel\n", Table{Schema: checked(t, Schema{{Name: "a"}}), Mapping: german})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]any{{1234.5}, {.25}, {.5}, {1500.}}, cellsOf(set.X.(*Frame))); diff != "" {
		t.Error(diff)
	}
}

// A factor gives the number that another party writes, not one that differs by rounding.
func TestTimesRounds(t *testing.T) {
	set, err := readText("a\n1.1\n0.3\n-1e-300\n", Table{Schema: checked(t, Schema{{Name: "a"}}), Mapping: theirs("a", Theirs{Times: 88.42})})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]any{{97.262}, {26.526}, {-8.842e-299}}, cellsOf(set.X.(*Frame))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadTooManyWords(t *testing.T) {
	var in strings.Builder
	in.WriteString("a\n")
	for i := range maxWords + 1 {
		in.WriteString(strings.Repeat("x", i%7+1) + string(rune('a'+i%26)) + strings.Repeat("y", i/26%50) + string(rune(0x4e00+i/91)) + "\n")
	}
	_, err := readText(in.String(), Table{Schema: checked(t, Schema{{Name: "a", Type: Category, Agree: true}})})
	if err == nil || !strings.HasSuffix(err.Error(), `column "a" has more than 65536 different words; a category has few: list its categories, or leave the column out of the schema`) {
		t.Fatal(err)
	}
}

// What each choice of the schema makes of a cell.
func TestReadCells(t *testing.T) {
	in := "n,c,b,d,free\n 5 ,F,Yes,2024-03-01,NaN\n12,X,no,2024-03-02,\"a, \"\"b\"\"\"\n-1,,,,\nNA,M,JA,2023-12-31,1e999\n"
	own := Mapping{CSV: CSV{Missing: []string{"NA"}}}
	number := func(o Outside) Column {
		return Column{Name: "n", Range: [2]float64{0, 10}, Outside: o, Missing: FillMean}
	}
	category := func(u Unknown) Column {
		return Column{Name: "c", Type: Category, Categories: []string{"F", "M"}, Unknown: u, Missing: FillCategory}
	}
	yes := Column{Name: "b", Type: Boolean, True: []string{"yes", "ja"}, False: []string{"no"}, Missing: FillMostFrequent}
	day := Column{Name: "d", Type: Date, Format: "%Y-%m-%d", As: Weekday, Missing: FillValue, Value: "2024-03-04"}
	for _, tt := range []struct {
		schema Schema
		want   [][]any
	}{
		{Schema{number(OutsideMissing), yes}, [][]any{{5.0, 1.0}, {"g", 0.0}, {"g", "g"}, {"g", 1.0}}},
		{Schema{number(OutsideClip), day}, [][]any{{5.0, 4.0}, {10.0, 5.0}, {0.0, "g"}, {"g", 6.0}}},
		{Schema{category(UnknownOther)}, [][]any{{0.0}, {-1.0}, {"g"}, {1.0}}},
		{Schema{category(UnknownIgnore)}, [][]any{{0.0}, {-1.0}, {"g"}, {1.0}}},
	} {
		set, err := readText(in, Table{Schema: checked(t, tt.schema), Mapping: own})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, cellsOf(set.X.(*Frame))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.schema.Names(), diff)
		}
	}
}

func TestReadDropsRows(t *testing.T) {
	in := "a,b,i\n1,,x\n,2,y\n3,4,x\n5,6,y\n"
	set, err := readText(in, Table{Schema: checked(t, Schema{{Name: "a", Missing: FillDropRow}, {Name: "b", Missing: FillDropRow}}), ID: IDRule{Columns: []string{"i"}}})
	if err != nil {
		t.Fatal(err)
	}
	f := set.X.(*Frame)
	if f.Dropped != 2 || f.Rows() != 2 || f.Row(0, nil)[0] != 3 {
		t.Errorf("%d dropped, %v", f.Dropped, cellsOf(f))
	}
	if diff := cmp.Diff([]string{"x", "y"}, set.IDs); diff != "" {
		t.Error(diff) // ids of dropped rows are no obstacle
	}
}

// A row that lacks a needed label is left out before anything else of it is read, whichever label is
// asked for.
func TestReadLeavesOutRowsWithoutALabel(t *testing.T) {
	in := "a,b,y,z,i\n1,2,u,1,p\nfree text,2,,1,p\n3,,v,NA,p\n,4,u,2,q\n5,6,v,3,r\n"
	table := Table{Schema: checked(t, Schema{{Name: "a", Missing: FillDropRow}, {Name: "b"}}), ID: IDRule{Columns: []string{"i"}}, Labelled: []string{"y", "z"}, Mapping: Mapping{CSV: CSV{Missing: []string{"NA"}}}}
	for label, want := range map[string][]string{"y": {"u", "v"}, "z": {"1", "3"}, "": nil} {
		table.Label = label
		set, err := readText(in, table)
		if err != nil {
			t.Fatalf("label %q: %v", label, err)
		}
		if f := set.X.(*Frame); set.Unlabelled != 2 || f.Dropped != 1 || f.Rows() != 2 || !cmp.Equal(set.Labels, want) || !cmp.Equal(set.IDs, []string{"p", "r"}) {
			t.Errorf("label %q: %d without a label, %d dropped, rows %v", label, set.Unlabelled, f.Dropped, set.IDs)
		}
	}
	plain, err := readText("a,y,z\n1,u,\n2,,3\n4,v,5\n", Table{Label: "y", Labelled: []string{"y"}, Aside: []string{"z"}})
	if err != nil || plain.X.Rows() != 2 || plain.Unlabelled != 1 || !cmp.Equal(plain.Columns, []string{"a"}) {
		t.Errorf("without a schema: %+v, %v", plain, err)
	}
	if none, err := readText("a,y\n1,u\n", Table{Labelled: []string{"y"}}); err != nil || !cmp.Equal(none.Columns, []string{"a"}) || none.Labels != nil {
		t.Errorf("a needed label is a feature: %+v, %v", none, err)
	}
	gaps := Schema{{Name: "a", Missing: FillDropRow}}
	for _, tt := range []struct {
		text   string
		schema Schema
		want   string
	}{
		{"a,y\n1,\n2,\n", nil, "t.csv: all 2 rows lack a label and are left out; name another column of labels"},
		{"a,y\n1,\n2,\n,u\n", gaps, "t.csv: all rows are left out, 2 without a label and 1 with a gap; write in the schema how gaps are filled, or name another column of labels"},
		{"a,x\n1,2\n", nil, `t.csv:1: there is no column "y" to take the labels from; correct the job, or rename the table's column in the catalogue`},
	} {
		_, err := readText(tt.text, Table{Schema: tt.schema, Label: "y", Labelled: []string{"y"}})
		wantError(t, err, tt.want)
	}
}

func TestReadIDsAndLabels(t *testing.T) {
	in := "clinic,number,a,finding\n north, p-0 7 ,1,krank\nnorth,8,2,\nNORTH,p9,3,+1.0\n"
	set, err := readText(in, Table{
		Schema: checked(t, Schema{{Name: "a"}}), Label: "y", Gaps: true,
		Mapping: theirs("finding", Theirs{As: "y", Values: map[string]string{"krank": "ill"}}),
		ID:      IDRule{Columns: []string{"clinic", "number"}, Normalize: []string{"upper", "trim"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"NORTH\x1fP-0 7", "NORTH\x1f8", "NORTH\x1fP9"}, set.IDs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ill", "", "1"}, set.Labels); diff != "" {
		t.Error(diff)
	}
	if err := (&IDRule{Columns: []string{"a"}, Normalize: []string{"trim", "soundex"}}).Check(); err == nil || err.Error() != "id: {normalize: [soundex]} is not known; choose from trim, nfc, upper, lower, digits" {
		t.Error(err)
	}
	if err := (&IDRule{}).Check(); err == nil || err.Error() != `the key "id" lists no columns; name at least one` {
		t.Error(err)
	}
	for _, tt := range [][3]string{{"nfc", "Mu\u0308ller", "M\u00fcller"}, {"digits", "p-12 3\u0664", "123"}, {"lower", "ÄB", "äb"}} {
		r := IDRule{Columns: []string{"a"}, Normalize: []string{tt[0]}}
		if id, _, err := r.id([]string{tt[1]}); id != tt[2] || err != nil {
			t.Errorf("%s makes %q of %q, error %v", tt[0], id, tt[1], err)
		}
	}
}

// A label that is a number is read without its unit, in the file's form, and in the agreed unit.
func TestReadLabelsWithUnits(t *testing.T) {
	set, err := readText("a;price\n1;€814.162\n2;1.500,5 €\n", Table{
		Schema: checked(t, Schema{{Name: "a"}}), Label: "price",
		Mapping: Mapping{CSV: CSV{Decimal: ",", Thousands: "."}, Columns: map[string]Theirs{"price": {Unit: "€", Times: 0.001}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"814.162", "1.5005"}, set.Labels); diff != "" {
		t.Error(diff)
	}
}

func TestReadWithoutSchema(t *testing.T) {
	set, err := readText("x;a;n;y\n1,5;7;free;u\n2,5;8;text;v\n", Table{
		Label: "y", Aside: []string{"x"}, Mapping: Mapping{CSV: CSV{Decimal: ","}, Drop: []string{"n"}, Columns: map[string]Theirs{"a": {As: "b", Times: 2}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d, is := set.X.(*dataset.Dense); !is || d.Row(1, nil)[0] != 16 {
		t.Errorf("%T %v", set.X, set.X.Row(1, nil))
	}
	if diff := cmp.Diff([]string{"b"}, set.Columns); diff != "" {
		t.Error(diff)
	}
}

// A table of rows to predict lacks the label, and columns that the training table has for nothing.
func TestNewRowsLackOtherColumns(t *testing.T) {
	drop := theirs("event", Theirs{As: "cens"})
	drop.Drop = []string{"ward"}
	keep := theirs("event", Theirs{As: "cens"})
	keep.Keep = []string{"age", "event"}
	for _, m := range []Mapping{drop, keep} {
		table := Table{Schema: Schema{{Name: "age"}}, Mapping: m}
		if _, err := readText("age\n50\n", table); err == nil {
			t.Errorf("%+v: a training table without its label is read", m)
		}
		table.New = true
		set, err := readText("age,left\n50,x\n", table)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]any{{50.0}}, cellsOf(set.X.(*Frame))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	whole := Table{Schema: Schema{{Name: "age", Missing: FillDropRow}}}
	if set, err := readText("age,n\n50,1\n,2\n", whole); err != nil || set.X.Rows() != 1 {
		t.Errorf("training leaves out a row with a gap: %v", err)
	}
	whole.New = true
	if _, err := readText("age,n\n50,1\n,2\n", whole); err == nil || err.Error() != `t.csv:3: column "age" is empty, and the job uses no row with a gap in this column; fill the cell, or remove the row from the new table` {
		t.Errorf("a new row with a gap gets no answer, unsaid: %v", err)
	}
	if drop.Drop[0] != "ward" || len(drop.Columns) != 1 {
		t.Errorf("reading changes the catalogue's mapping: %+v", drop)
	}
	table := Table{Schema: Schema{{Name: "years"}}, Mapping: theirs("age", Theirs{As: "years"}), New: true}
	if _, err := readText("left\n1\n", table); err == nil || !strings.Contains(err.Error(), `no column "years"`) {
		t.Errorf("new rows without a feature: %v", err)
	}
}

func TestOwnNameOfAColumn(t *testing.T) {
	m := theirs("alter", Theirs{As: "age"})
	if own, other := m.OwnName("age"), m.OwnName("sex"); own != "alter" || other != "sex" {
		t.Errorf("the file calls age %q and sex %q", own, other)
	}
}

func TestMappingRefuses(t *testing.T) {
	nan := 0.0
	nan /= nan
	tests := []struct {
		m    Mapping
		want string
	}{
		{Mapping{CSV: CSV{Delimiter: "x"}}, `csv: {delimiter: "x"} cannot separate fields; choose a comma, semicolon, tab, space, bar or colon`},
		{Mapping{CSV: CSV{Decimal: ";"}}, `csv: {decimal: ";"} is not a decimal sign; write "." or ","`},
		{Mapping{CSV: CSV{Decimal: ",", Delimiter: ","}}, `csv uses a comma between fields and as the decimal sign; correct "delimiter" or "decimal"`},
		{Mapping{CSV: CSV{Encoding: "ebcdic"}}, `csv: {encoding: ebcdic} is not known; write one of utf-8, utf-16, windows-1252, iso-8859-15`},
		{Mapping{Drop: []string{"a"}, Keep: []string{"b"}}, `the keys "drop" and "keep" exclude each other; write "drop" with the columns to leave out, or "keep" with the columns to read`},
		{theirs("a", Theirs{Times: -1}), `column "a" has "times: -1"; write a number above 0`},
		{theirs("a", Theirs{Times: Factor(nan)}), `column "a" has "times: NaN"; write a number above 0`},
		{Mapping{Drop: []string{"a"}, Columns: map[string]Theirs{"a": {As: "b"}}}, `column "a" is listed under "drop" and under "columns"; remove it from one of the two`},
		{Mapping{CSV: CSV{Thousands: "_"}}, `csv: thousands: "_" is not a sign between thousands; write ",", ".", " " or "'"`},
		{Mapping{CSV: CSV{Thousands: "."}}, `csv: thousands: "." is also the decimal sign; correct "decimal" or "thousands"`},
		{Mapping{CSV: CSV{Comment: "//"}}, `csv: {comment: "//"} cannot begin a comment; write one character such as "#"`},
		{Mapping{CSV: CSV{Names: []string{"a"}, Headers: []string{"a"}}}, `csv: the keys "names" and "headers" exclude each other; write "names" for a text without a header line, or "headers" to replace the header line`},
		{theirs("a", Theirs{Thousands: "."}), `column "a": thousands: "." is also the decimal sign; correct "decimal" or "thousands"`},
		{theirs("a", Theirs{Format: Formats{"%Y-%Q"}}), `column "a": the format has %Q, which is not supported; use %Y %m %d %y %b %B %H %I %M %S %f %p`},
		{theirs("a", Theirs{Format: Formats{"%Y-%m-%dT%H:%M:%S%z"}}), `column "a": the format has %z, but time zones are not read; write the zone of all cells in place of it, such as +01:00, or remove the zone from the file`},
		{Mapping{CSV: CSV{Quote: "'", Comment: "'"}}, `csv: {comment: "'"} cannot begin a comment; write one character such as "#"`},
		{theirs("a", Theirs{Format: Formats{}}), `column "a": the key "format" is an empty list; write a format such as "%d.%m.%Y"`},
		{Mapping{Columns: map[string]Theirs{"b": {As: "c"}, "a": {As: "c"}}}, `columns "a" and "b" are both called "c"; rename one`},
	}
	for _, tt := range tests {
		if err := tt.m.Check(); err == nil || err.Error() != tt.want {
			t.Errorf("error %v\nwant  %s", err, tt.want)
		}
	}
	good := Mapping{CSV: CSV{Delimiter: ";", Decimal: ",", Encoding: "utf-16"}, Columns: map[string]Theirs{"a": {As: "b"}, "b": {As: "a"}}, Keep: []string{"a", "b"}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

// Without the error, the factor 0 would count as no factor.
func TestTextRefusesFactorZero(t *testing.T) {
	var c Theirs
	err := yaml.Unmarshal([]byte("as: a\ntimes: 0\n"), &c)
	if want := "line 2: \"times\" is 0, which makes all numbers of the column equal; write a number above 0, or remove the key"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v\nwant  %s", err, want)
	}
	if err := yaml.Unmarshal([]byte("times: 0.5\n"), &c); err != nil || c.Times != 0.5 {
		t.Errorf("factor %g, error %v", c.Times, err)
	}
}
