package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Rows that are read panel by panel have the products of the whole matrix, bit
// for bit, whatever a panel holds.
func TestProductsOfPanels(t *testing.T) {
	const n, f = 37, 300
	x, single := linalg.New[float64](n, f), linalg.New[float32](n, f)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range x.Data {
		single.Data[i] = random.Float32()
		x.Data[i] = float64(single.Data[i])
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	scattered := linalg.Pick(single, all)
	want := LinearGram(x)
	for _, rows := range []int{1, 5, 36, 37, 100} {
		got := linalg.New[float64](n, n)
		gramOfPanels(got, scattered, rows*8*f)
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("panels of %d rows: another Gram matrix", rows)
		}
		cross := linalg.New[float64](20, n)
		crossOfPanels(cross, newPanels(linalg.Pick(single, all[:20]), rows*8*f), newPanels(scattered, 3*8*f))
		if !slices.Equal(cross.Data, want.Panel(0, 20).Data) {
			t.Errorf("panels of %d rows: other inner products", rows)
		}
	}
	for name, rows := range map[string]linalg.Rows{"float32": single, "rows that lie anywhere": scattered} {
		if !slices.Equal(LinearGram(rows).Data, want.Data) || !slices.Equal(CrossGram(rows, x).Data, want.Data) {
			t.Errorf("%s: other inner products than in float64", name)
		}
		if !slices.Equal(SquaredNorms(rows), SquaredNorms(x)) {
			t.Errorf("%s: other norms than in float64", name)
		}
	}
	if none := LinearGram(linalg.Pick(single, nil)); none.Rows != 0 {
		t.Errorf("no rows have a Gram matrix of %d", none.Rows)
	}
}
