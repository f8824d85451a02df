package job_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

const weightedFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data:
    source: all
    label: diagnosis
    weight: persons
    folds: each
    partition: {parties: [north, south]}
    dictionary:
      columns: {age: {range: [0, 120]}}
      labels: {diagnosis: {}}
      weights: {persons: {range: [0, 100], text: how many people}, visits: {}}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`

// The canonical job keeps the weight and the folds, and takes the weight's range from the dictionary.
// Dictionaries without weights keep their hash.
func TestWeightAndFoldsAreEncoded(t *testing.T) {
	j := jobtest.Parse(t, weightedFile)
	if j.Data.Weight != "persons" || j.Data.Weights != [2]float64{0, 100} || j.Data.Folds != job.EachRow || !j.Data.LeavesOneOut() {
		t.Errorf("%+v", j.Data)
	}
	b := j.Encode()
	for _, line := range []string{"    weight: persons\n", "    folds: each\n", "        persons:\n          range: [0, 100]\n          text: how many people\n        visits: {}\n"} {
		if !strings.Contains(string(b), line) {
			t.Errorf("no %q in\n%s", line, b)
		}
	}
	if again := jobtest.Parse(t, string(b)); !bytes.Equal(again.Encode(), b) {
		t.Errorf("read again:\n%s", again.Encode())
	}
	with := *j.Data.Dictionary
	with.Weights = nil
	without := jobtest.Parse(t, strings.NewReplacer("    weight: persons\n", "", "      weights: {persons: {range: [0, 100], text: how many people}, visits: {}}\n", "").Replace(weightedFile))
	with.Texts = nil
	if with.Hash() != without.Data.Dictionary.Hash() || with.Hash() == j.Data.Dictionary.Hash() {
		t.Error("the hash does not follow from the weights")
	}
	if changes := strings.Join(without.Data.Dictionary.Changes(j.Data.Dictionary), "; "); !strings.Contains(changes, "weight persons: range is new: [0, 100]") || !strings.Contains(changes, "weight visits is new") {
		t.Errorf("changes: %s", changes)
	}
}
