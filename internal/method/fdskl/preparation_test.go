package fdskl

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
)

const preparedFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: prepared}
spec:
  data: {source: patients, label: label, partition: {by: columns, parties: [south, north]}, schema: {south.age: {range: [0, 120], missing: median}, north.postcode: {range: [10000, 99999]}}, test: {fraction: 0.25}, scale: standard}
  protocol: {name: fdskl}
  kernel: {name: rbf, gamma: 0.05}
  learner: {name: logistic}
  prediction: open
`

// Each party has a preparation of its own columns for its daemon to retain: without it, nobody could
// prepare the rows of a question.
func TestEachPartyHasAPreparationToRetain(t *testing.T) {
	people := methodtest.Patients("north", 200)
	f := methodtest.Hospitals(t, Protocol(), preparedFile, 1, map[string]string{"north": people, "south": people})
	f.Finish(t)
	for name, column := range map[string]string{"south": "age", "north": "postcode"} {
		made := f.Parties[name].Preparation()
		if made == nil || len(made.Names()) != 1 || made.Names()[0] != column {
			t.Errorf("%s has the preparation %v, want one of column %s", name, made, column)
		}
	}
}
