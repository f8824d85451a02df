package onerow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section/sectiontest"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// patients is a job whose learner exists in a test only: a grid on rows of two parties.
const patients = `apiVersion: mercer/v1
kind: Job
metadata: {name: nearest}
spec:
  data:
    sources: {north: north.csv, south: south.csv}
    label: state
    test: {fraction: 0.25}
    folds: 2
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: nearest-mean, shrink: [0.25, 0.5]}
  compare: [pooled, alone]
  prediction: open
`

// clinics returns a table with ill people on one side and well people on the other.
func clinics() map[string]string {
	rows := func(shift int) string {
		var b strings.Builder
		b.WriteString("age,weight,state\n")
		for i := range 104 {
			class := []string{"ill", "well"}[i/4%2]
			side := map[string]int{"ill": 30, "well": 60}[class]
			fmt.Fprintf(&b, "%d,%d,%s\n", side+(i*7+shift)%11, 2*side+(i*5+shift)%13, class)
		}
		return b.String()
	}
	return map[string]string{"north.csv": rows(0), "south.csv": rows(3), "new.csv": "age,weight\n31,63\n66,125\n"}
}

// A learner is one entry of the list that a program passes to its readers of job files: a
// fake one, in a separate file, runs from job to model.
func TestALearnerIsOneRow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Run("parse, grid", readsALearner)
	t.Run("reference", func(t *testing.T) { sectiontest.Declared(t, Nearest{}.New, "{}") })
	t.Run("plan", plansALearner)
	t.Run("policy", boundsALearner)
	t.Run("simulate, text, page", simulatesALearner)
	t.Run("other methods, model file", usesALearner)
	t.Run("daemons, kill, resume, retained state, predict", learnerSurvives)
}

func patientsWith(old, replacement string) (*job.Job, error) {
	return withFakes().Parse("job.yaml", []byte(strings.Replace(patients, old, replacement, 1)))
}

func readsALearner(t *testing.T) {
	j, err := patientsWith("", "")
	if err != nil {
		t.Fatal(err)
	}
	if j.Cells() != 2 || job.As[*Nearest](j.At(1).Learner).Shrink != 0.5 || !j.Task().Classes || j.Learner.Text() != "nearest-mean, shrink = 0.25" {
		t.Errorf("%d cells, %s", j.Cells(), j.Learner.Text())
	}
	again, err := withFakes().Parse("again.yaml", j.Encode())
	if err != nil || again.Hash() != j.Hash() || !strings.Contains(string(j.Encode()), "shrink: [0.25, 0.5]") {
		t.Errorf("the canonical file is another job: %v\n%s", err, j.Encode())
	}
	for bad, want := range map[string]string{
		"nearest-mean, shrin: 0.5":         `unknown key "shrin" in learner; did you mean "shrink"?`,
		"nearest-mean, C: 10":              "learner nearest-mean has no C; remove it",
		"svc, shrink: 0.5":                 "learner svc has no shrink; remove it",
		"nearest-mean, shrink: 1":          "shrink is 1; write a share of each mean from 0 to below 1",
		"nearest-mean, shrink: [0.5, 0.5]": "shrink lists \"0.5\" twice; keep one",
		"nearest-means":                    `unknown learner "nearest-means"; did you mean "nearest-mean"?`,
	} {
		if _, err := patientsWith("nearest-mean, shrink: [0.25, 0.5]", bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
	if _, err := patientsWith("    folds: 2\n", ""); err == nil || !strings.Contains(err.Error(), "grid of 2 cells") {
		t.Errorf("a grid without folds: %v", err)
	}
	if _, err := patientsWith("{name: okra}", "{name: moments, classes: [ill, well]}"); err == nil || !strings.Contains(err.Error(), "not nearest-mean") {
		t.Errorf("by sums: %v", err)
	}
	if names := withFakes().Known().Learners; names[len(names)-1] != "nearest-mean" {
		t.Errorf("known are %v", names)
	}
}

func plansALearner(t *testing.T) {
	j, err := patientsWith("", "")
	if err != nil {
		t.Fatal(err)
	}
	m := j.Protocol.Kind.(*method.Protocol)
	plan, err := m.Plan(method.Instance{Job: j, ID: job.ID{1}, Coordinator: "hub", Parties: []string{"north", "south"}})
	if err != nil || len(plan) < 4 {
		t.Errorf("%d steps, %v", len(plan), err)
	}
}

func boundsALearner(t *testing.T) {
	j, err := patientsWith("", "")
	if err != nil {
		t.Fatal(err)
	}
	p := party.Policy{Protocols: []string{"okra"}, OpenPrediction: true, Learners: []string{"nearest-mean"}}
	if err := p.Check(j, 2); err != nil {
		t.Error(err)
	}
	if err := p.Validate(withFakes().Known()); err != nil {
		t.Errorf("a policy that names it: %v", err)
	}
	p.Learners = []string{"svc"}
	if err := p.Check(j, 2); fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), `learner "nearest-mean" is not among`) {
		t.Errorf("another's policy: %v", err)
	}
}

// simulated runs a job in one process, and returns the output, the page and the result.
func simulated(t *testing.T, dir, file string) (said, page, result string) {
	t.Helper()
	for name, text := range clinics() {
		write(t, dir, name, text)
	}
	write(t, dir, "job.yaml", file)
	said = mercer(t, dir, "simulate", "job.yaml", "--out", "out", "--verbose")
	return said, read(t, dir, "out/report.html"), read(t, dir, "out/result.json")
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func simulatesALearner(t *testing.T) {
	said, page, result := simulated(t, t.TempDir(), patients)
	for what, text := range map[string]string{
		"accuracy": said, "together, by Mercer": said, "shrink": said, "north alone": said,
		"nearest-mean, shrink = 0.": page, "<th scope=\"col\">shrink": page, "shrunk": page,
		`"shrink": 0.25`: result, `"shrink": 0.5`: result, `"accuracy": 1`: result, `"exact": true`: result,
	} {
		if !strings.Contains(text, what) {
			t.Errorf("%q is nowhere in\n%s", what, text)
		}
	}
}

// usesALearner runs it with the other methods that have a kernel matrix, and predicts with
// the resulting file.
func usesALearner(t *testing.T) {
	dir := t.TempDir()
	simulated(t, dir, strings.NewReplacer("okra", "pooled", "  prediction: open\n", "").Replace(patients))
	said := mercer(t, dir, "predict", "out/model.mercer", "new.csv", "--label", "none", "--json")
	for _, what := range []string{`"learner": "nearest-mean:each"`, `"ill",`, `"well"`} {
		if !strings.Contains(said, what) {
			t.Errorf("%s is nowhere in\n%s", what, said)
		}
	}
	columns := strings.NewReplacer("sources: {north: north.csv, south: south.csv}", "source: north.csv", "okra", "gram", "    test: {fraction: 0.25}\n", "    test: {fraction: 0.25}\n    partition: {by: columns, parties: [north, south]}\n")
	if _, _, result := simulated(t, t.TempDir(), columns.Replace(patients)); !strings.Contains(result, `"shrink": 0.5`) {
		t.Errorf("by gram\n%s", result)
	}
}

// learnerSurvives kills the coordinator while it tries the grid: the rest of the run gives
// the model of an undisturbed run, and answers prediction queries.
func learnerSurvives(t *testing.T) {
	t.Setenv(isMercer, "yes")
	t.Setenv(slow, "1500ms")
	j, err := patientsWith("", "")
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := run(t, j, clinics(), "tune", func(*demo.Federation) {})
	got, f, id := run(t, j, clinics(), "tune", restart(t))
	if got != want {
		t.Errorf("model %s after a crash, %s without\n%s", got, want, f.Logs())
	}
	said := mercer(t, f.Dir, "job", "show", id, "--verbose", "--home", f.Home(demo.Coordinator).String())
	if !strings.Contains(said, "shrink") {
		t.Errorf("the coordinator shows\n%s", said)
	}
	write(t, f.Dir, "new.csv", clinics()["new.csv"])
	said = mercer(t, f.Dir, "predict", "--job", id, "--home", f.Home("south").String(), "new.csv", "--label", "none", "--json")
	for _, what := range []string{`"learner": "nearest-mean:each"`, `"ill",`, `"well"`} {
		if !strings.Contains(said, what) {
			t.Errorf("%s is nowhere in\n%s", what, said)
		}
	}
}
