package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const svcListed, rbfListed = "name: svc, C: 1, tol: 1.0e-10", "name: rbf, gamma: 0.2"

// A job may list its classes: the second of two is the positive one in every figure, even
// if it comes first in the alphabet. Decisions change their sign, and predictions do not
// change.
func TestListedClassesAreInTheirOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, tt := range []struct {
		protocol, partition, schema, kernel, learner string
		curves                                       bool // the maker of the result has scores
	}{
		{"name: okra, wire: float64", threeParties, rowsSchema, rbfListed, svcListed, true},
		{"name: escaped, mode: paper", threeParties, rowsSchema, rbfListed, svcListed, true},
		{"name: gram", twoHolders, columnsSchema, rbfListed, svcListed, true},
		{"name: fdskl, directions: 64", twoHolders, columnsSchema, rbfListed, "name: logistic", false},
		{"name: fd-svrg, mode: paper", twoHolders, columnsSchema, "name: linear", "name: logistic", false},
		{"name: secureboost, mode: paper, he: none", twoHolders, columnsSchema, "name: linear", "name: boosted-trees", false},
		{"name: moments, directions: 24, classes: [ill, well]", threeParties, rowsSchema, rbfListed, "name: ridge-classifier, alpha: 0.1", false},
	} {
		t.Run(tt.protocol, func(t *testing.T) {
			scale, compare := "standard", "pooled"
			if strings.Contains(tt.protocol, "secureboost") {
				scale = "none"
			}
			if strings.Contains(tt.protocol, "moments") {
				compare = ""
			}
			text := fmt.Sprintf(bySchema, "empty.csv", tt.partition, tt.schema, scale, tt.protocol, tt.kernel, tt.learner, compare)
			plain, before, _ := simulateAndCompare(t, jobtest.Parse(t, text), loadDirty)
			listed := strings.Replace(text, "label: diagnosis", "label: {column: diagnosis, classes: [well, ill]}", 1)
			listed = strings.Replace(listed, ", classes: [ill, well]}", "}", 1) // of moments, which takes the data's
			r, after, _ := simulateAndCompare(t, jobtest.Parse(t, listed), loadDirty)
			if r.Metrics["accuracy"] != plain.Metrics["accuracy"] {
				t.Errorf("accuracy %v, before %v", r.Metrics["accuracy"], plain.Metrics["accuracy"])
			}
			if after.Classes != nil && !slices.Equal(after.Classes, []string{"well", "ill"}) || !slices.Equal(after.Predicted, before.Predicted) {
				t.Errorf("classes %q, and predictions are those of before: %v", after.Classes, slices.Equal(after.Predicted, before.Predicted))
			}
			if (r.Pooled == nil) != (compare == "") {
				t.Errorf("pooled: %v", r.Pooled)
			}
			f := r.Figures
			if f != nil && f.Confusion != nil && !slices.Equal(f.Confusion.Classes, []string{"well", "ill"}) {
				t.Errorf("confusion matrix of classes %q", f.Confusion.Classes)
			}
			if !tt.curves {
				return
			}
			if f.Positive != "ill" || plain.Figures.Positive != "well" || f.Classes[0].Class != "well" || f.Confusion.Classes[1] != "ill" || f.PerClass[1].Class != "ill" || f.Curves[0].Class != "ill" {
				t.Errorf("figures of the class %s, of %+v", f.Positive, f.Classes)
			}
			for i := range f.Confusion.Matrix {
				for k, n := range f.Confusion.Matrix[i] {
					if n != plain.Figures.Confusion.Matrix[1-i][1-k] {
						t.Errorf("the confusion matrix is %v, before %v", f.Confusion.Matrix, plain.Figures.Confusion.Matrix)
					}
				}
			}
			for i := range after.Decisions.Rows {
				if d := after.Decisions.Row(i)[0] + before.Decisions.Row(i)[0]; d > 1e-6 || d < -1e-6 {
					t.Fatalf("row %d: decisions %v and %v", i, after.Decisions.Row(i)[0], before.Decisions.Row(i)[0])
				}
			}
		})
	}
}

// A class that a party has and the job does not list is refused with file, line and advice.
func TestAClassThatIsNotListed(t *testing.T) {
	text := fmt.Sprintf(bySchema, "empty.csv", threeParties, rowsSchema, "standard", "name: okra", rbfListed, svcListed, "")
	j := jobtest.Parse(t, strings.Replace(text, "label: diagnosis", "label: {column: diagnosis, classes: [well, sick]}", 1))
	_, err := partition.Shares(j, loadDirty)
	var line *dataset.SyntaxError
	if !errors.As(err, &line) || line.Line != 3 || !strings.Contains(err.Error(), `column "diagnosis" holds "ill", which is not one of the classes that the job lists ("well", "sick")`) {
		t.Errorf("%v", err)
	}
	own := strings.Replace(text, "source: empty.csv", "sources: {north: empty.csv, south: empty.csv}", 1)
	own = strings.Replace(own, "partition: "+threeParties, "", 1)
	j = jobtest.Parse(t, strings.Replace(own, "label: diagnosis", "label: {column: diagnosis, classes: [well, sick]}", 1))
	_, err = partition.Shares(j, func(s job.Source, d job.Data) (*dataset.Set, error) { return loadDirty(s, d) })
	if err == nil || !strings.HasPrefix(err.Error(), "north: ") {
		t.Errorf("the party is not named: %v", err)
	}
}
