package job_test

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/method/pooled"
	"github.com/mercer-fl/mercer/learn/svm"

	. "github.com/mercer-fl/mercer/internal/job"

	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job/section"
)

const minimal = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data:
    source: bundled:digits
    label: label
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc}
`

// folded is minimal with cross-validation.
var folded = strings.Replace(minimal, "label: label", "label: label\n    folds: 5", 1)

// grid has lists everywhere.
var grid = strings.NewReplacer("{name: svc}", "{C: [1, 10], name: svc}", "kernel: {name: rbf, gamma: 0.5}", `kernel:
  - {name: rbf, gamma: [.25, 1], gamma_unit: median}
  - {degree: [1, 2], name: polynomial, coef0: [0, 1], gamma: 2}
  - {name: linear}`).Replace(folded)

func TestParseFillsDefaults(t *testing.T) {
	got, err := reader().Parse("job.yaml", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	want := &Job{
		Name: "small",
		Seed: 1,
		Data: Data{
			Source: "bundled:digits", Label: "label",
			Test: Test{Fraction: 0.25}, Scale: MinMax,
		},
		Protocol:   Named{okra.Protocol(), &okra.Keys{Moded: Moded{Mode: Hardened}, Encoder: okra.Hadamard, Wire: okra.Float32, Rounds: 3}},
		Kernel:     Kernel{Name: RBF, Gamma: 0.5},
		Learner:    Named{learner.SVC{}, &learner.SVC{Params: svm.Params{C: 1, Tol: 1e-3}}},
		Compare:    []Comparison{Pooled, Alone},
		Prediction: Closed,
		Timeout:    Timeout{Join: time.Minute, Round: 10 * time.Minute},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParseReadsAGrid(t *testing.T) {
	got, err := reader().Parse("job.yaml", []byte(grid))
	if err != nil {
		t.Fatal(err)
	}
	poly := func(coef0 float64, degree int) Kernel {
		return Kernel{Name: Polynomial, Gamma: 2, Coef0: coef0, Degree: degree}
	}
	want := Grid{
		Kernels: []Kernel{
			{Name: RBF, Gamma: 0.25, GammaUnit: Median}, {Name: RBF, Gamma: 1, GammaUnit: Median},
			poly(0, 1), poly(0, 2), poly(1, 1), poly(1, 2), {Name: Linear},
		},
		Learners: []Named{{learner.SVC{}, &learner.SVC{Params: svm.Params{C: 1, Tol: 1e-3}}}, {learner.SVC{}, &learner.SVC{Params: svm.Params{C: 10, Tol: 1e-3}}}},
	}
	if d := cmp.Diff(want, got.Grid); d != "" {
		t.Error(d)
	}
	if got.Cells() != 14 || got.Data.Folds != 5 || got.Data.Test != (Test{}) {
		t.Errorf("%d cells, data %+v", got.Cells(), got.Data)
	}
	one := got.At(7)
	if !cmp.Equal(one.Kernel, poly(0, 2)) || As[*learner.SVC](one.Learner).C != 10 || one.Cells() != 1 {
		t.Errorf("cell 7 is %+v, %+v", one.Kernel, one.Learner)
	}
	checkRoundTrip(t, one)
	const canonical = `  kernel:
    - name: rbf
      gamma: 0.25
      gamma_unit: median
    - name: rbf
      gamma: 1
      gamma_unit: median
    - name: polynomial
      gamma: 2
      degree: 1
    - name: polynomial
      gamma: 2
      degree: 2
    - name: polynomial
      gamma: 2
      coef0: 1
      degree: 1
    - name: polynomial
      gamma: 2
      coef0: 1
      degree: 2
    - name: linear
  learner:
    name: svc
    C: [1, 10]
    tol: 0.001
`
	if text := string(got.Encode()); !strings.Contains(text, canonical) {
		t.Errorf("the canonical file is\n%s\nwithout\n%s", text, canonical)
	}
}

// A list with a zero, which sections leave out, is written whole.
func TestMergedKeepsZeros(t *testing.T) {
	var one, two, three float64 = 0, 2, 0
	fields := func(a, b *float64) *section.Section {
		return &section.Section{Fields: []section.Field{{Key: "a", Value: section.Number{Dst: a}}, {Key: "b", Value: section.Number{Dst: b}}}}
	}
	maps := []*yaml.Node{fields(&one, &two).Encode(), fields(&two, &two).Encode(), fields(&three, &two).Encode()}
	text, err := yaml.Marshal(Merged(maps, []string{"a", "b"}))
	if err != nil || string(text) != "b: 2\na: [0, 2]\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestOver(t *testing.T) {
	for name, want := range map[KernelName]float64{RBF: 0.5 / 4, Polynomial: 0.5 / 4, Laplacian: 0.5 / 2} {
		k := Kernel{Name: name, Gamma: 0.5, GammaUnit: Median}
		if got := k.Over(4); got.Gamma != want || got.GammaUnit != "" || k.GammaUnit != Median {
			t.Errorf("%+v over 4 is %+v", k, got)
		}
	}
}

const full = `# every key that this version runs
apiVersion: mercer/v1
kind: Job
metadata:
  name: all-keys
spec:
  seed: 18446744073709551615
  data:
    sources:
      south: s.csv
      north: n.csv
    label: "5"
    id: patient
    test: {every: 10}
    scale: standard
  protocol: {name: okra, mode: paper, encoder: block, wire: float64}
  kernel: {name: polynomial, gamma: 1e-3, coef0: 1, degree: 2}
  learner:
    name: svc
    C: 10
    tol: 1e-8
    class_weight: {yes: 2, 0.0: .5}
  compare: [alone, pooled]
  prediction: open
  timeout: {join: 90s, round: 1h, job: 36h}
`

func TestParseReadsEveryKey(t *testing.T) {
	got, err := reader().Parse("job.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := &Job{
		Name: "all-keys",
		Seed: 1<<64 - 1,
		Data: Data{
			Sources: []Source{{Party: "south", File: "s.csv"}, {Party: "north", File: "n.csv"}},
			Label:   "5", ID: "patient", Test: Test{Every: 10}, Scale: Standard,
		},
		Protocol:   Named{okra.Protocol(), &okra.Keys{Moded: Moded{Mode: Paper}, Encoder: okra.Block, Wire: okra.Float64}},
		Kernel:     Kernel{Name: Polynomial, Gamma: 1e-3, Coef0: 1, Degree: 2},
		Learner:    Named{learner.SVC{}, &learner.SVC{Params: svm.Params{C: 10, Tol: 1e-8, Weights: map[string]float64{"yes": 2, "0": 0.5}}}},
		Compare:    []Comparison{Pooled, Alone},
		Prediction: Open,
		Timeout:    Timeout{Join: 90 * time.Second, Round: time.Hour, Job: 36 * time.Hour},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"south", "north"}, got.Parties()); d != "" {
		t.Error(d)
	}
}

// moments is a job of protocol moments.
const moments = `apiVersion: mercer/v1
kind: Job
metadata: {name: moments}
spec:
  data: {source: bundled:digits, label: label}
  protocol: {name: moments, directions: 64, classes: [-1, "+1", two words]}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}
`

// variants are good jobs that differ from minimal in one place.
func variants() map[string]string {
	with := func(old, replacement string) string { return strings.Replace(minimal, old, replacement, 1) }
	return map[string]string{
		"minimal":            minimal,
		"full":               full,
		"partition":          with("label: label", "label: label\n    partition: {parties: [a, b-2], skew: 0.3}"),
		"no comparison":      minimal + "  compare: []\n",
		"seed zero":          minimal + "  seed: 0\n",
		"one timeout":        minimal + "  timeout: {join: 1.5s}\n",
		"pooled":             with("okra", "pooled"),
		"no test":            strings.Replace(with("label: label", "label: label\n    test: none"), "okra", "pooled", 1),
		"a small cache":      with("{name: svc", "{name: svc, cache_size: 50"),
		"moments":            moments,
		"vertical":           vertical,
		"vertical sources":   sourced,
		"few ids":            strings.Replace(vertical, "gram", "gram, max_ids: 600", 1),
		"aligned":            strings.Replace(vertical, "by: columns", "by: columns, aligned: true", 1),
		"coverage":           strings.Replace(vertical, "by: columns", "by: columns, coverage: 0.9", 1),
		"columns by name":    strings.Replace(vertical, "by: columns", "by: columns, columns: {host: [b, a b], guest: [c]}", 1),
		"columns of sources": strings.Replace(sourced, "by: columns", "by: columns, columns: {host: [b]}", 1),
		"moments, one alpha": strings.Replace(moments, "alpha: [0.1, 1, 10]", "alpha: 3", 1),
		"moments, laplacian": strings.Replace(moments, "rbf", "laplacian", 1),
		"moments, default":   strings.Replace(moments, "directions: 64, ", "", 1),
		"moments, curve":     strings.Replace(moments, "spec:", "spec:\n  compare: [curve]\n  prediction: open", 1),
		"moments, ridge":     strings.NewReplacer(`classes: [-1, "+1", two words]`, "targets: [-1.5, 1e3]", "ridge-classifier", "ridge").Replace(moments),
		"moments, gp":        strings.NewReplacer(`classes: [-1, "+1", two words]`, "targets: [0, 1]", "ridge-classifier, alpha", "gp, noise").Replace(moments),
		"moments, kpca":      strings.NewReplacer(`, classes: [-1, "+1", two words]`, "", "ridge-classifier, alpha: [0.1, 1, 10]", "kpca").Replace(moments),
		"haar":               with("okra", "okra, encoder: haar"),
		"paper":              with("okra", "okra, mode: paper"),
		"rounds":             with("okra", "okra, rounds: 5"),
		"linear":             with("rbf, gamma: 0.5", "linear"),
		"cosine":             with("rbf, gamma: 0.5", "cosine"),
		"laplacian":          with("rbf, gamma: 0.5", "laplacian, gamma: 2"),
		"polynomial":         with("rbf, gamma: 0.5", "polynomial, gamma: 1, coef0: 0"),
		"rational-quadratic": with("rbf, gamma: 0.5", "rational-quadratic, alpha: 2"),
		"amplitude":          with("gamma: 0.5", "gamma: 0.5, amplitude: 2.5e0"),
		"amplitude of 1":     with("rbf, gamma: 0.5", "rational-quadratic, amplitude: 1.0"),
		"grid of amplitude":  strings.Replace(folded, "gamma: 0.5", "gamma: 0.5, amplitude: [1, 4]", 1),
		"tanimoto":           with("rbf, gamma: 0.5", "tanimoto"),
		"dot-product":        with("rbf, gamma: 0.5", "dot-product, coefficients: [0, 1, 5.0e-1]"),
		"test source":        with("label: label", "label: y\n    test: {source: a9a/a9a.t}"),
		"odd words":          with("bundled:digits", `"null"`),
		"numeric party":      with("label: label", "label: true\n    partition: {parties: [1, 2]}"),
		"matern":             with("rbf, gamma: 0.5", "matern"),
		"matern nu":          with("rbf, gamma: 0.5", "matern, nu: 2.5, length_scale: 3"),
		"median":             with("gamma: 0.5", "gamma_unit: median"),
		"norm":               with("rbf, gamma: 0.5", "polynomial, gamma: 0.5, gamma_unit: norm"),
		"folds":              folded,
		"folds and test":     strings.Replace(folded, "folds: 5", "folds: 5\n    test: {every: 4}", 1),
		"grid of C":          strings.Replace(folded, "{name: svc}", "{name: svc, C: [10, 1e-1, 1]}", 1),
		"grid of gamma":      strings.Replace(folded, "gamma: 0.5", "gamma: [2, 1]", 1),
		"grid":               grid,
		"lists of one":       with("gamma: 0.5}", "gamma: [0.25]}"),
		"nu-svc":             with("{name: svc}", "{name: nu-svc, nu: 0.2, probability: true}"),
		"probability":        with("{name: svc}", "{name: svc, probability: true}"),
		"one-class":          with("{name: svc}", "{name: one-class}"),
		"svr":                with("{name: svc}", "{name: svr, epsilon: 0.01, C: 5}"),
		"svr's tol":          with("{name: svc}", "{name: svr, tol: 3}"),
		"ridge":              with("{name: svc}", "{name: ridge}"),
		"gp":                 with("{name: svc}", "{name: gp, noise: 2}"),
		"kpca":               with("{name: svc}", "{name: kpca}"),
		"kmeans":             with("{name: svc}", "{name: kmeans, n_clusters: 3}"),
		"no labels":          strings.Replace(with("{name: svc}", "{name: kmeans}"), "    label: label\n", "", 1),
		"json":               `{"apiVersion":"mercer/v1","kind":"Job","metadata":{"name":"j"},"spec":{"data":{"source":"a","label":"b"},"protocol":{"name":"okra"},"kernel":{"name":"linear"},"learner":{"name":"svc"}}}`,
	}
}

func TestValidate(t *testing.T) {
	good := func() *Job {
		j, err := reader().Parse("good", []byte(minimal))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := good()
	j.Protocol.Values = new(okra.Keys) // a program leaves the rest to the defaults
	if err := reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(good(), j); d != "" {
		t.Error(d)
	}
	for name, spoil := range map[string]func(*Job){
		"negative C":     func(j *Job) { As[*learner.SVC](j.Learner).C = -1 },
		"no name":        func(j *Job) { j.Name = "" },
		"invalid UTF-8":  func(j *Job) { j.Data.Label = "a\xff" },
		"unknown kernel": func(j *Job) { j.Kernel.Name = "sigmoid" },
		"one party":      func(j *Job) { j.Data.Partition.Parties = []string{"a"} },
	} {
		j := good()
		spoil(j)
		before := *j
		if err := reader().Validate(j); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if d := cmp.Diff(before, *j); d != "" {
			t.Errorf("%s: a refused job was changed:\n%s", name, d)
		}
	}
}

func TestWhereAJobRuns(t *testing.T) {
	j, err := reader().Parse("small", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Simulable(); err == nil || !strings.Contains(err.Error(), "partition") {
		t.Errorf("a job without parties simulates: %v", err)
	}
	if err := j.Deployable(); err != nil {
		t.Error(err)
	}
	j.Data.Partition.Parties = []string{"a", "b"}
	if err := j.Simulable(); err != nil {
		t.Error(err)
	}
	j.Protocol = Named{pooled.Method{}, new(pooled.Keys)}
	if err := j.Deployable(); err == nil {
		t.Error("a job without privacy can be deployed")
	}
	j.Protocol, j.Data.Test = Named{okra.Protocol(), new(okra.Keys)}, Test{Source: "test.csv"}
	if err := j.Deployable(); err == nil {
		t.Error("a job whose test rows one process shares out can be deployed")
	}
	if !j.Compares(Alone) || (&Job{}).Compares(Alone) {
		t.Error("Compares is wrong")
	}
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	beside := func(name, _ string) (*Dictionary, error) {
		data, err := os.ReadFile(filepath.Join("../../examples", name+".yaml"))
		if err != nil {
			return nil, err
		}
		d, err := ParseDictionary(name+".yaml", data)
		if err == nil && d.Name != name {
			err = fmt.Errorf("%s.yaml holds the dictionary %s", name, d.Name)
		}
		return d, err
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("\nkind: "+DictionaryKind+"\n")) {
			if _, err := beside(strings.TrimSuffix(filepath.Base(f), ".yaml"), ""); err != nil {
				t.Error(err)
			}
			continue
		}
		j, err := reader().Knowing(beside).Parse(filepath.Base(f), data)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := strings.TrimSuffix(filepath.Base(f), ".yaml"); j.Name != want {
			t.Errorf("%s holds the job %s", f, j.Name)
		}
		if err := j.Simulable(); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		checkRoundTrip(t, j)
	}
}

// A job between parties may leave the label to their catalogues; a process that plays
// all of them has none.
func TestLabelOfTheCatalogue(t *testing.T) {
	for learner, want := range map[string]string{
		"{name: svc}":   "job: \"data\" has no label, which mercer simulate requires; add \"label\" with the name of the column that holds the classes",
		"{name: ridge}": "job: \"data\" has no label, which mercer simulate requires; add \"label\" with the name of the column that holds the numbers to predict",
	} {
		text := strings.Replace(minimal, "    label: label\n", "    partition: {parties: [a, b]}\n", 1)
		j, err := reader().Parse("job.yaml", []byte(strings.Replace(text, "{name: svc}", learner, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if j.Data.Label != "" || !j.Labels("a") {
			t.Errorf("label %q", j.Data.Label)
		}
		if err := j.Deployable(); err != nil {
			t.Error(err)
		}
		if err := j.Simulable(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		again, err := reader().Parse("job.yaml", j.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(j, again); diff != "" {
			t.Error(diff)
		}
	}
}
