package scale

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// Sparse rows are scaled like dense rows if zeros stay zeros; a constant column then has
// only zeros.
func TestSparse(t *testing.T) {
	dense := table([]float64{0, 2, 5, 0}, []float64{4, 0, 5, 0}, []float64{0, 1, 5, 0})
	csr, err := dataset.NewCSR(4, []int{0, 2, 4, 6}, []int32{1, 2, 0, 2, 1, 2}, []float64{2, 5, 4, 5, 1, 5})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Pooled(dense, MinMax)
	if err != nil {
		t.Fatal(err)
	}
	got, stays := s.Sparse(csr)
	if _, sparse := got.(linalg.SparseRows); !stays || !sparse {
		t.Fatalf("the rows became %T", got)
	}
	want := s.Rows(dense)
	a, b := make([]float64, 4), []float64{9, 9, 9, 9}
	for i := range 3 {
		want.ReadRow(i, a)
		got.ReadRow(i, b)
		if !slices.Equal(a, b) {
			t.Errorf("row %d is %v, want %v", i, b, a)
		}
	}
	if n, f := got.Shape(); n != 3 || f != 4 {
		t.Errorf("%d x %d", n, f)
	}
	if s, err = Pooled(dense, Standard); err != nil {
		t.Fatal(err)
	}
	if rows, stays := s.Sparse(csr); stays {
		t.Errorf("zeros moved, and rows are still sparse: %v", rows)
	}
}
