package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// What the reader stores where a file lacks a key whose default depends on others: a protocol, a
// setting (or two, joined by and), the key, and its value. No value: the key stays out of the job.
var stored = []struct{ protocol, set, to, key, is string }{
	{"fedcfk", "", "", "compare", "[pooled]"},
	{"secvm", "", "", "compare", "[pooled]"},
	{"secvm", "protocol.mode and learner.schedule", "paper and constant", "learner.rate", "1"},
	{"okra", "data", "{sources: {a: a.csv, b: b.csv}, label: y}", "data.source", ""},
	{"okra", "", "", "data.sources", ""},
	{"okra", "data.label", "", "data.label", ""},
	{"okra", "", "", "data.id", ""},
	{"okra", "", "", "data.weight", ""},
	{"okra", "", "", "data.features", ""},
	{"okra", "data.partition", "", "data.partition", ""},
	{"okra", "data.test", "", "data.test", "{fraction: 0.25}"},
	{"okra", "data", "{source: a.csv, label: y, folds: 5}", "data.test", ""},
	{"okra", "", "", "data.folds", ""},
	{"fedcfk", "", "", "data.scale", "none"},
	{"secvm", "", "", "data.scale", "none"},
	{"fedcfk", "", "", "data.like", ""},
	{"gram", "data", "{sources: {a: a.csv, b: b.csv}, id: id, label: y, partition: {by: columns}}", "data.partition.parties", ""},
	{"gram", "", "", "data.partition.columns", ""},
	{"gram", "", "", "data.partition.coverage", ""},
	{"gram", "", "", "data.partition.labels", ""},
	{"gram", "", "", "data.partition.alignment", ""},
	{"gram", "data", "{source: a.csv, id: id, label: y, partition: {by: columns, alignment: people, parties: [a, b]}}", "data.partition.aligned_by", ""},
	{"fdskl", "", "", "protocol.labels", ""},
	{"okra", "", "", "data.test.by", ""},
	{"okra", "", "", "data.test.fraction", ""},
	{"okra", "", "", "data.test.source", ""},
	{"okra", "data.test", "{fraction: 0.25}", "data.test.every", ""},
	{"okra", "", "", "protocol.continuable", ""},
	{"okra", "", "", "protocol.continues", ""},
	{"okra", "", "", "protocol.late", ""},
	{"okra", "", "", "protocol.withdrawn", ""},
	{"okra", "", "", "protocol.added", ""},
	{"okra", "", "", "protocol.preparation", ""},
	{"okra", "", "", "repeats", ""},
	{"okra", "", "", "scoring", ""},
	{"okra", "", "", "study", ""},
	{"okra", "", "", "link", ""},
	{"okra", "link", "{rate: 1e6}", "link.latency", ""},
	{"okra", "link", "{rate: 1e6}", "link.loss", ""},
	{"okra", "", "", "timeout.job", ""},
	{"okra", "kernel", "{name: rbf, gamma_unit: median}", "kernel.gamma", "1"},
	{"okra", "", "", "kernel.gamma_unit", ""},
	{"okra", "kernel", "{name: polynomial, gamma: 1}", "kernel.coef0", ""},
	{"okra", "kernel", "{name: polynomial, gamma: 1}", "kernel.degree", "3"},
	{"okra", "", "", "kernel.clause", ""},
	{"okra", "kernel", "{name: rational-quadratic}", "kernel.alpha", "1"},
	{"okra", "kernel", "{name: rational-quadratic}", "kernel.length_scale", "1"},
	{"okra", "kernel", "{name: matern}", "kernel.length_scale", "1"},
	{"okra", "kernel", "{name: matern}", "kernel.nu", "1.5"},
	{"okra", "kernel", "{name: rbf, gamma: 1}", "kernel.amplitude", ""},
	{"okra", "kernel", "{name: rbf, gamma: 1}", "kernel.coefficients", ""},
	{"okra", "", "", "protocol.encoder", "hadamard"},
	{"okra", "protocol", "{name: okra, mode: paper}", "protocol.encoder", "block"},
	{"okra", "", "", "protocol.rounds", "3"},
	{"okra", "protocol", "{name: okra, encoder: haar}", "protocol.rounds", ""},
	{"moments", "", "", "protocol.directions", ""},
	{"moments", "protocol.classes", "", "protocol.classes", ""},
	{"moments", "protocol.targets", "", "protocol.targets", ""},
	{"moments", "", "", "protocol.privacy", ""},
	{"sealed", "", "", "protocol.keepers", "[a, b, coordinator]"},
	{"sealed", "", "", "protocol.features", ""},
	{"sealed", "", "", "protocol.alpha_per_row", "0.0001"},
	{"sealed", "learner.alpha", "0.5", "protocol.alpha_per_row", ""},
	{"sealed", "", "", "protocol.certify", ""},
	{"sealed", "protocol.classes", "", "protocol.classes", ""},
	{"sealed", "protocol.targets", "", "protocol.targets", ""},
	{"sealed", "", "", "protocol.privacy", ""},
	{"fedcfk", "", "", "protocol.rounds", ""},
	{"fedcfk", "protocol", "{name: fedcfk, mode: paper}", "protocol.rounds", "100"},
	{"fedcfk", "", "", "protocol.adversary", "active"},
	{"fedcfk", "", "", "protocol.corrupted", "0.05"},
	{"fedcfk", "", "", "protocol.dropped", "0.1"},
	{"fedcfk", "", "", "protocol.threshold", "10"},
	{"fedcfk", "protocol", "{name: fedcfk, mode: paper}", "protocol.threshold", ""},
	{"fedcfk", "", "", "protocol.margin", "corrupted"},
	{"fedcfk", "protocol", "{name: fedcfk, mode: paper}", "protocol.margin", ""},
	{"fedcfk", "", "", "protocol.items", ""},
	{"fedcfk", "", "", "protocol.ratings", ""},
	{"fedcfk", "", "", "protocol.participation", ""},
	{"fedcfk", "protocol", "{name: fedcfk, mode: paper}", "protocol.participation", "0.1"},
	{"fedcfk", "", "", "protocol.decoys", ""},
	{"fedcfk", "protocol", "{name: fedcfk, mode: paper}", "protocol.decoys", "3"},
	{"fedcfk", "", "", "protocol.omitted", ""},
	{"fedcfk", "protocol", "{name: fedcfk, mode: paper}", "protocol.omitted", "0.2"},
	{"secvm", "", "", "protocol.adversary", ""},
	{"secvm", "protocol.aggregation", "secagg", "protocol.adversary", "active"},
	{"secvm", "", "", "protocol.corrupted", ""},
	{"secvm", "protocol.aggregation", "secagg", "protocol.corrupted", "0.05"},
	{"secvm", "", "", "protocol.dropped", ""},
	{"secvm", "protocol.aggregation", "secagg", "protocol.dropped", "0.1"},
	{"secvm", "protocol.classes", "", "protocol.classes", ""},
	{"secvm", "", "", "protocol.features", ""},
	{"secvm", "", "", "protocol.bins", "16384"},
	{"secvm", "protocol", "{name: secvm, features: columns}", "protocol.bins", ""},
	{"secvm", "", "", "protocol.hashes", "1"},
	{"secvm", "protocol", "{name: secvm, features: columns}", "protocol.hashes", ""},
	{"okra", "", "", "learner.cache_size", ""},
	{"okra", "", "", "learner.class_weight", ""},
	{"okra", "", "", "data.classes", ""},
	{"okra", "", "", "data.schema", ""},
	{"okra", "", "", "data.dictionary", ""},
	{"okra", "data", "{source: a.csv, dictionary: {columns: {x: {}, z: {}}, labels: {y: {}}}, partition: {parties: [a, b]}}", "data.columns", ""},
	{"okra", "data", "{source: a.csv, dictionary: {columns: {x: {}}, labels: {y: {}}}, partition: {parties: [a, b]}}", "data.label", "y"},
	{"okra", "", "", "data.fit", ""},
	{"okra", "data", "{source: a.csv, dictionary: cohort, fit: {job: 0f000000000000000000000000000001}, partition: {parties: [a, b]}}", "data.fit.told", ""},
	{"okra", "", "", "data.group", ""},
	{"okra", "", "", "data.test.party", ""},
	{"okra", "", "", "data.test.parties", ""},
	{"okra", "", "", "data.test.column", ""},
	{"okra", "", "", "data.test.from", ""},
	{"secvm", "", "", "learner.class_weight", ""},
	{"fdskl", "", "", "learner.rate", ""},
	{"fdskl", "protocol.training", "faithful", "learner.rate", "4"},
	{"fdskl", "protocol.training", "block", "learner.rate", "4"},
	{"fdskl", "protocol.training", "precond", "learner.rate", "1"},
	{"fdskl", "", "", "learner.batch", ""},
	{"fdskl", "protocol.training", "faithful", "learner.batch", ""},
	{"fdskl", "protocol.training", "block", "learner.batch", "256"},
	{"fdskl", "protocol.training", "precond", "learner.batch", "256"},
	{"fdskl", "", "", "learner.iterations", ""},
	{"fdskl", "protocol.training", "faithful", "learner.iterations", ""},
	{"fdskl", "protocol.training", "block", "learner.iterations", "64"},
	{"fdskl", "protocol.training", "precond", "learner.iterations", "64"},
}

// Every default in words equals the value that the reader stores. Defaults that are values are
// held against the reader by the tests of the packages that declare them.
func TestDefaultsInWords(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	cohort, err := job.ParseDictionary("cohort.yaml", []byte("{apiVersion: mercer/v1, kind: Dictionary, metadata: {name: cohort}, spec: {columns: {x: {missing: median, range: [0, 1]}}, labels: {y: {}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	r := all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return cohort, nil })
	seen := make(map[string]bool)
	for _, s := range stored {
		found := 0
		for _, j := range jobsOf(t, r, s.protocol, s.key) {
			j, err := r.With(j, settings(s.set, s.to))
			if err != nil {
				t.Errorf("%s, %s: %s: %v", s.protocol, s.set, s.to, err)
				continue
			}
			found++
			if got := under(t, j, s.key); !reflect.DeepEqual(got, value(t, s.is)) {
				t.Errorf("%s, learner %s, %s: %s: %s is %v, want %s", s.protocol, j.Learner.Name(), s.set, s.to, s.key, got, s.is)
			}
			at, words := wordsOf(j, s.key)
			if seen[at] = true; !strings.Contains(words, s.is) {
				t.Errorf("%s: the default %q does not say %s", at, words, s.is)
			}
		}
		if found == 0 {
			t.Errorf("%s has no job with %s", s.protocol, s.key)
		}
	}
	for _, at := range inWords(t, r) {
		if !seen[at] {
			t.Errorf("%s has a default in words, and nothing checks it", at)
		}
	}
}

// settings pairs keys with values, both joined by and.
func settings(keys, values string) map[string]string {
	if keys == "" {
		return nil
	}
	list, to := make(map[string]string), strings.Split(values, " and ")
	for i, key := range strings.Split(keys, " and ") {
		list[key] = to[i]
	}
	return list
}

// jobsOf returns a job of a protocol for each learner that can have the key.
func jobsOf(t *testing.T, r *job.Reader, protocol, key string) (list []*job.Job) {
	t.Helper()
	own, ofLearner := strings.CutPrefix(key, "learner.")
	for _, p := range r.Protocols {
		for _, l := range r.Learners {
			if p.Name() != protocol || ofLearner && !slices.Contains(l.New().Section().Keys(), own) || !ofLearner && len(list) > 0 {
				continue
			}
			if needs := l.Task(); key == "protocol.classes" && needs.Classes && (protocol == "moments" || protocol == "sealed") || key == "protocol.targets" && needs.Numbers || key == "data.label" && needs.Labels == "" {
				continue
			}
			for _, k := range []job.KernelName{job.RBF, job.Linear} {
				if j, err := r.Parse("job.yaml", []byte(sampleJob(p, l, k))); err == nil {
					list = append(list, j)
					break
				}
			}
		}
	}
	return list
}

func value(t *testing.T, text string) (v any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// under returns a value of a job's specification; nil where there is none.
func under(t *testing.T, j *job.Job, path string) any {
	t.Helper()
	at := value(t, string(j.Encode())).(map[string]any)["spec"]
	for key := range strings.SplitSeq(path, ".") {
		m, is := at.(map[string]any)
		if !is {
			return nil
		}
		at = m[key]
	}
	return at
}

// wordsOf returns where a key is declared, and its default as the page has it.
func wordsOf(j *job.Job, path string) (at, words string) {
	for _, k := range declared(all.Reader()) {
		for _, f := range k.section.Fields {
			name := k.path + "." + f.Key
			if name == "spec."+path && (k.of == "" || k.of == j.Protocol.Name() || k.of == j.Learner.Name()) {
				return k.of + " " + name, f.Default + "; " + f.Else
			}
		}
	}
	return path, ""
}

// declaration is a section, where it stands, and the protocol or learner that has it.
type declaration struct {
	path, of string
	section  *section.Section
}

func declared(r *job.Reader) []declaration {
	list := []declaration{{"spec.kernel", "", new(job.Kernel).Section()}}
	for _, k := range r.Protocols {
		list = append(list, declaration{"spec.protocol", k.Name(), k.New().Section()})
	}
	for _, k := range r.Learners {
		list = append(list, declaration{"spec.learner", k.Name(), k.New().Section()})
	}
	return append(list, inside("", r.File())...)
}

func inside(path string, s *section.Section) []declaration {
	list := []declaration{{path, "", s}}
	for _, f := range s.Fields {
		if inner, is := f.Value.(*section.Section); is {
			list = append(list, inside(strings.TrimPrefix(path+"."+f.Key, "."), inner)...)
		}
	}
	return list
}

// inWords lists the keys whose defaults depend on other keys.
func inWords(t *testing.T, r *job.Reader) (list []string) {
	t.Helper()
	for _, d := range declared(r) {
		for _, f := range d.section.Fields {
			if f.Else != "" {
				list = append(list, d.of+" "+d.path+"."+f.Key)
			}
		}
	}
	if len(list) < 40 {
		t.Fatalf("%d keys have a default in words", len(list))
	}
	return list
}
