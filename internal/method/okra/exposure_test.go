package okra

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

const exposedJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: exposed}
spec:
  data: {source: digits, label: label, partition: {parties: [north, south]}, test: {every: 4}, scale: SCALE}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: ridge}
  prediction: PREDICTION
`

// TestExposuresFollowTheJob: of 52 images with 64 pixels the lattice attack reads all 51 pixels that
// vary, and of 51 images none. Parties that learn ends of ranges or query a model learn something of
// others' rows.
func TestExposuresFollowTheJob(t *testing.T) {
	for _, tt := range []struct {
		rows              int
		scale, prediction string
		server, party     protocol.Reach
	}{
		{52, "none", "closed", protocol.ReachAll, protocol.ReachNone},
		{51, "none", "closed", protocol.ReachPart, protocol.ReachNone},
		{52, "none", "open", protocol.ReachAll, protocol.ReachPart},
		{52, "minmax", "closed", protocol.ReachAll, protocol.ReachPart},
		{200, "none", "closed", protocol.ReachAll, protocol.ReachNone},
	} {
		j := read(t, strings.NewReplacer("SCALE", tt.scale, "PREDICTION", tt.prediction).Replace(exposedJob))
		f := methodtest.Join[*server, *party](t, Protocol(), j, images(t, tt.rows))
		f.Finish(t)
		r := f.Result(t)
		for role, want := range map[string]protocol.Reach{"server": tt.server, "party": tt.party, "coalition": protocol.ReachAll} {
			e := r.Exposures[role]
			if e.Reach != want || !slices.ContainsFunc(r.Leakage[role], func(line string) bool { return strings.Contains(line, e.Why) }) {
				t.Errorf("%+v, %s: %+v, want %s", tt, role, e, want)
			}
		}
	}
}

// images deals the first n of the bundled digits to two parties.
func images(t *testing.T, n int) map[string]method.Table {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	tables := make(map[string]method.Table)
	for name, part := range map[string][]int{"north": linalg.Range(0, 20), "south": linalg.Range(20, n)} {
		own := set.Subset(part)
		own.Name = name
		tables[name] = method.Table{Set: &dataset.Set{Name: name, X: own.X, Labels: own.Labels, Columns: own.Columns}}
	}
	return tables
}
