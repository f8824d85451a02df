package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// An entry says how its file writes numbers, dates and names.
func TestOwnFormsOfAnEntry(t *testing.T) {
	h, c := home(t, `data:
  export:
    path: export.csv
    csv: {delimiter: ";", decimal: ",", comment: "#", headers: [zeile, krea, tag, befund]}
    columns:
      krea: {as: creatinine, thousands: "."}
      tag: {as: admitted, format: ["%d.%m.%Y", "%Y-%m-%d"]}
      befund: {as: diagnosis}
    label: diagnosis
`)
	export := "# exported\nnr;wert;wert;befund\n1;1.234,5;1.3.2024;ill\n2;0,25;2024-12-24;well\n"
	if err := os.WriteFile(filepath.Join(h.folder, "export.csv"), []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := c.source(h, "export")
	if err != nil {
		t.Fatal(err)
	}
	schema := prepare.Schema{{Name: "creatinine"}, {Name: "admitted", Type: prepare.Date, Format: "%Y/%m/%d", As: prepare.Days, Since: "2024-01-01"}}
	for i := range schema {
		if err := schema[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	set, err := s.load(catalogue.New(""), catalogue.Columns{Label: "diagnosis"}, job.Data{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if one, two := set.X.Row(0, nil), set.X.Row(1, nil); one[0] != 1234.5 || one[1] != 60 || two[0] != .25 || two[1] != 358 {
		t.Errorf("%v %v", one, two)
	}
}

// Own forms that contradict each other, or that no file can have, are refused at the start.
func TestOwnFormsOfAnEntryRefuse(t *testing.T) {
	for entry, want := range map[string]string{
		`csv: {thousands: "."}`:                  `data p: csv: thousands: "." is also the decimal sign; correct "decimal" or "thousands"`,
		`csv: {comment: "--"}`:                   `data p: csv: {comment: "--"} cannot begin a comment; write one character such as "#"`,
		`csv: {names: [a], headers: [a]}`:        `data p: csv: the keys "names" and "headers" exclude each other; write "names" for a text without a header line, or "headers" to replace the header line`,
		`columns: {a: {thousands: "_"}}`:         `data p: column "a": thousands: "_" is not a sign between thousands; write ",", ".", " " or "'"`,
		`columns: {a: {format: "%Q"}}`:           `data p: column "a": the format has %Q, which is not supported; use %Y %m %d %y %b %B %H %I %M %S %f %p`,
		`columns: {a: {format: {x: y}}}`:         `config.yaml:3: "format" is neither a format of dates, such as "%d.%m.%Y", nor a list of formats`,
		`columns: {a: {formats: "%Y-%m-%d"}}`:    `config.yaml:3: unknown key "formats"; did you mean "format"?`,
		`csv: {header: [a, b]}`:                  `config.yaml:3: unknown key "header"; did you mean "headers"?`,
		`columns: {a: {format: ["%Y", {x: y}]}}`: "config.yaml:3: found a map; write one word",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte("name: north\ndata:\n  p: {path: a.csv, "+entry+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConfig(all.Reader(), path); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\n%v\nwant %s", entry, err, want)
		}
	}
}
