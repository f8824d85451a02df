package linear

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// setting holds the settings of a training: directions of the scale times the median
// distance, in words of some bits.
type setting struct {
	directions, bits int
	scale, lambda    float64
}

// recommended returns the setting that the package's documentation begins with.
func recommended(directions int) setting { return setting{directions, 16, 1, 1e-6} }

// decide learns from one problem and decides about the rows of another.
func (s setting) decide(t testing.TB, train, test problem, loss Loss, seed uint64) []float64 {
	t.Helper()
	d := gaussian(train.x.Cols, s.scale*train.medianDistance(), seed)
	f, err := Fit(phases[float32](train, d, s.directions, s.bits), row(train.y), Params{Loss: loss, Lambda: s.lambda})
	if err != nil {
		t.Fatal(err)
	}
	return Decide(phases[float32](test, d, s.directions, s.bits), f.Coefficients).Data
}

// median returns the median of three splits' test errors.
func (s setting) median(t *testing.T, p problem) float64 {
	t.Helper()
	var errs []float64
	for seed := range uint64(3) {
		train, test := p.split(t, seed)
		errs = append(errs, wrong(s.decide(t, train, test, Logistic{}, seed), test.y))
	}
	t.Logf("%+v: test errors %.4f", s, errs)
	slices.Sort(errs)
	return errs[1]
}

// The bounds are a little above what the reference implementation has: 0 to .014
// for wdbc, 0 and .004 for digits.
func TestBundled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	digits := classes(t, load(t, "digits"), "1", "3", "5", "7", "9")
	wdbc := classes(t, load(t, "wdbc"), "1").standardised()
	for _, tt := range []struct {
		p       problem
		setting setting
		most    float64
	}{
		{wdbc, recommended(2048), .03},
		{digits, recommended(2048), .010},
		{digits, setting{512, 8, 1, 1e-6}, .02},
	} {
		if got := tt.setting.median(t, tt.p); got > tt.most {
			t.Errorf("%d rows, %+v: test error %.4f, want at most %v", len(tt.p.y), tt.setting, got, tt.most)
		}
	}
}

// One coefficient column for each class tells ten digits apart.
func TestTenDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	set := load(t, "digits")
	p := classes(t, set, "0")
	d, learn := gaussian(p.x.Cols, p.medianDistance(), 1), 1347
	y := linalg.New[float64](10, p.x.Rows)
	for i, label := range set.Labels {
		for k := range 10 {
			y.Row(k)[i] = -1
		}
		y.Row(int(label[0] - '0'))[i] = 1
	}
	train, test := p.choose(all(learn)), p.choose(all(p.x.Rows)[learn:])
	targets := linalg.Matrix[float64]{Rows: 10, Cols: learn, Stride: p.x.Rows, Data: y.Data}
	f, err := Fit(phases[float32](train, d, 256, 16), targets, Params{Loss: SmoothHinge{}, Lambda: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	u, misses := Decide(phases[float32](test, d, 256, 16), f.Coefficients), 0
	for i := range u.Cols {
		best := 0
		for k := range 10 {
			if u.Row(k)[i] > u.Row(best)[i] {
				best = k
			}
		}
		if y.Row(best)[learn+i] < 0 {
			misses++
		}
	}
	if misses > 450*6/100 {
		t.Errorf("%d of 450 digits are taken for others", misses)
	}
}

// With 512 directions the reference implementation has .045.
func TestPhishing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	p := classes(t, libsvm(t, 68, "phishing/phishing"), "1")
	train, test := p.split(t, 1)
	got := wrong(recommended(512).decide(t, train, test, Logistic{}, 1), test.y)
	t.Logf("test error %.4f", got)
	if got > .045 {
		t.Errorf("test error %.4f, want at most .045", got)
	}
}
