package local

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
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
