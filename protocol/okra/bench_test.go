package okra

import (
	"fmt"
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
