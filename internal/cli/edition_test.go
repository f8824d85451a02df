package cli

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/node/edition"
)

// The list of editions says which jobs wait beside those over which earlier edition, and nothing where none do.
func TestEditionsSayWhatWaits(t *testing.T) {
	const begins = "    fewer than 10 people came, went or changed since edition 1, beside whose jobs these wait: "
	for name, tt := range map[string]struct {
		beside edition.Beside
		says   string // "" for nothing
	}{
		"nothing":  {edition.Beside{}, ""},
		"any":      {edition.Beside{Rows: edition.Few{Any: true}, Sums: edition.Few{Any: true}}, "all jobs"},
		"a column": {edition.Beside{Rows: edition.Few{Columns: []string{"age", "krea"}}, Sums: edition.Few{Columns: []string{"age"}}}, "all jobs over age, krea"},
		"a label":  {edition.Beside{Rows: edition.Few{Labels: []string{"ill"}}}, "all jobs with label ill"},
		"sums":     {edition.Beside{Sums: edition.Few{Columns: []string{"age"}}}, "sums over age"},
		"classes":  {edition.Beside{Classes: map[string][]string{"ill": {"", "age"}, "dead": {"age"}}}, "sums for each class of dead over age; sums for each class of ill"},
		"numbers":  {edition.Beside{Numbers: map[string][]string{"cost": {"age"}}}, "sums that predict the number cost over age"},
	} {
		tt.beside.Number = 1
		e := edition.Edition{Day: "2026-11-28", Table: "people", Name: "cohort", Number: 2, Training: 75, HeldOut: 25, Beside: []edition.Beside{tt.beside}}
		var b strings.Builder
		if err := (editionList{[]edition.Edition{e}}).Print(&b); err != nil {
			t.Fatal(err)
		}
		want := "2026-11-28  people  edition 2 for cohort: 75 rows to train with, 25 held out\n"
		if tt.says != "" {
			want += begins + tt.says + "\n"
		}
		if b.String() != want {
			t.Errorf("%s: %q, want %q", name, b.String(), want)
		}
	}
}
