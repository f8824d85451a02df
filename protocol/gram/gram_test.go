package gram

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
)

// table is rows of random values within +-2^exponent, which the first row has;
// whole ones if asked for.
func table(seed uint64, n int, h Holder) linalg.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := linalg.New[float64](n, h.Columns)
	limit := math.Ldexp(1, h.Exponent)
	for i := range m.Data {
		m.Data[i] = limit * (2*rng.Float64() - 1)
		if h.Whole {
			m.Data[i] = math.Round(m.Data[i])
		}
	}
	m.Data[0] = -limit
	return m
}

// add reads the parts in pieces of an odd size and adds them.
func add(parts []*Part, groups []int) [][]int64 {
	sums := make([][]int64, len(groups))
	for g, entries := range groups {
		sums[g] = make([]int64, entries)
		for _, part := range parts {
			for first := 0; first < entries; first += 997 {
				piece := make([]int64, min(997, entries-first))
				part.Read(g, first, piece)
				for i, v := range piece {
					sums[g][first+i] += v
				}
			}
		}
	}
	return sums
}

// summed is the Gram matrix that holders of tables get, and their tables.
func summed(t *testing.T, holders []Holder, training, heldOut int) (Params, linalg.Matrix[float64], []linalg.Matrix[float64]) {
	t.Helper()
	p, err := NewParams(holders, training, heldOut)
	if err != nil {
		t.Fatal(err)
	}
	var parts []*Part
	var tables []linalg.Matrix[float64]
	for l, h := range holders {
		m := table(uint64(l), training+heldOut, h)
		part, err := p.Part(m, l)
		if err != nil {
			t.Fatal(err)
		}
		parts, tables = append(parts, part), append(tables, m)
	}
	dot, err := p.Matrix(add(parts, p.Groups()))
	if err != nil {
		t.Fatal(err)
	}
	return p, dot, tables
}

// pooled is the product of all columns' fixed-point values in one place, by
// nothing but integers.
func pooled(p Params, tables []linalg.Matrix[float64], i, j int) float64 {
	unit, sum := math.Ldexp(1, p.Scale()), int64(0)
	for _, m := range tables {
		for c, x := range m.Row(i) {
			sum += int64(math.RoundToEven(x*unit)) * int64(math.RoundToEven(m.Row(j)[c]*unit))
		}
	}
	return float64(sum) / unit / unit
}

func TestMatrixIsThePooledOne(t *testing.T) {
	for name, c := range map[string]struct {
		holders           []Holder
		training, heldOut int
		scale             int
	}{
		"whole numbers": {[]Holder{{3, 8, true}, {5, 0, true}}, 70, 20, 0},
		"unit interval": {[]Holder{{10, 0, false}, {10, 0, false}, {10, 0, true}}, 130, 65, 24},
		"coarser":       {[]Holder{{9, 3, false}, {9, 4, false}}, 64, 64, 20},
		"coarsest":      {[]Holder{{1, 18, false}, {1, 0, false}}, 5, 3, 8},
		"none held out": {[]Holder{{1, 0, false}, {2, 1, false}}, 65, 0, 24},
	} {
		t.Run(name, func(t *testing.T) {
			p, dot, tables := summed(t, c.holders, c.training, c.heldOut)
			if p.Scale() != c.scale {
				t.Errorf("scale %d, want %d", p.Scale(), c.scale)
			}
			for i := range dot.Rows {
				for j := range dot.Cols {
					want := pooled(p, tables, i, j)
					if i != j && i >= c.training && j >= c.training {
						want = 0
					}
					if got := dot.Row(i)[j]; math.Float64bits(got) != math.Float64bits(want) && (got != 0 || want != 0) {
						t.Fatalf("entry %d, %d is %v, want %v", i, j, got, want)
					}
				}
			}
		})
	}
}

// New rows have the products with a model's that all would have in one sum.
func TestCrossIsThePooledOne(t *testing.T) {
	for _, c := range []struct{ model, added int }{{1, 1}, {65, 3}, {3, 130}} {
		holders := []Holder{{4, 0, false}, {7, 1, false}}
		p, err := NewCrossParams(holders, c.model, c.added)
		if err != nil {
			t.Fatal(err)
		}
		var parts []*Part
		var tables []linalg.Matrix[float64]
		for l, h := range holders {
			m := table(uint64(l), c.model+c.added, h)
			part, err := p.Part(m, l)
			if err != nil {
				t.Fatal(err)
			}
			parts, tables = append(parts, part), append(tables, m)
		}
		sums := add(parts, p.Groups())
		cross, squares, err := p.Cross(sums)
		if err != nil {
			t.Fatal(err)
		}
		if cross.Rows != c.added || cross.Cols != c.model || len(squares) != c.added || len(sums) != 2 {
			t.Fatalf("%d x %d products, %d squares, %d groups", cross.Rows, cross.Cols, len(squares), len(sums))
		}
		for i := range c.added {
			for j := range c.model {
				if got, want := cross.Row(i)[j], pooled(p, tables, c.model+i, j); got != want {
					t.Fatalf("%+v: product %d, %d is %v, want %v", c, i, j, got, want)
				}
			}
			if got, want := squares[i], pooled(p, tables, c.model+i, c.model+i); got != want {
				t.Fatalf("%+v: square %d is %v, want %v", c, i, got, want)
			}
		}
		if _, err := p.Matrix(sums); err == nil {
			t.Error("a whole matrix is made of a part of it")
		}
		if _, _, err := p.Cross(sums[:1]); err == nil {
			t.Error("squares are made of nothing")
		}
	}
	if p, err := NewParams([]Holder{{1, 0, true}, {1, 0, true}}, 2, 1); err != nil {
		t.Fatal(err)
	} else if _, _, err := p.Cross(make([][]int64, 3)); err == nil {
		t.Error("a sum with a triangle is taken for one without")
	}
}

// The attack that parties keep a ledger for: two sums over the same rows, with and
// without one column, give that column up to its sign.
func TestAttackOneColumnLess(t *testing.T) {
	host := Holder{3, 2, false}
	guest := Holder{2, 2, false}
	less := Holder{2, 2, false}
	all := table(1, 40, host)
	without := linalg.New[float64](40, 2)
	for i := range 40 {
		copy(without.Row(i), all.Row(i)[:2])
	}
	sum := func(h Holder, rows linalg.Matrix[float64]) (Params, linalg.Matrix[float64]) {
		p, err := NewParams([]Holder{guest, h}, 40, 0)
		if err != nil {
			t.Fatal(err)
		}
		dot, err := p.Matrix(add([]*Part{first(p.Part(table(0, 40, guest), 0)), first(p.Part(rows, 1))}, p.Groups()))
		if err != nil {
			t.Fatal(err)
		}
		return p, dot
	}
	p, with := sum(host, all)
	_, rest := sum(less, without)
	pivot := math.Sqrt(with.Row(5)[5] - rest.Row(5)[5])
	for i := range 40 {
		got := (with.Row(5)[i] - rest.Row(5)[i]) / pivot
		if all.Row(5)[2] < 0 {
			got = -got
		}
		if math.Abs(got-all.Row(i)[2]) > 40*math.Ldexp(1, -p.Scale()) {
			t.Errorf("row %d is taken for %v, it is %v", i, got, all.Row(i)[2])
		}
	}
}

// The proof: no entry of a part is beyond its holder's bound, the bounds add up
// to what float64 holds, and q parts with offsets fit a word.
func TestNothingWraps(t *testing.T) {
	rng, possible := rand.New(rand.NewPCG(1, 1)), 0
	for range 2000 {
		holders := make([]Holder, 2+rng.IntN(8))
		for l := range holders {
			holders[l] = Holder{1 + rng.IntN(1<<rng.IntN(20)), rng.IntN(MaxExponent + 1), rng.IntN(2) == 0}
		}
		p, err := NewParams(holders, 1, 1)
		if err != nil {
			continue
		}
		possible++
		sum := 0.0
		for _, h := range holders {
			bound := float64(h.Columns) * math.Pow(math.Ldexp(1, p.Scale()+h.Exponent), 2)
			if sum += bound; bound > float64(p.Bound()) {
				t.Fatalf("%v: a bound of %v, over the common %v", holders, bound, p.Bound())
			}
		}
		if q := float64(len(holders)); sum > MaxSum || 2*q*float64(p.Bound())+1 > math.Ldexp(1, 64) {
			t.Fatalf("%v: bounds of %v", holders, sum)
		}
	}
	if possible < 100 {
		t.Errorf("only %d of 2000 are possible", possible)
	}
	p, err := NewParams([]Holder{{4, 3, true}, {1, 0, true}}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	part, err := p.Part(linalg.Matrix[float64]{Data: []float64{8, -8, 8, 8}, Rows: 1, Cols: 4, Stride: 4}, 0)
	if err != nil {
		t.Fatal(err)
	}
	entry := make([]int64, 1)
	if part.Read(0, 0, entry); entry[0] != p.Bound() {
		t.Errorf("the largest values give %d, the bound is %d; it should be reached", entry[0], p.Bound())
	}
}

func TestParamsThatAreRefused(t *testing.T) {
	good := Holder{2, 0, false}
	for name, c := range map[string]struct {
		holders           []Holder
		training, heldOut int
	}{
		"one holder": {[]Holder{good}, 2, 0}, "many holders": {make([]Holder, MaxHolders+1), 2, 0},
		"no column": {[]Holder{good, {0, 0, false}}, 2, 0}, "many columns": {[]Holder{good, {MaxColumns + 1, 0, false}}, 2, 0},
		"exponent below 0": {[]Holder{good, {1, -1, false}}, 2, 0}, "exponent": {[]Holder{good, {1, MaxExponent + 1, false}}, 2, 0},
		"no rows": {[]Holder{good, good}, 0, 2}, "rows below 0": {[]Holder{good, good}, 2, -1}, "many rows": {[]Holder{good, good}, MaxRows, 1},
	} {
		if _, err := NewParams(c.holders, c.training, c.heldOut); err == nil || errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, holders := range [][]Holder{{good, {1, 19, false}}, {{3, 26, true}, {1, 0, true}}, {{1 << 24, 15, true}, {1, 0, true}}} {
		if _, err := NewParams(holders, 2, 0); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v: %v", holders, err)
		}
	}
}

func TestPartsThatAreRefused(t *testing.T) {
	h := Holder{2, 1, false}
	p, err := NewParams([]Holder{h, h}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]linalg.Matrix[float64]{
		"the table has 2 rows of 2 columns; 3 rows of 2 columns were declared": linalg.New[float64](2, 2), "the table has 3 rows of 1 columns": linalg.New[float64](3, 1),
		"row 1, column 0 (from 0) is 2.5, which exceeds the declared 2": {Data: []float64{0, 0, 2.5, 0, 0, 0}, Rows: 3, Cols: 2, Stride: 2},
		"is NaN": {Data: []float64{0, 0, math.NaN(), 0, 0, 0}, Rows: 3, Cols: 2, Stride: 2},
	} {
		if _, err := p.Part(m, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	whole := Holder{1, 1, true}
	if p, err = NewParams([]Holder{whole, whole}, 1, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Part(linalg.Matrix[float64]{Data: []float64{1.5}, Rows: 1, Cols: 1, Stride: 1}, 1); err == nil || !strings.Contains(err.Error(), "is 1.5; only whole numbers were declared") {
		t.Errorf("error %v", err)
	}
}

func TestMatrixRefusesOtherSums(t *testing.T) {
	p, err := NewParams([]Holder{{1, 0, true}, {1, 0, true}}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{4, 2, 1}, p.Groups()); d != "" {
		t.Fatal(d)
	}
	for _, sizes := range [][]int{{4, 2}, {4, 2, 1, 1}, {3, 2, 1}, {4, 2, 2}} {
		var sums [][]int64
		for _, n := range sizes {
			sums = append(sums, make([]int64, n))
		}
		if _, err := p.Matrix(sums); err == nil {
			t.Errorf("sums of %v entries are taken", sizes)
		}
	}
}

// Other rows have another hash, so that a replay over an edited table is found
// out.
func TestHash(t *testing.T) {
	h := Holder{2, 0, false}
	p, err := NewParams([]Holder{h, h}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := table(1, 4, h)
	one, err := p.Part(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.Data[5] /= 2
	two, err := p.Part(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	if one.Hash() == two.Hash() {
		t.Error("an edited value does not change the hash")
	}
	if m.Data[5] *= 2; one.Hash() != first(p.Part(m, 0)).Hash() {
		t.Error("the same rows have two hashes")
	}
}

func first(p *Part, _ error) *Part { return p }

func TestExponent(t *testing.T) {
	var got []int
	for _, most := range []float64{0, 0.3, 1, 1.0001, 2, 1000, 1 << 26} {
		e, err := Exponent(most)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if !slices.Equal(got, []int{0, 0, 0, 1, 1, 10, 26}) {
		t.Error(got)
	}
	for _, most := range []float64{1<<26 + 1, math.Inf(1), math.NaN()} {
		if _, err := Exponent(most); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v: %v", most, err)
		}
	}
}
