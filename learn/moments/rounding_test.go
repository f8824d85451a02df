package moments

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// The attack of TestAttackBoundaryOfRounding, at parties that hold out some 200 rows: the server knows nobody.
func TestAttackBoundaryOfFives(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := rand.New(rand.NewPCG(3, 1))
	const trials, people = 10, 10
	right, asked, seen, most := 0, 0, 0, 0
	for range trials {
		c := drawPool(r, 151, 203, 174)
		from := r.Float64() - 0.5
		lo, hi, high, jump := c.boundary(t, from, from+0.2)
		if jump != Five*Thousand {
			continue
		}
		most = max(most, int(c.jobs)+people)
		seen++
		// which party tips: by its own rows between lo and hi, which the server does not know
		party := -1
		for p, x := range c.rows {
			for i := range x.Rows {
				if v := x.Row(i)[0]; v > lo && v <= hi && c.codes[p][i] == 0 {
					party = p
				}
			}
		}
		outside, _ := drawRows(r, people)
		for i := range people {
			row, in := outside.Panel(i, i+1), i%2 == 0
			if in {
				at := slices.Index(c.codes[party][7*i:], 1) + 7*i
				row = c.rows[party].Panel(at, at+1)
			}
			asked++
			if told := c.answer(t, func(m feature.Map) Solution { return point(m, halfSpace(t, m, hi), row) }) > high; told == in {
				right++
			}
		}
	}
	t.Logf("%d of %d boundaries found in %d jobs with all questions; %d of %d answers right", seen, trials, most, right, asked)
	if seen < trials/2 || float64(right) < 0.95*float64(asked) || most > 20 {
		t.Errorf("%d of %d boundaries found within %d jobs, %d answers right: want the attack to work, nothing prevents it", seen, trials, most, right)
	}
}

// likeNobody are features of a kernel so narrow that rows are like nothing but themselves, and the rows and numbers of
// one party.
func likeNobody(seed uint64, n int) (m feature.Map, x linalg.Matrix[float64], y Numbers) {
	r := rand.New(rand.NewPCG(seed, 1))
	x = linalg.New[float64](n, poolWidth)
	for k := range x.Data {
		x.Data[k] = r.NormFloat64()
	}
	y = Numbers{Values: make([]float64, n), Range: Range{-1, 1}}
	for i := range y.Values {
		y.Values[i] = max(-1, min(1, 0.3*r.NormFloat64()))
	}
	return featuresOf(1, 2048, poolWidth, 50), x, y
}

// asksAbout adds a person to a made-up solution, by a row of weights.
func asksAbout(m feature.Map, weights, person []float64, much float64) {
	a, phi := linalg.New[float64](1, poolWidth), linalg.New[float64](1, m.Len())
	copy(a.Data, person)
	m.Rows(phi, a)
	for k, v := range phi.Data {
		weights[k] += much * v * 2 / float64(m.Len())
	}
}

// Means with three digits are no fives. A made-up solution that is 0 for everybody but one person tells whether that
// person is held out, and the person's number, to a server that knows nobody: the second question is about nobody.
func TestAttackAMeanTellsOnePerson(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, n := range []int{60, 250, 1000} {
		m, x, y := likeNobody(5, n)
		tell := func(much float64, person []float64) float64 {
			s := Solution{Weights: linalg.New[float64](1, m.Len()), Offset: []float64{0}}
			asksAbout(m, s.Weights.Row(0), person, much)
			e, err := MeasureNumbers(m, s, x, y)
			if err != nil {
				t.Fatal(err)
			}
			return float64(e.Rounded().Squared) / SquaredOne
		}
		r := rand.New(rand.NewPCG(6, 1))
		right, off := 0, 0.0
		for q := range 40 {
			person, in := make([]float64, poolWidth), q%2 == 0
			for k := range person {
				person[k] = r.NormFloat64()
			}
			if in {
				copy(person, x.Row(q))
			}
			told := tell(2, person) - tell(0, person) // (2-y)^2 - y^2 = 4 - 4y, and what the features' noise adds
			if (told > 0.8+float64(n)*4/float64(m.Len())) == in {
				right++
			}
			if in {
				off += math.Abs((4-(told-float64(n)*4/float64(m.Len())))/4 - y.Values[q])
			}
		}
		t.Logf("%d held-out rows: %d of 40 answers are right, numbers are off by %.3f in the mean", n, right, off/20)
		if n < 1000 && right < 38 {
			t.Errorf("%d held-out rows: %d of 40 right, want the attack to work: nothing prevents it", n, right)
		}
	}
}

// A made-up component asks about one person, too: its score is about 0 for all others.
func TestAttackSquaredScoresTellOnePerson(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, n := range []int{60, 250, 1000} {
		m, x, _ := likeNobody(7, n)
		r := rand.New(rand.NewPCG(8, 1))
		right := 0
		for q := range 40 {
			person, in := make([]float64, poolWidth), q%2 == 0
			for k := range person {
				person[k] = r.NormFloat64()
			}
			if in {
				copy(person, x.Row(q))
			}
			s := Solution{Weights: linalg.New[float64](1, m.Len()), Offset: []float64{0}}
			asksAbout(m, s.Weights.Row(0), person, 2)
			kept, err := MeasureComponents(m, s, x)
			if err != nil {
				t.Fatal(err)
			}
			told := float64(RoundMean(kept, n))/SquaredOne - float64(n)*4/float64(m.Len()) // what the features' noise adds
			if (told > 2) == in {
				right++
			}
		}
		t.Logf("%d held-out rows: %d of 40 answers are right", n, right)
		if right < 38 {
			t.Errorf("%d held-out rows: %d of 40 right, want the attack to work: nothing prevents it", n, right)
		}
	}
}

// The stated bound of accuracy holds, for any parties.
func TestSumsOfCountsAreWithinWhatIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := rand.New(rand.NewPCG(7, 1))
	for range 300000 {
		parties := 1 + r.IntN(5)
		var sum, exact, rows float64
		for range parties {
			n := 1 + r.IntN(12)
			switch r.IntN(3) {
			case 1:
				n = 1 + r.IntN(300)
			case 2:
				n = 4990 + r.IntN(2000)
			}
			k := r.IntN(n + 1)
			if r.IntN(3) == 0 {
				k = max(0, n-r.IntN(4))
			}
			sum += float64(RoundShare(k, n)) / Thousand
			exact += float64(k)
			rows += float64(n)
		}
		if d := math.Abs(sum - exact); d > RoundedOff(parties, rows) {
			t.Fatalf("%d parties, %v rows: off by %v, said %v", parties, rows, d, RoundedOff(parties, rows))
		}
	}
}

// R2 and RMSE of rounded means, against the exact ones.
func TestR2OfRoundedMeans(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := rand.New(rand.NewPCG(8, 1))
	worst := 0.0
	for range 20000 {
		n := 50 + r.IntN(2000)
		mean, spread, noise := 2*r.Float64()-1, math.Pow(10, -2*r.Float64()), math.Pow(10, -2*r.Float64())
		var e NumberErrors
		e.Rows = int64(n)
		for range n {
			v := max(-2, min(2, mean+spread*r.NormFloat64()))
			e.Truth += int64(v * SquaredOne)
			e.Power += int64(v * v * SquaredOne)
			d := spread * noise * r.NormFloat64()
			e.Squared += int64(d * d * SquaredOne)
		}
		exact, ok := e.R2()
		told, said := e.Rounded().R2()
		if ok && said && exact > -5 {
			if d := math.Abs(exact - told); d > worst {
				worst = d
				t.Logf("%d rows, mean %.2f, spread %.3f: R2 %.3f, told %.3f", n, mean, spread, exact, told)
			}
		}
	}
	if worst > 0.1 {
		t.Errorf("R2 is told, and is off by up to %.2f", worst)
	}
}
