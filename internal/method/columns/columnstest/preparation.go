package columnstest

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
)

const preparedFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: prepared}
spec:
  data: {source: patients, label: label, partition: {by: columns, parties: [south, north]}, schema: {south.age: {range: [0, 120], missing: median}, north.postcode: {range: [10000, 99999]}}, test: {fraction: 0.25}, scale: standard}
  protocol: {name: PROTOCOL}
  kernel: {name: rbf, gamma: 0.05}
  learner: {name: LEARNER}
  prediction: open
`

// CheckPreparations checks that after a job each party has a preparation of its own columns for its
// daemon to retain. Without the preparation, nobody could prepare the rows of a question.
func CheckPreparations(t *testing.T, m *method.Protocol, learner string) {
	t.Helper()
	people := methodtest.Patients("north", 200)
	text := strings.NewReplacer("PROTOCOL", m.Name(), "LEARNER", learner).Replace(preparedFile)
	f := methodtest.Hospitals(t, m, text, 1, map[string]string{"north": people, "south": people})
	f.Finish(t)
	for name, column := range map[string]string{"south": "age", "north": "postcode"} {
		made := f.Parties[name].Preparation()
		if made == nil || !slices.Equal(made.Names(), []string{column}) {
			t.Errorf("%s has the preparation %v, want one of column %s", name, made, column)
		}
	}
}
