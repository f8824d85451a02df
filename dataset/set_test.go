package dataset

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
)

func TestAppend(t *testing.T) {
	a := &Set{Name: "a", X: denseOf([][]float64{{1, 0}, {3, 4}}), Labels: []string{"x", "y"}, IDs: []string{"1", "2"}}
	b := &Set{Name: "b", X: denseOf([][]float64{{5, 6}}), Labels: []string{"z"}, IDs: []string{"3"}, Columns: []string{"p", "q"}}
	want := plain{X: [][]float64{{1, 0}, {3, 4}, {5, 6}}, Labels: []string{"x", "y", "z"}, IDs: []string{"1", "2", "3"}, Columns: []string{"p", "q"}}
	sparse := func(s *Set) *Set {
		c := *s
		c.X = sparseOf(s.X.(*Dense))
		return &c
	}
	tests := []struct {
		name string
		sets []*Set
		csr  bool
	}{
		{"dense", []*Set{a, b}, false},
		{"sparse", []*Set{sparse(a), sparse(b)}, true},
		{"mixed", []*Set{sparse(a), b}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Append(tt.sets...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, plainOf(got)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if _, csr := got.X.(*CSR); csr != tt.csr {
				t.Errorf("table is %T", got.X)
			}
			if got.Name != "a + b" {
				t.Errorf("name %q", got.Name)
			}
		})
	}
	half := &Set{Name: "h", X: NewDense32(linalg.Matrix[float32]{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}})}
	got, err := Append(half, half)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := got.X.(*Dense32); !ok {
		t.Errorf("two sets of float32 give a %T", got.X)
	}
	if diff := cmp.Diff([][]float64{{1, 2}, {1, 2}}, cells(got.X)); diff != "" {
		t.Errorf("two sets of float32 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"x", "y"}, a.Labels); diff != "" {
		t.Errorf("Append changed its input:\n%s", diff)
	}
}

// Choosing and stacking rows of dense tables copies none: images in float32 are
// most of a machine's memory.
func TestChosenAndStackedRowsStayWhereTheyAre(t *testing.T) {
	const rows, cols = 40, 10_000
	m := linalg.New[float32](rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(i)
	}
	s := &Set{X: NewDense32(m)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	both, err := Append(s.Subset([]int{3, 1}), s.Subset([]int{39, 3}), s)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 4*cols {
		t.Errorf("%d bytes for choosing and stacking, more than one row has", taken)
	}
	for at, i := range []int{3, 1, 39, 3, 0} {
		if got := both.X.Row(at, nil)[7]; got != float64(m.Row(i)[7]) {
			t.Errorf("row %d is not row %d", at, i)
		}
	}
	d := both.X.(*Dense32)
	if again := d.Matrix(); again.Rows != 4+rows || again.Row(2)[7] != m.Row(39)[7] {
		t.Errorf("as a matrix: %d rows, row 2 has %v", again.Rows, again.Row(2)[7])
	}
	if grid, varying := GridColumns(both.X); grid != cols || varying != cols {
		t.Errorf("%d of %d columns on a grid, want all of %d", grid, varying, cols)
	}
}

func TestAppendRefuses(t *testing.T) {
	x, labels := denseOf([][]float64{{1, 2}}), []string{"0"}
	tests := []struct {
		name string
		sets []*Set
		want string
	}{
		{"nothing", nil, "dataset: there are no sets to append; give at least one set"},
		{"widths", []*Set{{Name: "a", X: x}, {X: denseOf([][]float64{{1}})}}, "dataset: a has 2 columns, but a set without name has 1; only sets with the same columns can be stacked"},
		{"labels", []*Set{{Name: "a", X: x, Labels: labels}, {Name: "b", X: x}}, "dataset: only one of a and b has labels; give labels to both or neither"},
		{"ids", []*Set{{Name: "a", X: x}, {Name: "b", X: x, IDs: labels}}, "dataset: only one of a and b has ids; give ids to both or neither"},
		{"names", []*Set{{Name: "a", X: x}, {Name: "b", X: x, Columns: []string{"u", "v"}}, {Name: "c", X: x, Columns: []string{"u", "w"}}}, `dataset: column 1 (from 0) of a is called "v", but in c it is called "w"; put the columns in the same order`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Append(tt.sets...); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestSubsetAndSelectColumns(t *testing.T) {
	s := &Set{Name: "s", X: denseOf([][]float64{{1, 2}, {3, 4}, {5, 6}}), Labels: []string{"a", "b", "c"}, IDs: []string{"1", "2", "3"}, Columns: []string{"p", "q"}}
	got := s.Subset([]int{2, 0}).SelectColumns([]int{1})
	want := plain{X: [][]float64{{6}, {2}}, Labels: []string{"c", "a"}, IDs: []string{"3", "1"}, Columns: []string{"q"}}
	if diff := cmp.Diff(want, plainOf(got)); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	bare := (&Set{X: s.X}).Subset([]int{1})
	if bare.Labels != nil || bare.IDs != nil || bare.Columns != nil {
		t.Errorf("a set without labels and ids gained some: %+v", bare)
	}
}

func TestValidate(t *testing.T) {
	x := denseOf([][]float64{{1, 2}, {3, 4}, {5, 6}})
	three := []string{"a", "b", "c"}
	tests := []struct {
		name string
		set  Set
		want string
	}{
		{"good", Set{X: x, Labels: three, IDs: three, Columns: []string{"p", "q"}}, ""},
		{"no table", Set{}, "dataset: a set without name: the set has no rows; give at least one"},
		{"no rows", Set{Name: "s", X: x.Subset(nil)}, "dataset: s: the set has no rows; give at least one"},
		{"no columns", Set{Name: "s", X: x.Columns(nil)}, "dataset: s: the set has no columns; give at least one feature"},
		{"labels", Set{Name: "s", X: x, Labels: three[:2]}, "dataset: s: there are 2 labels but 3 rows; give one label for each row"},
		{"ids", Set{Name: "s", X: x, IDs: three[:1]}, "dataset: s: there are 1 ids but 3 rows; give one id for each row"},
		{"columns", Set{Name: "s", X: x, Columns: three}, "dataset: s: there are 3 column names but 2 columns; give one name for each column"},
		{"NaN", Set{Name: "s", X: denseOf([][]float64{{1, 2}, {3, math.NaN()}})}, "dataset: s: row 2, column 1 (from 0) holds NaN; fill the cell or drop the row"},
		{"infinite", Set{Name: "s", X: sparseOf(denseOf([][]float64{{0, math.Inf(-1)}}))}, "dataset: s: row 1, column 1 (from 0) holds -Inf; fill the cell or drop the row"},
		{"same id", Set{Name: "s", X: x, IDs: []string{"a", "b", "a"}}, `dataset: s: rows 1 and 3 have the same id "a"; keep one of them`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.set.Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
}

func TestClasses(t *testing.T) {
	tests := []struct {
		labels, want []string
		codes        []int
	}{
		{[]string{"10", "9", "-1", "9"}, []string{"-1", "9", "10"}, []int{2, 1, 0, 1}},
		{[]string{"10", "9", "b", "9"}, []string{"10", "9", "b"}, []int{0, 1, 2, 1}},
		{[]string{"1.0", "1", "01"}, []string{"01", "1", "1.0"}, []int{2, 1, 0}},
		{nil, nil, []int{}},
	}
	for _, tt := range tests {
		classes, codes := Classes(tt.labels)
		if diff := cmp.Diff(tt.want, classes); diff != "" {
			t.Errorf("classes of %q (-want +got):\n%s", tt.labels, diff)
		}
		if diff := cmp.Diff(tt.codes, codes); diff != "" {
			t.Errorf("codes of %q (-want +got):\n%s", tt.labels, diff)
		}
	}
}

func TestTargets(t *testing.T) {
	got, err := Targets([]string{"1", "-2.5e3", ".5"})
	if diff := cmp.Diff([]float64{1, -2500, .5}, got); diff != "" || err != nil {
		t.Errorf("targets, error %v (-want +got):\n%s", err, diff)
	}
	for label, want := range map[string]string{
		"high":   `label "high" of row 2 is not a number; regression needs numbers`,
		"-1e300": `label "-1e300" of row 2 exceeds 1e+140 in magnitude; correct the label, or use a larger unit`,
	} {
		if _, err := Targets([]string{"1", label}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// The error of a set names the line, or the row where there are no lines.
func TestTargetsOfASet(t *testing.T) {
	s := &Set{Name: "ward.csv", Labels: []string{"1", "high"}, Lines: []int{2, 5}}
	if _, err := s.Targets(); err == nil || err.Error() != `ward.csv:5: label "high" is not a number; regression needs numbers` {
		t.Error(err)
	}
	s.Lines = nil
	if _, err := s.Targets(); err == nil || err.Error() != `ward.csv: row 2, label "high" is not a number; regression needs numbers` {
		t.Error(err)
	}
}

func TestLabellerForgetsTargets(t *testing.T) {
	var l labeller
	for i := range 2 * mostKnown {
		label := string(rune('a'+i%26)) + string(rune(0x4e00+i))
		if got, err := l.canonical(label); got != label || err != nil {
			t.Fatalf("label %q became %q, error %v", label, got, err)
		}
	}
	if len(l.known) > mostKnown {
		t.Errorf("%d labels kept, want at most %d", len(l.known), mostKnown)
	}
}

func TestBeside(t *testing.T) {
	left := &Set{Name: "left", X: NewDense(linalg.Matrix[float64]{Data: []float64{1, 2, 3, 4}, Rows: 2, Cols: 2, Stride: 2}), Columns: []string{"a", "b"}, IDs: []string{"p", "q"}}
	right := &Set{Name: "right", X: NewDense(linalg.Matrix[float64]{Data: []float64{5, 6}, Rows: 2, Cols: 1, Stride: 1}), Labels: []string{"no", "yes"}}
	got, err := Beside(left, right)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{1, 2, 5}, {3, 4, 6}}
	for i, row := range want {
		if d := cmp.Diff(row, got.X.Row(i, make([]float64, 3))); d != "" {
			t.Error(d)
		}
	}
	if !slices.Equal(got.IDs, left.IDs) || !slices.Equal(got.Labels, right.Labels) || got.Columns != nil || got.Name != "left + right" {
		t.Errorf("%+v", got)
	}
	if _, err := Beside(left, right.Subset([]int{0})); err == nil || !strings.Contains(err.Error(), "left has 2 rows and right has 1") {
		t.Errorf("error %v", err)
	}
	if _, err := Beside(); err == nil {
		t.Error("nothing is put side by side")
	}
}
