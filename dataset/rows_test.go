package dataset

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Rows of a sparse table can be read as such, rows of other tables cannot.
func TestRowsOf(t *testing.T) {
	csr, err := NewCSR(3, []int{0, 2, 2, 3}, []int32{0, 2, 1}, []float64{5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []Table{csr, DenseOf(csr)} {
		rows := RowsOf(table)
		if n, cols := rows.Shape(); n != 3 || cols != 3 {
			t.Errorf("%T: %d x %d rows", table, n, cols)
		}
		got := make([]float64, 3)
		if rows.ReadRow(0, got); !slices.Equal(got, []float64{5, 0, 6}) {
			t.Errorf("%T: row 0 is %v", table, got)
		}
		_, dense := table.(*Dense)
		if s, ok := rows.(linalg.SparseRows); ok == dense {
			t.Errorf("%T: sparse is %v", table, ok)
		} else if ok {
			if cols, values := s.Entries(0); !slices.Equal(cols, []int32{0, 2}) || !slices.Equal(values, []float64{5, 6}) {
				t.Errorf("row 0 has %v at %v", values, cols)
			}
		}
	}
}
