package noised

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/privacy"
)

// A result warns of rows that are few for the noise, as strongly as the noise is.
func TestFew(t *testing.T) {
	for rows, says := range map[int]string{300: "300 training rows are too few", 2000: "2000 training rows are few", 4800: "with 4800 training rows this privacy may cost", 47999: "From some 50000 rows on", 48000: ""} {
		if got := Few(rows, 96, 50); !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%d rows: %q, want %q", rows, got, says)
		}
	}
}

// The figures of every job are numbers, which a result can hold: also of a weak guarantee and the most parties.
func TestFiguresAreFinite(t *testing.T) {
	g := privacy.Guarantee{Epsilon: privacy.MostEpsilon, Delta: privacy.MostDelta}
	f := NewFigures(g, privacy.Summands{Honest: 1023, All: 1024})
	if _, err := json.Marshal(f); err != nil || !(f.Coalition > 1023*f.Rho) {
		t.Errorf("%+v, %v", f, err)
	}
}

// A result warns of a delta that does not protect so many rows.
func TestLoose(t *testing.T) {
	for rows, says := range map[int]string{10_000: "", 10_001: "delta 1e-05 is much for 10001 training rows"} {
		if got := Loose(rows, 1e-5); !strings.HasPrefix(got, says) || (got == "") != (says == "") {
			t.Errorf("%d rows: %q, want %q", rows, got, says)
		}
	}
	if list := Warnings(150, 96, 50, .01); len(list) != 2 || !strings.HasSuffix(list[1], "at most 6e-04.") {
		t.Errorf("%q", list)
	}
	if list := Warnings(10_000, 96, 5, 1e-5); len(list) != 0 {
		t.Errorf("%q", list)
	}
}

// The figures follow from the guarantee: what a row of other values and what a coalition changes in rho.
func TestFiguresFollowFromRho(t *testing.T) {
	g := privacy.Guarantee{Epsilon: 2, Delta: 1e-6}
	f := NewFigures(g, privacy.Summands{Honest: 3, All: 4})
	for what, c := range map[string]struct{ got, rho float64 }{
		"the guarantee":  {f.Epsilon, f.Rho},
		"a replaced row": {f.Replaced, privacy.Replacement * f.Rho},
		"a coalition":    {f.Coalition, 3 * f.Rho},
	} {
		if want := privacy.Epsilon(c.rho, g.Delta); math.Abs(c.got/want-1) > 1e-4 {
			t.Errorf("%s: epsilon %v, want %v", what, c.got, want)
		}
	}
	if f.Replaced <= f.Epsilon || f.Coalition <= f.Replaced || !strings.Contains(f.Unit(), "exp(2)") {
		t.Errorf("figures %+v: %s", f, f.Unit())
	}
	f.Deviations = map[string]float64{"rmse": .25, "accuracy": .01}
	if text := f.Text(); !strings.HasSuffix(text, "the noise gives accuracy a standard error of 0.01; the noise gives rmse a standard error of 0.25") {
		t.Error(text)
	}
}

// A held-out row of other values takes less of the budget than a training row of other values, whose part is
// privacy.Replacement: the sums of errors change by at most what separates the least from the greatest that a row adds.
func TestReplacedHeldOutRow(t *testing.T) {
	for what, c := range map[string]struct {
		costs []Spending
		least []int64 // what one row adds, in the order of the costs
		want  float64
	}{
		"classes": {RightAnswers{}.Spends(), []int64{0}, 1},
		"numbers": {UnitErrors{}.Spends(), []int64{-moments.SquaredOne, 0, 0}, 1.75},
	} {
		taken := 0.
		for i, s := range c.costs {
			change := float64(s.Most-c.least[i]) / float64(s.Most)
			taken += s.Share * change * change
		}
		if taken != c.want || taken > privacy.Replacement {
			t.Errorf("%s: a row of other values takes %v times the budget", what, taken)
		}
	}
}
