package fdskl

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSpans(t *testing.T) {
	if d := cmp.Diff([]Span{{1, 3}, {7, 1}, {9, 2}}, Spans(1, 2, 3, 7, 9, 10)); d != "" {
		t.Error(d)
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfDistinct(rapid.IntRange(0, 60), rapid.ID[int]).Draw(t, "rows")
		slices.Sort(rows)
		q := Request{Rows: Spans(rows...)}
		if q.rowCount() != len(rows) {
			t.Fatalf("%d rows, want %d", q.rowCount(), len(rows))
		}
		lo := rapid.IntRange(0, len(rows)).Draw(t, "lo")
		hi := rapid.IntRange(lo, len(rows)).Draw(t, "hi")
		if got := q.rows(lo, hi); !slices.Equal(got, rows[lo:hi]) {
			t.Fatalf("rows %d to %d are %v, want %v", lo, hi, got, rows[lo:hi])
		}
	})
}

// A phase is answered once, and only within the agreed limits.
func TestMarks(t *testing.T) {
	m := make(marks, 10)
	m.markAnswered(Request{Rows: Spans(2, 3), Directions: Span{0, 4}})
	for _, tt := range []struct {
		name string
		ask  Request
		want string // "" for an answered request
	}{
		{"other rows", Request{Rows: Spans(0, 1, 9), Directions: Span{0, 5}}, ""},
		{"later directions", Request{Rows: Spans(2, 3), Directions: Span{4, 4}}, ""},
		{"some directions left out", Request{Rows: Spans(3), Directions: Span{6, 1}}, ""},
		{"the same again", Request{Rows: Spans(2, 3), Directions: Span{0, 4}}, "row 2 from direction 0 on, but directions up to 3"},
		{"one of them again", Request{Rows: Spans(0, 3), Directions: Span{3, 2}}, "row 3 from direction 3"},
		{"no rows", Request{Rows: nil, Directions: Span{0, 1}}, "has no rows"},
		{"an empty span", Request{Rows: []Span{{4, 0}}, Directions: Span{0, 1}}, "rows 4 to 3"},
		{"beyond the alignment", Request{Rows: Spans(10), Directions: Span{0, 1}}, "rows 10 to 10; spans of rows must ascend and end below 10"},
		{"a span beyond the alignment", Request{Rows: []Span{{4, 7}}, Directions: Span{0, 1}}, "rows 4 to 10"},
		{"one row twice", Request{Rows: []Span{{4, 2}, {5, 1}}, Directions: Span{0, 1}}, "rows 5 to 5; spans of rows must ascend"},
		{"descending", Request{Rows: []Span{{4, 1}, {0, 1}}, Directions: Span{0, 1}}, "rows 0 to 0"},
		{"spans that meet", Request{Rows: []Span{{4, 1}, {5, 1}}, Directions: Span{0, 1}}, "adjacent spans must be merged"},
		{"a negative row", Request{Rows: []Span{{-1, 1}}, Directions: Span{0, 1}}, "rows -1"},
		{"no directions", Request{Rows: Spans(4), Directions: Span{2, 0}}, "directions 2 to 1"},
		{"too many directions", Request{Rows: Spans(4), Directions: Span{2, 7}}, "directions 2 to 8; this active worker may request directions 0 to 7"},
		{"more than a message holds", Request{Rows: Spans(4), Directions: Span{0, 6}}, "6 directions; at most 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(m)
			err := m.check(tt.ask, Span{0, 8}, 5)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if !slices.Equal(before, m) {
				t.Error("looking at a request changes what has been answered")
			}
		})
	}
}
