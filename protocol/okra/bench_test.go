package okra

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// BenchmarkEncode reports how many rows, and gigabytes of float64 rows, are
// encoded in a second, panel by panel as in a session.
func BenchmarkEncode(b *testing.B) {
	for _, f := range []int{1024, 16384} {
		for _, spec := range encoders {
			if spec.Encoder == Haar && f > 4096 {
				continue // quadratic, and refused above MaxHaarWidth
			}
			b.Run(fmt.Sprintf("%s/%d", spec.Encoder, f), func(b *testing.B) {
				e := mustEncoder(b, spec, 1, f)
				u := newUpload(e, linalg.Matrix[float64]{Rows: 1 << 20}, 4)
				x := randomRows("bench", u.batchRows(), f)
				y := linalg.New[float64](x.Rows, e.Width())
				b.SetBytes(int64(8 * x.Rows * f))
				for b.Loop() {
					e.Encode(y, x)
				}
				b.ReportMetric(float64(x.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/panel")
			})
		}
	}
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
			a := newAssembly(store, n, width)
			work := 0.0
			for b.Loop() {
				if a.done() {
					a = newAssembly(store, n, width)
				}
				a.step()
				work += stepWork // half of it where a tile lies on the diagonal
			}
			b.ReportMetric(2*work/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/step")
		})
	}
}
