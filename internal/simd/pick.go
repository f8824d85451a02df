package simd

// PickValues sets to[i] to from[places[i]], or to from's last value for a place
// behind it. Meanwhile it asks the caches for ahead, which may be nil.
func PickValues(p Path, to, from []float64, places []uint32, ahead []float64) {
	pick, _ := pickers(p)
	pick.values(to, from, places, ahead)
}

// PickValuesAway is PickValues past the caches, where to begins with a line.
func PickValuesAway(p Path, to, from []float64, places []uint32, ahead []float64) {
	_, away := pickers(p)
	away.values(to, from, places, ahead)
}

// picker is a way to pick n values, a multiple of 8; ahead has as many.
type picker func(n int, to, from []float64, places []uint32, ahead []float64)

func (pick picker) values(to, from []float64, places []uint32, ahead []float64) {
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
