package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
)

// rows are records in memory; fails is the error at their end.
type rows struct {
	columns []string
	list    [][]string
	at      int
	fails   error
}

func (r *rows) Columns() []string { return r.columns }

func (r *rows) Next() (dataset.Record, error) {
	if r.at == len(r.list) {
		if r.fails != nil {
			return dataset.Record{}, r.fails
		}
		return dataset.Record{}, io.EOF
	}
	r.at++
	return dataset.Record{Line: r.at, Fields: r.list[r.at-1]}, nil
}

func readAll(t *testing.T, from Store) (columns []string, list [][]string, lines []int) {
	t.Helper()
	r, err := Read(from)
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		list, lines = append(list, slices.Clone(row.Fields)), append(lines, row.Line)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r.Columns(), list, lines
}

// Whatever the order and the size of runs, the same rows come back, sorted by the key and then
// by the other columns, with every column in its place.
func TestRowsAreSorted(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	random := rand.New(rand.NewPCG(1, 2))
	var list [][]string
	for i := range 5000 {
		list = append(list, []string{fmt.Sprint(random.IntN(90)), fmt.Sprintf("p%04d", i/2), "", "\x00é\n,"[:random.IntN(6)]})
	}
	want := slices.Clone(list)
	slices.SortFunc(want, func(a, b []string) int {
		return slices.Compare([]string{a[1], a[0], a[2], a[3]}, []string{b[1], b[0], b[2], b[3]})
	})
	for _, runs := range []int{1 << 20, 3000, 40, 1} { // one, some, and all levels of them
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		m := new(Memory)
		if err := write(m, &rows{columns: []string{"x", "id", "gap", "y"}, list: list}, []string{"id", "absent"}, runs); err != nil {
			t.Fatal(err)
		}
		columns, got, lines := readAll(t, m)
		if diff := cmp.Diff([]string{"x", "id", "gap", "y"}, columns); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("runs of %d bytes: %s", runs, diff)
		}
		for i, line := range lines {
			if !slices.Equal(list[line-1], got[i]) {
				t.Fatalf("row %d says that it was in line %d, which holds %q", i, line, list[line-1])
			}
		}
		if len(*m) != 1 {
			t.Errorf("runs of %d bytes: %d streams are left", runs, len(*m))
		}
	}
}

// Rows without a key are sorted by all cells.
func TestRowsWithoutAKey(t *testing.T) {
	m := new(Memory)
	if err := Write(m, &rows{columns: []string{"a", "b"}, list: [][]string{{"2", "1"}, {"10", "1"}, {"10", ""}}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := readAll(t, m); !cmp.Equal(got, [][]string{{"10", ""}, {"10", "1"}, {"2", "1"}}) {
		t.Errorf("got %q", got)
	}
}

// A source that fails leaves no snapshot, whatever it gave before.
func TestFailedSourceLeavesNoSnapshot(t *testing.T) {
	broken := errors.New("the line is cut")
	for _, runs := range []int{1, 1 << 20} {
		m := new(Memory)
		err := write(m, &rows{columns: []string{"a"}, list: [][]string{{"2"}, {"1"}}, fails: broken}, nil, runs)
		if !errors.Is(err, broken) {
			t.Errorf("runs of %d bytes: %v", runs, err)
		}
		if _, err := Read(m); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("runs of %d bytes: a snapshot is there: %v", runs, err)
		}
	}
}

// A table without rows is one.
func TestNoRows(t *testing.T) {
	m := new(Memory)
	if err := Write(m, &rows{columns: []string{"a", "b"}}, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if columns, got, _ := readAll(t, m); !cmp.Equal(columns, []string{"a", "b"}) || got != nil {
		t.Errorf("got %q, %q", columns, got)
	}
}

// Whatever a stream holds is read as rows of the right width, or refused.
func FuzzRead(f *testing.F) {
	m := new(Memory)
	if err := Write(m, &rows{columns: []string{"a", "b"}, list: [][]string{{"2", "1"}, {"", "é"}}}, []string{"b"}); err != nil {
		f.Fatal(err)
	}
	whole := (*m)[Name]
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte{0, 3, 1, 'a', 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read(&Memory{Name: b})
		for err == nil {
			var row dataset.Record
			if row, err = r.Next(); err == nil && len(row.Fields) != len(r.Columns()) {
				t.Fatalf("%d fields of %d columns", len(row.Fields), len(r.Columns()))
			}
		}
	})
}

// Rows whose source has an order keep it, with their lines; a source that fails, or a row that is
// too long, leaves none.
func TestKeptRowsStayInOrder(t *testing.T) {
	m, list := new(Memory), [][]string{{"b", "2"}, {"a", ""}, {"b", "1"}, {"a", ""}}
	if err := Keep(m, &rows{columns: []string{"id", "x"}, list: list}); err != nil {
		t.Fatal(err)
	}
	columns, got, lines := readAll(t, m)
	if diff := cmp.Diff(list, got); diff != "" || !slices.Equal(columns, []string{"id", "x"}) || !slices.Equal(lines, []int{1, 2, 3, 4}) {
		t.Errorf("columns %v, lines %v: %s", columns, lines, diff)
	}
	failing := errors.New("no such ward")
	for want, source := range map[error]*rows{failing: {columns: []string{"id"}, list: [][]string{{"a"}}, fails: failing}, nil: {columns: []string{"id"}, list: [][]string{{string(make([]byte, maxRow+1))}}}} {
		m := new(Memory)
		if err := Keep(m, source); err == nil || want != nil && !errors.Is(err, want) || len(*m) > 0 {
			t.Errorf("%v, and %d streams; want %v", err, len(*m), want)
		}
	}
}
