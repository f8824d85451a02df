package metrics

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// RMSE returns the root of the mean squared error, in the unit of the target. It refuses values
// that are not finite.
func RMSE(truth, predicted []float64) (float64, error) {
	sum, err := squares(truth, predicted)
	if err != nil {
		return 0, err
	}
	return math.Sqrt(sum / float64(len(truth))), nil
}

// R2 returns the coefficient of determination, 1 - SSE / SST. A value of 1 is perfect, 0 is no
// better than the mean of the truth, and below 0 is worse. It refuses values that are not finite
// and a constant truth, for which R2 is undefined.
func R2(truth, predicted []float64) (float64, error) {
	wrong, err := squares(truth, predicted)
	if err != nil {
		return 0, err
	}
	total := spread(truth)
	if math.IsInf(total, 1) || math.IsNaN(total) {
		return 0, errors.New("metrics: the squared values overflow: scale them")
	}
	if total == 0 {
		return 0, fmt.Errorf("metrics: all %d true values are %v; R2 needs at least two different values", len(truth), truth[0])
	}
	return 1 - wrong/total, nil
}

// squares returns the sum of the squared errors of the predictions.
func squares(truth, predicted []float64) (float64, error) {
	if err := sameRows(len(truth), len(predicted)); err != nil {
		return 0, err
	}
	var sum float64
	for i, y := range truth {
		e := y - predicted[i]
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return 0, fmt.Errorf("metrics: row %d: the difference of %v and %v is not finite", i, y, predicted[i])
		}
		sum += e * e
	}
	if math.IsInf(sum, 1) {
		return 0, errors.New("metrics: the squared errors overflow: scale the values")
	}
	return sum, nil
}

// spread returns the sum of squared differences from the mean. It is exactly 0 for values that are
// constant but for rounding.
func spread(y []float64) float64 {
	var mean, sum float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		sum += (v - mean) * (v - mean)
	}
	if math.Sqrt(sum/float64(len(y))) <= linalg.RoundingDeviation(len(y), mean) {
		return 0
	}
	return sum
}
