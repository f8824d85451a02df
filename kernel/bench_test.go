package kernel_test

import (
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

func BenchmarkMap(b *testing.B) {
	const n = 4096
	x := noise(n, 20, 1)
	norms := kernel.SquaredNorms(x)
	xz := kernel.CrossGram(x.Panel(0, 1), x)
	dst := make([]float64, n)
	for _, k := range all(b) {
		b.Run(k.Name(), func(b *testing.B) {
			for b.Loop() {
				k.Map(dst, xz.Row(0), norms[0], norms)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
		})
	}
}

func BenchmarkMaterialize(b *testing.B) {
	const n = 1024
	gram := kernel.Of(kernel.LinearGram(noise(n, 20, 1)), rbf(b))
	for b.Loop() {
		kernel.Materialize(gram)
	}
	b.ReportMetric(8*n*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

func BenchmarkSubsetRow(b *testing.B) {
	const n = 4096
	gram := kernel.Dense{K: linalg.New[float64](n, n)}
	rows := make([]int, n/2)
	for i := range rows {
		rows[i] = 2 * i
	}
	half := kernel.Subset(gram, rows)
	dst := make([]float64, len(rows))
	b.ReportAllocs()
	for b.Loop() {
		half.Row(7, dst)
	}
	b.ReportMetric(8*float64(len(rows))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}
