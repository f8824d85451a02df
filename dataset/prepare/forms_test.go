package prepare

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// writtenForm is a CSV text in the form of a program, with what it holds. The script forms.py wrote
// it.
type writtenForm struct {
	Writer, Kind string
	Entry        string // keys of a catalogue entry, as YAML
	Schema       map[string]any
	Data         []byte
	Rows         [][]any // cells as pandas reads them: numbers, words and null, in the order of the schema's keys
	Refused      string  // sentence, instead of rows
	columns      []string
}

func writtenForms(t *testing.T) []writtenForm {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "forms.json"))
	if err != nil {
		t.Fatal(err)
	}
	var forms []writtenForm
	if err := json.Unmarshal(b, &forms); err != nil {
		t.Fatal(err)
	}
	var ordered []struct{ Schema yaml.Node } // JSON is YAML, whose reader keeps the order of keys
	if err := yaml.Unmarshal(b, &ordered); err != nil {
		t.Fatal(err)
	}
	for i := range forms {
		for j := 0; j < len(ordered[i].Schema.Content); j += 2 {
			forms[i].columns = append(forms[i].columns, ordered[i].Schema.Content[j].Value)
		}
	}
	return forms
}

// table returns the description of the form's table.
func (f writtenForm) table(t *testing.T) Table {
	t.Helper()
	var schema Schema
	for _, name := range f.columns {
		b, err := json.Marshal(f.Schema[name])
		if err != nil {
			t.Fatal(err)
		}
		var c Column
		if err := yaml.Unmarshal(b, &c); err != nil {
			t.Fatal(err)
		}
		if c.Name = name; f.Refused == "" {
			c.Missing = FillDropRow
			if c.Type == "" || c.Type == Number {
				c.Missing, c.Value = FillValue, "0"
			}
		}
		schema = append(schema, c)
	}
	var own Mapping
	if err := yaml.Unmarshal([]byte(f.Entry), &own); err != nil {
		t.Fatal(err)
	}
	if err := own.Check(); err != nil {
		t.Fatal(err)
	}
	return Table{Schema: checked(t, schema), Mapping: own}
}

// TestFormsOfEveryWriter reads texts in the forms of Excel, LibreOffice, R, pandas, SPSS and SAS.
// Each is read as pandas reads it with the same options, or refused with a sentence that names the
// key.
func TestFormsOfEveryWriter(t *testing.T) {
	forms := writtenForms(t)
	if len(forms) < 45 {
		t.Fatalf("only %d forms", len(forms))
	}
	for _, f := range forms {
		t.Run(f.Writer+": "+f.Kind, func(t *testing.T) {
			table := f.table(t)
			set, err := readText(string(f.Data), table)
			if f.Refused != "" {
				if err == nil || err.Error() != f.Refused {
					t.Errorf("error %v\nwant  %s", err, f.Refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got [][]any
			for i := range set.X.Rows() {
				got = append(got, shownRow(table.Schema, set.X.Row(i, nil)))
			}
			if diff := cmp.Diff(f.Rows, got); diff != "" {
				t.Errorf("(-pandas +mercer):\n%s", diff)
			}
		})
	}
}

// shownRow returns the cells of a row as numbers, words and nil.
func shownRow(schema Schema, row []float64) []any {
	cells := make([]any, len(row))
	for j, v := range row {
		switch {
		case isGap(v):
		case schema[j].Type == Category:
			cells[j] = schema[j].Categories[int(v)]
		default:
			cells[j] = v
		}
	}
	return cells
}

// TestFormsAreDocumented compares the table of docs/tables.md with the forms that are read.
// MERCER_GOLDEN=write writes the table anew.
func TestFormsAreDocumented(t *testing.T) {
	const begin, end = "<!-- forms: written by TestFormsAreDocumented -->\n", "<!-- end of forms -->\n"
	path := filepath.Join("..", "..", "docs", "tables.md")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("docs/tables.md has no place for the table")
	}
	var table strings.Builder
	table.WriteString("\n| program | file | keys | result |\n|---|---|---|---|\n")
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	for _, f := range writtenForms(t) {
		keys, result := "none", "as pandas"
		if f.Entry != "{}" {
			keys = "`" + f.Entry[1:len(f.Entry)-1] + "`"
		}
		if f.Refused != "" {
			_, sentence, _ := strings.Cut(f.Refused, ": ")
			result = "refused: `" + cell(sentence) + "`"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", f.Writer, cell(f.Kind), cell(keys), result)
	}
	want := before + begin + table.String() + "\n" + end + after
	if want == string(b) {
		return
	}
	if os.Getenv("MERCER_GOLDEN") != "write" {
		t.Fatal("the table of docs/tables.md is not that of testdata/forms.json; write it by MERCER_GOLDEN=write")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
