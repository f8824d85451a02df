package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/catalogue"
)

// run is a sequence of commands with their results.
type run struct {
	name     string
	job      string   // written to NAME.yaml, or "" to run an example
	commands []string // of mercer, the first one simulates
	env      []string
	briefly  bool   // leakage by its hash: another run has its text
	data     string // the data folder, or ""; commands use it as data
}

// tumours returns a job over rows of the bundled table, with protocol, kernel, learner and
// more lines of the spec.
func tumours(name, protocol, kernel, learner, more string) run {
	return of(name, "source: bundled:wdbc, label: label, partition: {parties: [north, south]}", protocol, kernel, learner, more)
}

// patients returns a job whose parties hold columns.
func patients(name, protocol, kernel, learner, more string) run {
	return of(name, "source: bundled:wdbc, label: label, partition: {by: columns, coverage: 0.9, parties: [north, south, east]}", protocol, kernel, learner, more)
}

func of(name, data, protocol, kernel, learner, more string) run {
	return run{name: name, briefly: true, job: text(name, data, protocol, kernel, learner, more), commands: []string{"simulate " + name + ".yaml --insecure-seed 1 --json --out out"}}
}

func text(name, data, protocol, kernel, learner, more string) string {
	return fmt.Sprintf("apiVersion: mercer/v1\nkind: Job\nmetadata: {name: %s}\nspec:\n  data: {%s}\n  protocol: {%s}\n  kernel: {%s}\n  learner: {%s}\n%s", name, data, protocol, kernel, learner, more)
}

// example runs a job file of the examples twice: for programs and for people.
func example(name string) run {
	simulate := "simulate examples/" + name + ".yaml --insecure-seed 1 --out out"
	return run{name: name, commands: []string{simulate + " --json", simulate}}
}

// and adds commands.
func (r run) and(commands ...string) run {
	r.commands = append(r.commands, commands...)
	return r
}

// forPeople also prints the result for people.
func (r run) forPeople() run {
	return r.and(strings.Replace(r.commands[0], " --json", "", 1))
}

const (
	films  = "source: films.csv, like: 3, partition: {by: devices}, test: {every: 5}"
	voters = "source: words.csv, label: label, partition: {by: devices}, test: {every: 4}"
	people = "sources: {bank: bank.csv, shop: shop.csv}, id: id, label: label, partition: {by: columns}"
	rbf    = "name: rbf, gamma: 0.5"
	parity = `source: bundled:digits, label: label, partition: {parties: [north, south]}, test: {fraction: 0.4}, scale: minmax, dictionary: {fraction: 0.4, labels: {label: {classes: [even, odd], merged: {even: ["0", "2", "4", "6", "8"], odd: ["1", "3", "5", "7", "9"]}}}}`
)

func runs() []run {
	list := []run{
		// everything an example does
		example("wdbc"), example("wdbc-gp"), example("wdbc-nu-svc"), example("digits-hospitals"), example("digits-kpca"), example("digits-sums"), example("digits-sites"),
		example("breast-cancer-vertical"), example("fdskl-wdbc"), example("fdskl-digits"),
		{name: "demo-recommender", briefly: true, commands: []string{"demo recommender --json --insecure-seed 5 --out out"}},

		// okra
		tumours("okra-paper", "name: okra, mode: paper", rbf, "name: svc, C: 10", "").forPeople(),
		tumours("okra-haar", "name: okra, encoder: haar, wire: float64", rbf, "name: svc, C: 10, class_weight: {1: 2}, probability: true", "  prediction: open\n"),
		tumours("okra-one-class", "name: okra", rbf, "name: one-class, nu: 0.2", "").forPeople(),
		tumours("okra-svr", "name: okra, rounds: 4", "name: linear", "name: svr, C: 1, epsilon: 0.2", "").forPeople(),
		tumours("okra-ridge", "name: okra", "name: matern, nu: 2.5", "name: ridge, alpha: 0.1", "  compare: [pooled]\n"),
		tumours("okra-kmeans", "name: okra", rbf, "name: kmeans, n_clusters: 3", "").forPeople(),
		of("okra-weights", `source: bundled:wdbc, label: label, weight: "mean radius", partition: {parties: [north, south]}, test: {every: 4}, scale: minmax`, "name: okra", rbf, "name: svc, C: 10, class_weight: balanced", "").forPeople(),
		of("okra-each", `source: bundled:wdbc, label: label, partition: {parties: [north, south]}, folds: each, scale: minmax`, "name: okra", rbf, "name: gp, noise: [0.1, 1]", "").forPeople(),
		tumours("okra-cosine", "name: okra", "name: cosine", "name: nu-svc, nu: 0.1", "  compare: []\n"),
		of("okra-grid", "source: bundled:wdbc, label: label, partition: {parties: [north, south], skew: 0.5}, folds: 3", "name: okra",
			"name: polynomial, gamma_unit: norm, coef0: 1, degree: [1, 2]", "name: svc, C: [1, 100]", "").forPeople(),

		// its rivals
		tumours("flake", "name: flake", rbf, "name: svc, C: 10", "").forPeople(),
		tumours("escaped", "name: escaped, mode: paper", rbf, "name: svc, C: 10", "").forPeople(),
		tumours("flake-paper", "name: flake, mode: paper, wire: float64", rbf, "name: ridge, alpha: 0.1", ""),

		// moments
		tumours("moments-curve", `name: moments, classes: ["0", "1"]`, "name: rbf, gamma: 0.1", "name: ridge-classifier, alpha: [0.01, 1]", "  compare: [curve]\n  prediction: open\n").forPeople().
			and("predict out/model-north bundled:wdbc --label label --json", "predict out/model bundled:wdbc --label label"),
		of("moments-histogram", parity, "name: moments, directions: 64, histogram: true", "name: rbf, gamma: 0.02", "name: ridge-classifier, alpha: [0.01, 1]", "").forPeople(),
		tumours("moments-few", `name: moments, classes: ["0", "1"], histogram: true`, "name: rbf, gamma: 0.1", "name: ridge-classifier", "").forPeople(),
		tumours("moments-gp", "name: moments, directions: 20, targets: [0, 1], deviations: true", "name: rbf, gamma: 0.1", "name: gp, noise: [0.1, 0.5]", "  prediction: open\n").forPeople().
			and("predict out/model-north bundled:wdbc --label label"),
		tumours("moments-ridge", "name: moments, directions: 20, targets: [0, 1]", "name: laplacian, gamma: 0.1", "name: ridge", ""),
		tumours("moments-kpca", "name: moments, directions: 20", "name: rbf, gamma: 0.1", "name: kpca, n_components: 2", "  prediction: open\n").forPeople().
			and("predict out/model-north bundled:wdbc --label label --json"),

		// sealed
		tumours("sealed", `name: sealed, features: 40, classes: ["0", "1"]`, "name: rbf, gamma: 0.1", "name: ridge-classifier", "  prediction: open\n").forPeople().
			and("predict out/model-north bundled:wdbc --label label --json"),
		tumours("sealed-ridge", "name: sealed, features: 40, targets: [0, 1]", "name: laplacian, gamma: 0.1", "name: ridge, alpha: 0.1", ""),

		// columns
		patients("gram-ridge", "name: gram, max_ids: 2000", "name: rational-quadratic", "name: ridge", "").forPeople(),
		patients("gram-gp", "name: gram", rbf, "name: gp", "  prediction: open\n"),
		of("gram-sources", people, "name: gram", rbf, "name: svc", "  prediction: open\n"),
		patients("pp-svmv", "name: pp-svmv, mode: paper", rbf, "name: svc, C: 10", "").forPeople(),
		patients("fd-svrg", "name: fd-svrg, mode: paper", "name: linear", "name: logistic, lambda: 0.01", "  compare: [pooled, alone]\n").forPeople(),
		of("fdskl-sources", people, "name: fdskl, directions: 128", rbf, "name: smooth-hinge", "  compare: [pooled, alone, exact-kernel]\n  prediction: open\n").forPeople(),
		patients("fdskl-several", "name: fdskl, training: faithful, active: 2, directions: 32", rbf, "name: logistic, lambda: 1e-3", "  compare: []\n").forPeople(),
		patients("fdskl-block", "name: fdskl, training: block, directions: 64, tree: chain, bits: 8", "name: laplacian-product, gamma: 0.1", "name: logistic, batch: 32, iterations: 4", ""),
		patients("fdskl-precond", "name: fdskl, training: precond, directions: 64, tree: star, bits: 32", rbf, "name: squared, batch: 64, iterations: 4", "").forPeople(),
		patients("secureboost", "name: secureboost, mode: paper, he: none", "name: linear", "name: boosted-trees, rounds: 10", "").forPeople(),
		patients("secureboost-sealed", "name: secureboost, mode: paper", "name: linear", "name: boosted-trees, rounds: 1, depth: 2, bins: 8", ""),
		patients("fdskl-paper", "name: fdskl, mode: paper, directions: 64", rbf, "name: huber, delta: 0.5", "").forPeople(),

		// groups of devices
		of("fedcfk-films", films, "name: fedcfk, threshold: 2, margin: none, dropped: 0.05", "name: tanimoto", "name: cf-komd, recommend: 3", "").forPeople(),
		of("fedcfk-dnf", films, "name: fedcfk, threshold: 2, margin: none, dropped: 0.05, adversary: semi-honest", "name: dnf, degree: 2, clause: 2", "name: cf-komd", "  compare: []\n"),
		of("fedcfk-paper", films, "name: fedcfk, mode: paper, rounds: 4, participation: 0.5, decoys: 1", "name: linear", "name: cf-komd", "").forPeople(),
		of("secvm-packages", voters, "name: secvm, bins: 32, packages: 4, cohort: 8", "name: linear", "name: linear-svm, lambda: 0.1, iterations: 4", "  compare: [pooled, curve]\n").forPeople(),
		of("secvm-sums", strings.Replace(voters, "devices", "devices, dropout: 0.1", 1), "name: secvm, aggregation: secagg, bins: 32, packages: 4, cohort: 8, corrupted: 0, dropped: 0.1",
			"name: linear", "name: linear-svm, lambda: 0.1, iterations: 2, average: 2", "").forPeople(),
		of("secvm-paper", voters, "name: secvm, mode: paper, bins: 32, hashes: 2, packages: 4, cohort: 8", "name: linear", "name: linear-svm, lambda: 0.1, iterations: 3, schedule: published, class_weight: {sport: 2}", "").forPeople(),
		of("secvm-columns", voters, "name: secvm, features: columns, packages: 16, cohort: 8", "name: linear", "name: linear-svm, lambda: 0.1, iterations: 4", "").forPeople(),

		// everything in one place
		tumours("pooled-svc", "name: pooled", rbf, "name: svc, C: 10, probability: true", "").forPeople().
			and("predict out/model.mercer bundled:wdbc --label label --json", "model export out/model.mercer svc.libsvm --json", "predict svc.libsvm bundled:wdbc --label label --json"),
		tumours("pooled-gp", "name: pooled", rbf, "name: gp", "").and("predict out/model.mercer bundled:wdbc --label label"),
		tumours("pooled-kmeans", "name: pooled", rbf, "name: kmeans, n_clusters: 3", "").and("predict out/model.mercer bundled:wdbc --label label --json"),
		tumours("pooled-kpca", "name: pooled", rbf, "name: kpca", "").and("predict out/model.mercer bundled:wdbc --label label --json"),

		// errors that only the data reveal
		tumours("no-such-class", `name: moments, classes: ["0", "2"]`, "name: rbf, gamma: 0.1", "name: ridge-classifier", ""),
		tumours("impossible-nu", "name: okra", "name: linear", "name: nu-svc, nu: 0.95", ""),
		of("few-people", films, "name: fedcfk", "name: linear", "name: cf-komd", ""),
		of("no-file", strings.Replace(films, "films", "nowhere", 1), "name: fedcfk", "name: linear", "name: cf-komd", ""),
	}
	one := example("wdbc")
	one.name, one.env = "wdbc one processor", []string{"GOMAXPROCS=1"}
	return append(list, one)
}

// The program's results, pages and texts do not change.
func TestResults(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	needsAVX2(t)
	for _, r := range runs() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.compare(t, "results")
		})
	}
}

// Every file of the results belongs to a run.
func TestResultsAreOfRuns(t *testing.T) {
	known := make(map[string]bool)
	for _, r := range runs() {
		known[r.name+".json"] = true
	}
	files, err := os.ReadDir(filepath.Join("testdata", "results"))
	if err != nil || len(files) != len(known)-1 {
		t.Errorf("%d files of %d runs, error %v", len(files), len(known)-1, err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s is of no run", f.Name())
		}
	}
}

// compare runs the commands and compares their results with a folder of testdata.
func (r run) compare(t *testing.T, folder string) {
	m := masker{briefly: r.briefly, long: make(map[string]string)}
	got := r.outcome(t, m)
	// One processor gives the same results as several, and has no file of its own.
	name, again := strings.CutSuffix(r.name, " one processor")
	file := filepath.Join("testdata", folder, name+".json")
	if writes() && !again {
		if err := os.WriteFile(file, []byte(encode(got)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := differences(decode(t, string(b)), decode(t, encode(got)))
	if d == "" {
		return
	}
	t.Errorf("not as before:\n%s", d)
	for hash, what := range m.long {
		if strings.Contains(d, hash) {
			t.Logf("%s is now\n%.1000s", hash, what)
		}
	}
}

func decode(t *testing.T, s string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// outcome runs the commands.
func (r run) outcome(t *testing.T, m masker) map[string]any {
	p := newProcess(t, avx2, r.env...)
	if r.data != "" {
		p.env = append(p.env, catalogue.Variable+"=data")
		if err := os.Symlink(r.data, filepath.Join(p.dir, "data")); err != nil {
			t.Fatal(err)
		}
	}
	if r.job != "" {
		p.write(t, r.name+".yaml", r.job)
	}
	var steps []any
	for _, line := range r.commands {
		s := p.mercer(t, line)
		step := map[string]any{"command": line, "exit": s.exit, "stderr": m.text(s.stderr)}
		if strings.Contains(line, " --json") {
			checkExposures(t, decode(t, s.stdout))
			step["stdout"] = m.document(t, s.stdout)
		} else if lines := m.text(s.stdout); len(lines) > 60 {
			step["stdout"] = m.hash("lines", strings.Join(lines, "\n"))
		} else {
			step["stdout"] = lines
		}
		steps = append(steps, step)
	}
	return map[string]any{"steps": steps, "files": p.left(t, m)}
}

// checkExposures checks that a result with a leakage statement says who can reconstruct rows, in
// sentences of the statement.
func checkExposures(t *testing.T, document any) {
	t.Helper()
	top, _ := document.(map[string]any)
	result, _ := top["result"].(map[string]any)
	leakage, has := result["leakage"].(map[string]any)
	if !has {
		return
	}
	exposures, _ := result["row_exposure"].(map[string]any)
	if exposures["server"] == nil {
		t.Errorf("row_exposure is %v, without the server", exposures)
	}
	for role, one := range exposures {
		why, statement := one.(map[string]any)["why"].(string), ""
		lines, _ := leakage[role].([]any)
		for _, line := range lines {
			statement += line.(string) + "\n"
		}
		if why == "" || !strings.Contains(statement, why) {
			t.Errorf("the leakage of %s does not contain %q", role, why)
		}
	}
}

// left returns the content of the folder of the results: models by their hashes, pages by
// their sections. The result's file equals the output of the first command, except for the
// page's path.
func (p process) left(t *testing.T, m masker) map[string]any {
	files := make(map[string]any)
	folder := filepath.Join(p.dir, "out")
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == folder {
			return fs.SkipAll // the command has refused
		}
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(folder)+"/")
		switch filepath.Ext(name) {
		case ".html":
			files[name] = m.page(string(b))
		case ".json":
			brief := masker{briefly: true, long: m.long}
			files[name] = brief.hash("result", encode(brief.document(t, string(b))))
		default:
			files[name] = m.hash(fmt.Sprintf("%d bytes", len(b)), string(b))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
