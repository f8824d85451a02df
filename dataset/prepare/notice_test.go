package prepare

import (
	"math"
	"strings"
	"testing"
)

// far returns the notices of a party whose numbers are the others' times a factor, plus a shift.
func far(t *testing.T, c Column, scaling Scaling, times, plus float64) []string {
	t.Helper()
	c.Name, c.Type, c.Outside = "x", Number, OutsideRefuse
	if c.Missing == "" {
		c.Missing = FillError
	}
	plan, err := NewPlan(Schema{c}, scaling)
	if err != nil {
		t.Fatal(err)
	}
	own, others := newFrame(plan.schema), newFrame(plan.schema)
	for i := range 200 {
		v := 40 + float64(i%41) // median 59.5
		others.add([]float64{v})
		own.add([]float64{v*times + plus})
	}
	rows := make([]int, 200)
	for i := range rows {
		rows[i] = i
	}
	sum, err := plan.Vector(own, rows[:20])
	if err != nil {
		t.Fatal(err)
	}
	more, err := plan.Vector(others, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range more {
		sum[i] += v
	}
	if _, err := plan.Fit(sum); err != nil {
		t.Fatal(err)
	}
	return plan.Notices(sum, own, rows)
}

func TestNotices(t *testing.T) {
	wide := [2]float64{0, 1000}
	for _, tt := range []struct {
		name        string
		column      Column
		scaling     Scaling
		times, plus float64
		want        string // part of the only notice; "" for none
	}{
		{"like the others", Column{Range: wide, Missing: FillMedian}, Standard, 1, 0, ""},
		{"a hundredth, by the median", Column{Range: wide, Missing: FillMedian}, Unscaled, .01, 0, `column "x": the median of this party's training rows is 0.595, and the median over all parties is 5`},
		{"six times, by the median", Column{Range: wide, Missing: FillMedian}, Unscaled, 6, 0, "is 357, and the median over all parties is 6"},
		{"a third is not far", Column{Range: wide, Missing: FillMedian}, Unscaled, .4, 20, ""},
		{"shifted, of both signs", Column{Range: [2]float64{-100, 1000}, Missing: FillMedian}, Unscaled, 1, 300, "is 359.5, and the median"},
		{"a small ratio means nothing where numbers are of both signs", Column{Range: [2]float64{-1000, 1000}, Missing: FillMean}, Unscaled, .01, 0, ""},
		{"by the mean", Column{Range: wide, Missing: FillMean}, Unscaled, .01, 0, "is 0.595, and the mean over all parties is 5"},
		{"by mean and deviation", Column{Range: wide}, Standard, 1, 100, "is 159.5, and the mean over all parties is 6"},
		{"transformed", Column{Range: [2]float64{.1, 1000}, Transform: Log}, Standard, .01, 0, "and the mean (transformed) over all parties is 3."},
		{"nothing is told of it", Column{Range: wide}, Unscaled, 10, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := far(t, tt.column, tt.scaling, tt.times, tt.plus)
			if tt.want == "" && got != nil || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
				t.Errorf("notices %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSpreadOfBins(t *testing.T) {
	c := Column{Range: [2]float64{0, Bins}}
	bins := make([]int64, Bins)
	bins[10], bins[20] = 50, 50
	if got := c.spreadOf(bins); math.Abs(got-5) > 1e-12 {
		t.Errorf("the deviation is %v, want 5", got)
	}
}

func TestNoticesOfSpelling(t *testing.T) {
	plan, err := NewPlan(checked(t, Schema{{Name: "sex", Type: Category, Agree: true}}), Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = plan.With([][]string{{"f", "m"}}); err != nil {
		t.Fatal(err)
	}
	f := frameOf(t, "sex,x\nF,1\nm,1\nF,1\nd,1\n", Schema{{Name: "sex", Type: Category, Agree: true}})
	sum, err := plan.Vector(f, all(f))
	if err != nil {
		t.Fatal(err)
	}
	got := plan.Notices(sum, f, all(f))
	want := `column "sex": 2 of this party's training rows hold "F", which differs from the agreed category "f" only by case`
	merged := `column "sex": 3 of this party's 4 training rows hold words that no party has in at least 10 training rows; they count as other`
	if len(got) != 2 || got[0] != merged || !strings.HasPrefix(got[1], want) {
		t.Errorf("notices %q, want %q", got, want)
	}
}
