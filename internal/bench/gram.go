package bench

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// gramShape is n rows of f features.
type gramShape struct{ n, f int }

// Gram measures the inner products of all rows beside the rate of
// multiply-adds, and each kernel made of them beside a copy of the same matrix.
func Gram() Benchmark { return gramOf(gramShape{6400, 784}) }

func gramOf(s gramShape) Benchmark {
	return Benchmark{[]scene{sceneOf(fmt.Sprintf("%d rows", s.n), s, raceGram)}}
}

// gramKernels are all kernels, with parameters that suit rows of squared norm 1.
func gramKernels() ([]kernel.Kernel, error) {
	needGamma := map[string]bool{"rbf": true, "polynomial": true, "laplacian": true}
	var list []kernel.Kernel
	for _, name := range kernel.Names() {
		s := kernel.Spec{Name: name}
		switch {
		case needGamma[name]:
			s.Gamma = .5
		case name == "dot-product":
			s.Coefficients = []float64{0, 1, .5, .25}
		}
		k, err := kernel.New(s)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

func raceGram(s gramShape) (race, error) {
	kernels, err := gramKernels()
	if err != nil {
		return race{}, err
	}
	x := unit(noise[float64](s.n, s.f, 1))
	dot, values := linalg.New[float64](s.n, s.n), linalg.New[float64](s.n, s.n)
	path := linalg.Paths()[0]
	all := coreCounts()[len(coreCounts())-1]
	flops := float64(s.n) * float64(s.n+1) * float64(s.f)
	turns := int(flops/linalg.FMA[float64](path, all, 1)) + 1
	loop := 0.0
	r := race{runs: []run{
		pure(func() { loop = linalg.FMA[float64](path, all, turns) }),
		pure(func() { linalg.Syrk(dot, x) }),
		pure(func() { byRow(values, func(i int, dst []float64) { copy(dst, dot.Row(i)) }) }),
	}}
	const fixed = 3
	for _, k := range kernels {
		r.runs = append(r.runs, pure(func() { byRow(values, kernel.Of(dot, k).Row) }))
	}
	r.rows = func(best []span) []Row {
		pairs := float64(s.n) * float64(s.n)
		rows := []Row{
			figure(fmt.Sprintf("inner products of %d x %d", s.n, s.f), flops/best[1].wall/1e9, "GFLOP/s").
				beside("multiply-adds in registers", loop/best[0].wall/1e9).
				byCPU(flops / best[1].cpu / (loop / best[0].cpu)),
			figure("copy of the matrix, read and written", 16*pairs/best[fixed-1].wall/1e9, "GB/s"),
		}
		for i, k := range kernels {
			rows = append(rows, figure(k.Name()+" of ready inner products", best[fixed+i].wall*1e9/pairs, "ns/value").
				beside("copy of the matrix", best[fixed-1].wall*1e9/pairs).
				byCPU(best[fixed+i].cpu/best[fixed-1].cpu))
		}
		return rows
	}
	return r, nil
}

// byRow fills a matrix by rows on all cores.
func byRow(m linalg.Matrix[float64], row func(i int, dst []float64)) {
	linalg.Each(m.Rows, 16, func(i int) {
		row(i, m.Row(i))
	})
}

// unit scales every row to length 1.
func unit(x linalg.Matrix[float64]) linalg.Matrix[float64] {
	for i, norm := range kernel.SquaredNorms(x) {
		for j := range x.Row(i) {
			x.Row(i)[j] /= math.Sqrt(norm)
		}
	}
	return x
}
