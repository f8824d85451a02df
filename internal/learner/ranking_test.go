package learner

import (
	"math"
	"testing"
)

// A ranking has the items that somebody else has in training. Here item 4 is in no training
// profile, and a score above all others does not matter.
func TestRankingLeavesOutItemsThatNobodyHasInTraining(t *testing.T) {
	train, test := [][]int{{0}, {1, 2, 3}}, [][]int{{1, 4}, nil}
	for _, unseen := range []float64{-9, 9} {
		m, judged, err := Ranking(5, train, test, func(int) ([]float64, error) { return []float64{0, 2, 3, 1, unseen}, nil })
		if err != nil || judged != 1 {
			t.Fatalf("%d users judged, error %v", judged, err)
		}
		if m["auc"] != .5 || m["recall_100"] != 1 || math.Abs(m["ndcg_100"]-1/math.Log2(3)) > 1e-15 {
			t.Errorf("with score %v of an unknown item: %v", unseen, m)
		}
	}
}

// A user who holds out more than 100 items cannot reach a recall of 1.
func TestRecallCountsAllHeldOutItems(t *testing.T) {
	const items = 400
	train, test := [][]int{{0}, make([]int, items-1)}, [][]int{make([]int, 200), nil}
	for i := range items - 1 {
		train[1][i] = i + 1
	}
	for i := range test[0] {
		test[0][i] = i + 1
	}
	scores := make([]float64, items)
	for i := range scores {
		scores[i] = -float64(i)
	}
	m, _, err := Ranking(items, train, test, func(int) ([]float64, error) { return scores, nil })
	if err != nil || m["recall_100"] != .5 {
		t.Errorf("recall of 100 of 200 items: %v, error %v", m["recall_100"], err)
	}
}
