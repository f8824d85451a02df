package job_test

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/hinge"

	. "github.com/mercer-fl/mercer/internal/job"

	"strings"
	"testing"
)

const anonymous = `apiVersion: mercer/v1
kind: Job
metadata: {name: anonymous}
spec:
  data:
    source: words.svm
    label: label
    partition: {by: devices}
    test: {fraction: 0.2}
  protocol: {name: secvm}
  kernel: {name: linear}
  learner: {name: linear-svm}
`

func TestSecVMDefaults(t *testing.T) {
	j, err := reader().Parse("job.yaml", []byte(anonymous))
	if err != nil {
		t.Fatal(err)
	}
	p, l := As[*secvm.Keys](j.Protocol), learner.StepsOf(j)
	if p.Mode != Hardened || p.Bins != 1<<14 || p.Hashes != 1 || p.Packages != 64 || p.Cohort != 100 || j.Data.Scale != None {
		t.Errorf("%+v", p)
	}
	if l.Lambda != 1e-3 || l.Iterations != 300 || l.Average != 2 || l.Schedule != hinge.Pegasos {
		t.Errorf("%+v", l)
	}
	if err := j.Simulable(); err != nil {
		t.Error(err)
	}
	if err := j.Deployable(); err == nil || !strings.Contains(err.Error(), "mercer gateway") {
		t.Errorf("submitted to parties: %v", err)
	}
	checkRoundTrip(t, j)
}

// A job whose windows are sums has the settings of secure sums, zero included.
func TestSecVMSums(t *testing.T) {
	j, err := reader().Parse("job.yaml", []byte(anonymous))
	if err != nil || As[*secvm.Keys](j.Protocol).Aggregation != secvm.AnonymousPackages || As[*secvm.Keys](j.Protocol).Adversary != "" {
		t.Errorf("%+v, %v", j.Protocol, err)
	}
	j, err = reader().Parse("job.yaml", []byte(strings.Replace(anonymous, "{name: secvm}", "{name: secvm, aggregation: secagg, corrupted: 0}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if p := As[*secvm.Keys](j.Protocol); p.Aggregation != secvm.SecureSum || p.Adversary != sums.Active || p.Corrupted != 0 || p.Dropped != .1 || p.Cohort != 100 {
		t.Errorf("%+v", p)
	}
	checkRoundTrip(t, j)
}
