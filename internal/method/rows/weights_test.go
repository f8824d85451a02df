package rows

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// weightBody writes weights, padded to a number of rows.
func weightBody(rows int, weights ...float64) []byte {
	var w wire.Writer
	for i := range rows {
		v := 0.
		if i < len(weights) {
			v = weights[i]
		}
		w.Uint64(math.Float64bits(v))
	}
	return w.Bytes()
}

// Invalid weights are the party's fault; weights of 0 alone are the job's.
func TestWeightsThatAreRefused(t *testing.T) {
	c := method.Instance{Job: &job.Job{}, Parties: []string{"north", "south"}}
	test, counts := []bool{false, false, true, false, true}, []int{3, 2}
	good := [][]byte{weightBody(5, 1.5, 0, 0), weightBody(5, 2, 0)}
	if got, err := readWeights(c, good, counts, test); err != nil || !slices.Equal(got, []float64{1.5, 0, 0, 2, 0}) {
		t.Fatalf("weights %v, %v", got, err)
	}
	for name, south := range map[string][]byte{
		"NaN": weightBody(5, math.NaN()), "infinite": weightBody(5, math.Inf(1)), "negative": weightBody(5, -1), "too large": weightBody(5, 2e140),
		"of a held-out row": weightBody(5, 1, 1), "behind the last row": weightBody(5, 1, 0, 0, 1), "too short": weightBody(1, 1), "cut off": weightBody(5, 1)[:39],
	} {
		_, err := readWeights(c, [][]byte{good[0], south}, counts, test)
		if fault.CodeOf(err) != fault.CodeMisbehaved || !strings.Contains(err.Error(), "south") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := readWeights(c, [][]byte{weightBody(5), weightBody(5)}, counts, test)
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "no training row of any party has a weight above 0") {
		t.Errorf("only weights of 0: %v", err)
	}
}

func FuzzReadWeight(f *testing.F) {
	f.Add(weightBody(4, 1, 0, 2.5), uint8(3), uint8(2))
	f.Add([]byte{}, uint8(0), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, rows, held uint8) {
		test := make([]bool, rows%16)
		for i := range test {
			test[i] = held>>(i%8)&1 == 1
		}
		weights, err := readWeight(b, test)
		if err != nil {
			return
		}
		for i, w := range weights {
			if !(w >= 0 && w <= dataset.MaxMagnitude) || test[i] && w > 0 {
				t.Errorf("row %d, held out %t: weight %v", i, test[i], w)
			}
		}
		if math.Signbit(slices.Min(append(weights, 0))) {
			return // -0 equals 0
		}
		if !slices.Equal(weightBody(len(b)/weightBytes, weights...), b) {
			t.Errorf("%x is read as %v", b, weights)
		}
	})
}

// A table needs the job's weights, and a training row with a weight above 0. Weights that a job does
// not use are dropped.
func TestSplitChecksWeights(t *testing.T) {
	set := &dataset.Set{
		Name: "north.csv", X: dataset.NewDense(linalg.New[float64](4, 1)), Columns: []string{"age"},
		Lines: []int{2, 3, 5, 6}, Weights: []float64{0, -1, 0, 3},
	}
	split := func(weight string, set *dataset.Set, held ...int) (method.Split, error) {
		j := &job.Job{Data: job.Data{Label: job.NoLabel, Weight: weight, Test: job.Test{Fraction: .25}}}
		return Split(j, "north", method.Table{Set: set, Held: append([]int{}, held...)})
	}
	if s, err := split("factor", set, 0); err != nil || !slices.Equal(s.Set.Weights, set.Weights) {
		t.Errorf("%v", err)
	}
	if s, err := split("", set, 0); err != nil || s.Set.Weights != nil || set.Weights == nil {
		t.Errorf("a job without weights: %v, %v", s.Set.Weights, err)
	}
	if _, err := split("factor", set, 3); err == nil || err.Error() != `north.csv:2: column "factor" holds the weight 0, and no other of the 3 training rows has a weight above 0; correct the weights, or leave the table out` {
		t.Errorf("no training row has a weight: %v", err)
	}
	if _, err := split("factor", set, 0, 1, 2, 3); err != nil {
		t.Errorf("a party that only tests: %v", err)
	}
	bare := *set
	bare.Weights = nil
	if _, err := split("factor", &bare, 0); err == nil || !strings.Contains(err.Error(), `north.csv has no column "factor" to take the weights from`) {
		t.Errorf("no column: %v", err)
	}
}
