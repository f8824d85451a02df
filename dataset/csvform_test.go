package dataset

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"
)

// recordsOf returns the columns of a CSV text, and its rows with their lines.
func recordsOf(in string, form CSVForm) ([]string, error) {
	rows, err := OpenCSV("t", strings.NewReader(in), form)
	if err != nil {
		return nil, err
	}
	out := []string{strings.Join(rows.Columns(), "|")}
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, fmt.Sprint(row.Line, ":", strings.Join(row.Fields, "|")))
	}
}

// utf16Of encodes a text in UTF-16.
func utf16Of(t *testing.T, order unicode.Endianness, mark unicode.BOMPolicy, in string) string {
	t.Helper()
	out, err := unicode.UTF16(order, mark).NewEncoder().String(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The texts have the forms of common writers. Columns without a name are called as pandas calls
// them.
func TestCSVForms(t *testing.T) {
	const plain = "a,b\n1,2\n"
	tests := []struct {
		name, in string
		form     CSVForm
		want     []string
	}{
		{"R's write.csv and pandas' to_csv", `"","age","y"` + "\n" + `"1",30,"a"` + "\n", CSVForm{}, []string{"Unnamed: 0|age|y", "2:1|30|a"}},
		{"Excel's trailing comma", "age,y,\r\n30,a,\r\n", CSVForm{}, []string{"age|y|Unnamed: 2", "2:30|a|"}},
		{"two columns without a name", ",,y\n1,2,a\n", CSVForm{}, []string{"Unnamed: 0|Unnamed: 1|y", "2:1|2|a"}},
		{"saved twice by pandas", ",Unnamed: 0,y\n1,2,a\n", CSVForm{}, []string{"Unnamed: 0.1|Unnamed: 0|y", "2:1|2|a"}},
		{"Excel's sep=", "sep=;\r\na;b,c\r\n1;2\r\n", CSVForm{}, []string{"a|b,c", "3:1|2"}},
		{"quoted sep=", "\ufeff\"SEP=|\"\na|b\n1|2\n", CSVForm{}, []string{"a|b", "3:1|2"}},
		{"sep= and a stated delimiter", "sep=;\na,b\n1,2\n", CSVForm{Delimiter: ','}, []string{"a|b", "3:1|2"}},
		{"column sep=x", "sep=x,b\n1,2\n", CSVForm{}, []string{"sep=x|b", "2:1|2"}},
		{"comment lines", "# exported, today\n# by hand\na;b\n1;2\n# end\n3;4\n", CSVForm{Comment: '#'}, []string{"a|b", "4:1|2", "6:3|4"}},
		{"a bracket before a name", "[age],{y}\n1,2\n", CSVForm{}, []string{"[age]|{y}", "2:1|2"}},
		{"single quotes", "'a' 'b \"c\"'\n'it''s' 2\n", CSVForm{Delimiter: ' ', Quote: '\''}, []string{`a|b "c"`, "2:it's|2"}},
		{"counts under other headers", "2,3,x,z\n1,2,3,0\n4,5,6,1\n", CSVForm{Headers: []string{"a", "b", "c", "y"}}, []string{"a|b|c|y", "2:1|2|3|0", "3:4|5|6|1"}},
		{"numbers as names", "1960,1961,x,z\n1,2,3,0\n", CSVForm{}, []string{"1960|1961|x|z", "2:1|2|3|0"}},
		{"other headers", "x,x\n1,2\n", CSVForm{Headers: []string{"a", "b"}}, []string{"a|b", "2:1|2"}},
		{"R's write.table", "\"age\" \"y\"\n\"1\" 30 \"a\"\n", CSVForm{Delimiter: ' ', Headers: []string{"", "age", "y"}}, []string{"Unnamed: 0|age|y", "2:1|30|a"}},
		{"runs of blanks", "  a   b\n 1  2\n10 20 \n", CSVForm{Delimiter: ' '}, []string{"a|b", "2:1|2", "3:10|20"}},
		{"UTF-16", utf16Of(t, unicode.LittleEndian, unicode.UseBOM, plain), CSVForm{Encoding: "utf-16"}, []string{"a|b", "2:1|2"}},
		{"UTF-16, big end first", utf16Of(t, unicode.BigEndian, unicode.UseBOM, plain), CSVForm{Encoding: "utf-16"}, []string{"a|b", "2:1|2"}},
		{"UTF-16 without a mark", utf16Of(t, unicode.LittleEndian, unicode.IgnoreBOM, plain), CSVForm{Encoding: "utf-16"}, []string{"a|b", "2:1|2"}},
		{"UTF-16 without a mark, big end first", utf16Of(t, unicode.BigEndian, unicode.IgnoreBOM, plain), CSVForm{Encoding: "utf-16"}, []string{"a|b", "2:1|2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := recordsOf(tt.in, tt.form)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCSVFormsRefuse(t *testing.T) {
	looks := "t:1: the text looks like UTF-16 without a byte order mark; save it as UTF-8, or for CSV write \"csv: {encoding: utf-16}\" (--encoding utf-16)"
	tests := []struct {
		name, in string
		form     CSVForm
		want     string
	}{
		{"duplicate header", "a,b,a\n1,2,3\n", CSVForm{}, `t:1: columns 1 and 3 (from 1) are both called "a"; rename one, or name all columns by "csv: {headers: [...]}" (--headers)`},
		{"a name too few", "a,b\n1,2,3\n", CSVForm{}, "t:2: the row has 3 fields, but the table has 2 columns; remove a field, or name all columns by \"csv: {headers: [...]}\" (--headers) if the header lacks one"},
		{"comment first", "# exported, today\na,b,c\n", CSVForm{}, `t:1: the line begins with #, and the next one has more fields; if lines that begin with # are comments, write csv: {comment: "#"} (--comment "#")`},
		{"comment second", "\n# exported, today\na,b,c\n", CSVForm{}, `t:2: the line begins with #, and the next one has more fields; if lines that begin with # are comments, write csv: {comment: "#"} (--comment "#")`},
		{"comment later", "a,b,c\n# end\n", CSVForm{}, `t:2: the row has 1 field, but the table has 3 columns; if lines that begin with # are comments, write csv: {comment: "#"} (--comment "#")`},
		{"comment is the delimiter", "a,b\n1,2\n", CSVForm{Comment: ','}, `t: ',' separates fields and begins comments; correct "comment" or "delimiter" (--comment, --csv-delimiter)`},
		{"headers too few", "a,b,c\n1,2,3\n", CSVForm{Headers: []string{"a", "b"}}, `t:2: the row has 3 fields, but the key "headers" gives 2 names; write one name for each column under "csv: {headers: [...]}" (--headers), or correct the row`},
		{"names too many", "1,2\n", CSVForm{Names: []string{"a", "b", "c"}}, `t:1: the row has 2 fields, but the key "names" gives 3 names; write one name for each column under "csv: {names: [...]}" (--names), or correct the row`},
		{"bars", "age|y\n1|a\n", CSVForm{}, `t:1: the fields seem to be separated by bars; write csv: {delimiter: "|"} (--csv-delimiter "|"), or separate them by commas`},
		{"blanks", "Chins Situps Jumps\n  5  162   60\n", CSVForm{}, `t:1: the fields seem to be separated by blanks; write csv: {delimiter: " "} (--csv-delimiter " "), or separate them by commas`},
		{"JSON records", "[\n  {\"age\": 1, \"y\": \"a\"}]", CSVForm{}, "t:1: the text is JSON; export the table as CSV or parquet"},
		{"JSON lines", "{\"age\": 1, \"y\": \"a\"}\n", CSVForm{}, "t:1: the text is JSON; export the table as CSV or parquet"},
		{"JSON rows", "[[\"a\"], [\"b\"]]", CSVForm{}, "t:1: the text is JSON; export the table as CSV or parquet"},
		{"counts in place of names", "2,3,x,z\n1,2,3,0\n4,5,6,1\n", CSVForm{}, "t:1: the line gives the numbers of rows and columns in place of names; use the table without a data dictionary, or name all 4 columns by \"csv: {headers: [...]}\" (--headers)"},
		{"after sep=", "sep=;\na;\"b\n", CSVForm{}, "t:2: a quoted field does not end before a delimiter; close it or double the quote inside it"},
		{"UTF-16 without a mark", utf16Of(t, unicode.LittleEndian, unicode.IgnoreBOM, "a,b\n"), CSVForm{}, looks},
		{"UTF-16 without a mark, big end first", utf16Of(t, unicode.BigEndian, unicode.IgnoreBOM, "a,b\n"), CSVForm{}, looks},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := recordsOf(tt.in, tt.form)
			wantSyntaxError(t, err, tt.want)
		})
	}
}

// A column without a name is a feature only if an option names it, and is not taken for the label.
func TestUnnamedColumnIsNoFeature(t *testing.T) {
	read := func(in string, o CSVOptions) plain {
		t.Helper()
		set, err := ReadCSV(strings.NewReader(in), o)
		if err != nil {
			t.Fatal(err)
		}
		return plainOf(set)
	}
	got := read(",age,sick\n0,30,a\n1,40,b\n", CSVOptions{})
	want := plain{X: [][]float64{{30}, {40}}, Labels: []string{"a", "b"}, Columns: []string{"age"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, read("age,sick,\n30,a,\n40,b,\n", CSVOptions{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = read(",age,y\n0,30,a\n1,40,b\n", CSVOptions{Uses: Uses{Features: []string{"Unnamed: 0"}}})
	if !slices.Equal(got.Columns, []string{"Unnamed: 0"}) || got.X[1][0] != 1 {
		t.Errorf("asked for by name: %+v", got)
	}
	got = read(",age,y\n0,30,a\n1,40,b\n", CSVOptions{ID: "Unnamed: 0"})
	if !slices.Equal(got.IDs, []string{"0", "1"}) {
		t.Errorf("as the id: %+v", got)
	}
	for _, name := range []string{"Unnamed: ", "Unnamed: x", "unnamed: 0", "Unnamed"} {
		if IsUnnamed(name) {
			t.Errorf("%q is taken for a column without a name", name)
		}
	}
}

func TestNumberForms(t *testing.T) {
	english, german, blank, swiss := NumberForm{'.', ","}, NumberForm{',', "."}, NumberForm{',', " "}, NumberForm{'.', "'"}
	for _, tt := range []struct {
		form NumberForm
		in   string
		want float64
	}{
		{english, "1,234.5", 1234.5}, {english, "-1,234,567", -1234567}, {english, "12", 12}, {english, "1234.5", 1234.5}, {english, "1,000e3", 1e6},
		{german, "1.234,5", 1234.5}, {german, "0,5", .5}, {german, "+12.345", 12345},
		{blank, "1 234,5", 1234.5}, {blank, "1\u00a0234,5", 1234.5}, {blank, "1\u202f234\u202f567", 1234567}, {blank, "1\u2009234", 1234},
		{swiss, "1'234.5", 1234.5}, {swiss, "1’234", 1234},
		{NumberForm{}, "\u22121.5e\u22122", -.015}, {english, "\u22121,234", -1234},
	} {
		if got, err := tt.form.Parse(tt.in); err != nil || got != tt.want {
			t.Errorf("%+v %q: %v, %v; want %v", tt.form, tt.in, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		form NumberForm
		in   string
	}{
		{english, "1,5"}, {english, "1,23,456"}, {english, ",123"}, {english, "1,234,"}, {english, "1234,567"}, {english, "1,2345"}, {english, "1.2,345"}, {english, ""},
		{german, "1.5"}, {german, "1.234.5"}, {blank, "1  234"}, {blank, "1 2 3"}, {NumberForm{}, "1,234"}, {NumberForm{}, "\u2212"},
	} {
		if got, err := tt.form.Parse(tt.in); err == nil {
			t.Errorf("%+v %q: read as %v", tt.form, tt.in, got)
		}
	}
}

func TestNumberAdvice(t *testing.T) {
	for cell, want := range map[string]string{
		"0,5":      `write csv: {decimal: ","} in the catalogue`,
		"1,234":    `write csv: {decimal: ","} or csv: {thousands: ","} in the catalogue`,
		"1,234.5":  `write csv: {thousands: ","} in the catalogue`,
		"1.234,5":  `write csv: {decimal: ",", thousands: "."} in the catalogue`,
		"1 234,5":  `write csv: {decimal: ",", thousands: " "} in the catalogue`,
		"<5":       `give the column values: {"<5": NUMBER} in the catalogue, or list the cell under "csv: {missing: [...]}"`,
		"≥ 0.5":    `give the column values: {"≥ 0.5": NUMBER} in the catalogue, or list the cell under "csv: {missing: [...]}"`,
		"5%":       `give the column unit: "%" in the catalogue`,
		"5.5 mg/l": `give the column unit: "mg/l" in the catalogue`,
		"$-5.50":   `give the column unit: "$" in the catalogue`,
		"12.50-":   "write the minus before the number, as in -12.50",
		"EUR 5":    `give the column unit: "EUR" in the catalogue`,
		"":         "", "x": "", "5x5": "", "1.2.2020": "", "% 5 %": "", "03. Apr": "", "5-": "write the minus before the number, as in -5", "5 --": "",
	} {
		if got := (NumberForm{}).Advice(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
	for form, want := range map[NumberForm][2]string{
		{}:         {`decimal: "."`, "--decimal ."},
		{',', ""}:  {`decimal: ","`, "--decimal ,"},
		{'.', " "}: {`thousands: " "`, `--thousands " "`},
		{',', "."}: {`decimal: ",", thousands: "."`, "--decimal , --thousands ."},
		{0, "'"}:   {`thousands: "'"`, `--thousands "'"`},
	} {
		if got := [2]string{form.Keys(), form.Flags()}; got != want {
			t.Errorf("%+v: %q, want %q", form, got, want)
		}
	}
}
