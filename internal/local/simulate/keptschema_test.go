package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
)

// A late party with too few values for fitting gets the preparation of the others. Its
// job's model is that of all rows by that preparation: bit for bit the fresh session's, and
// pooled's.
func TestLatePartyGetsThePreparation(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	text := fmt.Sprintf(bySchema, "empty.csv", threeParties, rowsSchema, "standard", "name: okra, wire: float64, late: [east]", "name: rbf, gamma: 0.2", "name: svc, C: 1, tol: 1.0e-10", "pooled")
	text = strings.Replace(text, "source: empty.csv", "sources: {north: empty.csv, south: empty.csv, east: empty.csv}", 1)
	text = strings.Replace(text, "    partition: "+threeParties+"\n", "", 1)
	r, _, _ := simulateAndCompare(t, jobtest.Parse(t, text), func(s job.Source, d job.Data) (*dataset.Set, error) {
		set, err := loadDirty(s, d)
		if err == nil && s.Party == "east" {
			set = set.Subset([]int{1, 2, 3, 4, 5, 6, 7, 8})
		}
		return set, err
	})
	d, err := method.DetailsOf[okra.Details](r)
	if err != nil || d == nil || !d.Changes.Equal || d.Changes.Preparation != "keep" || d.Changes.Changed.Rows["north"] != 0 || d.Changes.Changed.Rows["east"] == 0 {
		t.Fatalf("%v: %+v", err, d)
	}
	if r.Difference == nil || *r.Difference > 1e-6 || !*r.Exact {
		t.Errorf("difference to pooled decisions %v, exact %v", *r.Difference, *r.Exact)
	}
}

// A withdrawal and later rows are simulated with a fitted schema, too.
func TestChangesWithASchema(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, keys := range []string{"withdrawn: [north], preparation: keep", "withdrawn: [north]", "added: {south: 0.25}", "late: [east], preparation: refit"} {
		text := fmt.Sprintf(bySchema, "empty.csv", threeParties, rowsSchema, "minmax", "name: okra, wire: float64, "+keys, "name: rbf, gamma: 0.2", "name: svc, C: 1, tol: 1.0e-10", "pooled")
		r, _, _ := simulateAndCompare(t, jobtest.Parse(t, text), loadDirty)
		d, err := method.DetailsOf[okra.Details](r)
		if err != nil || d == nil || !d.Changes.Equal {
			t.Errorf("%s: %v: %+v", keys, err, d)
		}
		if refit := d.Changes.Preparation == "refit"; refit && *r.Difference > 1e-6 {
			t.Errorf("%s: difference to pooled decisions %v", keys, *r.Difference)
		}
	}
}
