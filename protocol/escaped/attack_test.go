package escaped

import (
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// overheard holds the numbers that north sends to south, a party behind it: M = X - A and N = a A.
type overheard struct{ masked, mask linalg.Matrix[float64] }

// overhear runs a session and keeps what south gets of north.
func overhear(t *testing.T, north, south linalg.Matrix[float64]) overheard {
	t.Helper()
	o := overheard{linalg.New[float64](north.Rows, north.Cols), linalg.New[float64](north.Rows, north.Cols)}
	cfg := session(t, Input{Rows: north}, Input{Rows: south})
	cfg.Intercept = func(m protocol.Message) []protocol.Message {
		if m.Sender == "north" && m.Receiver == "south" {
			to := o.masked
			if m.Kind == kindMask {
				to = o.mask
			}
			lo, hi := span(len(to.Data), int(m.Chunk))
			if err := decodeNumbers(m.Body, to.Data[lo:hi]); err != nil {
				t.Error(err)
			}
		}
		return []protocol.Message{m}
	}
	mustRun(t, cfg)
	return o
}

// guess returns how far the worst value of the rows M + N/a is off. It is not a number if masks are 0.
func (o overheard) guess(a float64, truth linalg.Matrix[float64]) (worst float64) {
	for i, v := range truth.Data {
		worst = max(worst, math.Abs(o.masked.Data[i]+o.mask.Data[i]/a-v))
	}
	return worst
}

// A party's mask and its factor are drawn from [1, 50), another number for each value, as in the
// paper's program: their mean is 25.5, within five deviations.
func TestMasksAreUniform(t *testing.T) {
	north := randomRows("north", 50, 30)
	o := overhear(t, north, randomRows("south", 3, 30))
	seen, mean, n := make(map[float64]bool), 0.0, float64(len(north.Data))
	for i, v := range north.Data {
		a := v - o.masked.Data[i]
		if seen[a] || !(a >= 1-1e-9 && a < 50+1e-9) {
			t.Errorf("value %d has the mask %v", i, a)
		}
		seen[a], mean = true, mean+a/n
		if factor := o.mask.Data[i] / a; !(factor > 1+1e-9 && factor < 50+1e-9) {
			t.Fatalf("the mask is multiplied by %v", factor)
		}
	}
	if off := mean - 25.5; math.Abs(off) > 5*49/math.Sqrt(12*n) {
		t.Errorf("masks have the mean %v", mean)
	}
}

// drawn returns a party of a session that has drawn its mask and the mask's factor from a seed.
func drawn(t *testing.T, parties int, seed byte) *Party {
	t.Helper()
	inputs := share(randomRows("masks", 2*parties, 3), slices.Repeat([]int{2}, parties)...)
	p, err := NewParty(protocol.Setup{Session: session(t, inputs...).Session, Self: "north", Seed: [32]byte{seed}}, inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	p.begin()
	p.agenda[0]() // draws the mask
	return p
}

// A party draws another mask in each session: two sessions' masked rows would tell what changed. It draws
// from its own seed, which nobody else has.
func TestEachSessionHasItsOwnMask(t *testing.T) {
	two, three, other := drawn(t, 2, 7).mask, drawn(t, 3, 7).mask, drawn(t, 2, 8).mask
	for i, v := range two.Data {
		if v == three.Data[i] || v == 0 {
			t.Errorf("two sessions have the mask %v of value %d", v, i)
		}
		if v == other.Data[i] {
			t.Errorf("two seeds have the mask %v of value %d", v, i)
		}
	}
}

// The factor of a mask is drawn like the mask: over many seeds its mean is 25.5, within five deviations, and
// no two are equal.
func TestFactorsAreUniform(t *testing.T) {
	const seeds = 250
	seen, mean := make(map[float64]bool), 0.0
	for seed := range seeds {
		factor := drawn(t, 2, byte(seed)).scale
		if seen[factor] || !(factor >= 1 && factor < 50) {
			t.Errorf("seed %d has the factor %v", seed, factor)
		}
		seen[factor], mean = true, mean+factor/seeds
	}
	if off := mean - 25.5; math.Abs(off) > 5*49/math.Sqrt(12*seeds) {
		t.Errorf("factors have the mean %v", mean)
	}
}

// One value that south knows of north gives it all of north's rows. Measured: to 1.1e-14.
func TestOneKnownValueGivesAllRows(t *testing.T) {
	north := randomRows("north", 50, 30)
	o := overhear(t, north, randomRows("south", 3, 30))
	a := o.mask.Data[7] / (north.Data[7] - o.masked.Data[7])
	if worst := o.guess(a, north); !(worst <= 1e-13) {
		t.Errorf("the worst value is off by %.2g", worst)
	}
	if worst := o.guess(a*1.01, north); !(worst >= .1) {
		t.Errorf("a wrong number gives the rows too, to %.2g", worst)
	}
}

// Images have a background of zeros, where -N/M is a. South knows no value: it takes the ratio
// that most values share. Measured on the bundled digits: to 1.8e-13 of pixels up to 16.
func TestTheMostFrequentRatioGivesAllImages(t *testing.T) {
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	all := dataset.RowsOf(set.X)
	north, south := linalg.New[float64](200, set.X.Cols()), linalg.New[float64](5, set.X.Cols())
	linalg.Gather(north, all, 0)
	linalg.Gather(south, all, 200)
	o := overhear(t, north, south)
	counts := make(map[int64]int)
	var best int64
	for i := range o.mask.Data {
		ratio := int64(math.Round(-o.mask.Data[i] / o.masked.Data[i] * 1e9))
		if counts[ratio]++; counts[ratio] > counts[best] {
			best = ratio
		}
	}
	var sum, n float64
	for i := range o.mask.Data { // the rounded ratio, made sharp by those that have it
		if ratio := -o.mask.Data[i] / o.masked.Data[i]; math.Abs(ratio*1e9-float64(best)) < 2 {
			sum, n = sum+ratio, n+1
		}
	}
	if worst := o.guess(sum/n, north); !(worst <= 1e-12) {
		t.Errorf("the worst pixel is off by %.2g", worst)
	}
}

// The server knows 1/a: with south it needs no attack.
func TestTheServerAndAPartyReadTheOneBefore(t *testing.T) {
	north := randomRows("north", 20, 10)
	cfg := session(t, Input{Rows: north}, Input{Rows: randomRows("south", 3, 10)})
	s := mustRun(t, cfg).Outcome("hub").Machine.(*Server)
	o := overhear(t, north, randomRows("south", 3, 10))
	if worst := o.guess(1/s.sources[0].scale, north); !(worst <= 1e-13) {
		t.Errorf("the worst value is off by %.2g", worst)
	}
}

// The server and the first party need no number of another party: the products with as many known
// independent rows as there are features determine every other row.
func TestTheServerAndTheFirstPartyReadAllRows(t *testing.T) {
	const n, f = 20, 10
	north, south := randomRows("north", n, f), randomRows("south", 7, f)
	gram := mustRun(t, session(t, Input{Rows: north}, Input{Rows: south})).Outcome("hub").Machine.(*Server).Gram()
	normal, sides := linalg.New[float64](f, f), linalg.New[float64](south.Rows, f)
	for k := range n {
		for i, x := range north.Row(k) {
			for j, y := range north.Row(k) {
				normal.Row(i)[j] += x * y
			}
			for j := range south.Rows {
				sides.Row(j)[i] += x * gram.Row(k)[n+j]
			}
		}
	}
	if err := linalg.Cholesky(normal); err != nil {
		t.Fatal(err)
	}
	linalg.SolveCholesky(normal, sides)
	for j := range south.Rows {
		for i, want := range south.Row(j) {
			if got := sides.Row(j)[i]; math.Abs(got-want) > 1e-9 {
				t.Errorf("value %d of row %d is %v, not %v", i, j, got, want)
			}
		}
	}
}
