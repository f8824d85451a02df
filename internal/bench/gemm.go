package bench

import (
	"context"
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// shape holds the dimensions of a product a b^T, where a is m x k and b is n x k.
type shape struct{ m, n, k int }

func (s shape) String() string { return fmt.Sprintf("%dx%dx%d", s.m, s.n, s.k) }

// product is a routine with the shape at which it is measured. The target is the least share of the
// rate of multiply-adds that the product must reach; 0 means no target.
type product struct {
	routine string
	shape
	target float64
}

// routines lists the measured routines by their BLAS names. The letter s means float32 and d
// means float64; gemm computes a b^T, and syrk computes both triangles of a a^T.
var routines = []string{"dgemm", "dsyrk", "sgemm", "ssyrk"}

// Measured shapes: square matrices, matrices with long rows (encoded images), and matrices with
// short rows (a Gram matrix of a table).
var (
	square = shape{4096, 4096, 4096}
	long   = shape{2000, 2000, 16384}
	short  = shape{4096, 4096, 100}
	little = shape{512, 512, 512} // small shape for plain Go, which is some fifty times slower than vector code
)

// promised lists the products, each with a target, that are measured on the fastest code path if it is a
// vector path.
var promised = []product{
	{"dgemm", square, .62}, {"dsyrk", square, .62}, {"sgemm", square, .58}, {"ssyrk", square, .58},
	{"dgemm", long, .5}, {"dsyrk", long, .5}, {"sgemm", long, .5}, {"ssyrk", long, .5},
	{"dgemm", short, .4}, {"dsyrk", short, .4}, {"sgemm", short, .4}, {"ssyrk", short, .4},
}

// Gemm returns a benchmark of matrix products. It compares each product with the rate of fused
// multiply-adds in registers, with the same instructions on as many cores. It measures the
// fastest code path at three shapes, and the other vector path at one shape. On a machine without a
// vector path it measures plain Go at one small shape.
func Gemm() Benchmark {
	var b Benchmark
	for i, path := range linalg.Paths() {
		switch {
		case path == linalg.Portable && i > 0: // plain Go is not measured if a vector path exists
		case path == linalg.Portable:
			b.add(path, every(little, 0))
		case i == 0:
			b.add(path, promised)
		default:
			b.add(path, every(square, .6))
		}
	}
	return b
}

// every returns the products of all routines at one shape, with one target.
func every(s shape, target float64) []product {
	var list []product
	for _, r := range routines {
		list = append(list, product{r, s, target})
	}
	return list
}

func (b *Benchmark) add(path linalg.Path, products []product) {
	for _, p := range products {
		b.cases = append(b.cases, scene{
			name: fmt.Sprintf("%s %v %v", p.routine, p.shape, path),
			prepare: func(context.Context) (race, error) {
				if p.routine[0] == 's' {
					return raceProduct(path, p, work[float32](path, p)), nil
				}
				return raceProduct(path, p, work[float64](path, p)), nil
			},
		})
	}
}

// task holds a matrix product to measure, and the loop of multiply-adds with which it is
// compared.
type task struct {
	flops   float64
	do      func()
	fma     func(cores, turns int) float64
	perTurn float64 // floating-point operations in one turn of the loop on one core
}

func work[T linalg.Float](path linalg.Path, p product) task {
	x, dst := noise[T](p.m, p.k, 1), linalg.New[T](p.m, p.n)
	fma := func(cores, turns int) float64 { return linalg.FMA[T](path, cores, turns) }
	j := task{fma: fma, perTurn: fma(1, 1)}
	if p.routine[1:] == "syrk" {
		j.flops = float64(p.m) * float64(p.m+1) * float64(p.k)
		j.do = func() { linalg.SyrkOn(path, dst, x) }
		return j
	}
	y := noise[T](p.n, p.k, 2)
	j.flops = 2 * float64(p.m) * float64(p.n) * float64(p.k)
	j.do = func() { linalg.MulTransBOn(path, dst, x, y) }
	return j
}

// raceProduct alternates the loop of multiply-adds and the product, on one core and on all cores.
// The loop does as many operations as the product, so that the times of both are similar and the
// load is the same.
func raceProduct(path linalg.Path, p product, j task) race {
	counts := coreCounts()
	done := make([]float64, len(counts)) // operations of the loop, by number of cores
	var r race
	for i, cores := range counts {
		turns := int(j.flops/j.perTurn/float64(cores)) + 1
		r.runs = append(r.runs,
			pure(func() { onCores(cores, func() { done[i] = j.fma(cores, turns) }) }),
			pure(func() { onCores(cores, j.do) }))
	}
	r.rows = func(best []span) []Row {
		var rows []Row
		for i, cores := range counts {
			name := fmt.Sprintf("%s %v, %v, %s", p.routine, p.shape, path, coresText(cores))
			row := figure(name, j.flops/best[2*i+1].wall/1e9, "GFLOP/s").
				beside("multiply-adds in registers", done[i]/best[2*i].wall/1e9).
				byCPU(j.flops / best[2*i+1].cpu / (done[i] / best[2*i].cpu))
			if p.target > 0 {
				row = row.atLeast(p.target)
			}
			rows = append(rows, row)
		}
		return rows
	}
	return r
}

// noise returns a matrix of pseudorandom numbers in [-1, 1). Equal seeds give equal matrices.
func noise[T linalg.Float](rows, cols int, seed uint64) linalg.Matrix[T] {
	m := linalg.New[T](rows, cols)
	linalg.Each(rows, 16, func(i int) {
		state := seed<<32 + uint64(i)
		for j := range m.Row(i) {
			state = state*6364136223846793005 + 1442695040888963407 // multiplier and increment of Knuth's MMIX generator
			m.Row(i)[j] = T(int64(state)>>32) * 0x1p-31
		}
	})
	return m
}
