package learner

import "github.com/mercer-fl/mercer/linalg"

// Likeness compares components of held-out rows with the components of a learner on pooled rows.
// The sign of a component is arbitrary, so each is first aligned with its counterpart.
type Likeness struct {
	MSE float64 `json:"mse"` // mean squared difference over all rows and components
	// R2 is the coefficient of determination, averaged over the components. It is nil if a
	// component on pooled rows is constant.
	R2 *float64 `json:"r2,omitempty"`
}

// LikenessOf compares components with the components of a learner on pooled rows. Both matrices
// have one row for each held-out row.
func LikenessOf(components, pooled linalg.Matrix[float64]) Likeness {
	var all, share float64
	varied := pooled.Cols > 0
	for c := range pooled.Cols {
		a, b := components.Column(c), pooled.Column(c)
		residual, total := squaredDistance(a, b, signToward(a, b)), spreadAround(b)
		all += residual
		if total == 0 {
			varied = false
			continue
		}
		share += (1 - residual/total) / float64(pooled.Cols)
	}
	l := Likeness{MSE: all / float64(max(1, pooled.Rows*pooled.Cols))}
	if varied {
		l.R2 = &share
	}
	return l
}

// signToward returns the sign s, 1 or -1, for which s*a is nearer to b.
func signToward(a, b []float64) float64 {
	product := 0.0
	for i, v := range a {
		product += v * b[i]
	}
	if product < 0 {
		return -1
	}
	return 1
}

// squaredDistance returns the squared distance between sign * a and b.
func squaredDistance(a, b []float64, sign float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (sign*v - b[i]) * (sign*v - b[i])
	}
	return sum
}

// spreadAround returns the sum of squared distances of the values to their mean.
func spreadAround(values []float64) float64 {
	mean, sum := linalg.Mean(values), 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum
}
