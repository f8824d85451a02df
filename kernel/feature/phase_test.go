package feature

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// sparse is a table that stores what is not 0.
type sparse struct{ linalg.Matrix[float64] }

func (s sparse) Rows() int { return s.Matrix.Rows }
func (s sparse) Cols() int { return s.Matrix.Cols }
func (s sparse) Entries(i int) (cols []int32, values []float64) {
	for j, v := range s.Row(i) {
		if v != 0 {
			cols, values = append(cols, int32(j)), append(values, v)
		}
	}
	return cols, values
}

// wordAt reads one word of a row-major block.
func wordAt(words []byte, bits, i int) uint32 {
	var b [4]byte
	copy(b[:], words[i*bits/8:(i+1)*bits/8])
	return binary.LittleEndian.Uint32(b[:])
}

// A phase is the nearest to what exact arithmetic gives, up to the rounding of the sum, and any
// part of all phases equals that part of them, in any order of questions.
func TestPhases(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "bits")
		n, width := rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 33).Draw(t, "columns")
		x := table(n, width)
		if rapid.Bool().Draw(t, "with zeros") {
			for i := range x.Data {
				if i%17 != 0 {
					x.Data[i] = 0
				}
			}
		}
		var rows linalg.Rows = x
		if rapid.Bool().Draw(t, "sparse") {
			rows = sparse{x}
		}
		d := keyed(rapid.SampledFrom([]Spectrum{RBF(0.5), Manhattan(2), Matern(1, 0.5)}).Draw(t, "spectrum"), width, 5, 6)
		w := linalg.New[float64](200, width)
		d.Read(w, 0)
		p := NewPhases(rows, d, bits)
		for range 4 {
			first := rapid.IntRange(0, 150).Draw(t, "first")
			count := rapid.IntRange(0, 50).Draw(t, "count")
			some := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 2*n).Draw(t, "some")
			got := make([]byte, len(some)*count*bits/8)
			p.Block(got, some, first, count)
			for i, r := range some {
				for j := range count {
					u := wordAt(got, bits, i*count+j)
					exact, most := turns(w.Row(first+j), x.Row(r))
					// Half a step, and what a sum of that many products in float64 may be off.
					bound := .5 + math.Ldexp(float64(width+3)*max(1, most), bits-53)
					if off := ringDistance(float64(u), exact*math.Ldexp(1, bits), math.Ldexp(1, bits)); off > bound {
						t.Fatalf("row %d, direction %d: %d is %v from the phase, at most %v", r, first+j, u, off, bound)
					}
				}
			}
			again := make([]byte, len(got))
			NewPhases(rows, d, bits).Block(again, some, first, count)
			if !bytes.Equal(got, again) {
				t.Fatal("phases depend on what was asked for before")
			}
		}
	})
}

// turns returns the fraction of w.x / (2 pi), added up in 200 bits, and the sum of the products'
// magnitudes in turns.
func turns(w, x []float64) (fraction, most float64) {
	sum := new(big.Float).SetPrec(200)
	for j, v := range w {
		most += math.Abs(v*x[j]) / (2 * math.Pi)
		sum.Add(sum, new(big.Float).SetPrec(200).Mul(big.NewFloat(v), big.NewFloat(x[j])))
	}
	tau, _, err := big.ParseFloat("6.28318530717958647692528676655900576839433879875021164194988918", 10, 200, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	sum.Quo(sum, tau)
	whole, _ := sum.Int(nil)
	fraction, _ = sum.Sub(sum, new(big.Float).SetInt(whole)).Float64()
	return fraction, most
}

func ringDistance(a, b, size float64) float64 {
	d := math.Mod(math.Abs(a-b), size)
	return min(d, size-d)
}

// The vectors come from the reference implementation, computed with numpy.
func TestRingVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/ring.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors [][3]float64 // phase in radians, bits, word
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		bits := int(v[1])
		got := make([]byte, bits/8)
		words(got, []float64{v[0] / (2 * math.Pi)}, bits)
		if u := wordAt(got, bits, 0); u != uint32(v[2]) {
			t.Errorf("phase %v in %d bits is %d, want %v", v[0], bits, u, v[2])
		}
	}
	if len(vectors) < 20 {
		t.Errorf("only %d vectors", len(vectors))
	}
}

// Sums of words are words of sums, whatever wraps.
func TestPhasesOfPartsAddUp(t *testing.T) {
	const n, count, bits = 30, 100, 32
	x := table(n, 8)
	d := keyed(Manhattan(1e5), 8, 1, 1)
	w := linalg.New[float64](count, 8)
	d.Read(w, 0)
	sum := make([]uint32, n*count)
	for part := range 4 {
		own := linalg.New[float64](n, 2)
		for i := range n {
			copy(own.Row(i), x.Row(i)[2*part:])
		}
		of := Directions{Spectrum: d.Spectrum, Columns: 2, Entries: func(block, column int) Numbers { return d.Entries(block, 2*part+column) }}
		got := make([]byte, n*count*bits/8)
		NewPhases(own, of, bits).Block(got, all(n), 0, count)
		for i := range sum {
			sum[i] += wordAt(got, bits, i)
		}
	}
	wave := NewWave[float64](bits)
	for i, u := range sum {
		var cosine, sine [1]float64
		wave.Turn(cosine[:], sine[:], binary.LittleEndian.AppendUint32(nil, u))
		exact, _ := turns(w.Row(i%count), x.Row(i/count))
		angle := 2 * math.Pi * exact
		// Products of some 1e6 turns are wrong by some 1e-10 each.
		if math.Abs(cosine[0]-math.Cos(angle)) > 2e-7 || math.Abs(sine[0]-math.Sin(angle)) > 2e-7 {
			t.Fatalf("phase %d: cosine %v, sine %v, want %v and %v", i, cosine[0], sine[0], math.Cos(angle), math.Sin(angle))
		}
	}
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Cosines and sines equal the angle's, times the amplitude.
func TestWave(t *testing.T) {
	for _, bits := range []int{8, 16, 32} {
		words := make([]byte, 0, 1<<18)
		for u := range 1 << 16 {
			word := uint32(u) * 0x9e3779b1 >> (32 - bits)
			words = append(words, binary.LittleEndian.AppendUint32(nil, word)[:bits/8]...)
		}
		testWave[float64](t, bits, words, 3e-15)
		testWave[float32](t, bits, words, 2e-7)
	}
}

func testWave[T linalg.Float](t *testing.T, bits int, words []byte, off float64) {
	t.Helper()
	plain := NewWave[T](bits)
	turned(t, plain, words, 1, off)
	turned(t, plain.Times(0.375), words, 0.375, off)
	turned(t, plain.Times(0.375).Times(1), words, 1, off)
}

func turned[T linalg.Float](t *testing.T, wave *Wave[T], words []byte, amplitude, off float64) {
	t.Helper()
	bits := wave.Bits()
	n := len(words) * 8 / bits
	cosines, sines := make([]T, n), make([]T, n)
	wave.Turn(cosines, sines, words)
	for i := range cosines {
		sine, cosine := math.Sincos(math.Ldexp(2*math.Pi*float64(wordAt(words, bits, i)), -bits))
		sine, cosine = amplitude*sine, amplitude*cosine
		if math.Abs(float64(cosines[i])-cosine) > off || math.Abs(float64(sines[i])-sine) > off {
			t.Fatalf("%d bits, word %d: %v and %v, want %v and %v", bits, wordAt(words, bits, i), cosines[i], sines[i], cosine, sine)
		}
	}
}

func TestPhaseShapes(t *testing.T) {
	d := keyed(RBF(1), 2, 1, 1)
	for name, f := range map[string]func(){
		"bits":      func() { NewPhases(table(4, 2), d, 12) },
		"columns":   func() { NewPhases(table(4, 3), d, 16) },
		"bytes":     func() { NewPhases(table(4, 2), d, 16).Block(make([]byte, 5), []int{0}, 0, 3) },
		"wave bits": func() { NewWave[float32](24) },
		"wave":      func() { NewWave[float32](8).Turn(make([]float32, 2), make([]float32, 2), make([]byte, 4)) },
		"width":     func() { d.Read(linalg.New[float64](3, 3), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

// BenchmarkPhases makes phases of dense rows; it counts the bytes of the words.
func BenchmarkPhases(b *testing.B) {
	const n, count = 4096, 1024
	for _, width := range []int{25, 100} {
		for _, bits := range []int{8, 16, 32} {
			b.Run(fmt.Sprintf("%dcolumns/%dbits", width, bits), func(b *testing.B) {
				p := NewPhases(table(n, width), keyed(RBF(0.1), width, 1, 1), bits)
				dst, rows := make([]byte, n*count*bits/8), all(n)
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					p.Block(dst, rows, 0, count)
				}
				perValue(b, n*count)
			})
		}
	}
}

// BenchmarkProduct measures the least time that phases take.
func BenchmarkProduct(b *testing.B) {
	const n, count = 4096, 1024
	for _, width := range []int{25, 100} {
		b.Run(fmt.Sprintf("%dcolumns", width), func(b *testing.B) {
			x, w, dst := table(n, width), table(count, width), linalg.New[float64](n, count)
			for b.Loop() {
				linalg.MulTransB(dst, x, w)
			}
			perValue(b, n*count)
		})
	}
}

func perValue(b *testing.B, values int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(values), "ns/value")
}

// BenchmarkWave turns words into cosines and sines, on one core.
func BenchmarkWave(b *testing.B) {
	const n = 1 << 14
	for _, bits := range []int{8, 16, 32} {
		b.Run(fmt.Sprintf("%dbits", bits), func(b *testing.B) {
			w, words := NewWave[float32](bits), make([]byte, n*bits/8)
			for i := range words {
				words[i] = byte(i * 197)
			}
			cosines, sines := make([]float32, n), make([]float32, n)
			b.SetBytes(int64(len(words)))
			for b.Loop() {
				w.Turn(cosines, sines, words)
			}
			perValue(b, 2*n)
		})
	}
}
