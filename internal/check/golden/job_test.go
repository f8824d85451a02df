package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// read returns a job's canonical bytes, or its refusal.
func read(t *testing.T, text string) string {
	t.Helper()
	r := all.Reader().Knowing(exampleDictionary)
	j, err := r.Parse("job.yaml", []byte(text))
	if err != nil {
		return err.Error() + "\n"
	}
	canonical := string(j.Encode())
	if again, err := r.Parse("again.yaml", []byte(canonical)); err != nil || again.Hash() != j.Hash() {
		t.Errorf("%v: another job when it is read again:\n%s", err, canonical)
	}
	return canonical
}

// exampleDictionary reads one of the example dictionaries.
func exampleDictionary(name, _ string) (*job.Dictionary, error) {
	file := filepath.Join("..", "..", "..", "examples", name+".yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return job.ParseDictionary(file, b)
}

// sameText compares with a file of testdata.
func sameText(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv(order) == "write" { // no other program has read the jobs
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(strings.Split(string(b), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s is not as before:\n%s", file, d)
	}
}

// The canonical bytes of jobs, on whose hash parties agree, do not change.
func TestCanonicalJobs(t *testing.T) {
	var b strings.Builder
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d examples, error %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nkind: "+job.DictionaryKind+"\n") {
			continue
		}
		fmt.Fprintf(&b, "-- %s --\n%s", filepath.Base(f), read(t, string(text)))
	}
	for _, r := range runs() {
		if r.job != "" {
			fmt.Fprintf(&b, "-- %s --\n%s", r.name, read(t, r.job))
		}
	}
	sameText(t, "jobs.txt", b.String())
}

// A base is a minimal job of a protocol.
type base struct{ name, data, protocol, kernel, learner string }

const shared = "source: bundled:wdbc, label: label, partition: {parties: [north, south]}"

func bases() []base {
	columns := strings.Replace(shared, "{parties", "{by: columns, parties", 1)
	return []base{
		{"okra", shared, "name: okra", rbf, "name: svc"},
		{"flake", shared, "name: flake", rbf, "name: svc"},
		{"escaped", shared, "name: escaped, mode: paper", rbf, "name: svc"},
		{"grid", shared + ", folds: 5", "name: okra", rbf, "name: svc"},
		{"moments", shared, "name: moments, directions: 20, classes: [ill, well]", rbf, "name: ridge-classifier"},
		{"sealed", shared, "name: sealed, classes: [ill, well]", rbf, "name: ridge-classifier"},
		{"gram", columns, "name: gram", rbf, "name: svc"},
		{"pp-svmv", columns, "name: pp-svmv, mode: paper", rbf, "name: svc"},
		{"fd-svrg", columns, "name: fd-svrg, mode: paper", "name: linear", "name: logistic"},
		{"fdskl", columns, "name: fdskl", rbf, "name: logistic"},
		{"secureboost", columns, "name: secureboost, mode: paper", "name: linear", "name: boosted-trees"},
		{"fedcfk", films, "name: fedcfk", "name: linear", "name: cf-komd"},
		{"secvm", voters, "name: secvm", "name: linear", "name: linear-svm"},
		{"pooled", shared, "name: pooled", rbf, "name: svc"},
	}
}

// read returns the lines of the job that differ from the base's own, or its refusal.
func (b base) read(t *testing.T, more string) string {
	return read(t, text("small", b.data, b.protocol, b.kernel, b.learner, more))
}

// changed returns the outcome of changing a base with the given lines: accepted with these
// canonical lines, or refused.
func (b base) changed(t *testing.T, before, more string) string {
	t.Helper()
	after := b.read(t, more)
	if !strings.HasPrefix(after, "apiVersion:") {
		return strings.TrimSuffix(after, "\n")
	}
	var lines []string
	old := strings.Split(before, "\n")
	for line := range strings.SplitSeq(after, "\n") {
		if i := slices.Index(old, line); i >= 0 {
			old = slices.Delete(old, i, i+1)
		} else {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return "ok: " + strings.Join(lines, "; ")
}

// settings returns keys of a section with values that some protocol, kernel or learner
// accepts, and others.
func settings(section string) []string {
	switch section {
	case "protocol":
		return []string{
			"mode: paper", "mode: hardened", "mode: other", "encoder: haar", "encoder: hbh", "encoder: block", "encoder: flake", "wire: float64", "rounds: 4", "rounds: 1", "adversary: semi-honest",
			"corrupted: 0", "corrupted: 0.2", "dropped: 0", "dropped: 0.2", "dropped: 2", "threshold: 3", "threshold: 1", "margin: none", "items: [a, b, c]", "ratings: 5", "participation: 0.5", "decoys: 2",
			"omitted: 0", "omitted: 0.1", "directions: 64", "directions: 63", "directions: 0", "max_ids: 100", "max_ids: -1", "classes: [a, b]", "classes: [a]", "targets: [0, 1]", "targets: [1, 0]",
			"deviations: true", "bins: 64", "bins: 63", "hashes: 2", "packages: 8", "cohort: 200", "cohort: 1", "aggregation: secagg", "training: faithful", "training: block", "bits: 8", "bits: 9",
			"tree: star", "active: 2", "active: 0", "rounds: 4, rounds: 5", "encoders: haar",
		}
	case "kernel":
		return []string{
			"gamma: 2", "gamma: -1", "gamma: [1, 2]", "gamma_unit: median", "gamma_unit: norm", "coef0: 1", "coef0: -1", "degree: 3", "degree: 0", "degree: 2.5", "clause: 2", "alpha: 2",
			"alpha: 0", "length_scale: 2", "nu: 2.5", "nu: 2", "amplitude: 2", "amplitude: [1, 2]", "amplitude: 0", "gama: 2",
		}
	case "learner":
		return []string{
			"C: 10", "C: 0", "C: [1, 10]", "nu: 0.2", "nu: 2", "epsilon: 0.2", "tol: 1e-4", "tol: 3", "class_weight: {ill: 2}", "class_weight: {ill: -2}", "class_weight: balanced", "probability: true",
			"probability: maybe", "alpha: 2", "alpha: [1, 2]", "noise: 0.5", "noise: [0.1, 0.5]", "n_components: 3", "n_clusters: 3", "n_clusters: 0", "lambda: 0.5", "lambda: -1", "recommend: 3",
			"iterations: 5", "average: 2", "schedule: published", "delta: 2", "rate: 1", "batch: 16", "c: 10",
		}
	}
	return []string{
		"prediction: open", "prediction: none", "prediction: wide", "compare: []", "compare: [pooled]", "compare: [alone]", "compare: [curve]", "compare: [exact-kernel]", "compare: [alone, pooled, curve]",
		"seed: 7", "seed: -7", "timeout: {join: 5s, round: 1m}", "timeout: {join: 0s}", "timeout: {}",
	}
}

var (
	kernels = []string{
		"linear", "rbf, gamma: 0.5", "rbf", "polynomial, gamma: 0.5", "rational-quadratic", "laplacian, gamma: 0.5", "matern", "cosine", "tanimoto", "dot-product, coefficients: [0, 1]", "laplacian-product, gamma: 0.5",
		"conjunctive, degree: 2", "disjunctive, degree: 2", "dnf, degree: 2, clause: 2", "cnf, degree: 2, clause: 2", "sigmoid",
	}
	learners = []string{
		"svc", "nu-svc", "one-class", "svr", "ridge", "gp", "kpca", "kmeans", "cf-komd", "ridge-classifier", "linear-svm", "logistic", "smooth-hinge", "squared", "huber", "cca", "svm",
	}
	// tables are other values of data.
	tables = []string{
		"source: bundled:wdbc, label: label", "source: bundled:wdbc, partition: {parties: [north, south]}", "source: t.csv, id: id, partition: {by: columns, parties: [a, b]}",
		"source: bundled:wdbc, label: label, partition: {by: columns, parties: [a, b]}", "sources: {a: a.csv, b: b.csv}, label: label, id: id", "sources: {a: a.csv, b: b.csv}, label: label, id: id, partition: {by: columns}",
		"source: t.csv, partition: {by: devices}", "source: t.csv, label: label, partition: {by: devices, dropout: 0.1}, test: {every: 4}",
		shared + ", scale: minmax", shared + ", scale: standard", shared + ", scale: none", shared + ", test: {fraction: 0.3}", shared + ", test: {source: held.csv}", shared + ", test: {every: 5}",
		shared + ", folds: 5", shared + ", folds: 1", shared + ", features: 30", shared + ", like: 3", shared + ", id: id",
		"source: bundled:wdbc, label: label, partition: {by: columns, coverage: 0.9, skew: 0.3, parties: [a, b, c]}", "source: bundled:wdbc, label: label, partition: {skew: 0.3, parties: [a, b, c]}",
	}
)

// The valid combinations of protocol, kernel, learner, table and setting do not change, and
// neither do the sentences that refuse the others. Each line gives the base, the change,
// and the outcome.
func TestWhatGoesTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, b := range bases() {
		t.Run(b.name, func(t *testing.T) {
			var out strings.Builder
			before := b.read(t, "")
			say := func(what string, c base, more string) {
				fmt.Fprintf(&out, "%s => %s\n", what, c.changed(t, before, more))
			}
			out.WriteString(before)
			for _, s := range settings("protocol") {
				c := b
				c.protocol += ", " + s
				say("protocol "+s, c, "")
			}
			for _, name := range learners {
				c := b
				c.learner = "name: " + name
				say("learner "+name, c, "")
			}
			for _, s := range settings("learner") {
				c := b
				c.learner += ", " + s
				say("learner "+s, c, "")
			}
			for _, name := range kernels {
				c := b
				c.kernel = "name: " + name
				say("kernel "+name, c, "")
			}
			for _, d := range tables {
				c := b
				c.data = d
				say("data "+d, c, "")
			}
			for _, s := range settings("") {
				say("spec "+s, b, "  "+s+"\n")
			}
			sameText(t, filepath.Join("together", b.name+".txt"), out.String())
		})
	}
}

// known removes names.
func known(names []string, unknown ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(unknown, n) })
}

// A learner and a kernel accept their own settings and no others.
func TestSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var out strings.Builder
	by := make(map[string]base)
	for _, b := range bases() {
		by[b.name] = b
	}
	for _, name := range known(learners, "svm") {
		c := by["okra"]
		switch name {
		case "cf-komd":
			c = by["fedcfk"]
		case "linear-svm":
			c = by["secvm"]
		case "ridge-classifier":
			c = by["moments"]
		case "logistic", "smooth-hinge", "squared", "huber":
			c = by["fdskl"]
		case "boosted-trees":
			c = by["secureboost"]
		}
		c.learner = "name: " + name
		if name == "cca" {
			c.kernel, c.data, c.learner = "name: linear", "source: bundled:wdbc, partition: {parties: [north, south]}", c.learner+", view: [a]"
		}
		before := c.read(t, "")
		for _, s := range settings("learner") {
			with := c
			with.learner += ", " + s
			fmt.Fprintf(&out, "learner %s, %s => %s\n", name, s, with.changed(t, before, ""))
		}
	}
	for _, name := range known(kernels, "sigmoid", "rbf") {
		c := by["okra"]
		c.kernel = "name: " + name
		before := c.read(t, "")
		for _, s := range settings("kernel") {
			with := c
			with.kernel += ", " + s
			fmt.Fprintf(&out, "kernel %s, %s => %s\n", name, s, with.changed(t, before, ""))
		}
	}
	sameText(t, "settings.txt", out.String())
}
