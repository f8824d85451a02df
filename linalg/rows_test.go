package linalg

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever rows are stored in, they are read as the same numbers.
func TestRows(t *testing.T) {
	const rows, cols = 300, 1000 // more than one core gathers at a time
	single, double := New[float32](rows, cols), New[float64](rows, cols)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range single.Data {
		single.Data[i] = random.Float32()
		double.Data[i] = float64(single.Data[i])
	}
	index := random.Perm(rows)[:200]
	want := New[float64](len(index), cols)
	for a, i := range index {
		copy(want.Row(a), double.Row(i))
	}
	for name, from := range map[string]Rows{"float32": single, "float64": double} {
		chosen := Pick(from, index)
		if n, f := chosen.Shape(); n != len(index) || f != cols {
			t.Fatalf("%s: %d x %d rows, want %d x %d", name, n, f, len(index), cols)
		}
		got := New[float64](len(index)-7, cols)
		Gather(got, chosen, 7)
		if !slices.Equal(got.Data, want.Panel(7, len(index)).Data) {
			t.Errorf("%s: other numbers are read than are stored", name)
		}
	}
}

func TestReadRowHonoursStride(t *testing.T) {
	m := Matrix[float32]{Rows: 2, Cols: 2, Stride: 3, Data: []float32{1, 2, 9, 3, 4}}
	got := make([]float64, 2)
	if m.ReadRow(1, got); !slices.Equal(got, []float64{3, 4}) {
		t.Errorf("row 1 is read as %v", got)
	}
}
