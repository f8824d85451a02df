package chebyshev

import "testing"

// The counts are those of the measured runs: 59, 83 and 103 messages in a row.
func TestPlanCounts(t *testing.T) {
	for _, c := range []struct {
		plan                        Plan
		squarings, products, inARow int
	}{
		{Plan{400, 8}, 3, 56, 59}, {Plan{592, 8}, 3, 80, 83}, {Plan{752, 8}, 3, 100, 103},
		{Plan{592, 1}, 0, 591, 591}, {Plan{16, 16}, 4, 15, 19},
	} {
		if p := c.plan; p.Squarings() != c.squarings || p.Products() != c.products || p.InARow() != c.inARow {
			t.Errorf("%v: %d squarings, %d products, %d in a row", p, p.Squarings(), p.Products(), p.InARow())
		}
	}
}

func TestPlanCheck(t *testing.T) {
	for p, want := range map[Plan]bool{
		{592, 8}: true, {1, 1}: true, {16, 16}: true, {MaxSteps, 16}: true,
		{}: false, {8, 0}: false, {8, -8}: false, {12, 3}: false, {64, 32}: false, {12, 8}: false, {0, 8}: false, {MaxSteps + 16, 16}: false,
	} {
		if err := p.Check(); (err == nil) != want {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// Squarings pay where messages or products are dear. Of equally cheap plans the smallest block is taken, and
// blocks that need too many bits are not.
func TestChoose(t *testing.T) {
	one, err := New(1e-4, 591)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   Price
		most int // bits of the range
		want Plan
	}{
		"squarings too dear":  {Price{Squaring: 1 << 40, Product: 1, Message: 1}, 60, Plan{591, 1}},
		"messages dear":       {Price{Squaring: 300e6, Product: 13e6, Message: 100e6}, 60, Plan{592, 16}},
		"squarings of 1 s":    {Price{Squaring: 1000e6, Product: 13e6, Message: 10e6}, 60, Plan{592, 8}},
		"all equally cheap":   {Price{}, 60, Plan{591, 1}},
		"a limit of the bits": {Price{}, one.RangeBits(1, 0) - 1, Plan{592, 2}},
	} {
		got, err := Choose(1347, 1e-4, c.of, within(c.most))
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	for name, err := range map[string]error{
		"no rows":        second(Choose(0, 1e-4, Price{}, within(60))),
		"no ratio":       second(Choose(100, 0, Price{}, within(60))),
		"too few bits":   second(Choose(100, 1e-4, Price{}, within(3))),
		"too many steps": second(Choose(100, 1e-7, Price{}, within(60))),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// within accepts polynomials whose range has at most so many bits.
func within(bits int) func(Polynomial, int) bool {
	return func(p Polynomial, m int) bool { return p.RangeBits(m, 0) <= bits }
}

func second(_ Plan, err error) error { return err }
