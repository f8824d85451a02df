package linalg

import (
	"fmt"
	"math"
)

// PickValues sets to[i] to from[places[i]], or to from's last value for a place
// behind it. It runs on one core; use it inside For. It panics when there are
// fewer places than values to set, and when from is empty or of 2^31 values or
// more.
func PickValues(to, from []float64, places []uint32) { pickValuesOn(Paths()[0], to, from, places) }

func pickValuesOn(p Path, to, from []float64, places []uint32) {
	if len(from) == 0 || len(from) > math.MaxInt32 || len(places) < len(to) {
		panic(fmt.Sprintf("linalg: %d values at %d places of %d", len(to), len(places), len(from)))
	}
	n := len(to) &^ 7
	if n > 0 {
		picker(p)(n, to, from, places)
	}
	pickValues(len(to)-n, to[n:], from, places[n:])
}

func pickValues(n int, to, from []float64, places []uint32) {
	last := uint32(len(from) - 1)
	for i, at := range places[:n] {
		to[i] = from[min(at, last)]
	}
}
