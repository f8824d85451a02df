package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/node/edition"
)

// The list of editions says which jobs await approval because of which earlier edition, and nothing
// where none do.
func TestEditionsSayWhatWaits(t *testing.T) {
	const begins = "    fewer than 10 people were added, removed or changed since edition 1; if jobs read that one, these await approval: "
	type few = edition.Few
	age, visit := []string{"age"}, []string{"visit"}
	for name, tt := range map[string]struct {
		beside edition.Beside
		says   string // "" for nothing
	}{
		"nothing":            {edition.Beside{}, ""},
		"any":                {edition.Beside{Rows: few{Any: true}, Sums: few{Any: true, Columns: age}}, "all jobs"},
		"a column":           {edition.Beside{Rows: few{Columns: []string{"age", "krea"}}, Sums: few{Columns: age}}, "all jobs over age; rows over krea"},
		"all columns":        {edition.Beside{Rows: few{Columns: []string{""}}, Sums: few{Columns: age}}, "rows; sums over age"},
		"a label":            {edition.Beside{Rows: few{Labels: []string{"ill"}}, Sums: few{Labels: []string{"ill"}}}, "all jobs with label ill"},
		"a label in sums":    {edition.Beside{Sums: few{Labels: []string{"ill"}}}, "sums with label ill"},
		"sums":               {edition.Beside{Sums: few{Columns: age}}, "sums over age"},
		"sums beside rows":   {edition.Beside{Rows: few{Columns: visit}, Sums: few{Any: true, Columns: visit}}, "all jobs over visit; sums"},
		"more sums":          {edition.Beside{Rows: few{Columns: visit}, Sums: few{Columns: []string{"age", "visit"}}}, "all jobs over visit; sums over age"},
		"classes":            {edition.Beside{Classes: map[string][]string{"ill": {""}, "dead": age}}, "sums for each class of dead over age; sums for each class of ill"},
		"numbers":            {edition.Beside{Numbers: map[string][]string{"cost": age}}, "sums that predict the number cost over age"},
		"classes held out":   {edition.Beside{HeldOut: map[string][]string{"ill": age}}, "counts of those held out for each class of ill over age"},
		"sums of every kind": {edition.Beside{Sums: few{Any: true}, Classes: map[string][]string{"ill": age}}, "sums"},
	} {
		tt.beside.Number, tt.beside.Compared = 1, &edition.Compared{Rule: edition.Rule}
		e := edition.Edition{Day: "2026-11-28", Table: "people", Name: "cohort", Number: 2, Training: 75, HeldOut: 25, Beside: []edition.Beside{tt.beside}}
		var b strings.Builder
		if err := (editionList{[]edition.Edition{e}}).Print(&b); err != nil {
			t.Fatal(err)
		}
		want := "2026-11-28  people  edition 2 for cohort: 75 training rows, 25 held out\n"
		if tt.says != "" {
			want += begins + tt.says + "\n"
		}
		if b.String() != want {
			t.Errorf("%s: %q, want %q", name, b.String(), want)
		}
	}
}

// What an earlier program found clear is not.
func TestEditionsOfAnEarlierProgramWait(t *testing.T) {
	var b bytes.Buffer
	tellFew(&printer{w: &b}, []edition.Beside{{Number: 1}})
	if !strings.Contains(b.String(), "freeze the table again") {
		t.Error(b.String())
	}
}
