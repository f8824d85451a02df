package linalg

import (
	"fmt"
	"sync"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Packed is a matrix stored in the order in which products read it. Use it for many products with
// few rows each: [MulTransB] would pack the matrix anew for each product, which takes most of the
// time. A Packed takes 8 bytes per entry and is read only.
type Packed struct {
	rows, cols int
	micro      simd.Micro[float64]
	parts      []panels[float64] // consecutive columns of the matrix; each part but the last has depth columns
}

// Pack packs the given rows of m, or all rows if rows is nil. It runs on all cores.
func Pack[T Float](m Matrix[T], rows []int) *Packed {
	n := m.Rows
	if rows != nil {
		n = len(rows)
	}
	p := &Packed{rows: n, cols: m.Cols, micro: best[float64]()}
	for k := 0; k < m.Cols; k += depth {
		p.parts = append(p.parts, packRows(p.micro.Cols, m, rows, n, k, min(k+depth, m.Cols)))
	}
	return p
}

// packRows packs columns k to kEnd-1 of n rows of m.
func packRows[T Float](width int, m Matrix[T], rows []int, n, k, kEnd int) panels[float64] {
	p := panels[float64]{width, kEnd - k, make([]float64, ceil(n, width)*(kEnd-k))}
	count := (n + width - 1) / width
	For(count, max(1, packGrain/(width*p.depth)), func(lo, hi int) {
		some := New[T](width, p.depth)
		for i := lo * width; i < hi*width; i += width {
			some.Rows = min(width, n-i)
			for r := range some.Rows {
				from := i + r
				if rows != nil {
					from = rows[from]
				}
				copy(some.Row(r), m.Row(from)[k:kEnd])
			}
			packPanel(p.at(i), some, width, 0, p.depth)
		}
	})
	return p
}

// spanValues is about the number of inner products that Products computes before it calls use, for 8 to 256
// left rows. They stay in the second-level cache.
const spanValues = 1 << 15

// span returns the number of columns, a multiple of width, that a product of m rows computes at a
// time.
func span(m, width int) int { return ceil(min(max(spanValues/max(m, 1), 128), 4096), width) }

// Products computes the inner products of the given rows of a with all rows of b in float64. It
// computes a few columns at a time and calls use with them: dots is len(rows) x (hi-lo), for the
// rows lo to hi-1 of b. The function use is allowed to change dots. Products runs on all cores, so several
// goroutines call use at the same time. An inner product has the same bits as in MulTransB
// (MulTransBWide for float32).
func Products[T Float](a Matrix[T], rows []int, b *Packed, use func(lo, hi int, dots Matrix[float64])) {
	if a.Cols != b.cols {
		panic(fmt.Sprintf("linalg: rows of %d columns and of %d have no inner products", a.Cols, b.cols))
	}
	var left []panels[float64]
	for k := 0; k < a.Cols; k += depth {
		left = append(left, packRows(b.micro.Rows, a, rows, len(rows), k, min(k+depth, a.Cols)))
	}
	step := span(len(rows), b.micro.Cols)
	For(b.rows, step, func(lo, hi int) {
		at := room(ceil(len(rows), b.micro.Rows) * step)
		defer buffers.Put(at)
		dots := Matrix[float64]{Rows: len(rows), Cols: hi - lo, Stride: step, Data: *at}
		b.block(left, dots, lo)
		use(lo, hi, dots)
	})
}

// block writes the inner products with the rows of b from row lo on to dots. The results of the
// padding are stored beyond the edges of dots, where there must be space for them.
func (b *Packed) block(left []panels[float64], dots Matrix[float64], lo int) {
	if len(left) == 0 {
		clear(dots.Data)
	}
	for k, part := range left {
		kernel := b.micro.Add
		if k == 0 {
			kernel = b.micro.Set
		}
		for j := 0; j < dots.Cols; j += b.micro.Cols {
			right := b.parts[k].at(lo + j)
			for i := 0; i < dots.Rows; i += b.micro.Rows {
				kernel(part.depth, part.at(i), right, dots.Data[i*dots.Stride+j:], dots.Stride)
			}
		}
	}
}

// buffers is a pool of reusable memory for inner products. Fresh memory is slow. Products
// read only values that they have written themselves.
var buffers sync.Pool

// room returns memory for at least the given number of values.
func room(values int) *[]float64 {
	at, _ := buffers.Get().(*[]float64)
	if at == nil || len(*at) < values {
		fresh := make([]float64, values)
		at = &fresh
	}
	return at
}
