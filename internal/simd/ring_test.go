package simd_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/internal/simd"
)

// turnsOf are phases of many sizes, on the edges between words too.
func turnsOf(n, bits int) []float64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(bits)))
	turns := []float64{0, math.Copysign(0, -1), 1e-20, -1e-20, 0.5, -0.5, 1 - 0x1p-53, -0x1p-1074, 1e15, -1e15 - 0.25, 0x1p60, -1e300}
	for len(turns) < n {
		turns = append(turns, math.Ldexp(2*r.Float64()-1, r.IntN(40)-16), math.Ldexp(float64(r.IntN(1<<20)-1<<19), -bits-1))
	}
	return turns[:n]
}

// Words equal the words of the definition on every path, and nothing beyond them is
// touched.
func TestRoundTurns(t *testing.T) {
	onEachPath(t, func(t *testing.T, p simd.Path) {
		for _, bits := range []int{8, 16, 32} {
			for _, n := range []int{0, 1, 3, 4, 7, 8, 9, 31, 64, 1001} {
				turns := turnsOf(n, bits)
				got := bytes.Repeat([]byte{0xa5}, n*bits/8+16)
				simd.RoundTurns(p, got[:n*bits/8], turns, bits)
				want := bytes.Repeat([]byte{0xa5}, n*bits/8+16)
				for i, v := range turns {
					u := uint64(math.Floor(math.Ldexp(v-math.Floor(v), bits) + 0.5))
					for k := range bits / 8 {
						want[i*bits/8+k] = byte(u >> (8 * k))
					}
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%d phases in %d bits: %x, want %x", n, bits, got, want)
				}
			}
		}
	})
}

// Every word's cosine and sine, or as many as there is time for, and the same
// wherever it stands.
func TestWaves(t *testing.T) {
	onEachPath(t, func(t *testing.T, p simd.Path) {
		for _, bits := range []int{8, 16, 32} {
			words := make([]byte, 0, 1<<18)
			for u := range 1 << 16 {
				word := uint32(u) << 16 >> (32 - bits)
				if bits == 32 {
					word = uint32(u) * 0x10001
				}
				for k := range bits / 8 {
					words = append(words, byte(word>>(8*k)))
				}
			}
			n := len(words) * 8 / bits
			cosines, sines := make([]float32, n), make([]float32, n)
			if !simd.Waves(p, cosines, sines, words, bits, 0.5) {
				if p != simd.Portable {
					t.Errorf("%v has no waves", p)
				}
				continue
			}
			for i := range n {
				u := 0.0
				for k := bits/8 - 1; k >= 0; k-- {
					u = 256*u + float64(words[i*bits/8+k])
				}
				sine, cosine := math.Sincos(math.Ldexp(2*math.Pi*u, -bits))
				if math.Abs(float64(cosines[i])-cosine/2) > 1e-7 || math.Abs(float64(sines[i])-sine/2) > 1e-7 {
					t.Fatalf("%d bits, word %v: %v and %v, want %v and %v", bits, u, cosines[i], sines[i], cosine/2, sine/2)
				}
			}
			for _, count := range []int{0, 1, 7, 15, 16, 17, 33} {
				c, s := make([]float32, count+1), make([]float32, count+1)
				from := 777
				simd.Waves(p, c[:count], s[:count], words[from*bits/8:][:count*bits/8], bits, 0.5)
				for i := range count {
					if c[i] != cosines[from+i] || s[i] != sines[from+i] {
						t.Fatalf("%d bits: word %d of %d differs from the same among all", bits, i, count)
					}
				}
				if c[count] != 0 || s[count] != 0 {
					t.Fatalf("%d bits, %d words: written beyond the end", bits, count)
				}
			}
		}
	})
}

func BenchmarkRoundTurns(b *testing.B) {
	turns := turnsOf(1<<13, 16)
	for _, p := range simd.Paths() {
		for _, bits := range []int{8, 16, 32} {
			b.Run(fmt.Sprintf("%v/%dbits", p, bits), func(b *testing.B) {
				dst := make([]byte, len(turns)*bits/8)
				for b.Loop() {
					simd.RoundTurns(p, dst, turns, bits)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(turns)), "ns/value")
			})
		}
	}
}
