package feature

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// BlockLength is the number of directions that are drawn in sequence from one source. One source
// serves many directions, because making a source takes much time.
const BlockLength = 64

// Directions draws random directions from a spectrum: the entries that they have in some of the columns. Block
// k holds directions k BlockLength to (k+1) BlockLength - 1. Any process can make any direction, in
// any order, if the sources always give the same numbers for the same block and column. Several
// goroutines call the functions Entries and Scales at the same time.
type Directions struct {
	Spectrum Spectrum
	Columns  int
	// Entries returns the source of random numbers for one column in one block. If each holder of
	// columns has its own key, no other party knows the entries in these columns.
	Entries func(block, column int) Numbers
	// Scales returns the source of random numbers for a block's scales, which are equal for all
	// holders of columns. It is called only if the spectrum has scales.
	Scales func(block int) Numbers
}

// Read sets row i of dst to direction start+i, for all rows of dst and on all cores. It panics on
// another width.
func (d Directions) Read(dst linalg.Matrix[float64], start int) {
	if dst.Cols != d.Columns {
		panic(fmt.Sprintf("feature: directions of %d columns into %d x %d values", d.Columns, dst.Rows, dst.Cols))
	}
	scales := make([]float64, dst.Rows)
	blocks := blocksOf(start, dst.Rows)
	linalg.For(len(blocks), 1, func(lo, hi int) {
		for _, b := range blocks[lo:hi] {
			d.scales(b, scales[b.at:][:b.count])
		}
	})
	linalg.For(len(blocks)*d.Columns, 8, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			b := blocks[k/d.Columns]
			d.column(b, k%d.Columns, scales[b.at:][:b.count], dst.Panel(b.at, b.at+b.count))
		}
	})
}

// section is the requested part of one block of directions.
type section struct {
	block int // number of the block
	skip  int // number of skipped directions
	count int // number of requested directions
	at    int // index of the section's first direction among all requested directions
}

// blocksOf splits count directions, beginning with direction start, at the ends of blocks.
func blocksOf(start, count int) []section {
	var out []section
	for at := 0; at < count; {
		s := section{block: (start + at) / BlockLength, skip: (start + at) % BlockLength, at: at}
		s.count = min(BlockLength-s.skip, count-at)
		out = append(out, s)
		at += s.count
	}
	return out
}

// scales sets dst[i] to the factor of direction i of a section. The factor is equal in all columns.
func (d Directions) scales(s section, dst []float64) {
	if !d.Spectrum.Shared() {
		for i := range dst {
			dst[i] = d.Spectrum.unit
		}
		return
	}
	n := d.Scales(s.block)
	for range s.skip {
		d.Spectrum.scale(n)
	}
	for i := range dst {
		dst[i] = d.Spectrum.unit * d.Spectrum.scale(n)
	}
}

// column fills a column of dst with the entries of a section's directions.
func (d Directions) column(s section, column int, scales []float64, dst linalg.Matrix[float64]) {
	n := d.Entries(s.block, column)
	for range s.skip {
		d.Spectrum.entry(n)
	}
	for i, scale := range scales {
		dst.Row(i)[column] = scale * d.Spectrum.entry(n)
	}
}

// Normals returns independent standard normal numbers.
type Normals interface{ NormFloat64() float64 }

// Source returns the generator from which a direction is drawn. It must return the same numbers
// whenever it is called for the same direction. Several goroutines call it at the same time.
type Source func(direction int) Normals

// Gaussian sets row i of dst to direction start+i of the spectrum of the rbf kernel exp(-gamma
// |x-z|^2). Directions are normal: w ~ N(0, 2 gamma I). The size of dst is directions x columns.
func Gaussian(dst linalg.Matrix[float64], start int, gamma float64, source Source) {
	deviation := math.Sqrt(2 * gamma)
	draw(dst, start, source, func(Normals) float64 { return deviation })
}

// Laplace is like [Gaussian] for the laplacian kernel exp(-gamma |x-z|), whose distance is not
// squared. Its spectrum is the multivariate Cauchy distribution: a normal vector divided by the
// absolute value of one more normal number.
func Laplace(dst linalg.Matrix[float64], start int, gamma float64, source Source) {
	draw(dst, start, source, func(n Normals) float64 {
		u := n.NormFloat64()
		for u == 0 {
			u = n.NormFloat64()
		}
		return gamma / math.Abs(u)
	})
}

// draw fills the rows of dst with normal numbers, each row times a factor that is drawn before the
// row.
func draw(dst linalg.Matrix[float64], start int, source Source, factor func(Normals) float64) {
	const grain = 1 << 12 // numbers that one core draws at a time
	linalg.For(dst.Rows, max(1, grain/max(1, dst.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			n := source(start + i)
			scale, row := factor(n), dst.Row(i)
			for j := range row {
				row[j] = float64(scale * n.NormFloat64())
			}
		}
	})
}
