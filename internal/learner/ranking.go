package learner

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// rankDepth is the number of recommendations that count for ndcg_100 and recall_100.
const rankDepth = 100

// Ranking evaluates recommendations against the users' held-out items. train and test hold one
// profile for each user, an ascending list of items. For each user, score returns the scores of all
// items; it is called on all cores. Ranking ranks the items that occur in train, except the items
// in the user's own profile of train. It returns the means of auc, ndcg_100 and recall_100 over the
// users who have a training item and hold out an item that occurs in train. It also returns the
// number of these users.
func Ranking(items int, train, test [][]int, score func(user int) ([]float64, error)) (Metrics, int, error) {
	seen := make([]bool, items)
	for _, profile := range train {
		for _, i := range profile {
			seen[i] = true
		}
	}
	figures, errs := make([][]float64, len(train)), make([]error, len(train))
	linalg.For(len(train), 4, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			wanted := slices.DeleteFunc(slices.Clone(test[u]), func(i int) bool { return !seen[i] })
			if len(wanted) > 0 && len(train[u]) > 0 {
				figures[u], errs[u] = judgeUser(seen, train[u], wanted, func() ([]float64, error) { return score(u) })
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, 0, err
	}
	figures = slices.DeleteFunc(figures, func(f []float64) bool { return f == nil })
	m := Metrics{}
	for i, name := range []string{"auc", "ndcg_100", "recall_100"} {
		for _, f := range figures {
			m[name] += f[i] / float64(len(figures))
		}
	}
	return m, len(figures), nil
}

// judgeUser returns AUC, nDCG and recall of the ranking for one user. It ranks only the seen items,
// which occur in training.
func judgeUser(seen []bool, known, wanted []int, score func() ([]float64, error)) ([]float64, error) {
	scores, err := score()
	if err != nil {
		return nil, err
	}
	var relevant []bool
	var left []float64
	for i, s := range scores {
		if _, is := slices.BinarySearch(known, i); is || !seen[i] {
			continue
		}
		_, is := slices.BinarySearch(wanted, i)
		relevant, left = append(relevant, is), append(left, s)
	}
	auc, err1 := metrics.ROCAUC(relevant, left)
	ndcg, err2 := metrics.NDCG(relevant, left, rankDepth)
	recall, err3 := metrics.RecallAt(relevant, left, rankDepth)
	return []float64{auc, ndcg, recall}, errors.Join(err1, err2, err3)
}
