package job_test

import (
	"strings"
	"testing"

	. "github.com/mercer-fl/mercer/internal/job"
)

const onTable = `apiVersion: mercer/v1
kind: Job
metadata: {name: one}
spec:
  data: {source: patients, label: state}
  protocol: {name: pooled}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc}
`

// One process needs neither parties nor held-out rows, and nothing is compared without them.
func TestUnshared(t *testing.T) {
	for name, c := range map[string]struct {
		data    string
		none    bool
		compare int
	}{
		"a table":                 {"", false, 0},
		"all its rows":            {", test: none", true, 0},
		"parties":                 {", partition: {parties: [a, b]}", false, 2},
		"parties, and no test":    {", partition: {parties: [a, b]}, test: none", true, 0},
		"folds, and no test":      {", folds: 3, test: none", false, 0},
		"parties, folds, no test": {", partition: {parties: [a, b]}, folds: 3, test: none", false, 2},
	} {
		j, err := reader().Parse(name, []byte(strings.Replace(onTable, "state", "state"+c.data, 1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := j.Simulable(); err != nil || !j.Unshared() || j.Deployable() == nil {
			t.Errorf("%s: %v, unshared %v, deployable: %v", name, err, j.Unshared(), j.Deployable())
		}
		if j.Data.Test.None != c.none || len(j.Compare) != c.compare || (j.Data.Test == Test{}) != (j.Data.Folds > 0) {
			t.Errorf("%s: test %+v, compare %v", name, j.Data.Test, j.Compare)
		}
	}
}
