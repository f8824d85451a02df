package linear

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// BenchmarkFit makes five passes over as many directions as a9a is learnt with,
// for a quarter of its rows.
func BenchmarkFit(b *testing.B) {
	const rows, directions, bits = 9000, 2048, 16
	r := rand.New(rand.NewPCG(1, 1))
	words := make([]byte, rows*directions*bits/8)
	for i := range words {
		words[i] = byte(r.Uint32())
	}
	table := NewPhases[float32](rows, directions, bits)
	table.Put(words, 0, rows, 0, directions)
	y := noise(1, rows, 1)
	for i, v := range y.Data {
		y.Data[i] = Sign(v)
	}
	for b.Loop() {
		_, err := Fit(table, y, Params{Loss: Logistic{}, Lambda: 1e-6, Tol: 1e-9, MaxPasses: 5})
		if err != nil && !errors.Is(err, ErrNotConverged) {
			b.Fatal(err)
		}
	}
}

// BenchmarkPut takes words in; bytes are theirs.
func BenchmarkPut(b *testing.B) {
	const rows, directions, bits = 4096, 2048, 16
	words := make([]byte, rows*directions*bits/8)
	table := NewPhases[float32](rows, directions, bits)
	b.SetBytes(int64(len(words)))
	for b.Loop() {
		table.Put(words, 0, rows, 0, directions)
	}
}
