package job_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/mercer-fl/mercer/internal/job"
)

const studyFile = `apiVersion: mercer/v1
kind: Study
metadata: {name: kidney}
spec:
  purpose: vote 17/2026
  parties: [south, north, east]
  protocols: [moments, okra]
  learners: [svc, ridge-classifier]
  kernels: [rbf, matern, linear]
  gamma: [0.25, 2]
  labels: [ill]
  splits: [party]
  jobs: 3
  numbers: 5000
  until: 2027-06-30
`

func kidney(t testing.TB) *Study {
	t.Helper()
	s, err := reader().ParseStudy("kidney.yaml", []byte(studyFile))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The canonical file reads as the study that it was written from, and every word of the file counts for
// the hash.
func TestStudyIsCanonical(t *testing.T) {
	s := kidney(t)
	again, err := reader().ParseStudy("again", s.Encode())
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Encode())
	}
	if diff := cmp.Diff(s, again); diff != "" || again.Hash() != s.Hash() {
		t.Errorf("(-first +second):\n%s\n%s", diff, s.Encode())
	}
	for _, change := range [][2]string{
		{"kidney", "heart"}, {"17/2026", "18/2026"}, {", east", ""}, {"[moments, okra]", "[okra]"}, {"[svc, ridge-classifier]", "[svc]"}, {"[rbf, matern, linear]", "[rbf]"},
		{"0.25", "0.5"}, {"[ill]", "[ill, dead]"}, {"splits: [party]\n", "splits: []\n"}, {"jobs: 3", "jobs: 4"}, {"5000", "5001"}, {"2027-06-30", "2027-07-01"},
		{"  parties:", "  dictionary: cohort@" + strings.Repeat("ab", 32) + "\n  parties:"},
	} {
		other, err := reader().ParseStudy("other", []byte(strings.Replace(studyFile, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if other.Hash() == s.Hash() {
			t.Errorf("%s and %s have one hash", change[0], change[1])
		}
	}
}

// A file that is no study is refused with its line.
func TestStudyRefuses(t *testing.T) {
	for _, c := range []struct {
		old, bad string
		line     int
		says     string
	}{
		{"kind: Study", "kind: Job", 2, "kind"},
		{"until: 2027-06-30", "until: June", 15, "write a day such as 2027-06-30"},
		{"  until: 2027-06-30\n", "", 4, "until"},
		{"jobs: 3", "jobs: 0", 13, "write a number from 1 to 1000"},
		{"jobs: 3", "jobs: 1001", 13, "write a number from 1 to 1000"},
		{"numbers: 5000", "numbers: 0", 14, "write a number above 0"},
		{"[moments, okra]", "[moment]", 7, `did you mean "moments"?`},
		{"[moments, okra]", "[]", 7, "name at least one"},
		{"[moments, okra]", "[escaped]", 7, "protocol escaped has mode paper only, and jobs of a study have hardened modes; a study can have okra, flake, moments, gram, fdskl, fedcfk"},
		{"[moments, okra]", "[okra, pp-svmv]", 7, "protocol pp-svmv has mode paper only"},
		{"[moments, okra]", "[okra, fd-svrg]", 7, "protocol fd-svrg has mode paper only"},
		{"[moments, okra]", "[okra, secureboost]", 7, "protocol secureboost has mode paper only"},
		{"[moments, okra]", "[okra, secvm]", 7, "protocol secvm has devices and no parties"},
		{"[moments, okra]", "[okra, pooled]", 7, "protocol pooled runs in simulate only"},
		{"[svc, ridge-classifier]", "[]", 8, "name at least one"},
		{"[0.25, 2]", "[2, 0.25]", 10, "the smaller one first"},
		{"[0.25, 2]", "[0, 2]", 10, "above 0"},
		{"splits: [party]", "splits: [parties]", 12, "this version has party, column"},
		{"  parties:", "  dictionary: cohort\n  parties:", 6, "NAME@HASH"},
		{"  parties:", "  dictionary: cohort@12\n  parties:", 6, "NAME@HASH"},
	} {
		_, err := reader().ParseStudy("kidney.yaml", []byte(strings.Replace(studyFile, c.old, c.bad, 1)))
		var e *Error
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want line %d and %q", c.bad, err, c.line, c.says)
		}
	}
}

const studied = `apiVersion: mercer/v1
kind: Job
metadata: {name: try}
spec:
  data:
    source: patients
    label: ill
    partition: {parties: [north, south, east]}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10}
  study: kidney
`

// A job inside its study is a job, and its encoding holds the study's hash. Each way out of the study
// is refused, by its key.
func TestJobsLieInsideTheirStudy(t *testing.T) {
	s := kidney(t)
	r := reader().KnowingStudies(func(name, hash string) (*Study, error) {
		if name == "unknown" {
			return nil, ErrStudyUnapproved
		}
		return s, nil
	})
	j, err := r.Parse("job.yaml", []byte(studied))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Parse("again", j.Encode()); err != nil || !bytes.Equal(again.Encode(), j.Encode()) || !bytes.Contains(j.Encode(), []byte("study: "+s.Reference())) {
		t.Fatalf("%v\n%s", err, j.Encode())
	}
	outside := func(key, says string) string {
		return fmt.Sprintf("the job lies outside study kidney, by its key %s: %s", key, says)
	}
	for _, c := range []struct{ old, new, says string }{
		{"0.5", "0.25", ""},
		{"0.5", "2", ""},
		{"{name: okra}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: svc, C: 10}", "{name: moments, classes: [ill, well]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier}", ""},
		{"{name: rbf, gamma: 0.5}", "{name: linear}", ""}, // the study names the kernel
		{"partition:", "test: {party: east}\n    partition:", ""},
		{"0.5", "0.2", outside("gamma", "it is from 0.25 to 2, and the job has 0.2")},
		{"0.5", "2.1", outside("gamma", "it is from 0.25 to 2, and the job has 2.1")},
		{"{name: rbf, gamma: 0.5}", "{name: laplacian, gamma: 0.5}", outside("kernels", "it allows linear, rbf and matern, and the job uses laplacian")},
		{"{name: okra}", "{name: flake}", outside("protocols", "it allows okra and moments, and the job uses flake")},
		{"{name: okra}", "{name: okra, mode: paper}", outside("protocols", "it allows their hardened mode, and the job has \"mode: paper\"")},
		{"label: ill", "label: ill\n    scale: none", outside("gamma", "it is for scaled columns, and the job has \"scale: none\"")},
		{"label: ill", "label: dead", outside("labels", `it allows ill, and the job has "dead"`)},
		{", east]", "]", outside("parties", "it is for south, north and east together, and the job is of north and south")},
		{"    partition: {parties: [north, south, east]}\n", "", outside("parties", "it is for south, north and east together, and the job is of nobody by name")},
		{"study: kidney", "study: unknown", `study "unknown": this home has not approved the study`},
		{"study: kidney", "study: other", `the study that was found is called "kidney"`},
		{"study: kidney", "study: kidney@12", "the study that was found has another hash"},
	} {
		_, err := r.Parse("job.yaml", []byte(strings.Replace(studied, c.old, c.new, 1)))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.new, err, c.says)
		}
	}
	if _, err := reader().Parse("job.yaml", []byte(studied)); err == nil || !strings.Contains(err.Error(), "this command knows no studies") {
		t.Errorf("a reader without studies: %v", err)
	}
}

// A grid lies inside a study if each of its kernels and learners does; okra takes a unit of gamma, of
// which the study cannot know the number; a length scale counts as a gamma.
func TestGridsLieInsideTheirStudy(t *testing.T) {
	s := kidney(t)
	r := reader().KnowingStudies(func(string, string) (*Study, error) { return s, nil })
	base := strings.NewReplacer("{name: svc, C: 10}", "{name: svc, C: [1, 10]}", "label: ill", "label: ill\n    folds: 5").Replace(studied)
	for kernel, key := range map[string]string{
		"{name: rbf, gamma: [0.25, 2]}":                  "",
		"{name: rbf, gamma: [0.25, 3]}":                  "gamma",
		"{name: rbf, gamma: [0.5, 1], gamma_unit: norm}": "gamma",
		"{name: matern, length_scale: 1, nu: 1.5}":       "", // gamma 0.5
		"{name: matern, length_scale: 2, nu: 1.5}":       "gamma",
		"[{name: rbf, gamma: 1}, {name: linear}]":        "",
		"[{name: rbf, gamma: 1}, {name: cosine}]":        "kernels",
	} {
		_, err := r.Parse("job.yaml", []byte(strings.Replace(base, "{name: rbf, gamma: 0.5}", kernel, 1)))
		if key == "" && err != nil || key != "" && (err == nil || !strings.Contains(err.Error(), "by its key "+key+":")) {
			t.Errorf("%s: %v, want key %q", kernel, err, key)
		}
	}
	s.Kernels = nil
	if _, err := r.Parse("job.yaml", []byte(strings.Replace(base, "{name: rbf, gamma: 0.5}", "{name: linear}", 1))); err == nil || !strings.Contains(err.Error(), "by its key gamma: kernel linear has none") {
		t.Errorf("a kernel without gamma that the study does not name: %v", err)
	}
	s.Learners = []string{"ridge-classifier"}
	if _, err := r.Parse("job.yaml", []byte(base)); err == nil || !strings.Contains(err.Error(), "by its key learners: it allows ridge-classifier, and the job uses svc") {
		t.Errorf("another learner: %v", err)
	}
}

// The adversary is the submitter. A learner that needs no labels brings no label into a job that the study
// does not name: okra sends the labels of each job with the rows.
func TestAttackALabelBesideTheStudy(t *testing.T) {
	s := kidney(t)
	s.Learners = []string{"kpca", "one-class"}
	r := reader().KnowingStudies(func(string, string) (*Study, error) { return s, nil })
	for _, learner := range []string{"{name: kpca, n_components: 2}", "{name: one-class, nu: 0.1}"} {
		for label, says := range map[string]string{"ill": "", "none": "", "dead": `by its key labels: it allows ill, and the job has "dead"`} {
			text := strings.NewReplacer("{name: svc, C: 10}", learner, "label: ill", "label: "+label).Replace(studied)
			_, err := r.Parse("job.yaml", []byte(text))
			if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
				t.Errorf("%s with label %s: %v, want %q", learner, label, err, says)
			}
		}
	}
}

// The adversary is the submitter. A laplacian kernel is no way around the least gamma: it is the Matérn
// kernel of smoothness 1/2 and length scale 1/gamma.
func TestAttackASmallGammaByAnotherKernel(t *testing.T) {
	s := kidney(t)
	s.Kernels, s.Protocols, s.Learners = nil, []string{"okra", "fdskl"}, []string{"svc", "logistic"}
	r := reader().KnowingStudies(func(string, string) (*Study, error) { return s, nil })
	for kernel, key := range map[string]string{
		"{name: laplacian, gamma: 1}":                       "", // counts as 0.5, too
		"{name: laplacian, gamma: 2}":                       "",
		"{name: laplacian, gamma: 0.5}":                     "gamma", // counts as 0.125
		"{name: matern, length_scale: 2, nu: 0.5}":          "gamma", // the same kernel
		"{name: laplacian, gamma: 2.1}":                     "gamma",
		"{name: rbf, gamma: 0.5}":                           "",
		"{name: laplacian-product, gamma: 0.5}":             "gamma",
		"{name: rational-quadratic, length_scale: 2}":       "gamma",
		"{name: polynomial, gamma: 0.1, degree: 1}":         "gamma",
		"{name: laplacian, gamma: 0.5, gamma_unit: median}": "gamma",
	} {
		text := strings.Replace(studied, "{name: rbf, gamma: 0.5}", kernel, 1)
		if strings.Contains(kernel, "product") {
			text = strings.NewReplacer("{name: okra}", "{name: fdskl}", "{name: svc, C: 10}", "{name: logistic}", "partition: {", "partition: {by: columns, ").Replace(text)
		}
		_, err := r.Parse("job.yaml", []byte(text))
		if key == "" && err != nil || key != "" && (err == nil || !strings.Contains(err.Error(), "by its key "+key+":")) {
			t.Errorf("%s: %v, want key %q", kernel, err, key)
		}
	}
}

func FuzzParseStudy(f *testing.F) {
	f.Add([]byte(studyFile))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := reader().ParseStudy("s.yaml", b)
		if err != nil {
			return
		}
		again, err := reader().ParseStudy("again", s.Encode())
		if err != nil || again.Hash() != s.Hash() {
			t.Errorf("%v\n%s", err, s.Encode())
		}
	})
}
