package dataset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/linalg"
	"pgregory.net/rapid"
)

func denseOf(rows [][]float64) *Dense {
	m := linalg.New[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return NewDense(m)
}

// sparseOf is the dumb way to a CSR table.
func sparseOf(d *Dense) *CSR {
	indptr, indices, data := []int{0}, []int32(nil), []float64(nil)
	for i := range d.Rows() {
		d.Each(i, func(j int, v float64) {
			if v != 0 {
				indices, data = append(indices, int32(j)), append(data, v)
			}
		})
		indptr = append(indptr, len(data))
	}
	c, err := NewCSR(d.Cols(), indptr, indices, data)
	if err != nil {
		panic(err)
	}
	return c
}

func drawDense(t *rapid.T) *Dense {
	rows, cols := rapid.IntRange(1, 8).Draw(t, "rows"), rapid.IntRange(1, 8).Draw(t, "cols")
	d := denseOf(make2(rows, cols))
	for i := range d.cells.m.Data {
		d.cells.m.Data[i] = rapid.SampledFrom([]float64{0, 0, 0, 1, -2.5, 1e9}).Draw(t, "cell")
	}
	return d
}

func make2(rows, cols int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

func TestDenseAndCSRAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDense(t)
		c := sparseOf(d)
		rows := rapid.SliceOfN(rapid.IntRange(0, d.Rows()-1), 1, 10).Draw(t, "rows")
		cols := rapid.SliceOfN(rapid.IntRange(0, d.Cols()-1), 1, 10).Draw(t, "columns")
		equalTables(t, "table", d, c)
		equalTables(t, "Subset", d.Subset(rows), c.Subset(rows))
		equalTables(t, "Columns", d.Columns(cols), c.Columns(cols))
		equalTables(t, "both", d.Columns(cols).Subset(rows), c.Subset(rows).Columns(cols))
		for a, i := range rows {
			for b, j := range cols {
				if got, want := d.Columns(cols).Subset(rows).Row(a, nil)[b], d.cells.m.Row(i)[j]; got != want {
					t.Fatalf("cell (%d, %d) is %v, want %v", a, b, got, want)
				}
			}
		}
	})
}

func TestDenseAndDense32Agree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDense(t)
		m := linalg.New[float32](d.Rows(), d.Cols())
		for i, v := range d.cells.m.Data {
			m.Data[i] = float32(v)
		}
		half := NewDense32(m)
		rows := rapid.SliceOfN(rapid.IntRange(0, d.Rows()-1), 1, 10).Draw(t, "rows")
		cols := rapid.SliceOfN(rapid.IntRange(0, d.Cols()-1), 1, 10).Draw(t, "columns")
		lo := rapid.IntRange(0, d.Rows()-1).Draw(t, "first")
		run := linalg.Range(0, d.Rows())[lo:]
		equalTables(t, "table", d, half)
		equalTables(t, "Subset", d.Subset(rows), half.Subset(rows))
		equalTables(t, "Subset in a row", d.Subset(run), half.Subset(run))
		equalTables(t, "Columns", d.Columns(cols), half.Columns(cols))
		equalTables(t, "both", d.Columns(cols).Subset(rows), half.Subset(rows).Columns(cols))
		if none := half.Subset(nil); none.Rows() != 0 || none.Cols() != d.Cols() {
			t.Fatalf("no rows make a table of %d x %d", none.Rows(), none.Cols())
		}
	})
}

func equalTables(t *rapid.T, what string, d, c Table) {
	t.Helper()
	if d.Rows() != c.Rows() || d.Cols() != c.Cols() {
		t.Fatalf("%s: shapes %d x %d and %d x %d", what, d.Rows(), d.Cols(), c.Rows(), c.Cols())
	}
	if diff := cmp.Diff(cells(d), cells(c)); diff != "" {
		t.Fatalf("%s: rows (-dense +CSR):\n%s", what, diff)
	}
	if diff := cmp.Diff(cells(d), cells(DenseOf(c))); diff != "" {
		t.Fatalf("%s: DenseOf (-dense +CSR):\n%s", what, diff)
	}
	dirty := slices.Repeat([]float64{7}, c.Cols())
	for i := range c.Rows() {
		if diff := cmp.Diff(d.Row(i, nil), c.Row(i, dirty)); diff != "" {
			t.Fatalf("%s: row %d into a used slice (-dense +CSR):\n%s", what, i, diff)
		}
		last := -1
		c.Each(i, func(j int, v float64) {
			if j <= last || v != d.Row(i, nil)[j] {
				t.Fatalf("%s: Each of row %d gives column %d after %d with value %v", what, i, j, last, v)
			}
			last = j
		})
	}
}

func TestNewCSRRefuses(t *testing.T) {
	tests := []struct {
		name    string
		cols    int
		indptr  []int
		indices []int32
		data    []float64
		want    string
	}{
		{"too wide", MaxColumns + 1, []int{0}, nil, nil, "dataset: a sparse table has 16777217 columns; choose 0 to 16777216"},
		{"no indptr", 1, nil, nil, nil, "dataset: indptr must run from 0 to the common length of indices and data; indices has 0 entries and data has 0"},
		{"short indices", 1, []int{0, 1}, nil, []float64{1}, "dataset: indptr must run from 0 to the common length of indices and data; indices has 0 entries and data has 1"},
		{"descending indptr", 2, []int{0, 2, 1, 2}, []int32{0, 1}, []float64{1, 1}, "dataset: indptr decreases from 2 to 1 after row 1; give the index of each row's first entry"},
		{"indptr beyond the end", 2, []int{0, 9, 2}, []int32{0, 1}, []float64{1, 1}, "dataset: indptr gives row 0 an end of 9, but there are 2 entries; give the index of each row's first entry"},
		{"unsorted", 2, []int{0, 2}, []int32{1, 0}, []float64{1, 1}, "dataset: row 0: column 0 follows column 1; sort the row and merge its duplicates"},
		{"column too large", 2, []int{0, 1}, []int32{2}, []float64{1}, "dataset: row 0: column 2 (from 0) is outside the table of 2 columns; correct the index"},
		{"negative column", 2, []int{0, 1}, []int32{-1}, []float64{1}, "dataset: row 0: column -1 (from 0) is outside the table of 2 columns; correct the index"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewCSR(tt.cols, tt.indptr, tt.indices, tt.data)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestNewDensePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a matrix whose data are too short")
		}
	}()
	NewDense(linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 3)})
}

func TestNewDense32Panics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a matrix whose data are too short")
		}
	}()
	NewDense32(linalg.Matrix[float32]{Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 3)})
}

func TestDenseHonoursStride(t *testing.T) {
	d := NewDense(linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 3, Data: []float64{1, 2, 9, 3, 4}})
	want := [][]float64{{1, 2}, {3, 4}}
	if diff := cmp.Diff(want, cells(d)); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if step, ok := GridStep(d); step != 2 || !ok {
		t.Errorf("grid %v %v, want 2 true", step, ok)
	}
}

// Neighbouring columns stay where they are, of all rows and of some.
func TestNeighbouringColumnsAreNotCopied(t *testing.T) {
	m := linalg.New[float32](3, 5)
	for i := range m.Data {
		m.Data[i] = float32(i)
	}
	table := NewDense32(m)
	shared := table.Columns([]int{1, 2, 3}).(*Dense32).Matrix()
	copied := table.Columns([]int{1, 3}).(*Dense32).Matrix()
	chosen := table.Subset([]int{2, 0}).Columns([]int{1, 2})
	m.Data[1] = -1
	if shared.Row(0)[0] != -1 || copied.Row(0)[0] != 1 || chosen.Row(1, nil)[0] != -1 || chosen.Row(0, nil)[1] != 12 {
		t.Errorf("%v, %v, %v", shared.Row(0), copied.Row(0), chosen.Row(1, nil))
	}
	if got := shared.Row(2); len(got) != 3 || got[0] != 11 || got[2] != 13 {
		t.Errorf("row 2 is %v", got)
	}
}
