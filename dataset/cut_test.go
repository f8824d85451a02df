package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRowsFromABound(t *testing.T) {
	for _, tt := range []struct {
		bound string
		cells []string
		want  []int
	}{
		{"2024-01-01", []string{"2023-12-31", "2024-01-01", "2024-06-30", "1999-01-01"}, []int{1, 2}},
		{"2024-01-01", []string{"2023-12-31T23:59:59", "2024-01-01 00:00", "2024-01-01T00:00:00Z"}, []int{1, 2}},
		{"2024-01-01T12:30", []string{"2024-01-01", "2024-01-01 12:30:00", "2024-01-02"}, []int{1, 2}},
		{"2015", []string{"2014", "2015", "2015.5", "1e4", "-3"}, []int{1, 2, 3}}, // a year is a number
		{"-0.5", []string{"0", "-1"}, []int{0}},
		{"9", []string{"10", "8"}, []int{0}}, // not by the letters
		{"3", nil, nil},
		{"2024-02-29", []string{"2024-02-28", "2024-02-29", "2000-02-29", "2024-03-01T08:00"}, []int{1, 3}},
	} {
		b, err := ParseBound(tt.bound)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.From(tt.cells); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("from %s of %v: rows %v, %v; want %v", tt.bound, tt.cells, got, err, tt.want)
		}
	}
	for bound, cell := range map[string]string{"2024-01-01": "31.12.2023", "7": "seven", "8": ""} {
		b, err := ParseBound(bound)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.From([]string{bound, cell}); err == nil || !strings.Contains(err.Error(), "row 2 holds ") {
			t.Errorf("%q from %s: %v", cell, bound, err)
		}
	}
	for _, text := range []string{"", "soon", "2024-13-01", "2023-02-29", "2024-04-31", "1900-02-29", "2024-00-10", "2024-01-00", "2024-01-01T24:00", "2024-01-01T1:00", "2024/01/01", "20240101T", "1.1.2024", "NaN"} {
		if _, err := ParseBound(text); err == nil {
			t.Errorf("%q is a bound", text)
		}
	}
}

// What tells rows apart beside their features goes with the rows.
func TestCellsBesideTheFeatures(t *testing.T) {
	s := people(4)
	s.Groups, s.Cut = []string{"a", "b", "a", "c"}, []string{"1", "2", "3", "4"}
	s.Lines, s.Filled = []int{2, 3, 5, 6}, []bool{false, true, false, true}
	s.Weights = []float64{1, 0, 2, -1}
	some := s.Subset([]int{2, 1}).SelectColumns([]int{1})
	if !slices.Equal(some.Groups, []string{"a", "b"}) || !slices.Equal(some.Cut, []string{"3", "2"}) {
		t.Errorf("a part has groups %v and cells %v", some.Groups, some.Cut)
	}
	if !slices.Equal(some.Weights, []float64{2, 0}) || !slices.Equal(some.Lines, []int{5, 3}) || !slices.Equal(some.Filled, []bool{false, true}) {
		t.Errorf("a part has weights %v, lines %v and marks %v", some.Weights, some.Lines, some.Filled)
	}
	both, err := Append(s, s)
	if err != nil || !slices.Equal(both.Weights, slices.Repeat(s.Weights, 2)) || len(both.Groups) != 8 || len(both.Cut) != 8 || both.Cut[5] != "2" {
		t.Errorf("stacked: groups %v, cells %v, %v", both.Groups, both.Cut, err)
	}
	if _, err := Append(s, people(4)); err == nil || !strings.Contains(err.Error(), "groups") {
		t.Errorf("stacked on rows without groups: %v", err)
	}
	for _, wrong := range []func(*Set){
		func(s *Set) { s.Groups = s.Groups[1:] }, func(s *Set) { s.Cut = s.Cut[1:] },
		func(s *Set) { s.Lines = s.Lines[1:] }, func(s *Set) { s.Filled = s.Filled[1:] }, func(s *Set) { s.Weights = s.Weights[1:] },
	} {
		bad := *s
		wrong(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "but 4 rows") {
			t.Errorf("validated with too few: %v", err)
		}
	}
	unweighted := people(4)
	unweighted.Groups, unweighted.Cut = s.Groups, s.Cut
	if _, err := Append(s, unweighted); err == nil || !strings.Contains(err.Error(), "has weights of rows; give them to both or neither") {
		t.Errorf("stacked on rows without weights: %v", err)
	}
	s.Weights = []float64{1, math.NaN(), 1, 1}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "the weight of row 2 is NaN; a weight must be finite") {
		t.Errorf("a weight of NaN: %v", err)
	}
}
