package all_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// ofLearner matches the refusal of a learner that a protocol does not run.
var ofLearner = regexp.MustCompile(`does not run learner|runs learner|runs with protocol`)

// The learners that an error lists for a protocol are those that the protocol does not refuse.
func TestLearnersOfAProtocol(t *testing.T) {
	r := all.Reader()
	for _, p := range r.Protocols {
		_, err := r.Parse("job.yaml", []byte(sample(p, "zebra")))
		if err == nil {
			t.Fatalf("%s runs learner zebra", p.Name())
		}
		_, list, found := strings.Cut(err.Error(), `job.yaml:8: unknown learner "zebra"; protocol `+p.Name()+" runs ")
		if !found {
			t.Errorf("%s: %v", p.Name(), err)
		}
		listed := strings.Split(list, ", ")
		for _, l := range r.Learners {
			_, err := r.Parse("job.yaml", []byte(sample(p, l.Name())))
			refused := err != nil && ofLearner.MatchString(err.Error())
			if refused == slices.Contains(listed, l.Name()) {
				t.Errorf("protocol %s, learner %s: listed %v, but: %v", p.Name(), l.Name(), !refused, err)
			}
		}
	}
}

// A study refuses the protocols that have mode paper only: those that refuse every job in mode hardened.
func TestProtocolsWithModePaperOnly(t *testing.T) {
	r := all.Reader()
	for _, p := range r.Protocols {
		refused := false
		for _, l := range r.Learners {
			_, err := r.Parse("job.yaml", []byte(strings.Replace(sample(p, l.Name()), ", mode: paper", "", 1)))
			refused = refused || err != nil && strings.Contains(err.Error(), "mode: paper")
		}
		if (p.Traits().NoStudy == job.PaperOnly) != refused {
			t.Errorf("protocol %s refuses mode hardened: %v, and for a study: %q", p.Name(), refused, p.Traits().NoStudy)
		}
	}
}

// sample returns a job file with a protocol and a learner.
func sample(p job.Protocol, learner string) string {
	name, partition := p.Name(), "by: devices"
	if slices.Contains([]string{"escaped", "pp-svmv", "fd-svrg", "secureboost"}, name) {
		name += ", mode: paper"
	}
	if learner == "cca" {
		learner += ", view: [x]"
	}
	if by := p.Traits().Partition(); by != job.Devices {
		partition = fmt.Sprintf("by: %s, parties: [a, b]", by)
	}
	return fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: trial}
spec:
  data: {source: a.csv, label: y, partition: {%s}, test: {every: 10}}
  protocol: {name: %s}
  kernel: {name: rbf, gamma: 1}
  learner: {name: %s}
`, partition, name, learner)
}

// A name of another program is answered with ours.
func TestNamesOfOtherPrograms(t *testing.T) {
	text := sample(all.Reader().Protocols[0], "svc")
	for was, want := range map[string][2]string{
		"name: rbf":    {"name: Gaussian", `unknown kernel "Gaussian"; did you mean "rbf"? This version has linear, rbf, `},
		"name: svc":    {"name: random-forest", `unknown learner "random-forest"; did you mean "boosted-trees"? Protocol okra runs svc, nu-svc, `},
		"name: svc}":   {"name: xgboost}", `unknown learner "xgboost"; did you mean "boosted-trees"?`},
		"{name: svc}":  {"{name: LogisticRegression}", `unknown learner "LogisticRegression"; did you mean "logistic"?`},
		"{name: rbf, ": {"{name: poly, ", `unknown kernel "poly"; did you mean "polynomial"?`},
	} {
		_, err := all.Reader().Parse("job.yaml", []byte(strings.Replace(text, was, want[0], 1)))
		if err == nil || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%s: %v\nwant %s", want[0], err, want[1])
		}
	}
}
