package simulate

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// bySchema is a job over one table with gaps and words.
const bySchema = `apiVersion: mercer/v1
kind: Job
metadata: {name: by-schema}
spec:
  data:
    source: %s
    label: diagnosis
    id: patient
    partition: %s
    schema: {%s}
    scale: %s
  protocol: {%s}
  kernel: {%s}
  learner: {%s}
  compare: [%s]
`

const (
	rowsSchema    = `age: {range: [0, 120]}, creatinine: {range: [1, 3000], missing: mean, indicator: true, transform: log}, smoker: {type: category, categories: agree}, stage: {type: category, categories: [I, II, III], ordered: true}`
	columnsSchema = `clinic.age: {}, clinic.sex: {type: category, categories: [F, M]}, lab.creatinine: {missing: median, range: [1, 3000]}, lab.smoker: {type: category, categories: agree, missing: category}`
	threeParties  = "{parties: [north, south, east]}"
	twoParties    = "{parties: [north, south]}"
	twoHolders    = "{by: columns, parties: [clinic, lab], coverage: 0.95}"
)

// Every method takes tables with a schema. Where the kernel is exact, its decisions equal the
// decisions on the pooled rows, prepared in one place.
func TestEveryMethodTakesASchema(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const svc, rbf = "name: svc, C: 1, tol: 1.0e-10", "name: rbf, gamma: 0.2"
	for _, tt := range []struct {
		protocol, partition, schema, scale, kernel, learner, compare string
		exact                                                        bool
	}{
		{"name: okra, wire: float64", threeParties, rowsSchema, "standard", rbf, svc, "pooled", true},
		{"name: okra, wire: float64", threeParties, rowsSchema, "range", rbf, svc, "pooled", true},
		{"name: okra, wire: float64", threeParties, rowsSchema, "minmax", rbf, svc, "pooled", true},
		{"name: okra, wire: float64", twoParties, rowsSchema, "standard", rbf, svc, "pooled", true},
		{"name: flake", threeParties, rowsSchema, "standard", rbf, svc, "pooled", true},
		{"name: escaped, mode: paper", threeParties, rowsSchema, "standard", rbf, svc, "pooled", true},
		{"name: moments, directions: 24, classes: [ill, well]", threeParties, rowsSchema, "standard", rbf, "name: ridge-classifier, alpha: 0.1", "", false},
		{"name: gram", twoHolders, columnsSchema, "standard", rbf, svc, "pooled", false},
		{"name: gram", twoHolders, columnsSchema, "minmax", rbf, svc, "pooled", false},
		{"name: pp-svmv, mode: paper", twoHolders, columnsSchema, "standard", rbf, svc, "pooled", true},
		{"name: fd-svrg, mode: paper", twoHolders, columnsSchema, "standard", "name: linear", "name: logistic", "pooled", false},
		{"name: secureboost, mode: paper, he: none", twoHolders, columnsSchema, "none", "name: linear", "name: boosted-trees", "pooled", false},
		{"name: fdskl, directions: 64", twoHolders, columnsSchema, "standard", rbf, "name: logistic", "pooled", false},
	} {
		t.Run(tt.protocol+" "+tt.scale, func(t *testing.T) {
			j := jobtest.Parse(t, fmt.Sprintf(bySchema, "empty.csv", tt.partition, tt.schema, tt.scale, tt.protocol, tt.kernel, tt.learner, tt.compare))
			r, _, _ := simulateAndCompare(t, j, loadDirty)
			if tt.exact && (r.Difference == nil || *r.Difference > 1e-6 || !*r.Exact) {
				t.Errorf("difference to pooled decisions %v, exact %v", r.Difference, r.Exact)
			}
			byRows := tt.partition != twoHolders
			if r.Prepared == nil || r.Prepared.Columns < 5 || (r.Prepared.Digest != "") != byRows {
				t.Errorf("the coordinator reads %+v of the preparation", r.Prepared)
			}
			if said := strings.Join(r.Leakage["server"], "\n"); !strings.Contains(said, fmt.Sprintf("The server learns that the preparation makes %d columns", r.Prepared.Columns)) {
				t.Errorf("leakage says %s", said)
			}
			if accuracy := r.Metrics["accuracy"]; accuracy < 0.5 {
				t.Errorf("accuracy %v", accuracy)
			}
		})
	}
}

// loadDirty reads a table that dataset/prepare compares with scikit-learn, three times: ids
// of the second and third copy differ. So there are enough rows for three parties to fit
// on.
func loadDirty(s job.Source, d job.Data) (*dataset.Set, error) {
	path := filepath.Join("..", "..", "..", "dataset", "prepare", "testdata", s.File)
	sets := make([]*dataset.Set, 3)
	for i := range sets {
		set, err := catalogue.New("").LoadTable(path, d.Table(s))
		if err != nil {
			return nil, err
		}
		for k, id := range set.IDs {
			set.IDs[k] = fmt.Sprintf("%s-%d", id, i)
		}
		sets[i] = set
	}
	return dataset.Append(sets...)
}
