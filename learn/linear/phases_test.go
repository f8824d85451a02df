package linear

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// A table is the same in whatever pieces it was put together, and reads as the
// cosines and sines of its words.
func TestPutInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "bits")
		rows, directions := rapid.IntRange(1, 300).Draw(t, "rows"), rapid.IntRange(1, 150).Draw(t, "directions")
		size := bits / 8
		words := make([]byte, rows*directions*size)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range words {
			words[i] = byte(r.Uint32())
		}
		table := NewPhases[float64](rows, directions, bits)
		step, wide := rapid.IntRange(1, rows).Draw(t, "rows at a time"), rapid.IntRange(1, directions).Draw(t, "directions at a time")
		for _, a := range spans(rows, step) {
			for _, b := range spans(directions, wide) {
				var piece bytes.Buffer
				for i := a.lo; i < a.hi; i++ {
					piece.Write(words[(i*directions+b.lo)*size : (i*directions+b.hi)*size])
				}
				table.Put(piece.Bytes(), a.lo, a.len(), b.lo, b.len())
			}
		}
		some := rapid.SliceOfN(rapid.IntRange(0, rows-1), 1, 20).Draw(t, "some")
		all, picked := linalg.New[float64](2*directions, rows), linalg.New[float64](2*directions, len(some))
		table.Read(all, 0, 0)
		table.ReadAt(picked, 0, some)
		for j := range directions {
			for i := range rows {
				u := 0.0
				for k := size - 1; k >= 0; k-- {
					u = 256*u + float64(words[(i*directions+j)*size+k])
				}
				sine, cosine := math.Sincos(math.Ldexp(2*math.Pi*u, -bits))
				scale := math.Sqrt(float64(directions))
				if math.Abs(all.Row(2 * j)[i]*scale-cosine) > 1e-14 || math.Abs(all.Row(2*j + 1)[i]*scale-sine) > 1e-14 {
					t.Fatalf("row %d, direction %d: %v and %v, want %v and %v", i, j, all.Row(2 * j)[i], all.Row(2*j + 1)[i], cosine, sine)
				}
			}
			for i, r := range some {
				if picked.Row(2 * j)[i] != all.Row(2 * j)[r] || picked.Row(2*j + 1)[i] != all.Row(2*j + 1)[r] {
					t.Fatalf("row %d, direction %d differs when read alone", r, j)
				}
			}
		}
	})
}

func TestPhasesShapes(t *testing.T) {
	p := NewPhases[float32](5, 3, 16)
	for name, f := range map[string]func(){
		"bits":       func() { NewPhases[float32](5, 3, 7) },
		"words":      func() { p.Put(make([]byte, 3), 0, 1, 0, 2) },
		"rows":       func() { p.Put(make([]byte, 4), 5, 1, 0, 2) },
		"directions": func() { p.Put(make([]byte, 4), 0, 1, 2, 2) },
		"a sine":     func() { p.Read(linalg.New[float32](2, 2), 1, 0) },
		"a cosine":   func() { p.ReadAt(linalg.New[float32](1, 2), 0, []int{0, 1}) },
		"decisions":  func() { Decide(p, linalg.New[float64](1, 5)) },
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
