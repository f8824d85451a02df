package metrics_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/learn/metrics"
)

// The values are those of statsmodels' proportion_confint with method "wilson".
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		part, whole int
		low, high   float64
	}{
		{3, 3, 0.4385030, 1},
		{0, 20, 0, 0.1611252},
		{1, 2, 0.0945312, 0.9054688},
		{130, 191, 0.6115050, 0.7426290},
		{999, 1000, 0.9943574, 0.9998235},
	} {
		in := metrics.Wilson(c.part, c.whole)
		if math.Abs(in.Low-c.low) > 5e-7 || math.Abs(in.High-c.high) > 5e-7 {
			t.Errorf("%d of %d: %v, want %v to %v", c.part, c.whole, *in, c.low, c.high)
		}
	}
	if in := metrics.Wilson(0, 0); in != nil {
		t.Errorf("of no rows: %v", *in)
	}
}

func TestProportions(t *testing.T) {
	m, err := metrics.NewConfusionMatrix([]string{"a", "a", "a", "b"}, []string{"a", "a", "a", "a"})
	if err != nil {
		t.Fatal(err)
	}
	accuracy, classes := m.Proportions()
	if *accuracy != *metrics.Wilson(3, 4) {
		t.Errorf("accuracy %v", *accuracy)
	}
	a, b := classes[0], classes[1]
	if *a.Precision != *metrics.Wilson(3, 4) || *a.Recall != *metrics.Wilson(3, 3) || *a.Specificity != *metrics.Wilson(0, 1) || a.NPV != nil {
		t.Errorf("class a: %v %v %v %v", *a.Precision, *a.Recall, *a.Specificity, a.NPV)
	}
	if b.Precision != nil || *b.Recall != *metrics.Wilson(0, 1) || *b.Specificity != *metrics.Wilson(3, 3) || *b.NPV != *metrics.Wilson(3, 4) {
		t.Errorf("class b: %+v", b)
	}
}

// The predictive values of three classes: of class b, 2 of 3 answers are right, and of the 7 other
// answers 6 are about other classes.
func TestPredictiveValues(t *testing.T) {
	m, err := metrics.NewConfusionMatrix(
		[]string{"a", "a", "a", "a", "b", "b", "b", "c", "c", "c"},
		[]string{"a", "a", "a", "b", "b", "b", "c", "c", "c", "a"})
	if err != nil {
		t.Fatal(err)
	}
	_, proportions := m.Proportions()
	for i, want := range []struct{ right, answers, cleared, others int }{{3, 4, 5, 6}, {2, 3, 6, 7}, {2, 3, 6, 7}} {
		c, in := m.PerClass()[i], proportions[i]
		ppv, npv := float64(want.right)/float64(want.answers), float64(want.cleared)/float64(want.others)
		if *c.Precision != ppv || *c.NPV != npv {
			t.Errorf("class %s: PPV %v, NPV %v; want %v, %v", c.Class, *c.Precision, *c.NPV, ppv, npv)
		}
		if *in.Precision != *metrics.Wilson(want.right, want.answers) || *in.NPV != *metrics.Wilson(want.cleared, want.others) {
			t.Errorf("class %s: intervals %+v, %+v", c.Class, *in.Precision, *in.NPV)
		}
	}
}
