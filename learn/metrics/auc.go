package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// ROCAUC returns the area under the ROC curve. It is the probability that a row of the positive
// class scores higher than a row of the other class, where a tie counts as one half (the
// Mann-Whitney statistic). It is exact up to the final division and takes O(n log n). It returns an
// error if there is only one class, or if a score is NaN.
func ROCAUC(positive []bool, scores []float64) (float64, error) {
	if err := sameRows(len(positive), len(scores)); err != nil {
		return 0, err
	}
	rows := make([]scored, len(scores))
	for i, s := range scores {
		if math.IsNaN(s) {
			return 0, fmt.Errorf("metrics: the score of row %d is not a number", i)
		}
		rows[i] = scored{s, positive[i]}
	}
	return auc(rows)
}

// scored is a row with its score in a problem with two classes.
type scored struct {
	score    float64
	positive bool
}

// errOneClass reports that one of two classes has no rows.
var errOneClass = errors.New("metrics: the area under the ROC curve needs rows of both classes")

// auc returns the probability that a positive row scores higher than a negative row. A tie counts
// half. auc sorts rows.
func auc(rows []scored) (float64, error) {
	slices.SortFunc(rows, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	var positives, negatives, halves int64 // halves counts 2 for a pair in the right order and 1 for a tie
	for len(rows) > 0 {
		var p, n int64
		end := 0
		for end < len(rows) && rows[end].score == rows[0].score {
			if rows[end].positive {
				p++
			} else {
				n++
			}
			end++
		}
		halves += p * (2*negatives + n)
		positives, negatives, rows = positives+p, negatives+n, rows[end:]
	}
	if positives == 0 || negatives == 0 {
		return 0, errOneClass
	}
	return float64(halves) / 2 / (float64(positives) * float64(negatives)), nil
}

// AUCOvO returns the area under the ROC curve for c >= 2 classes by Hand and Till 2001, equation 7.
// It is scikit-learn's roc_auc_score with multi_class "ovo" and average "macro": the mean over all
// pairs of classes of the two AUCs that separate the pair by either class's score. The matrix
// scores is n x c, with the score of class j in column j; truth holds n classes from 0 to c-1, each
// at least once.
func AUCOvO(truth []int, scores linalg.Matrix[float64]) (float64, error) {
	members, err := membersOf(truth, scores)
	if err != nil {
		return 0, err
	}
	var sum float64
	for a := range members {
		for b := range members {
			if a == b {
				continue
			}
			v, err := auc(append(column(scores, a, members[a], true), column(scores, a, members[b], false)...))
			if err != nil {
				return 0, err
			}
			sum += v
		}
	}
	c := float64(len(members))
	return sum / (c * (c - 1)), nil
}

// column returns the scores for class c of the given rows.
func column(scores linalg.Matrix[float64], c int, rows []int, positive bool) []scored {
	out := make([]scored, len(rows))
	for i, r := range rows {
		out[i] = scored{scores.Row(r)[c], positive}
	}
	return out
}

// membersOf checks the input of AUCOvO and returns the rows of each class.
func membersOf(truth []int, scores linalg.Matrix[float64]) ([][]int, error) {
	if err := sameRows(len(truth), scores.Rows); err != nil {
		return nil, err
	}
	if scores.Cols < 2 {
		return nil, errOneClass
	}
	members := make([][]int, scores.Cols)
	for i, c := range truth {
		if c < 0 || c >= scores.Cols {
			return nil, fmt.Errorf("metrics: row %d is of class %d, but there are scores for %d classes", i, c, scores.Cols)
		}
		if slices.ContainsFunc(scores.Row(i), math.IsNaN) {
			return nil, fmt.Errorf("metrics: a score of row %d is not a number", i)
		}
		members[c] = append(members[c], i)
	}
	for c, rows := range members {
		if len(rows) == 0 {
			return nil, fmt.Errorf("metrics: class %d has no rows; the area under the ROC curve needs rows of every class", c)
		}
	}
	return members, nil
}

// VoteScores turns the decisions of a one-vs-one machine into a score for each class, which
// [AUCOvO] can rank. A score is votes + s / (3 (|s| + 1)), where s is the sum of the decisions in
// favour of the class. The fraction stays below 1/3 in magnitude, so it only orders classes and
// rows with equal votes. This is scikit-learn's decision_function_shape "ovr".
//
// decisions is n x c(c-1)/2 with the pairs in LIBSVM's order (0, 1), (0, 2), ... (1, 2), ...; a
// decision of pair (i, j) that is 0 or more is a vote for i. The result is n x c. VoteScores
// refuses a decision that is not finite.
func VoteScores(decisions linalg.Matrix[float64], classes int) (linalg.Matrix[float64], error) {
	if classes < 2 || classes > 1<<16 || decisions.Cols != classes*(classes-1)/2 {
		return linalg.Matrix[float64]{}, fmt.Errorf("metrics: each row has %d decisions for %d classes; it must have one for each pair of classes", decisions.Cols, classes)
	}
	scores := linalg.New[float64](decisions.Rows, classes)
	votes := make([]float64, classes)
	for r := range decisions.Rows {
		for _, d := range decisions.Row(r) {
			if d-d != 0 {
				return linalg.Matrix[float64]{}, fmt.Errorf("metrics: a decision of row %d is %v; it must be finite", r, d)
			}
		}
		clear(votes)
		countVotes(decisions.Row(r), votes, scores.Row(r))
		for i, s := range scores.Row(r) {
			scores.Row(r)[i] = votes[i] + s/(3*(math.Abs(s)+1))
		}
	}
	return scores, nil
}

// countVotes counts a row's votes for each class, and sums its decisions for each class.
func countVotes(decisions, votes, sums []float64) {
	pair := 0
	for i := range votes {
		for j := i + 1; j < len(votes); j++ {
			d := decisions[pair]
			pair++
			sums[i] += d
			sums[j] -= d
			if d < 0 {
				votes[j]++
			} else {
				votes[i]++
			}
		}
	}
}
