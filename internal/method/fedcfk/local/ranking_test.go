package local

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/fedcfk/fedcfktest"
	"github.com/mercer-fl/mercer/learn/komd"
)

// TestRankingOfMovieLens compares the figures of the exact linear kernel with an independent
// program in numpy. The newest tenth of the ratings is held out, so 87 of 943 people hold out an
// item. The program solves by projected gradients, and its AUC is the statistic of ranks.
func TestRankingOfMovieLens(t *testing.T) {
	r := fedcfktest.Ratings(t)
	in, out, err := r.Newest(.1)
	if err != nil {
		t.Fatal(err)
	}
	train, test, items := r.Profiles(in), r.Profiles(out), len(r.Items)
	k, err := komd.Spec{Name: komd.Linear}.Kernel(komd.CountsOf(items, train))
	if err != nil {
		t.Fatal(err)
	}
	model := komd.New(k)
	m, judged, err := learner.Ranking(items, train, test, func(user int) ([]float64, error) {
		return model.Scores(train[user], komd.DefaultLambda)
	})
	if err != nil || judged != 87 {
		t.Fatalf("%d people judged, error %v", judged, err)
	}
	for name, want := range map[string]float64{"auc": .83042, "ndcg_100": .26413, "recall_100": .38102} {
		if math.Abs(m[name]-want) > 5e-5 {
			t.Errorf("%s is %v, want %v", name, m[name], want)
		}
	}
}
