package job_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

const fittedDictionary = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: cohort}
spec:
  columns: {age: {range: [0, 120], missing: median}, bmi: {range: [10, 60]}}
  labels: {label: {classes: [a, b]}}
`

const fitFile = `apiVersion: mercer/v1
kind: Fit
metadata: {name: fit-cohort}
spec:
  source: patients
  dictionary: cohort
  parties: [north, south]
  scale: standard
`

func TestFitFiles(t *testing.T) {
	d, err := job.ParseDictionary("cohort.yaml", []byte(fittedDictionary))
	if err != nil {
		t.Fatal(err)
	}
	reads := func(d *job.Dictionary) *job.Reader {
		return all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return d, nil })
	}
	f, err := reads(d).Parse("fit.yaml", []byte(fitFile))
	if err != nil {
		t.Fatal(err)
	}
	again, err := reads(d).Parse("fit.yaml", f.Encode())
	if err != nil || !bytes.Equal(again.Encode(), f.Encode()) || !f.IsFit() || f.NeedsFit() || f.Deployable() != nil {
		t.Errorf("%v: %s", err, f.Encode())
	}
	text := strings.Replace(strings.Replace(fitFile, "kind: Fit", "kind: Job", 1), "  scale: standard\n",
		"", 1)
	text = strings.Replace(text, "  source: patients\n  dictionary: cohort\n  parties: [north, south]\n",
		"  data:\n    source: patients\n    dictionary: cohort\n    columns: [bmi]\n    scale: standard\n    partition: {parties: [north, south]}\n  protocol: {name: okra}\n  kernel: {name: linear}\n  learner: {name: svc}\n", 1)
	j, err := reads(d).Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	of := reads(d).FitOf(j)
	if same, err := reads(d).Parse("fit.yaml", of.Encode()); err != nil || !bytes.Equal(same.Encode(), f.Encode()) {
		t.Errorf("%v: the fit of a job is %s", err, of.Encode())
	}
	if !j.NeedsFit() || !of.Data.SameFit(&j.Data) {
		t.Error("the job needs another fit")
	}
	data := "    partition: {parties: [north, south]}\n"
	named, err := reads(d).Parse("job.yaml", []byte(strings.Replace(text, data, data+"    fit: {job: 0f000000000000000000000000000001, told: [south]}\n", 1)))
	if err != nil || named.NeedsFit() {
		t.Errorf("%v: a job that names its fit needs one", err)
	}
	if again, err := reads(d).Parse("job.yaml", named.Encode()); err != nil || !bytes.Equal(again.Encode(), named.Encode()) {
		t.Errorf("%v: %s", err, named.Encode())
	}
}
