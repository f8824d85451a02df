package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// Curve holds the points of a curve, one for each threshold. Thresholds descend from infinity, or from
// the number of bins for a [Histogram]. A row is classified as positive if its score is the threshold
// or higher.
type Curve struct{ Thresholds, X, Y []float64 }

// Ranked holds the rows of a two-class problem in descending order of their scores.
type Ranked struct {
	rows     []int // rows in the order of their ranks
	positive []bool
	scores   []float64
	ends     []int // for each group of equal scores, the index in rows at which the group ends
}

// Rank sorts rows by their scores, in descending order. It returns an error if there is only one
// class, or if a score is NaN.
func Rank(positive []bool, scores []float64) (*Ranked, error) {
	if err := sameRows(len(positive), len(scores)); err != nil {
		return nil, err
	}
	all := make([]int, len(scores))
	for i, s := range scores {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("metrics: the score of row %d is not a number", i)
		}
		all[i] = i
	}
	if !slices.Contains(positive, true) || !slices.Contains(positive, false) {
		return nil, errOneClass
	}
	return rank(all, func(i int) bool { return positive[i] }, func(i int) float64 { return scores[i] }), nil
}

func rank(rows []int, positive func(int) bool, score func(int) float64) *Ranked {
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	r := &Ranked{rows: rows, positive: make([]bool, len(rows)), scores: make([]float64, len(rows))}
	for i, row := range rows {
		r.positive[i], r.scores[i] = positive(row), score(row)
		if i > 0 && r.scores[i] != r.scores[i-1] {
			r.ends = append(r.ends, i)
		}
	}
	r.ends = append(r.ends, len(rows))
	return r
}

// sweep calls visit for each threshold, from the highest to the lowest. It passes the numbers of
// positive and of negative rows that reach the threshold. The slice times gives the weight of each
// row; nil means 1.
func (r *Ranked) sweep(times []int, visit func(threshold float64, right, wrong int)) {
	begin, right, wrong := 0, 0, 0
	for _, end := range r.ends {
		for i := begin; i < end; i++ {
			n := 1
			if times != nil {
				n = times[r.rows[i]]
			}
			if r.positive[i] {
				right += n
			} else {
				wrong += n
			}
		}
		visit(r.scores[begin], right, wrong)
		begin = end
	}
}

// AUC returns the area under the ROC curve, like [ROCAUC]. It counts row i times[i] times, or each
// row once if times is nil. It returns false if the counted rows are of one class only.
func (r *Ranked) AUC(times []int) (float64, bool) {
	var halves, positives, negatives int64
	r.sweep(times, func(_ float64, right, wrong int) {
		p, n := int64(right), int64(wrong)
		halves += (n - negatives) * (p + positives)
		positives, negatives = p, n
	})
	if positives == 0 || negatives == 0 {
		return 0, false
	}
	return float64(halves) / 2 / (float64(positives) * float64(negatives)), true
}

// AveragePrecision returns the area under the precision-recall curve as a step function. It is the
// sum over thresholds of the gain in recall times the precision, as scikit-learn's
// average_precision_score. The slice times is as in [Ranked.AUC]. It returns false if no positive row
// counts.
func (r *Ranked) AveragePrecision(times []int) (float64, bool) {
	sum, before := 0.0, 0
	r.sweep(times, func(_ float64, right, wrong int) {
		if right > before {
			sum += float64(right-before) * float64(right) / float64(right+wrong)
		}
		before = right
	})
	if before == 0 {
		return 0, false
	}
	return sum / float64(before), true
}

// ROC returns the false positive rate and the true positive rate at each threshold. Like
// scikit-learn's roc_curve, it omits points halfway between the previous and the next point.
func (r *Ranked) ROC() Curve {
	positives, negatives := r.sizes()
	var at []float64
	var right, wrong []int
	r.sweep(nil, func(t float64, tp, fp int) { at, right, wrong = append(at, t), append(right, tp), append(wrong, fp) })
	c := Curve{Thresholds: []float64{math.Inf(1)}, X: []float64{0}, Y: []float64{0}}
	for i, t := range at {
		inside := i > 0 && i < len(at)-1
		if inside && right[i+1]-2*right[i]+right[i-1] == 0 && wrong[i+1]-2*wrong[i]+wrong[i-1] == 0 {
			continue
		}
		c.add(t, float64(wrong[i])/negatives, float64(right[i])/positives)
	}
	return c
}

// PrecisionRecall returns the recall as X and the precision as Y at each threshold. The points are
// those of scikit-learn's precision_recall_curve in reverse order, from recall 0 and precision 1.
func (r *Ranked) PrecisionRecall() Curve {
	positives, _ := r.sizes()
	c := Curve{Thresholds: []float64{math.Inf(1)}, X: []float64{0}, Y: []float64{1}}
	r.sweep(nil, func(t float64, right, wrong int) {
		c.add(t, float64(right)/positives, float64(right)/float64(right+wrong))
	})
	return c
}

func (r *Ranked) sizes() (positives, negatives float64) {
	r.sweep(nil, func(_ float64, right, wrong int) { positives, negatives = float64(right), float64(wrong) })
	return positives, negatives
}

func (c *Curve) add(threshold, x, y float64) {
	c.Thresholds, c.X, c.Y = append(c.Thresholds, threshold), append(c.X, x), append(c.Y, y)
}

// Thin returns a curve with at most the given number of points, which is at least two. It keeps
// both ends and, between them, points at equal distances along the curve, measured by |dx| + |dy|.
func (c Curve) Thin(most int) Curve {
	n := len(c.X)
	if n <= most {
		return c
	}
	along := make([]float64, n)
	for i := 1; i < n; i++ {
		along[i] = along[i-1] + math.Abs(c.X[i]-c.X[i-1]) + math.Abs(c.Y[i]-c.Y[i-1])
	}
	step, out := along[n-1]/float64(most-1), Curve{}
	for i := range n - 1 {
		if kept := len(out.X); kept < most-1 && along[i] >= float64(kept)*step {
			out.add(c.Thresholds[i], c.X[i], c.Y[i])
		}
	}
	out.add(c.Thresholds[n-1], c.X[n-1], c.Y[n-1])
	return out
}

// RankedPairs holds, for each ordered pair of classes, the rows of both classes in descending order
// of their scores for the first class.
type RankedPairs []*Ranked

// RankPairs sorts the rows of each pair of classes by their scores. Its arguments are the same as
// in [AUCOvO].
func RankPairs(truth []int, scores linalg.Matrix[float64]) (RankedPairs, error) {
	members, err := membersOf(truth, scores)
	if err != nil {
		return nil, err
	}
	var all RankedPairs
	for a := range members {
		for b := range members {
			if a != b {
				rows := slices.Concat(members[a], members[b])
				all = append(all, rank(rows, func(i int) bool { return truth[i] == a }, func(i int) float64 { return scores.Row(i)[a] }))
			}
		}
	}
	return all, nil
}

// AUC returns the mean area under the ROC curve over all pairs, like [AUCOvO]. The slice times is
// as in [Ranked.AUC].
func (p RankedPairs) AUC(times []int) (float64, bool) {
	sum := 0.0
	for _, r := range p {
		v, ok := r.AUC(times)
		if !ok {
			return 0, false
		}
		sum += v
	}
	return sum / float64(len(p)), true
}
