package linalg_test

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

const rowsOfPlaces = linalg.Abreast * linalg.Places

// placesOf returns n places, no two alike, and a sign for each row.
func placesOf(n int) ([]uint16, []int8) {
	places, signs := make([]uint16, n), make([]int8, linalg.Places)
	for i := range places {
		places[i] = uint16((i*1021 + 7) % linalg.Places)
	}
	for i := range signs {
		signs[i] = int8(1 - 2*(i*i/3%2))
	}
	return places, signs
}

func TestRowsByPlaces(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, n := range []int{0, 1, 2, 57, linalg.Places} {
			places, signs := placesOf(n)
			from, picked := noise[float64](1, rowsOfPlaces, 3).Row(0), make([]float64, linalg.Abreast*n+1)
			linalg.PickRowsOn(p, picked, from, places, from)
			placed := make([]float64, rowsOfPlaces+1)
			linalg.PlaceRowsOn(p, placed, picked, places, signs, .3)
			want := make([]float64, rowsOfPlaces+1) // nothing else is written, and nothing behind
			for i, at := range places {
				for j := range linalg.Abreast {
					v := from[linalg.Abreast*int(at)+j]
					if picked[linalg.Abreast*i+j] != v {
						t.Fatalf("n = %d: row %d is not row %d", n, i, at)
					}
					want[linalg.Abreast*int(at)+j] = v * float64(signs[at]) * .3
				}
			}
			if !slices.Equal(placed, want) || picked[linalg.Abreast*n] != 0 {
				t.Errorf("n = %d: rows are placed wrongly", n)
			}
		}
	})
}

// Past the caches or through them, from wherever rows begin.
func TestRowsPickedAway(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		from := noise[float64](1, rowsOfPlaces, 3).Row(0)
		for _, n := range []int{0, 1, 57} {
			places, _ := placesOf(n)
			want := make([]float64, linalg.Abreast*n)
			linalg.PickRowsOn(p, want, from, places, from)
			for first := range linalg.Abreast { // one of which begins a line
				to := make([]float64, first+len(want)+1)
				linalg.PickRowsAwayOn(p, to[first:], from, places, from)
				if all := slices.Concat(make([]float64, first), want, []float64{0}); !slices.Equal(to, all) {
					t.Errorf("%d rows from value %d on are picked wrongly", n, first)
				}
			}
		}
	})
}

// A place beyond the rows is one of them: nothing outside is touched.
func TestPlacesStayInside(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		from, to := noise[float64](1, rowsOfPlaces, 3).Row(0), make([]float64, linalg.Abreast)
		linalg.PickRowsOn(p, to, from, []uint16{0xffff}, from)
		if !slices.Equal(to, from[rowsOfPlaces-linalg.Abreast:]) {
			t.Error("place 65535 is not the last row")
		}
		_, signs := placesOf(0)
		all := make([]float64, rowsOfPlaces)
		linalg.PlaceRowsOn(p, all, to, []uint16{0x8001}, signs, 1)
		if all[linalg.Abreast] != to[0]*float64(signs[1]) {
			t.Error("place 32769 is not the second row")
		}
	})
}

func TestTurnRows(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		_, signs := placesOf(0)
		for _, n := range []int{0, 1, 5, 40} {
			x := noise[float64](1, linalg.Abreast*n+1, 4).Row(0)
			want := slices.Clone(x)
			for i := range linalg.Abreast * n {
				want[i] *= .7 * float64(signs[i/linalg.Abreast])
			}
			if linalg.TurnRowsOn(p, x, signs[:n], .7); !slices.Equal(x, want) {
				t.Errorf("n = %d: got %v, want %v", n, x, want)
			}
		}
	})
}

func TestCopyStrips(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		const n, apart, close = 5, 100, linalg.Strip
		x, to := noise[float64](1, (n-1)*apart+linalg.Strip, 5).Row(0), make([]float64, n*close)
		linalg.CopyStripsOn(p, n, to, close, x, apart)
		back := make([]float64, len(x))
		linalg.CopyStripsOn(p, n, back, apart, to, close)
		for i, v := range x {
			inside := i%apart < linalg.Strip
			if want := v; inside && (to[i/apart*close+i%apart] != want || back[i] != want) || !inside && back[i] != 0 {
				t.Fatalf("value %d of strip %d is wrong", i%apart, i/apart)
			}
		}
		linalg.CopyStripsOn(p, 0, nil, 0, nil, 0)
	})
}

func TestStandAbreastAndFallIn(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {3, 5}, {8, 64}, {7, 100}} {
		m := noise[float64](s[0], s[1], 6)
		to := noise[float64](1, linalg.Abreast*s[1], 7).Row(0)
		linalg.StandAbreast(to, m)
		for i, v := range to {
			r, c, want := i%linalg.Abreast, i/linalg.Abreast, 0.
			if r < m.Rows {
				want = m.Row(r)[c]
			}
			if v != want {
				t.Fatalf("%v: value %d of coordinate %d is %v, want %v", s, r, c, v, want)
			}
		}
		back := linalg.New[float64](s[0], s[1])
		linalg.FallIn(back, to)
		for i := range m.Rows {
			if !slices.Equal(back.Row(i), m.Row(i)) {
				t.Errorf("%v: row %d does not come back", s, i)
			}
		}
	}
}

// The transform of a column is that of a vector, bit for bit.
func TestFWHTColumns(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for n := 1; n <= 1<<13; n *= 2 {
			for _, q := range []int{linalg.Abreast, linalg.Strip} {
				if n*q <= rowsOfPlaces {
					columnsByLevels(t, p, n, q)
				}
			}
		}
	})
}

func columnsByLevels(t *testing.T, p linalg.Path, n, q int) {
	t.Helper()
	from := noise[float64](1, n*q, 8).Row(0)
	to, same := make([]float64, n*q+1), slices.Clone(from)
	linalg.FWHTColumnsOn(p, to[:n*q], from, q)
	linalg.FWHTColumnsOn(p, same, same, q)
	want := make([]float64, n)
	for c := range q {
		for i := range want {
			want[i] = from[i*q+c]
		}
		byLevels(want)
		for i, w := range want {
			if to[i*q+c] != w || same[i*q+c] != w {
				t.Fatalf("%d x %d: entry (%d, %d) is %v and %v in place, want %v", n, q, i, c, to[i*q+c], same[i*q+c], w)
			}
		}
	}
	if to[n*q] != 0 {
		t.Errorf("%d x %d: wrote behind the matrix", n, q)
	}
}

func TestAbreastRefuses(t *testing.T) {
	rows, places, signs := make([]float64, rowsOfPlaces), []uint16{1, 2}, make([]int8, linalg.Places)
	for name, f := range map[string]func(){
		"from few rows":      func() { linalg.PickRows(rows, rows[:100], places, rows) },
		"to few rows":        func() { linalg.PickRows(rows[:15], rows, places, rows) },
		"few rows ahead":     func() { linalg.PickRows(rows, rows, places, rows[:15]) },
		"few places":         func() { linalg.PlaceRows(rows[:100], rows, places, signs, 1) },
		"few rows to place":  func() { linalg.PlaceRows(rows, rows[:15], places, signs, 1) },
		"few signs":          func() { linalg.PlaceRows(rows, rows, places, signs[:9], 1) },
		"few rows to turn":   func() { linalg.TurnRows(rows[:15], signs[:2], 1) },
		"strips beyond":      func() { linalg.CopyStrips(3, rows[:130], 64, rows, 64) },
		"odd columns":        func() { linalg.FWHTColumns(rows[:12], rows[:12], 12) },
		"no power of two":    func() { linalg.FWHTColumns(rows[:24], rows[:24], 8) },
		"no rows":            func() { linalg.FWHTColumns(nil, nil, 8) },
		"different lengths":  func() { linalg.FWHTColumns(rows[:16], rows[:32], 8) },
		"nine to stand":      func() { linalg.StandAbreast(rows, linalg.New[float64](9, 2)) },
		"nine to fall in":    func() { linalg.FallIn(linalg.New[float64](9, 2), rows) },
		"too many to fit in": func() { linalg.StandAbreast(rows[:8], linalg.New[float64](2, 2)) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}
