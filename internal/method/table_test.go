package method

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
)

// Editions that the home found clear are clear for sums over the rows in training by the
// dictionary's fraction, and for no others.
func TestSumsOverOtherRowsAreNotClear(t *testing.T) {
	e := Edition{ID: "b", Number: 2, Clear: Clear{Rows: []string{"a"}, Sums: []string{"a"}, Classes: []string{"a"}, Numbers: []string{"a"}}}
	for out, test := range map[string]job.Test{
		"a fraction of 0.25":             {Fraction: 0.25},
		"all rows of east":               {Party: "east"},
		`rows with "day" from 2024 on`:   {Column: "day", From: "2024"},
		"no row":                         {None: true},
		"every row of 4":                 {Every: 4},
		"rows of a source of their own":  {Source: "x.csv"},
		"all rows of each party in turn": {Parties: job.HeldOutParties("each")},
	} {
		got, want := e.Without(test), e
		if want.Out = out; test.Fraction == 0 {
			want.Clear = Clear{}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", out, d)
		}
	}
}

// Counts of held-out rows of each class are clear where sums for each class are, and these counts, too.
func TestCountingHeldOutRows(t *testing.T) {
	e := Edition{ID: "c", Clear: Clear{Sums: []string{"b", "a"}, Classes: []string{"b", "a"}, HeldOut: []string{"a"}}}
	got, want := e.Counting(), e
	want.Clear.Classes = []string{"a"}
	if d := cmp.Diff(want, got); d != "" || len(e.Clear.Classes) != 2 {
		t.Error(d, e.Clear.Classes)
	}
}
