package kernel_test

import (
	"testing"

	"github.com/mercer-fl/mercer/kernel"
)

// The inner products become the values that a second matrix would hold, bit for bit, whatever the
// cut into tiles.
func TestMaterializeGram(t *testing.T) {
	for _, n := range []int{1, 127, 128, 129, 300} {
		x, _ := scattered(n, 7, 9)
		for _, spec := range lazySpecs() {
			k := made(t, spec)
			want := kernel.Materialize(kernel.Of(kernel.LinearGram(x), k)).K
			got := kernel.MaterializeGram(kernel.LinearGram(x), k).K
			for i := range n {
				for j := range n {
					if got.Row(i)[j] != want.Row(i)[j] {
						t.Fatalf("%s of %d rows: value (%d, %d) is %v, want %v", spec.Name, n, i, j, got.Row(i)[j], want.Row(i)[j])
					}
				}
			}
		}
	}
}
