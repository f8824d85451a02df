package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A row without a label is a mistake, unless gaps are allowed; an empty id always is.
func TestGaps(t *testing.T) {
	const text = "id,age,ill\np,40,yes\nq,50,\nr,60,+1\n"
	_, err := ReadCSV(strings.NewReader(text), CSVOptions{Name: "t.csv", Label: "ill"})
	wantSyntaxError(t, err, `t.csv:3: column "ill" is empty, but every row needs a label; fill the cell, or write label: {column: "ill", missing: drop-row} in the catalogue (in simulate, in the job) to leave out such rows`)
	s, err := ReadCSV(strings.NewReader(text), CSVOptions{Label: "ill", Gaps: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"yes", "", "1"}, s.Labels); d != "" || !slices.Equal(s.Labelled(), []int{0, 2}) {
		t.Errorf("labels %s, of rows %v", d, s.Labelled())
	}
	_, err = ReadCSV(strings.NewReader("id,age,ill\n,40,yes\n"), CSVOptions{Name: "t.csv", Label: "ill", Gaps: true})
	wantSyntaxError(t, err, `t.csv:2: column "id" is empty; fill the cell or drop the row`)
}

func TestGapsInParquet(t *testing.T) {
	type row struct {
		ID  string
		Age float64
		Ill string
	}
	in := parquetOf(t, []row{{"p", 40, "yes"}, {"q", 50, ""}})
	if _, err := readParquetText(in, ParquetOptions{ID: "ID", Label: "Ill"}); err == nil || !strings.Contains(err.Error(), "is empty in row 2") {
		t.Errorf("error %v", err)
	}
	s, err := readParquetText(in, ParquetOptions{ID: "ID", Label: "Ill", Gaps: true})
	if err != nil || !slices.Equal(s.Labels, []string{"yes", ""}) {
		t.Errorf("%v, %v", s, err)
	}
	in = parquetOf(t, []row{{"", 40, "yes"}})
	if _, err := readParquetText(in, ParquetOptions{ID: "ID", Label: "Ill", Gaps: true}); err == nil {
		t.Error("a row without an id is read")
	}
}

// Side by side, a row's label comes from the first set that has one.
func TestBesideFillsGaps(t *testing.T) {
	set := func(labels ...string) *Set {
		s := plainSet(t, len(labels))
		s.Labels = labels
		return s
	}
	first, none := set("a", "", "", ""), set("", "", "", "")
	none.Labels = nil
	s, err := Beside(first, none, set("", "b", "", "d"), set("x", "x", "c", ""))
	if err != nil || !slices.Equal(s.Labels, []string{"a", "b", "c", "d"}) || first.Labels[1] != "" {
		t.Errorf("labels %v of %v, %v", s.Labels, first.Labels, err)
	}
}

// plainSet has one column of zeros.
func plainSet(t *testing.T, rows int) *Set {
	t.Helper()
	s, err := ReadCSV(strings.NewReader(strings.Repeat("0\n", rows)), CSVOptions{Label: "none", Header: NoHeader})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
