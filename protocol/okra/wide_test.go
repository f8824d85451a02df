package okra

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Wide rows are encoded by the same map as others, up to rounding, in all
// shapes of windows, and each as if it were alone.
func TestWideRowsEqualNarrowOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const n = 9 // a row more than go interleaved
	for _, width := range []int{9 << 12, 13 << 12, 1 << 16, 1<<16 + 3<<12, 9 << 14} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			f, p := width-5000, mustParams(t, Spec{})
			stream := p.stream(Seed{8}, f, width-f)
			e, err := NewEncoder(p, Seed{8}, f, width-f)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.(*wide); !ok {
				t.Fatalf("encoded by %T", e)
			}
			x := randomRows("wide", n, f)
			want, got, alone := linalg.New[float64](n, width), linalg.New[float64](n, width), linalg.New[float64](1, width)
			newHadamard(stream(), p.spec.Rounds, f, width-f).Encode(want, x)
			e.Encode(got, x)
			for i, v := range want.Data {
				if math.Abs(got.Data[i]-v) > 1e-13 {
					t.Fatalf("coordinate %d of row %d is %v, want %v", i%width, i/width, got.Data[i], v)
				}
			}
			e.Encode(alone, x.Panel(3, 4))
			if !slices.Equal(alone.Data, got.Row(3)) {
				t.Error("a row depends on its neighbours")
			}
		})
	}
}

// Pieces make up the whole, under strides too.
func TestPiecesOfWideRows(t *testing.T) {
	const n, f, width = 35, 36000, 9 << 12
	e, err := NewEncoder(mustParams(t, Spec{}), Seed{9}, f, width-f)
	if err != nil {
		t.Fatal(err)
	}
	x, want, got := randomRows("pieces", n, f), linalg.New[float64](n, width), linalg.New[float64](n, width+3)
	e.Encode(want, x)
	encode(e, columns(got, 2, 2+width), x)
	for i := range n {
		if row := got.Row(i); !slices.Equal(row[2:2+width], want.Row(i)) || row[1] != 0 || row[2+width] != 0 {
			t.Fatalf("row %d differs", i)
		}
	}
}

func TestWhichRowsAreWide(t *testing.T) {
	for f, want := range map[int]bool{16384: false, 30000: false, 32768: true, 36608: true, 262144: true, 524288: true, 1 << 20: true, 1 << 21: false} {
		width := f + Padding(f)
		if got := isWide(width, windowOf(width)); got != want {
			t.Errorf("%d features are wide: %v", f, got)
		}
	}
	if width := 40001; isWide(width, windowOf(width)) {
		t.Errorf("width %d is no number of parts", width)
	}
}
