package okra

import (
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// wide is encoder hadamard for rows that do not fit the cache. It encodes eight rows at a time,
// interleaved so that a coordinate of all eight fills a cache line. Memory is fast if the processor
// can predict the next read, and if whole lines are written past the cache, in any order. So this
// encoder reads memory in order and permutes coordinates as it writes them. A round reads and
// writes the rows three times.
//
//   - Each part of 4096 coordinates in the first window gets the lower twelve levels
//     of this window's transform, in the second-level cache.
//   - Strips of all parts get the upper levels of both windows' transforms, and
//     the signs between the two, in the first-level cache. Meanwhile the next
//     strips are prefetched.
//   - Each part in the last window, if there are two, gets the lower levels of that
//     window's transform. Then the coordinates of every part move to the places and
//     get the signs of the next permutation.
type wide struct {
	width         int
	parts, window int        // number of parts, of 4096 coordinates each, in the row and in a window
	places        [][]uint32 // for each layer, the target and the sign of every coordinate
	between       [][]int8   // for each round, the signs of the last window, strip by strip
	scale         float64
}

const (
	part = 1 << 12
	// partStep is the distance in memory from one part of 4096 coordinates to the next. It is one
	// strip longer than a part's values, so that equal places of all parts do not share a set of
	// the cache. The extra strip holds no values; it lets each strip prefetch the next one.
	partStep = linalg.Interleaved*part + linalg.Strip
	// loadedAtOnce is the number of coordinates that loadRows interleaves at a time.
	loadedAtOnce = part / 8
	// widest is the largest width of rows that are encoded eight at a time. It limits the time and
	// the memory of eight rows, at most 151 MB.
	widest = 9 << 17
)

func newWide(s *prg.Stream, rounds, width, window int) *wide {
	w := &wide{width: width, parts: width / part, window: window / part, scale: 1 / math.Sqrt(float64(window))}
	for range rounds + 1 {
		order, signs := s.Perm32(width), make([]int8, width)
		s.Signs(signs)
		w.places = append(w.places, placesOf(order, signs))
	}
	signs := make([]int8, window)
	for range rounds {
		s.Signs(signs)
		w.between = append(w.between, byStrips(signs))
	}
	return w
}

// placesOf returns, for each coordinate, the place in memory to which it moves and its sign there.
// Rows are stored in parts.
func placesOf(o order, signs []int8) []uint32 {
	places := make([]uint32, len(o))
	for i, from := range o {
		at := uint32(i/part*(partStep/linalg.Interleaved) + i%part)
		if signs[i] < 0 {
			at |= linalg.Turned
		}
		places[from] = at
	}
	return places
}

// byStrips reorders the signs of a window, because mixParts processes a window strip by strip.
func byStrips(signs []int8) []int8 {
	const rows = linalg.Strip / linalg.Interleaved
	sorted := make([]int8, 0, len(signs))
	for at := 0; at < part; at += rows {
		for p := 0; p < len(signs); p += part {
			sorted = append(sorted, signs[p+at:][:rows]...)
		}
	}
	return sorted
}

func (w *wide) Width() int { return w.width }

// panel returns 16 rows: eight for each of two cores. With more rows, a step would take too long.
func (w *wide) panel() int { return 2 * linalg.Interleaved }

func (w *wide) pieces(rows int) int { return (rows-1)/w.panel() + 1 }

func (w *wide) Encode(dst, src linalg.Matrix[float64]) {
	linalg.For(src.Rows, linalg.Interleaved, func(lo, hi int) { w.encodeRows(dst.Panel(lo, hi), src.Panel(lo, hi)) })
}

func (w *wide) piece(dst, src linalg.Matrix[float64], i int) {
	lo, hi := i*w.panel(), min((i+1)*w.panel(), src.Rows)
	w.Encode(dst.Panel(lo, hi), src.Panel(lo, hi))
}

// encodeRows encodes up to eight rows.
func (w *wide) encodeRows(dst, src linalg.Matrix[float64]) {
	all, few := partStep*w.parts, max(linalg.Interleaved*loadedAtOnce, linalg.Strip*w.parts)
	linalg.Scratch(2*all+few, func(room []float64) {
		x, next, hot := room[:all], room[all:2*all], room[2*all:]
		w.loadRows(x, hot, src)
		for r := range w.between {
			for p := range w.window {
				linalg.FWHTColumns(values(x, p), linalg.Interleaved)
			}
			for at := 0; at < linalg.Interleaved*part; at += linalg.Strip {
				w.mixParts(r, x[at:], hot, at/linalg.Interleaved)
			}
			for p := range w.parts {
				w.finishPart(r, next, x, p)
			}
			x, next = next, x
		}
		for p := range w.parts {
			linalg.Deinterleave(columns(dst, p*part, (p+1)*part), values(x, p))
		}
	})
}

// values returns part p of all eight rows.
func values(x []float64, p int) []float64 { return x[p*partStep:][:linalg.Interleaved*part] }

// loadRows pads the rows with zeros and writes them to memory in the order of the first
// permutation.
func (w *wide) loadRows(to, hot []float64, src linalg.Matrix[float64]) {
	hot = hot[:linalg.Interleaved*loadedAtOnce]
	for at := 0; at < w.width; at += loadedAtOnce {
		lo, hi := min(src.Cols, at), min(src.Cols, at+loadedAtOnce)
		if lo < hi {
			linalg.Interleave(hot, columns(src, lo, hi))
		}
		clear(hot[linalg.Interleaved*(hi-lo):])
		linalg.Scatter(to, hot, w.places[0][at:][:loadedAtOnce], 1)
	}
}

// mixParts computes those levels of both transforms that combine coordinates of different parts. It
// does so for one strip of each part. The argument start is the index of the strip's first
// coordinate in the part.
func (w *wide) mixParts(r int, x, strips []float64, start int) {
	rows, near := linalg.Strips{Values: x, Distance: partStep}, linalg.Strips{Values: strips, Distance: linalg.Strip}
	ahead := linalg.NewAhead(w.parts, linalg.Strips{Values: x[linalg.Strip:], Distance: partStep})
	linalg.FWHTCollect(strips[:linalg.Strip*w.window], rows, ahead)
	outside := w.parts - w.window // number of parts outside each of the two windows
	if outside == 0 {
		linalg.CopyStrips(w.parts, rows, near)
		return
	}
	linalg.CopyStrips(outside, near.From(w.window), rows.From(w.window))
	linalg.CopyStrips(outside, rows, near)
	strips = near.From(outside).Values[:linalg.Strip*w.window]
	w.signStrips(strips, w.between[r][start*w.window:])
	linalg.FWHTSpread(rows.From(outside), strips, ahead)
}

// signStrips multiplies the strips of the last window by the signs between the two transforms. It
// also scales those strips that the first window has transformed.
func (w *wide) signStrips(strips []float64, signs []int8) {
	const rows = linalg.Strip / linalg.Interleaved
	both := 2*w.window - w.parts
	linalg.SignRows(strips, signs[:rows*both], w.scale)
	linalg.SignRows(strips[linalg.Strip*both:], signs[rows*both:rows*w.window], 1)
}

// finishPart ends a round for one part: it scales the part's coordinates and permutes them for the
// next round. If there are two windows, it first completes the transform of the last one.
func (w *wide) finishPart(r int, to, x []float64, p int) {
	send := linalg.Scatter
	if outside := w.parts - w.window; outside > 0 && p >= outside {
		send = linalg.FWHTScatter
	}
	send(to, values(x, p), w.places[r+1][p*part:][:part], w.scale)
}
