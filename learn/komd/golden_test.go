package komd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// golden is values of an independent implementation in Python. Its AUC counts items that nobody has
// in training as irrelevant ones, and its recall counts at most 100 relevant items.
type golden struct {
	Tiny []struct {
		Liked  []int `json:"pos"`
		Lambda float64
		Alpha  []float64
		Scores []float64
	}
	Split  struct{ Train, Test int }
	ML100K map[string]level `json:"ml100k"`
}

type level struct {
	KernelUsers int     `json:"kernel_users"`
	EvalUsers   int     `json:"eval_users"`
	Trace       float64 `json:"trace"`
	Sum         float64 `json:"sumK"`
	AUC         float64 `json:"auc"`
	NDCG        float64 `json:"ndcg100"`
	Recall      float64 `json:"recall100"`
}

func readGolden(t *testing.T) golden {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGoldenQuadraticPrograms(t *testing.T) {
	m := komd.New(linalg.Matrix[float64]{Rows: 6, Cols: 6, Stride: 6, Data: []float64{
		1, .5, .2, 0, .1, .3, .5, 1, .4, .2, 0, .1, .2, .4, 1, .6, .3, 0,
		0, .2, .6, 1, .5, .2, .1, 0, .3, .5, 1, .4, .3, .1, 0, .2, .4, 1,
	}})
	cases := readGolden(t).Tiny
	if len(cases) != 5 {
		t.Fatalf("%d cases, want 5", len(cases))
	}
	for _, tt := range cases {
		alpha, err := m.Weights(tt.Liked, tt.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Scores(tt.Liked, tt.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("weights of ", tt.Liked), alpha, tt.Alpha, 1e-9)
		near(t, fmt.Sprint("scores of ", tt.Liked), scores, tt.Scores, 1e-9)
	}
}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// movieLens deals every tenth rating of each user, in the order of the file, to
// the test part.
func movieLens(t *testing.T) (train, test [][]int) {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	file, err := os.ReadFile(filepath.Join(dir, "ml-100k", "u.data"))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatal(err)
		}
		t.Skip("MovieLens is not here: set MERCER_DATA to the folder that holds ml-100k")
	}
	ratings, err := dataset.ReadRatings(bytes.NewReader(file), dataset.RatingsOptions{Name: "u.data"})
	if err != nil {
		t.Fatal(err)
	}
	in, out, err := ratings.EveryPerUser(10)
	if err != nil {
		t.Fatal(err)
	}
	if len(ratings.Items) != catalogue {
		t.Fatalf("%d items, want %d", len(ratings.Items), catalogue)
	}
	return ratings.Profiles(in), ratings.Profiles(out)
}

const catalogue = 1682

// joins is the fixed draw of the users whose profiles are counted.
func joins(user int, share float64) bool {
	return float64(uint32(uint64(user+1)*2654435761))/(1<<32) < share
}

// The fewest and the most users; all levels are in the slow tier.
func TestGoldenMovieLens(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	testLevels(t, "0.3", "1.0")
}

func testLevels(t *testing.T, shares ...string) {
	train, test := movieLens(t)
	g := readGolden(t)
	if a, b := total(train), total(test); a != g.Split.Train || b != g.Split.Test {
		t.Fatalf("%d and %d ratings, want %d and %d", a, b, g.Split.Train, g.Split.Test)
	}
	if len(g.ML100K) != 5 {
		t.Fatalf("%d levels, want 5", len(g.ML100K))
	}
	for _, share := range shares {
		want := g.ML100K[share]
		p, err := strconv.ParseFloat(share, 64)
		if err != nil {
			t.Fatal(err)
		}
		var users [][]int
		for u, profile := range train {
			if joins(u, p) {
				users = append(users, profile)
			}
		}
		c := komd.CountsOf(catalogue, users)
		k, err := komd.Spec{Name: komd.Linear}.Kernel(c)
		if err != nil {
			t.Fatal(err)
		}
		got := measure(t, komd.New(k), train, test, seenIn(train))
		got.KernelUsers = len(users)
		for i := range catalogue {
			got.Trace += c.C.Row(i)[i]
		}
		for _, v := range c.C.Data {
			got.Sum += v
		}
		if got.KernelUsers != want.KernelUsers || got.EvalUsers != want.EvalUsers || got.Trace != want.Trace || got.Sum != want.Sum {
			t.Errorf("%s of the users: %+v, want %+v", share, got, want)
		}
		near(t, share+" of the users", []float64{got.AUC, got.NDCG, got.Recall}, []float64{want.AUC, want.NDCG, want.Recall}, 1e-4)
	}
}

func total(profiles [][]int) (n int) {
	for _, p := range profiles {
		n += len(p)
	}
	return n
}

// seenIn marks the items that anybody has.
func seenIn(profiles [][]int) []bool {
	seen := make([]bool, catalogue)
	for _, profile := range profiles {
		for _, i := range profile {
			seen[i] = true
		}
	}
	return seen
}

// measure ranks for every user what the user has not seen in training, and
// takes the mean of the figures.
func measure(t *testing.T, m *komd.Model, train, test [][]int, seen []bool) level {
	var mu sync.Mutex
	each := make([][3]float64, len(train))
	counted := 0
	linalg.For(len(train), 8, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			figures, ok := judge(t, m, train[u], test[u], seen)
			if ok {
				each[u] = figures
				mu.Lock()
				counted++
				mu.Unlock()
			}
		}
	})
	out := level{EvalUsers: counted}
	for _, f := range each {
		out.AUC += f[0] / float64(counted)
		out.NDCG += f[1] / float64(counted)
		out.Recall += f[2] / float64(counted)
	}
	return out
}

func judge(t *testing.T, m *komd.Model, train, test []int, seen []bool) (figures [3]float64, ok bool) {
	wanted := make(map[int]bool)
	for _, i := range test {
		if seen[i] {
			wanted[i] = true
		}
	}
	if len(wanted) == 0 {
		return figures, false
	}
	scores, err := m.Scores(train, komd.DefaultLambda)
	if err != nil {
		t.Error(err)
		return figures, false
	}
	known := make(map[int]bool)
	for _, i := range train {
		known[i] = true
	}
	var relevant []bool
	var left []float64
	for i, s := range scores {
		if !known[i] {
			relevant, left = append(relevant, wanted[i]), append(left, s)
		}
	}
	var errs [3]error
	figures[0], errs[0] = metrics.ROCAUC(relevant, left)
	figures[1], errs[1] = metrics.NDCG(relevant, left, 100)
	figures[2], errs[2] = metrics.RecallAt(relevant, left, 100)
	figures[2] *= float64(len(wanted)) / float64(min(100, len(wanted)))
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	return figures, true
}
