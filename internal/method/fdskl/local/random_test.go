package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: random}
spec:
  data: {source: own, label: label, partition: {by: columns, parties: [guest, host, third], coverage: 0.9}, scale: standard}
  protocol: {name: fdskl, directions: 256}
  kernel: {name: %s}
  learner: {name: logistic}
`

// Pooled, the same learner does as well; the label holder finds out distances, with every
// kernel.
func TestRandomInOnePlace(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	set := columnstest.Numbered(t, "wdbc", 400)
	for _, kernel := range []string{"rbf, gamma: 0.02", "laplacian, gamma: 0.1", "laplacian-product, gamma: 0.02", "rational-quadratic, length_scale: 5", "matern, length_scale: 5"} {
		text := fmt.Sprintf(file, kernel)
		j := jobtest.Parse(t, text)
		s, err := scale.Pooled(dataset.RowsOf(set.X), scale.Method(j.Data.Scale))
		if err != nil {
			t.Fatal(err)
		}
		rows := s.Rows(dataset.RowsOf(set.X))
		learned, err := learnRandom(t.Context(), j, rows, set.Labels, 300)
		if err != nil {
			t.Fatal(err)
		}
		m := learned.Metrics
		e, err := expose(t.Context(), j, rows, 10)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v, exposure %+v", kernel, m, e)
		if m["accuracy"] < 0.92 || e.Pairs < 1000 || e.Correlation < 0.85 || e.Deviation > 0.1 {
			t.Errorf("%s: %v, exposure %+v", kernel, m, e)
		}
	}
}

// The training in one place has all columns and all training rows. The label is the sign of the product
// of the first and the last column: the first columns alone do not tell it, nor does one half of the
// training rows. In the first half the last column is positive, in the other half negative.
func TestOnePlaceHasAllColumnsAndRows(t *testing.T) {
	const train, test, width = 300, 100, 4
	rng := rand.New(rand.NewPCG(3, 4))
	x, labels := linalg.New[float64](train+test, width), make([]string, train+test)
	for i := range x.Rows {
		for c := range width {
			x.Row(i)[c] = rng.NormFloat64()
		}
		last := &x.Row(i)[width-1]
		if *last = math.Abs(*last); i >= train/2 && (i < train || i%2 == 0) {
			*last = -*last
		}
		labels[i] = fmt.Sprint(x.Row(i)[0]**last > 0)
	}
	all := method.Split{Set: &dataset.Set{X: dataset.NewDense(x), Labels: labels}, Test: columns.HeldOutLast(train, test)}
	learned, err := trainRandom(t.Context(), jobtest.Parse(t, fmt.Sprintf(file, "rbf, gamma: 0.2")), all)
	if err != nil || learned.Metrics["accuracy"] < .85 {
		t.Errorf("%v, %v; want an accuracy of .85 or more", learned.Metrics, err)
	}
	// The training is the job's: an iteration of Algorithm 1 with these settings leaves a hundredth of
	// what was learnt before, so that the last direction decides.
	published := strings.NewReplacer("directions: 256", "directions: 256, training: faithful", "logistic", "logistic, rate: 99, lambda: 0.01")
	learned, err = trainRandom(t.Context(), jobtest.Parse(t, published.Replace(fmt.Sprintf(file, "rbf, gamma: 0.2"))), all)
	if err != nil || learned.Metrics["accuracy"] > .7 {
		t.Errorf("%v, %v; want Algorithm 1, which forgets", learned.Metrics, err)
	}
}

// The comparisons of a job have the columns of all parties: the label is the sign of the product of the
// label holder's column and the last party's.
func TestComparisonsHaveAllColumns(t *testing.T) {
	const train, test = 300, 100
	text := fmt.Sprintf(file, "rbf, gamma: 0.2") + "  compare: [pooled, exact-kernel, alone]\n"
	text = strings.Replace(text, "coverage: 0.9", "aligned: true", 1)
	rng, labels, splits := rand.New(rand.NewPCG(5, 6)), make([]string, train+test), make([]method.Split, 3)
	for i := range splits {
		x := linalg.New[float64](train+test, 1)
		for k := range x.Data {
			x.Data[k] = rng.NormFloat64()
		}
		splits[i] = method.Split{Set: &dataset.Set{X: dataset.NewDense(x)}, Test: columns.HeldOutLast(train, test)}
	}
	for i := range labels {
		labels[i] = fmt.Sprint(splits[0].Set.X.Row(i, nil)[0]*splits[2].Set.X.Row(i, nil)[0] > 0)
	}
	splits[0].Set.Labels = labels
	r := &method.Result{Training: train, HeldOut: test}
	if err := compareJob(t.Context(), local.Comparison{Job: jobtest.Parse(t, text), Splits: splits, Result: r}); err != nil {
		t.Fatal(err)
	}
	if r.Pooled["accuracy"] < .85 || r.ExactKernel["accuracy"] < .85 || r.Alone[0].Metrics["accuracy"] > .7 {
		t.Errorf("pooled %v, exact kernel %v, the label holder alone %v", r.Pooled, r.ExactKernel, r.Alone[0].Metrics)
	}
}
