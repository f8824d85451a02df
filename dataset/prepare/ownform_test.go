package prepare

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// Each site writes numbers and dates in its own form. The keys of its entry say how.
func TestOwnForms(t *testing.T) {
	schema := Schema{{Name: "a"}, {Name: "day", Type: Date, Format: "%Y-%m-%d", As: Days, Since: "2024-01-01"}}
	tests := []struct{ name, entry, in string }{
		{"the schema's", "{}", "a,day\n1234.5,2024-03-01\n-2,2024-12-24\n"},
		{"Excel in German", `{csv: {decimal: ",", thousands: "."}, columns: {day: {format: "%d.%m.%Y"}}}`, "sep=;\na;day\n1.234,5;1.3.2024\n-2;24.12.2024\n"},
		{"Excel in French, narrow blanks", `{csv: {decimal: ",", thousands: " "}, columns: {day: {format: "%d/%m/%Y"}}}`, "a;day\n1\u202f234,5;01/03/2024\n\u22122;24/12/2024\n"},
		{"LibreOffice in French, blanks", `{csv: {decimal: ",", thousands: " "}, columns: {day: {format: "%d/%m/%y"}}}`, "a;day\n1\u00a0234,50;01/03/24\n-2;24/12/24\n"},
		{"thousands of one column", `{columns: {A: {as: a, thousands: ","}, day: {format: "%d %B %Y"}}}`, "A,day\n\"1,234.5\",1 March 2024\n-2,24 december 2024\n"},
		{"SAS's DATE9. and DOLLAR10.", `{csv: {thousands: ","}, columns: {a: {unit: "$"}, day: {format: "%d%b%Y"}}}`, "a,day\n\"$1,234.5\",01MAR2024\n-2,24DEC2024\n"},
		{"months in German", `{columns: {day: {format: ["%d. %B %Y", "%d. %b %Y"]}}}`, "a,day\n1234.5,1. März 2024\n-2,24. Dez. 2024\n"},
		{"two formats of dates", `{columns: {day: {format: ["%Y-%m-%d", "%d.%m.%Y"]}}}`, "a,day\n1234.5,2024-03-01\n-2,24.12.2024\n"},
		{"limits", `{columns: {a: {values: {"<5": "-2"}}}}`, "a,day\n1234.5,2024-03-01\n<5,2024-12-24\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var own Mapping
			if err := yaml.Unmarshal([]byte(tt.entry), &own); err != nil {
				t.Fatal(err)
			}
			if err := own.Check(); err != nil {
				t.Fatal(err)
			}
			described := schema
			if own.Columns["a"].Unit != "" {
				described = Schema{{Name: "a", Unit: own.Columns["a"].Unit}, schema[1]}
			}
			set, err := readText(tt.in, Table{Schema: checked(t, described), Mapping: own})
			if err != nil {
				t.Fatal(err)
			}
			got := [][]float64{set.X.Row(0, nil), set.X.Row(1, nil)}
			if diff := cmp.Diff([][]float64{{1234.5, 60}, {-2, 358}}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			written, err := yaml.Marshal(own)
			if err != nil {
				t.Fatal(err)
			}
			var again Mapping
			if err := yaml.Unmarshal(written, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(own, again); diff != "" {
				t.Errorf("written and read again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnFormsRefuse(t *testing.T) {
	day := Schema{{Name: "day", Type: Date, Format: "%Y-%m-%d", As: Year}}
	number := Schema{{Name: "a"}}
	const dates, slashes = `{columns: {day: {format: ["%d.%m.%Y", "%Y-%m-%d"]}}}`, `{columns: {day: {format: ["%d/%m/%Y", "%m/%d/%Y"]}}}`
	for name, tt := range map[string]struct {
		schema          Schema
		entry, in, want string
	}{
		"groups of two":       {number, `{csv: {thousands: ","}}`, "a\n\"1,23\"\n", `t.csv:2: column "a" holds "1,23", which is not a number with commas between thousands; correct the cell, or write csv: {decimal: ","} in the catalogue`},
		"point for thousands": {number, `{csv: {decimal: ","}}`, "a;b\n1.600,5;2\n", `t.csv:2: column "a" holds "1.600,5", which is not a number with a decimal comma; correct the cell, or write csv: {decimal: ",", thousands: "."} in the catalogue`},
		"limit":               {number, `{}`, "a\n<5\n", `t.csv:2: column "a" holds "<5", which is not a number; correct the cell, or give the column values: {"<5": NUMBER} in the catalogue, or list the cell under "csv: {missing: [...]}"`},
		"percent":             {number, `{}`, "a\n5%\n", `t.csv:2: column "a" holds "5%", which is not a number; correct the cell, or give the column unit: "%" in the catalogue`},
		"currency":            {number, `{}`, "a\n5 €\n", `t.csv:2: column "a" holds "5 €", which is not a number; correct the cell, or give the column unit: "€" in the catalogue`},
		"third format":        {day, dates, "day\n1/3/2024\n", `t.csv:2: column "day" holds "1/3/2024", which is not a date of one of the forms %d.%m.%Y, %Y-%m-%d; correct the cell or the formats`},
		"two readings":        {day, slashes, "day\n24/12/2024\n1/3/2024\n", `t.csv:3: column "day" holds "1/3/2024", which is one date by %d/%m/%Y and another by %m/%d/%Y; keep only one format, or write the month by its name in the file`},
		"Polish month":        {day, `{columns: {day: {format: "%d %b %Y"}}}`, "day\n24 gru 2024\n", `t.csv:2: column "day" holds "24 gru 2024", which is not a date of the form %d %b %Y; correct the cell, or write the file's "format" for the column in the catalogue`},
		"format of a number":  {number, `{columns: {a: {format: "%Y"}}}`, "a\n1\n", `t.csv:1: column "a" is a number, but the key "format" in the catalogue requires a date; remove the key`},
		"thousands of a date": {day, `{columns: {day: {thousands: ","}}}`, "day\n1\n", `t.csv:1: column "day" is a date, but the key "thousands" in the catalogue requires a number; remove the key`},
	} {
		t.Run(name, func(t *testing.T) {
			var own Mapping
			if err := yaml.Unmarshal([]byte(tt.entry), &own); err != nil {
				t.Fatal(err)
			}
			if _, err := readText(tt.in, Table{Schema: checked(t, tt.schema), Mapping: own}); err == nil || err.Error() != tt.want {
				t.Errorf("error %v\nwant  %s", err, tt.want)
			}
		})
	}
}

// The column by which rows are held out has the file's own form, too. So have labels.
func TestOwnFormsBeside(t *testing.T) {
	own := Mapping{CSV: CSV{Decimal: ",", Thousands: "."}, Columns: map[string]Theirs{"day": {Format: Formats{"%d.%m.%Y"}}}}
	set, err := readText("a;day;y\n1;24.12.2024;1.234,5\n2;1.3.2024;-1\n", Table{Features: []string{"a"}, Label: "y", Cut: "day", Mapping: own})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2024-12-24T00:00:00", "2024-03-01T00:00:00"}, set.Cut); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1234.5", "-1"}, set.Labels); diff != "" {
		t.Error(diff)
	}
}

// A column without a name is a feature only if a setting names it.
func TestUnnamedColumn(t *testing.T) {
	const in = ",a,y\n7,1,x\n8,2,z\n"
	set, err := readText(in, Table{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, set.Columns); diff != "" {
		t.Error(diff)
	}
	set, err = readText(in, Table{Label: "y", Mapping: Mapping{Columns: map[string]Theirs{"Unnamed: 0": {As: "row"}}}, Features: []string{"row"}})
	if err != nil || set.X.Row(1, nil)[0] != 8 {
		t.Errorf("%v, error %v", set, err)
	}
	if _, err = readText(in, Table{Label: "y", Mapping: Mapping{Drop: []string{"Unnamed: 0"}}}); err != nil {
		t.Error(err)
	}
}

// An entry without the keys of own forms has the digest that it had before these keys existed.
func TestOwnFormsLeaveDigests(t *testing.T) {
	b, err := json.Marshal(Mapping{Columns: map[string]Theirs{"a": {As: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"Thousands", "Comment", "Headers", "Format"} {
		if strings.Contains(string(b), key) {
			t.Errorf("%s contains %s", b, key)
		}
	}
}
