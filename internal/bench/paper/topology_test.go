package paper

import (
	"slices"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/transport/link"
)

func TestEveryTopologyAddsUpEveryNodesMatrixOnce(t *testing.T) {
	for _, top := range topologies {
		for nodes := 2; nodes <= 17; nodes++ {
			sums := make([]int, nodes)
			for i := range sums {
				sums[i] = 1 << i
			}
			for _, h := range top.hops(nodes) {
				if h.to == 0 && top.name == "ring" {
					sums[0] = 0 // node 0 gets its own back in the sum
				}
				sums[h.to] += sums[h.from]
				sums[h.from] = 0
			}
			if want := 1<<nodes - 1; sums[0] != want {
				t.Errorf("%s of %d nodes: node 0 has %b, want %b", top.name, nodes, sums[0], want)
			}
		}
	}
}

func TestTheTreesTimeGrowsWithItsDepth(t *testing.T) {
	took := func(nodes int) time.Duration {
		d, _, err := summed(t.Context(), link.Line{Rate: 1e6}, treeHops(nodes), nodes, 100)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one := took(2)
	if four, five := took(4), took(5); four != 2*one || five != 3*one {
		t.Errorf("2 nodes take %v, 4 take %v, 5 take %v", one, four, five)
	}
}

func TestAMatrixTravelsInPieces(t *testing.T) {
	var sizes []int
	for _, p := range matrixPieces(512) {
		sizes = append(sizes, len(p))
	}
	if want := []int{524288, 524288, 2048}; !slices.Equal(sizes, want) {
		t.Errorf("pieces of %v bytes, want %v", sizes, want)
	}
}
