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

func TestBadSecVM(t *testing.T) {
	for name, tt := range map[string]struct{ old, bad, want string }{
		"encoder":         {"{name: secvm}", "{name: secvm, wire: float32}", "job.yaml:10: protocol secvm has no wire; remove it"},
		"bins elsewhere":  {"{name: secvm}", "{name: okra, bins: 7}", "job.yaml:10: protocol okra has no bins; remove it"},
		"bins":            {"{name: secvm}", "{name: secvm, bins: 0}", "job.yaml:10: bins is 0; write a whole number from 1"},
		"classes":         {"{name: secvm}", "{name: secvm, classes: [a, b, c]}", "job.yaml:10: secvm tells two classes apart; name two, the second is the positive one"},
		"learner":         {"{name: linear-svm}", "{name: svc}", "job.yaml:12: protocol secvm and learner svc do not go together; secvm and linear-svm do"},
		"protocol":        {"{name: secvm}", "{name: okra}", "job.yaml:5: protocol okra has no devices; partition: {by: rows, parties: [north, south]}"},
		"C":               {"{name: linear-svm}", "{name: linear-svm, C: 1}", "job.yaml:12: learner linear-svm has no C; remove it"},
		"schedule":        {"{name: linear-svm}", "{name: linear-svm, schedule: fast}", `job.yaml:12: unknown schedule "fast"; this version has pegasos, published`},
		"iterations":      {"{name: linear-svm}", "{name: linear-svm, iterations: -1}", "job.yaml:12: iterations is -1; write a whole number from 1"},
		"kernel":          {"{name: linear}", "{name: rbf, gamma: 1}", "job.yaml:11: secvm has kernel linear only, not rbf"},
		"rows":            {"{by: devices}", "{parties: [a, b]}", "job.yaml:5: protocol secvm and this partition do not go together; secvm takes partition: {by: devices}"},
		"parties":         {"{by: devices}", "{by: devices, parties: [a, b]}", "job.yaml:5: secvm has devices that nobody knows by name; remove parties"},
		"dropout":         {"{by: devices}", "{by: devices, dropout: .1}", "job.yaml:5: dropout is of devices that are summed; remove it, or add aggregation: secagg to protocol"},
		"folds":           {"{fraction: 0.2}", "{fraction: 0.2}\n    folds: 3", "job.yaml:5: secvm reads one source; it has no sources, id or folds"},
		"no label":        {"    label: label\n", "", "job.yaml:5: data has no label; add label: and the name of the column that holds the classes"},
		"alone":           {"{name: linear-svm}", "{name: linear-svm}\n  compare: [alone]", "job.yaml:13: one device alone has a single row; write compare: [pooled] or []"},
		"sum of packages": {"{name: secvm}", "{name: secvm, dropped: 0.1}", "job.yaml:10: dropped is of secvm's sums; remove it, or add aggregation: secagg"},
		"aggregation":     {"{name: secvm}", "{name: secvm, aggregation: sum}", `job.yaml:10: unknown aggregation "sum"; this version has packages, secagg`},
		"paper's sums":    {"{name: secvm}", "{name: secvm, mode: paper, aggregation: secagg}", "job.yaml:10: mode paper has anonymous packages; remove one of the two"},
		"elsewhere":       {"{name: secvm}", "{name: okra, aggregation: secagg}", "job.yaml:10: protocol okra has no aggregation; remove it"},
		"threshold":       {"{name: secvm}", "{name: secvm, aggregation: secagg, threshold: 3}", "job.yaml:10: protocol secvm has no threshold; remove it"},
		"corrupted":       {"{name: secvm}", "{name: secvm, aggregation: secagg, corrupted: 1}", "job.yaml:10: corrupted is 1; write a share of the clients from 0 to below 1, such as 0.1"},
		"too many vanish": {"{by: devices}\n    test: {fraction: 0.2}\n  protocol: {name: secvm}", "{by: devices, dropout: .2}\n    test: {fraction: 0.2}\n  protocol: {name: secvm, aggregation: secagg}", "job.yaml:5: dropout is 0.2, and the protocol gives way to 0.1 only; raise dropped or lower dropout"},
		"prediction":      {"{name: linear-svm}", "{name: linear-svm}\n  prediction: open", "job.yaml:13: secvm has no prediction: open, since every device predicts for itself; remove it"},
	} {
		if !strings.Contains(anonymous, tt.old) {
			t.Fatalf("%s: nothing to replace", name)
		}
		_, err := reader().Parse("job.yaml", []byte(strings.Replace(anonymous, tt.old, tt.bad, 1)))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s\n got %v\nwant %s", name, err, tt.want)
		}
	}
	okraOnDevices := strings.NewReplacer("{name: secvm}", "{name: okra}", "{name: linear-svm}", "{name: svc}").Replace(anonymous)
	if _, err := reader().Parse("job.yaml", []byte(okraOnDevices)); err == nil || !strings.Contains(err.Error(), "protocol okra has no devices") {
		t.Errorf("okra on devices: %v", err)
	}
}
