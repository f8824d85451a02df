package ohttp_test

import (
	"testing"

	"github.com/mercer-fl/mercer/ohttp"
)

// A package of 256 bytes is opened, answered and sealed.
func BenchmarkAnswer(b *testing.B) {
	key := newKey(b)
	message, err := ask("/package", "x").EncodeTo(256)
	if err != nil {
		b.Fatal(err)
	}
	sealed, _, err := key.Config().Encapsulate(message)
	if err != nil {
		b.Fatal(err)
	}
	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: echo}
	for b.Loop() {
		if _, err := gateway.Answer(b.Context(), sealed); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packages/s")
}
