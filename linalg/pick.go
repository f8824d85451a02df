package linalg

import (
	"fmt"
	"math"
)

// PickValues sets to[i] to from[places[i]], or to from's last value for a place
// behind it. Meanwhile it asks the caches for what will be picked from next,
// ahead, or nothing (nil): picking waits for the second-level cache, not for
// memory. It runs on one core; use it inside For. It panics when there are
// fewer places than values to set, and when from is empty or of 2^31 values or
// more.
func PickValues(to, from []float64, places []uint32, ahead []float64) {
	pickValuesOn(Paths()[0], to, from, places, ahead)
}

// PickValuesAway is PickValues for values that are not read soon: it
// writes past the caches where to begins with a line.
func PickValuesAway(to, from []float64, places []uint32, ahead []float64) {
	pickValuesAwayOn(Paths()[0], to, from, places, ahead)
}

func pickValuesOn(p Path, to, from []float64, places []uint32, ahead []float64) {
	pick, _ := pickers(p)
	pick.values(to, from, places, ahead)
}

func pickValuesAwayOn(p Path, to, from []float64, places []uint32, ahead []float64) {
	_, away := pickers(p)
	away.values(to, from, places, ahead)
}

// picker is a way to pick n values, a multiple of 8; ahead has as many.
type picker func(n int, to, from []float64, places []uint32, ahead []float64)

func (pick picker) values(to, from []float64, places []uint32, ahead []float64) {
	if len(from) == 0 || len(from) > math.MaxInt32 || len(places) < len(to) {
		panic(fmt.Sprintf("linalg: %d values at %d places of %d", len(to), len(places), len(from)))
	}
	if n := min(len(to), len(ahead)) &^ 7; n > 0 {
		pick(n, to, from, places, ahead)
		to, places = to[n:], places[n:]
	}
	n := len(to) &^ 7
	if n > 0 {
		pick(n, to, from, places, from) // nothing that is not here
	}
	pickValues(len(to)-n, to[n:], from, places[n:], nil)
}

func pickValues(n int, to, from []float64, places []uint32, _ []float64) {
	last := uint32(len(from) - 1)
	for i, at := range places[:n] {
		to[i] = from[min(at, last)]
	}
}
