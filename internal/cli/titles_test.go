package cli

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// A finished job's result has the titles of its dictionary, if this home knows the dictionary.
func TestTitlesOfAResult(t *testing.T) {
	d, err := job.ParseDictionary("d.yaml", []byte("apiVersion: mercer/v1\nkind: Dictionary\nmetadata: {name: cohort}\nspec:\n  columns: {age: {}}\n  labels: {died: {titles: {0: survived, 1: died}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text := "apiVersion: mercer/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  data: {source: p, dictionary: cohort, label: died, partition: {parties: [north, south]}}\n  protocol: {name: okra}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: svc}\n"
	r := patients()
	r.About = &learner.About{Job: text}
	if j := jobIn(all.Reader(), r); j != nil {
		t.Errorf("a job with an unknown dictionary is read: %v", j)
	}
	if j := jobIn(all.Reader(), &method.Result{}); j != nil {
		t.Errorf("a result without its job has %v", j)
	}
	o := outcome{Result: r, job: jobIn(all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return d, nil }), r)}
	var b strings.Builder
	if err := o.Print(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "always answering survived would be right for") || o.verdict() == o.titled().verdict() {
		t.Error(b.String())
	}
}
