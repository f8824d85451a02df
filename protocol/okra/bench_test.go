package okra

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/linalg"
)

// BenchmarkEncode encodes panel by panel and piece by piece, as a session does.
// It reports how many rows are encoded in a second and how long the longest
// piece of a panel takes, which should be far below the 100 ms of a step.
func BenchmarkEncode(b *testing.B) {
	for _, c := range []struct {
		spec Spec
		f    int
	}{
		{encoders[0], 1024}, {encoders[0], 16384}, {encoders[0], 524288},
		{encoders[1], 1024}, {encoders[1], 8000},
		{encoders[2], 1024}, {encoders[2], 16384}, {encoders[2], 524288},
		{encoders[3], 1024}, {encoders[3], 16384}, {encoders[3], 524288},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.spec.Encoder, c.f), func(b *testing.B) {
			e := mustEncoder(b, c.spec, 1, c.f)
			u := newUpload(e, linalg.Matrix[float64]{Rows: 1 << 20}, 4)
			x := randomRows("bench", u.panel.Rows, c.f)
			b.SetBytes(int64(8 * x.Rows * c.f))
			fastest := make([]time.Duration, e.pieces(x.Rows))
			for b.Loop() {
				for i := range fastest {
					begin := time.Now()
					e.piece(u.panel, x, i)
					if took := time.Since(begin); fastest[i] == 0 || took < fastest[i] {
						fastest[i] = took // of all passes: this machine is shared
					}
				}
			}
			b.ReportMetric(float64(x.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(len(fastest)), "pieces/panel")
			b.ReportMetric(float64(slices.Max(fastest))/1e6, "ms/piece")
		})
	}
}

// BenchmarkEncodeLimit encodes 400 rows, alternating with a lower limit of the cost of every
// encoder, and reports the best of five of each. For hadamard the limit is reading and writing the
// encoded rows as often as a round's permutations and transforms go over them, 2 rounds + 2 times;
// for block, the same number of multiply-adds at the speed of a product of matrices.
func BenchmarkEncodeLimit(b *testing.B) {
	for _, f := range []int{1 << 12, 1 << 14, 1 << 16, 1 << 18} {
		for _, cores := range []int{1, 2} {
			b.Run(fmt.Sprintf("hadamard/%d/cores=%d", f, cores), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
				e := mustEncoder(b, encoders[0], 1, f)
				x, y, z := randomRows("bench", 400, f), linalg.New[float64](400, e.Width()), linalg.New[float64](400, e.Width())
				memory, took := race(b, func() { duplicate(z, y) }, func() { e.Encode(y, x) })
				const passes = 2 * (defaultRounds + 1)
				b.ReportMetric(16*float64(len(y.Data))/memory.Seconds()/1e9, "copy-GB/s")
				b.ReportMetric(16*passes*float64(len(y.Data))/took.Seconds()/1e9, "GB/s")
				b.ReportMetric(took.Seconds()/(passes*memory.Seconds()), "of-passes")
				b.ReportMetric(took.Seconds()*1e9/float64(len(y.Data)*bits.Len(uint(f))), "ns/word/level")
			})
			b.Run(fmt.Sprintf("block/%d/cores=%d", f, cores), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
				e := mustEncoder(b, encoders[3], 1, f).(*block)
				x, y := randomRows("bench", 400, f), linalg.New[float64](400, e.Width())
				m, c := randomRows("bench", 1024, 1024), linalg.New[float64](1024, 1024)
				product, took := race(b, func() { linalg.MulTransB(c, m, m) }, func() { e.Encode(y, x) })
				flops := 0.0
				for _, f := range e.frames {
					flops += 2 * 400 * float64(f.rows) * float64(f.cols)
				}
				b.ReportMetric(flops/took.Seconds()/1e9, "GFLOP/s")
				b.ReportMetric(2*1024*1024*1024/product.Seconds()/1e9, "gemm-GFLOP/s")
				b.ReportMetric(flops/took.Seconds()*product.Seconds()/(2*1024*1024*1024), "of-gemm")
			})
		}
	}
}

// race returns the shortest of five times of each of two, in turns.
func race(b *testing.B, f, g func()) (forF, forG time.Duration) {
	forF, forG = time.Hour, time.Hour
	for b.Loop() {
		for range 5 {
			begin := time.Now()
			f()
			middle := time.Now()
			g()
			forF, forG = min(forF, middle.Sub(begin)), min(forG, time.Since(middle))
		}
	}
	return forF, forG
}

// duplicate copies on all cores.
func duplicate(to, from linalg.Matrix[float64]) {
	linalg.For(len(to.Data), 1<<16, func(lo, hi int) { copy(to.Data[lo:hi], from.Data[lo:hi]) })
}

func BenchmarkNewEncoder(b *testing.B) {
	for _, f := range []int{1024, 524288} {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			for b.Loop() {
				mustEncoder(b, Spec{}, 1, f)
			}
		})
	}
}

func BenchmarkGramStep(b *testing.B) {
	const n, f = 2048, 3800
	for _, wire := range []string{Float32, Float64} {
		b.Run(wire, func(b *testing.B) {
			w := train(b, Spec{Wire: wire, Rounds: 2}, Input{Rows: randomRows("bench", n, f)})
			store, width := w.server().store, w.server().Width()
			a := newAssembly(store, []stretch{{0, n, true}}, width)
			work := 0.0
			for b.Loop() {
				if a.done() {
					a = newAssembly(store, []stretch{{0, n, true}}, width)
				}
				a.step()
				work += stepWork // half of it where a tile lies on the diagonal
			}
			b.ReportMetric(2*work/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/step")
		})
	}
}
