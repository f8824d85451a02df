package scale

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Statistics at their bounds are accepted, and beyond them refused.
func TestStatisticsAtTheirBounds(t *testing.T) {
	const most, above = 2 * limit, 2.001 * limit
	for _, c := range []struct {
		method        Method
		rows          int
		first, second float64
		good          bool
	}{
		{MinMax, 2, -most, most, true},
		{MinMax, 2, most, most, true},
		{MinMax, 2, -above, 0, false},
		{MinMax, 2, 0, above, false},
		{MinMax, 2, 1, 0, false},
		{MinMax, 2, math.NaN(), 1, false},
		{MinMax, 2, 0, math.NaN(), false},
		{MinMax, 1, 1, 1, true},
		{MinMax, 1, 0, 1, false},
		{Standard, 2, most, 0, true},
		{Standard, 2, above, 0, false},
		{Standard, 2, 0, 2 * (4 * limit) * limit, true},
		{Standard, 2, 0, 2.001 * (4 * limit) * limit, false},
		{Standard, 2, 0, -1, false},
		{Standard, 2, 0, math.NaN(), false},
		{Standard, 1, 5, 0, true},
		{Standard, 1, 5, 1, false},
	} {
		err := check(c.method, c.rows, columns{[]float64{0, c.first}, []float64{0, c.second}})
		if (err == nil) != c.good {
			t.Errorf("%s of %d rows, %g and %g: error %v", c.method, c.rows, c.first, c.second, err)
		}
	}
}

func TestScalingsAtTheirBounds(t *testing.T) {
	for _, c := range []struct {
		offset, factor float64
		good           bool
	}{
		{4 * limit, 0, true}, {-4 * limit, math.MaxFloat64, true},
		{4.001 * limit, 1, false}, {math.NaN(), 1, false},
		{0, -1e-300, false}, {0, math.Inf(1), false}, {0, math.NaN(), false},
	} {
		if err := checkScaling(columns{[]float64{c.offset}, []float64{c.factor}}); (err == nil) != c.good {
			t.Errorf("offset %g with factor %g: error %v", c.offset, c.factor, err)
		}
	}
}

// A chunk beyond the last one is refused, whoever sends it.
func TestChunkBeyondTheLast(t *testing.T) {
	m := protocol.Message{Header: protocol.Header{Chunk: 0, Chunks: 1}, Body: body(2, []float64{1, 4}, []float64{3, 5})}
	if _, err := decode(m, bulk()); err != nil {
		t.Fatal(err)
	}
	m.Chunk = 1
	if _, err := decode(m, bulk()); err == nil {
		t.Error("chunk 2 of 1 was read")
	}
}

func TestScalingOfOtherRowsPanics(t *testing.T) {
	one, two := make([]float64, 1), make([]float64, 2)
	for name, s := range map[string]Scaling{"offsets": {one, two}, "factors": {two, one}} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "scale: ") {
					t.Errorf("other %s: panics with %q", name, said)
				}
			}()
			s.Rows(linalg.New[float64](3, 2))
		}()
	}
}

// Pooled returns the scaling on which the parties would agree, and refuses what they would
// refuse.
func TestPooled(t *testing.T) {
	north, south := table([]float64{1, 5}, []float64{3, 4}), table([]float64{2, -1})
	for _, method := range []Method{MinMax, Standard} {
		got, err := Pooled(pool(north, south), method)
		if err != nil {
			t.Fatal(err)
		}
		agreed := agree(t, method, 0, bulk(), north, south)[0]
		for j := range got.Offset {
			if math.Abs(got.Offset[j]-agreed.Offset[j]) > 1e-15 || math.Abs(got.Factor[j]-agreed.Factor[j]) > 1e-15 {
				t.Errorf("%s, column %d: %v and %v, agreed on %v and %v", method, j, got.Offset[j], got.Factor[j], agreed.Offset[j], agreed.Factor[j])
			}
		}
		if _, err := Pooled(table([]float64{math.NaN()}), method); err == nil {
			t.Errorf("%s of what is no number", method)
		}
	}
}

// Without a known width the leakage names no number of columns.
func TestLeakageOfAnUnknownWidth(t *testing.T) {
	seen := Facts{Method: MinMax}.describeSizes()
	if strings.ContainsAny(seen, "0123456789") || !strings.Contains(seen, "a factor of two") {
		t.Errorf("%q", seen)
	}
}

func TestCutLeavesTheRest(t *testing.T) {
	var w wire.Writer
	w.Float64s([]float64{1, 2, 3, 4})
	b := append(w.Bytes(), "rest"...)
	var s Scaling
	if rest, err := s.Cut(b, 2); err != nil || string(rest) != "rest" || !slices.Equal(s.Offset, []float64{1, 2}) || !slices.Equal(s.Factor, []float64{3, 4}) {
		t.Errorf("%v, %q left, error %v", s, rest, err)
	}
	for _, columns := range []int{-1, 3, math.MaxInt} {
		if rest, err := s.Cut(b, columns); err == nil || rest != nil {
			t.Errorf("%d columns in %d bytes: %q left, error %v", columns, len(b), rest, err)
		}
	}
}
