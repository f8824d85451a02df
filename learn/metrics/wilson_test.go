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
	if *a.Precision != *metrics.Wilson(3, 4) || *a.Recall != *metrics.Wilson(3, 3) || *a.Specificity != *metrics.Wilson(0, 1) {
		t.Errorf("class a: %v %v %v", *a.Precision, *a.Recall, *a.Specificity)
	}
	if b.Precision != nil || *b.Recall != *metrics.Wilson(0, 1) || *b.Specificity != *metrics.Wilson(3, 3) {
		t.Errorf("class b: %+v", b)
	}
}
