package komd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/mercer-fl/mercer/learn/komd"
)

// goldenKernel is the figures of every eighth user with one kernel, by an
// independent implementation in Python (numpy).
type goldenKernel struct {
	Name           komd.Name
	Degree, Clause int
	Coef0, Gamma   float64
	Users          int
	AUC            float64
	NDCG           float64 `json:"ndcg100"`
	Recall         float64 `json:"recall100"`
}

// All kernels, on the split of TestGoldenMovieLens; on a random tenth, which
// this is as good as, the design measured AUC .930 for the polynomial of
// degree 2, .930 for Tanimoto, .929, .918 and .885 for disjunctions of 2, 5 and
// 20 people, and .934 and .927 for conjunctions of 2 and 3, over all users.
func TestGoldenKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	train, test := movieLens(t)
	b, err := os.ReadFile("testdata/kernels.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []goldenKernel
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != 10 {
		t.Fatalf("%d kernels, want 10", len(want))
	}
	c := komd.CountsOf(catalogue, train)
	seen := seenIn(train)
	for _, w := range want {
		k, err := komd.Spec{Name: w.Name, Degree: w.Degree, Clause: w.Clause, Coef0: w.Coef0, Gamma: w.Gamma}.Kernel(c)
		if err != nil {
			t.Fatal(err)
		}
		some, held := everyEighth(train), everyEighth(test)
		got := measure(t, komd.New(k), some, held, seen)
		if got.EvalUsers != w.Users {
			t.Errorf("%s: %d users, want %d", w.Name, got.EvalUsers, w.Users)
		}
		near(t, fmt.Sprintf("%s, degree %d", w.Name, w.Degree), []float64{got.AUC, got.NDCG, got.Recall}, []float64{w.AUC, w.NDCG, w.Recall}, 1e-4)
	}
}

func everyEighth(profiles [][]int) (some [][]int) {
	for u := 0; u < len(profiles); u += 8 {
		some = append(some, profiles[u])
	}
	return some
}
