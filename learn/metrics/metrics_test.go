package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// By hand. Of four classes d is predicted once and never true, c never
// predicted: F1 a 4/5, b 2/3, c 0, d 0.
func TestLabelsByHand(t *testing.T) {
	truth, predicted := []string{"a", "a", "b", "b", "c"}, []string{"a", "a", "b", "d", "a"}
	expect(t, "accuracy", 0.6)(metrics.Accuracy(truth, predicted))
	expect(t, "F1 micro", 0.6)(metrics.F1Micro(truth, predicted))
	expect(t, "F1 macro", (4.0/5+2.0/3)/4)(metrics.F1Macro(truth, predicted))
	m, err := metrics.NewConfusionMatrix(truth, predicted)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]int{{2, 0, 0, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}, {0, 0, 0, 0}}, m.Counts); d != "" {
		t.Errorf("counts (-want +got)\n%s", d)
	}
	// One class only, always right.
	expect(t, "F1 macro of one class", 1)(metrics.F1Macro([]int{3, 3}, []int{3, 3}))
	expect(t, "F1 macro, all wrong", 0)(metrics.F1Macro([]int{1, 1}, []int{2, 2}))
	// A class that no row has and none is predicted as counts nothing.
	absent := metrics.Count([]string{"a", "b", "c"}, []int{0, 0, 1}, []int{0, 1, 1}, []int{1, 1, 1})
	expect(t, "F1 macro beside an absent class", 2.0/3)(absent.F1Macro(), nil)
}

func ExampleConfusionMatrix() {
	m, err := metrics.NewConfusionMatrix([]string{"cat", "cat", "horse"}, []string{"cat", "horse", "horse"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(m)
	fmt.Printf("%.3f %.3f\n", m.Accuracy(), m.F1Macro())
	// Output:
	//   true \ predicted  cat  horse
	//                cat    1      1
	//              horse    0      1
	// 0.667 0.667
}

func TestAUCByHand(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		positive []bool
		scores   []float64
		want     float64
	}{
		{[]bool{no, yes}, []float64{1, 2}, 1},
		{[]bool{no, yes}, []float64{2, 1}, 0},
		{[]bool{no, yes}, []float64{1, 1}, 0.5},
		{[]bool{no, no, yes, yes}, []float64{0.1, 0.4, 0.35, 0.8}, 0.75},
		{[]bool{yes, no, yes}, []float64{1, 1, 2}, 0.75},
		{[]bool{no, yes}, []float64{math.Inf(-1), math.Inf(1)}, 1},
		{[]bool{yes, no}, []float64{math.Copysign(0, -1), 0}, 0.5}, // the two zeros tie
	} {
		expect(t, fmt.Sprint(c), c.want)(metrics.ROCAUC(c.positive, c.scores))
	}
}

// pairs is the dumb twin of the AUC: all pairs, one by one.
func pairs(positive []bool, scores []float64) float64 {
	var right, total float64
	for i, p := range positive {
		for j, q := range positive {
			switch {
			case !p || q:
				continue
			case scores[i] > scores[j]:
				right++
			case scores[i] == scores[j]:
				right += 0.5
			}
			total++
		}
	}
	return right / total
}

func TestAUCEqualsTwin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		scores := rapid.SliceOfN(rapid.Map(rapid.IntRange(-5, 5), func(i int) float64 { return float64(i) }), 2, 40).Draw(r, "scores")
		positive := rapid.SliceOfN(rapid.Bool(), len(scores), len(scores)).Draw(r, "positive")
		positive[0], positive[1] = true, false
		before := slices.Clone(scores)
		got, err := metrics.ROCAUC(positive, scores)
		if want := pairs(positive, scores); err != nil || math.Abs(got-want) > 1e-15 {
			r.Fatalf("%g, %v; want %g", got, err, want)
		}
		if !slices.Equal(before, scores) {
			r.Fatal("the scores were changed")
		}
		// One-vs-one of two classes, the second column in the other direction.
		both := linalg.New[float64](len(scores), 2)
		truth := make([]int, len(scores))
		for i, s := range scores {
			both.Row(i)[0], both.Row(i)[1] = -s, s
			if positive[i] {
				truth[i] = 1
			}
		}
		if ovo, err := metrics.AUCOvO(truth, both); err != nil || math.Abs(ovo-got) > 1e-15 {
			r.Fatalf("one-vs-one of two classes is %g, %v; want %g", ovo, err, got)
		}
	})
}

// A decision that many classes share leaves the vote to the sum of decisions.
func TestVoteScoresByHand(t *testing.T) {
	// (0,1) for 0 by 3; (0,2) for 2 by 1; (1,2) for 1 by 1/2: one vote each.
	got, err := metrics.VoteScores(matrix([][]float64{{3, -1, 0.5}, {0, 0, 0}}), 3)
	want := []float64{
		1 + 2.0/(3*3), 1 - 2.5/(3*3.5), 1 + 0.5/(3*1.5),
		2, 1, 0, // 0 votes for the first of the pair
	}
	if err != nil || len(got.Data) != 6 {
		t.Fatal(got, err)
	}
	for i, w := range want {
		if math.Abs(got.Data[i]-w) > 1e-15 {
			t.Errorf("score %d is %g, want %g", i, got.Data[i], w)
		}
	}
}

func TestRegressionByHand(t *testing.T) {
	truth := []float64{1, 2, 3}
	expect(t, "RMSE", math.Sqrt(5.0/3))(metrics.RMSE(truth, []float64{1, 3, 5}))
	expect(t, "R2", 1-5.0/2)(metrics.R2(truth, []float64{1, 3, 5}))
	expect(t, "R2, perfect", 1)(metrics.R2(truth, truth))
	expect(t, "R2 of the mean", 0)(metrics.R2(truth, []float64{2, 2, 2}))
	expect(t, "RMSE of constant truth", 0)(metrics.RMSE([]float64{4}, []float64{4}))
}

// Constant truth has no R2, however its mean is rounded.
func TestR2OfConstants(t *testing.T) {
	for n := 2; n < 60; n++ {
		truth, predicted := make([]float64, n), make([]float64, n)
		for i := range truth {
			truth[i], predicted[i] = 0.1, float64(i)
		}
		if r2, err := metrics.R2(truth, predicted); err == nil {
			t.Errorf("%d values: %v", n, r2)
		}
	}
}

func TestImpossibleInputIsAnError(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, f := range map[string]func() (float64, error){
		"metrics: there are no rows to compare":                                                func() (float64, error) { return metrics.Accuracy([]int{}, nil) },
		"metrics: the lists to compare have 2 and 1 entries; the numbers must be equal":        func() (float64, error) { return metrics.F1Macro([]int{1, 2}, []int{1}) },
		"metrics: the lists to compare have 1 and 0 entries; the numbers must be equal":        func() (float64, error) { return metrics.ROCAUC([]bool{true}, nil) },
		"metrics: the area under the ROC curve needs rows of both classes":                     func() (float64, error) { return metrics.ROCAUC([]bool{true, true}, []float64{1, 2}) },
		"metrics: the score of row 1 is not a number":                                          func() (float64, error) { return metrics.ROCAUC([]bool{true, false}, []float64{1, nan}) },
		"metrics: all 2 true values are 0.1; R2 needs at least two different values":           func() (float64, error) { return metrics.R2([]float64{0.1, 0.1}, []float64{0.1, 0.2}) },
		"metrics: all 2 true values are 97.262; R2 needs at least two different values":        func() (float64, error) { return metrics.R2([]float64{97.262, 97.26200000000001}, []float64{0.1, 0.2}) },
		"metrics: row 0: the difference of 1 and NaN is not finite":                            func() (float64, error) { return metrics.RMSE([]float64{1}, []float64{nan}) },
		"metrics: the squared errors overflow: scale the values":                               func() (float64, error) { return metrics.RMSE([]float64{1e200, 1}, []float64{-1e200, 2}) },
		"metrics: the squared values overflow: scale them":                                     func() (float64, error) { return metrics.R2([]float64{1e200, -1e200}, []float64{1e200, -1e200}) },
		"metrics: row 1: the difference of +Inf and 2 is not finite":                           func() (float64, error) { return metrics.R2([]float64{1, inf}, []float64{1, 2}) },
		"metrics: class 2 has no rows; the area under the ROC curve needs rows of every class": func() (float64, error) { return metrics.AUCOvO([]int{0, 1}, linalg.New[float64](2, 3)) },
		"metrics: row 1 is of class 3, but there are scores for 2 classes":                     func() (float64, error) { return metrics.AUCOvO([]int{0, 3}, linalg.New[float64](2, 2)) },
		"metrics: row 0 is of class -1, but there are scores for 2 classes":                    func() (float64, error) { return metrics.AUCOvO([]int{-1, 0}, linalg.New[float64](2, 2)) },
		"metrics: a score of row 1 is not a number":                                            func() (float64, error) { return metrics.AUCOvO([]int{0, 1}, matrix([][]float64{{1, 2}, {3, nan}})) },
		"metrics: the lists to compare have 2 and 3 entries; the numbers must be equal":        func() (float64, error) { return metrics.AUCOvO([]int{0, 1}, linalg.New[float64](3, 2)) },
		"metrics: a decision of row 0 is NaN; it must be finite": func() (float64, error) {
			_, err := metrics.VoteScores(matrix([][]float64{{1, nan, 1}}), 3)
			return 0, err
		},
		"metrics: a decision of row 1 is +Inf; it must be finite": func() (float64, error) {
			_, err := metrics.VoteScores(matrix([][]float64{{1}, {inf}}), 2)
			return 0, err
		},
		"metrics: each row has 3 decisions for 4 classes; it must have one for each pair of classes": func() (float64, error) { return 0, voteError(3, 4) },
		"metrics: each row has 0 decisions for 1 classes; it must have one for each pair of classes": func() (float64, error) { return 0, voteError(0, 1) },
	} {
		if got, err := f(); err == nil || err.Error() != want || got != 0 {
			t.Errorf("got %g, %v\nwant %s", got, err, want)
		}
	}
}

func voteError(cols, classes int) error {
	_, err := metrics.VoteScores(linalg.New[float64](1, cols), classes)
	return err
}

func BenchmarkROCAUC(b *testing.B) {
	const n = 100_000
	src := rand.New(rand.NewPCG(1, 2))
	positive, scores := make([]bool, n), make([]float64, n)
	for i := range scores {
		positive[i], scores[i] = src.IntN(2) == 1, src.NormFloat64()
	}
	for b.Loop() {
		if _, err := metrics.ROCAUC(positive, scores); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
