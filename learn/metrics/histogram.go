package metrics

// Histogram counts the rows of two classes by bins of their scores, the lowest bin first. It serves
// where the scores themselves are unknown. A count can be fractional if counts were rounded.
type Histogram struct{ Positive, Negative []float64 }

// sweep calls visit for each bin that has rows, from the highest bin to the lowest. It passes the
// numbers of rows of both classes in this bin and above.
func (h Histogram) sweep(visit func(bin int, right, wrong float64)) {
	right, wrong := 0.0, 0.0
	for bin := len(h.Positive) - 1; bin >= 0; bin-- {
		if p, n := h.Positive[bin], h.Negative[bin]; p != 0 || n != 0 {
			right, wrong = right+p, wrong+n
			visit(bin, right, wrong)
		}
	}
}

// sizes returns the numbers of rows of both classes.
func (h Histogram) sizes() (positives, negatives float64) {
	h.sweep(func(_ int, right, wrong float64) { positives, negatives = right, wrong })
	return positives, negatives
}

// AUC returns the area under a ROC curve that has a corner at each border of the bins. The second
// result bounds the difference from the area by the rows' own scores. It is half the share of those
// pairs of a positive and a negative row that are in one bin. AUC returns false if a class has no rows.
func (h Histogram) AUC() (area, within float64, ok bool) {
	positives, negatives := 0.0, 0.0
	h.sweep(func(_ int, right, wrong float64) {
		p, n := right-positives, wrong-negatives
		area, within = area+n*(positives+p/2), within+n*p/2
		positives, negatives = right, wrong
	})
	if pairs := positives * negatives; pairs > 0 {
		return area / pairs, within / pairs, true
	}
	return 0, 0, false
}

// AveragePrecision returns the area under the precision-recall curve as a step function. It equals
// [Ranked.AveragePrecision] for rows whose scores are their bins. It returns false if no row is positive.
func (h Histogram) AveragePrecision() (float64, bool) {
	sum, before := 0.0, 0.0
	h.sweep(func(_ int, right, wrong float64) {
		sum, before = sum+(right-before)*right/(right+wrong), right
	})
	if before == 0 {
		return 0, false
	}
	return sum / before, true
}

// ROC returns the false positive rate and the true positive rate at the lower border of each bin
// that has rows. Thresholds are the numbers of the bins.
func (h Histogram) ROC() Curve {
	positives, negatives := h.sizes()
	var c Curve
	c.add(float64(len(h.Positive)), 0, 0)
	h.sweep(func(bin int, right, wrong float64) { c.add(float64(bin), wrong/negatives, right/positives) })
	return c
}

// PrecisionRecall returns the recall as X and the precision as Y at the lower border of each bin
// that has rows. It begins with recall 0 and precision 1.
func (h Histogram) PrecisionRecall() Curve {
	positives, _ := h.sizes()
	var c Curve
	c.add(float64(len(h.Positive)), 0, 1)
	h.sweep(func(bin int, right, wrong float64) { c.add(float64(bin), right/positives, right/(right+wrong)) })
	return c
}
