package metrics_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/learn/metrics"
)

func TestRanking(t *testing.T) {
	log3 := math.Log2(3)
	for _, tt := range []struct {
		name         string
		relevant     []bool
		scores       []float64
		k            int
		ndcg, recall float64
	}{
		{"perfect", []bool{true, false, true}, []float64{3, 1, 2}, 2, 1, 1},
		{"second of two", []bool{false, true}, []float64{2, 1}, 2, 1 / log3, 1},
		{"outside", []bool{false, false, true}, []float64{3, 2, 1}, 2, 0, 0},
		{"one of two in time", []bool{true, false, true}, []float64{3, 2, 1}, 2, 1 / (1 + 1/log3), 0.5},
		{"more relevant than k", []bool{true, true, true}, []float64{3, 2, 1}, 2, 1, 2. / 3},
		{"fewer items than k", []bool{false, true}, []float64{2, 1}, 100, 1 / log3, 1},
		{"ties keep their order", []bool{false, true, true}, []float64{1, 1, 1}, 1, 0, 0},
	} {
		ndcg, err := metrics.NDCG(tt.relevant, tt.scores, tt.k)
		if err != nil || math.Abs(ndcg-tt.ndcg) > 1e-15 {
			t.Errorf("%s: NDCG %v, %v; want %v", tt.name, ndcg, err, tt.ndcg)
		}
		recall, err := metrics.RecallAt(tt.relevant, tt.scores, tt.k)
		if err != nil || math.Abs(recall-tt.recall) > 1e-15 {
			t.Errorf("%s: recall %v, %v; want %v", tt.name, recall, err, tt.recall)
		}
	}
}

func TestRankingRefuses(t *testing.T) {
	for name, try := range map[string]func() error{
		"no relevant item": func() error { _, err := metrics.NDCG([]bool{false}, []float64{1}, 1); return err },
		"no item":          func() error { _, err := metrics.RecallAt(nil, nil, 1); return err },
		"best 0":           func() error { _, err := metrics.RecallAt([]bool{true}, []float64{1}, 0); return err },
		"NaN":              func() error { _, err := metrics.NDCG([]bool{true}, []float64{math.NaN()}, 1); return err },
		"lengths":          func() error { _, err := metrics.NDCG([]bool{true}, []float64{1, 2}, 1); return err },
	} {
		if try() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
