package metrics

import (
	"fmt"
	"math"
	"slices"
)

// MAE returns the mean absolute error, in the unit of the target. It refuses values that are not
// finite.
func MAE(truth, predicted []float64) (float64, error) {
	if err := finiteErrors(truth, predicted); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, y := range truth {
		sum += math.Abs(y-predicted[i]) / float64(len(truth))
	}
	return sum, nil
}

// Residuals summarises the residuals, which are the differences truth - prediction.
type Residuals struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // standard deviation of a sample; 0 for one row
	Least     float64 `json:"least"`
	Quartile1 float64 `json:"quartile_1"`
	Median    float64 `json:"median"`
	Quartile3 float64 `json:"quartile_3"`
	Greatest  float64 `json:"greatest"`
}

// NewResiduals summarises the differences of true and predicted values over all rows. It refuses
// values that are not finite.
func NewResiduals(truth, predicted []float64) (*Residuals, error) {
	if err := finiteErrors(truth, predicted); err != nil {
		return nil, err
	}
	sorted := make([]float64, len(truth))
	r := &Residuals{}
	for i, y := range truth {
		sorted[i] = y - predicted[i]
		r.Mean += sorted[i] / float64(len(truth))
	}
	if n := len(sorted); n > 1 {
		r.Deviation = math.Sqrt(spread(sorted) / float64(n-1))
	}
	slices.Sort(sorted)
	r.Least, r.Greatest = sorted[0], sorted[len(sorted)-1]
	r.Quartile1, r.Median, r.Quartile3 = Quantile(sorted, 0.25), Quantile(sorted, 0.5), Quantile(sorted, 0.75)
	return r, nil
}

// finiteErrors returns an error if the difference in a row is not finite.
func finiteErrors(truth, predicted []float64) error {
	if err := sameRows(len(truth), len(predicted)); err != nil {
		return err
	}
	for i, y := range truth {
		if e := y - predicted[i]; math.IsNaN(e) || math.IsInf(e, 0) {
			return fmt.Errorf("metrics: row %d: the difference of %v and %v is not finite", i, y, predicted[i])
		}
	}
	return nil
}

// Quantile returns the quantile q of a sorted list, for q from 0 to 1. It interpolates linearly
// like numpy.quantile.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	low, high, part := sorted[below], sorted[below+1], at-float64(below)
	if part >= 0.5 {
		return high - (high-low)*(1-part)
	}
	return low + (high-low)*part
}
