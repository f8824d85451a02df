package feature

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// BlockLength is the number of directions that are drawn one after the other from one
// source, so that making a source costs little beside them.
const BlockLength = 64

// Directions are the entries that some columns have in the directions of a
// spectrum. Block k holds directions k BlockLength to (k+1) BlockLength - 1.
// Any of them can be made anywhere and in any order, as long as the sources
// always give the same numbers for the same block and column. Several
// goroutines call them at the same time.
type Directions struct {
	Spectrum Spectrum
	Columns  int
	// Entries gives the numbers of a column in a block. Where each holder of
	// columns has a key of its own, nobody else knows its entries.
	Entries func(block, column int) Numbers
	// Scales gives the numbers of a block's scales, the same to all holders of
	// columns. It is not called unless the spectrum has scales.
	Scales func(block int) Numbers
}

// Read sets row i of dst, count x Columns, to direction first+i, on all cores.
// It panics on another width.
func (d Directions) Read(dst linalg.Matrix[float64], first int) {
	if dst.Cols != d.Columns {
		panic(fmt.Sprintf("feature: directions of %d columns into %d x %d values", d.Columns, dst.Rows, dst.Cols))
	}
	scales := make([]float64, dst.Rows)
	blocks := blocksOf(first, dst.Rows)
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

// section is the part of a block of directions that is wanted.
type section struct {
	block, skip, count int // which, after how many, and how many
	at                 int // place of the first among all that are wanted
}

// blocksOf cuts count directions, from first on, where blocks end.
func blocksOf(first, count int) []section {
	var out []section
	for at := 0; at < count; {
		s := section{block: (first + at) / BlockLength, skip: (first + at) % BlockLength, at: at}
		s.count = min(BlockLength-s.skip, count-at)
		out = append(out, s)
		at += s.count
	}
	return out
}

// scales sets dst to the numbers that the directions of a section have in
// common.
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

// column sets a column of dst to the entries of the directions of a section.
func (d Directions) column(s section, column int, scales []float64, dst linalg.Matrix[float64]) {
	n := d.Entries(s.block, column)
	for range s.skip {
		d.Spectrum.entry(n)
	}
	for i, scale := range scales {
		dst.Row(i)[column] = scale * d.Spectrum.entry(n)
	}
}

// Normals gives independent standard normal numbers.
type Normals interface{ NormFloat64() float64 }

// Source gives the numbers that a direction is drawn from: always the same ones
// for the same direction. Several goroutines call it at the same time.
type Source func(direction int) Normals

// Gaussian sets row i of dst to direction first+i of the spectrum of the rbf
// kernel exp(-gamma |x-z|^2): w ~ N(0, 2 gamma I). dst is directions x columns.
func Gaussian(dst linalg.Matrix[float64], first int, gamma float64, source Source) {
	deviation := math.Sqrt(2 * gamma)
	draw(dst, first, source, func(Normals) float64 { return deviation })
}

// Laplace is Gaussian for the laplacian kernel exp(-gamma |x-z|), the distance
// not squared. Its spectrum is the Cauchy distribution of several variables: a
// normal vector over the absolute value of one more normal number.
func Laplace(dst linalg.Matrix[float64], first int, gamma float64, source Source) {
	draw(dst, first, source, func(n Normals) float64 {
		u := n.NormFloat64()
		for u == 0 {
			u = n.NormFloat64()
		}
		return gamma / math.Abs(u)
	})
}

// draw makes normal rows, each times a factor that is drawn before it.
func draw(dst linalg.Matrix[float64], first int, source Source, factor func(Normals) float64) {
	const grain = 1 << 12 // numbers that one core draws at a time
	linalg.For(dst.Rows, max(1, grain/max(1, dst.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			n := source(first + i)
			scale, row := factor(n), dst.Row(i)
			for j := range row {
				row[j] = float64(scale * n.NormFloat64())
			}
		}
	})
}
