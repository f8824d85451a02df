package okra

import (
	"math"

	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// wide is encoder hadamard for rows that do not fit the cache: the same map, of
// eight rows abreast. Memory is fast where it foresees what is read next, so
// every pass goes along it: a round reads and writes the rows three times.
//
//   - Each part of 4096 coordinates is put in order as its values came, and
//     gets the lower twelve levels of the first window's transform, while it
//     is in the second-level cache.
//   - The upper levels of both windows, with the signs between, are done on
//     strips of all parts, in the first-level cache.
//   - Each part gets the lower levels of the last window's, and its coordinates
//     are sent to the parts that they go to next, where those of a part arrive
//     next to each other.
type wide struct {
	width         int
	parts, window int // parts of the row and of a window
	layers        []line
	between       [][]int8 // for each round: signs of the last window, strip by strip
	scale         float64
	pick          func(to, from []float64, places []uint16, ahead []float64)
}

// line is a layer of a wide row.
type line struct {
	route *route
	signs []int8
}

const (
	part = linalg.Places
	// partStep is how far apart in memory parts begin: a strip further than
	// their values, lest equal places of all parts share a set of the cache.
	partStep = linalg.Abreast*part + linalg.Strip
	// distant is how many values, 16 MiB, are gone from the cache before they are
	// read again, because another core has as many.
	distant = 1 << 21
	// widest bounds the time that eight rows take, and their memory.
	widest = 5 << 17
)

// isWide says whether rows are encoded abreast: no longer fit the cache, and
// are cut into parts, as those of all widths that Padding gives.
func isWide(width, window int) bool {
	return width > direct && width <= widest && width%part == 0 && window%part == 0
}

func newWide(s *prg.Stream, rounds, width, window int) *wide {
	w := &wide{width: width, parts: width / part, window: window / part, scale: 1 / math.Sqrt(float64(window)), pick: linalg.PickRows}
	if linalg.Abreast*width >= distant {
		w.pick = linalg.PickRowsAway
	}
	for range rounds + 1 {
		order := s.Perm32(width)
		l := line{newRoute(order, part), make([]int8, width)}
		s.Signs(l.signs)
		w.layers = append(w.layers, l)
	}
	signs := make([]int8, window)
	for range rounds {
		s.Signs(signs)
		w.between = append(w.between, byStrips(signs))
	}
	return w
}

// byStrips sorts the signs of a window as the strips have its coordinates.
func byStrips(signs []int8) []int8 {
	const rows = linalg.Strip / linalg.Abreast
	sorted := make([]int8, 0, len(signs))
	for at := 0; at < part; at += rows {
		for p := 0; p < len(signs); p += part {
			sorted = append(sorted, signs[p+at:][:rows]...)
		}
	}
	return sorted
}

func (w *wide) Width() int { return w.width }

// panel is eight rows for each of two cores; of more a step would take too long.
func (w *wide) panel() int { return 2 * linalg.Abreast }

func (w *wide) pieces(rows int) int { return (rows-1)/w.panel() + 1 }

func (w *wide) Encode(dst, src linalg.Matrix[float64]) {
	linalg.For(src.Rows, linalg.Abreast, func(lo, hi int) { w.rows(dst.Panel(lo, hi), src.Panel(lo, hi)) })
}

func (w *wide) piece(dst, src linalg.Matrix[float64], i int) {
	lo, hi := i*w.panel(), min((i+1)*w.panel(), src.Rows)
	w.Encode(dst.Panel(lo, hi), src.Panel(lo, hi))
}

// rows encodes up to eight rows.
func (w *wide) rows(dst, src linalg.Matrix[float64]) {
	linalg.Scratch(partStep*(2*w.parts+1)+linalg.Strip*w.parts, func(room []float64) {
		all := partStep * w.parts
		x, next, hot, strips := room[:all], room[all:2*all], room[2*all:][:linalg.Abreast*part], room[2*all+partStep:]
		w.enter(x, hot, src)
		for r := range w.between {
			for p := range w.parts {
				w.arrive(r, x, hot, p)
			}
			for at := 0; at < linalg.Abreast*part; at += linalg.Strip {
				w.across(r, x[at:], strips, at/linalg.Abreast)
			}
			for p := range w.parts {
				w.leave(r, next, hot, x, p)
			}
			x, next = next, x
		}
		w.exit(dst, hot, x)
	})
}

// enter sends the values of the rows, and zeros behind them, to where they go
// first.
func (w *wide) enter(to, hot []float64, src linalg.Matrix[float64]) {
	for p := range w.parts {
		lo, hi := min(src.Cols, p*part), min(src.Cols, (p+1)*part)
		if lo < hi {
			linalg.StandAbreast(hot, columns(src, lo, hi))
		}
		clear(hot[linalg.Abreast*(hi-lo):])
		w.send(0, to, hot, p, hot)
	}
}

// arrive puts part p in order and does its share of the first window.
func (w *wide) arrive(r int, x, hot []float64, p int) {
	at := x[p*partStep:][:linalg.Abreast*part]
	if p >= w.window {
		w.order(r, hot, at, p, 1)
		copy(at, hot)
		return
	}
	w.order(r, hot, at, p, w.scale)
	linalg.FWHTColumns(at, hot, linalg.Abreast)
}

// order puts what came to part p into its places and changes signs.
func (w *wide) order(r int, to, from []float64, p int, scale float64) {
	l := w.layers[r]
	linalg.PlaceRows(to, from, l.route.to[p*part:][:part], l.signs[p*part:], scale)
}

// across does the upper levels of both windows for the coordinates from the
// given one on in each part.
func (w *wide) across(r int, x, strips []float64, from int) {
	linalg.CopyStrips(w.parts, strips, linalg.Strip, x, partStep)
	window := strips[:linalg.Strip*w.window]
	linalg.FWHTColumns(window, window, linalg.Strip)
	if w.window < w.parts {
		window = strips[linalg.Strip*(w.parts-w.window):][:len(window)]
		linalg.TurnRows(window, w.between[r][from*w.window:][:len(window)/linalg.Abreast], w.scale)
		linalg.FWHTColumns(window, window, linalg.Strip)
	}
	linalg.CopyStrips(w.parts, x, partStep, strips, linalg.Strip)
}

// leave does part p's share of the last window and sends it on.
func (w *wide) leave(r int, to, hot, x []float64, p int) {
	at := x[p*partStep:][:linalg.Abreast*part]
	if p >= w.parts-w.window && w.window < w.parts {
		linalg.FWHTColumns(hot, at, linalg.Abreast)
		at = hot
	}
	w.send(r+1, to, at, p, x[min(p+1, w.parts-1)*partStep:])
}

// send brings the values of part p to the parts that they go to, while the part
// that is read next comes.
func (w *wide) send(layer int, to, from []float64, p int, ahead []float64) {
	route := w.layers[layer].route
	places := route.from[p*part:]
	for target, s := range route.shipments[p*w.parts : (p+1)*w.parts] {
		at := partStep*target + linalg.Abreast*(s.at-part*target)
		n := s.end - s.at
		w.pick(to[at:], from, places[:n], ahead)
		places, ahead = places[n:], ahead[linalg.Abreast*n:]
	}
}

// exit puts the coordinates in their last order.
func (w *wide) exit(dst linalg.Matrix[float64], hot, x []float64) {
	for p := range w.parts {
		w.order(len(w.between), hot, x[p*partStep:][:linalg.Abreast*part], p, 1)
		linalg.FallIn(columns(dst, p*part, (p+1)*part), hot)
	}
}
