package envelope

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func BenchmarkEnvelope(b *testing.B) {
	w := newTestbed(b)
	for _, size := range []int{0, 64 << 10, protocol.MaxChunkBytes} {
		body := make([]byte, size)
		wire := w.seal(b, header(), body)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
			})
		}
		run("seal", func() { w.seal(b, header(), body) })
		run("verify", func() {
			if _, err := Verify(wire, w.lookup, "hub"); err != nil {
				b.Fatal(err)
			}
		})
		run("open", func() {
			if _, err := w.open(wire, "hub"); err != nil {
				b.Fatal(err)
			}
		})
	}
}
