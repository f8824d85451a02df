package job_test

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/sums"

	. "github.com/mercer-fl/mercer/internal/job"

	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

const recommender = `apiVersion: mercer/v1
kind: Job
metadata: {name: films}
spec:
  data:
    source: u.data
    partition: {by: devices}
    test: {every: 10}
  protocol: {name: fedcfk}
  kernel: {name: linear}
  learner: {name: cf-komd}
`

func TestRecommender(t *testing.T) {
	j, err := reader().Parse("job.yaml", []byte(recommender))
	if err != nil {
		t.Fatal(err)
	}
	want := &fedcfk.Keys{Moded: Moded{Mode: Hardened}, Keys: sums.Keys{Adversary: sums.Active, Corrupted: .05, Dropped: .1}, Threshold: 10, Margin: fedcfk.MarginCorrupted}
	if d := cmp.Diff(want, As[*fedcfk.Keys](j.Protocol)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Comparison{Pooled}, j.Compare); d != "" || j.Data.Scale != None || learner.ProfileOf(j).Lambda != komd.DefaultLambda || learner.ProfileOf(j).Recommend != 10 {
		t.Errorf("%s %+v", d, j)
	}
	if string(sums.Active) != string(secagg.Active) || string(sums.SemiHonest) != string(secagg.SemiHonest) {
		t.Error("other names of adversaries than the protocol's")
	}
	if MaxItemDegree != komd.MaxDegree {
		t.Error("another bound than the learner's")
	}
	if err := j.Simulable(); err != nil {
		t.Error(err)
	}
	if err := j.Deployable(); err == nil || err.Error() != "job: parties that each have their own list need one catalogue; add \"items\" with all items there are to protocol" {
		t.Errorf("a job of devices is deployed: %v", err)
	}
	checkRoundTrip(t, j)
	full := strings.NewReplacer(
		"{by: devices}", "{by: devices, dropout: 0.02}\n    like: 4", "{every: 10}", "{by: user-time, fraction: 0.2}",
		"{name: fedcfk}", "{name: fedcfk, mode: hardened, adversary: semi-honest, corrupted: 0.1, dropped: 0.2, threshold: 3, margin: none}",
		"{name: linear}", "{name: polynomial, gamma: 1, coef0: 1, degree: 2}", "{name: cf-komd}", "{name: cf-komd, lambda: 1}\n  compare: []",
	).Replace(recommender)
	if j, err = reader().Parse("job.yaml", []byte(full)); err != nil {
		t.Fatal(err)
	}
	if j.Data.Like != 4 || j.Data.Partition.Dropout != .02 || j.Data.Test != (Test{By: UserTime, Fraction: .2}) || As[*fedcfk.Keys](j.Protocol).Threshold != 3 || len(j.Compare) != 0 {
		t.Errorf("%+v", j)
	}
	checkRoundTrip(t, j)
}

// The paper's mode has keys of its own, and the Boolean kernels theirs.
func TestPaperRecommender(t *testing.T) {
	j, err := reader().Parse("job.yaml", []byte(strings.NewReplacer("{name: fedcfk}", "{name: fedcfk, mode: paper}", "{name: linear}", "{name: dnf, degree: 3, clause: 2}").Replace(recommender)))
	if err != nil {
		t.Fatal(err)
	}
	want := &fedcfk.Keys{Moded: Moded{Mode: Paper}, Keys: sums.Keys{Adversary: sums.Active, Corrupted: .05, Dropped: .1}, Rounds: 100, Participation: .1, Decoys: 3, Omitted: .2}
	if d := cmp.Diff(want, As[*fedcfk.Keys](j.Protocol)) + cmp.Diff(Kernel{Name: DNF, Degree: 3, Clause: 2}, j.Kernel); d != "" {
		t.Error(d)
	}
	checkRoundTrip(t, j)
	given := "{name: fedcfk, mode: paper, rounds: 7, participation: 0.3, decoys: 1, omitted: 0.5}"
	if j, err = reader().Parse("job.yaml", []byte(strings.Replace(recommender, "{name: fedcfk}", given, 1))); err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, j)
	given = "{name: fedcfk, mode: paper, rounds: 7, participation: 0.3, decoys: 1, omitted: 0, corrupted: 0, dropped: 0}"
	if none, err := reader().Parse("job.yaml", []byte(strings.Replace(recommender, "{name: fedcfk}", given, 1))); err != nil {
		t.Error(err)
	} else if p := As[*fedcfk.Keys](none.Protocol); p.Omitted != 0 || p.Corrupted != 0 || p.Dropped != 0 {
		t.Errorf("shares of nobody: %+v", p)
	} else {
		checkRoundTrip(t, none)
	}
	if p := As[*fedcfk.Keys](j.Protocol); p.Rounds != 7 || p.Participation != .3 || p.Decoys != 1 || p.Omitted != .5 {
		t.Errorf("%+v", p)
	}
}

// All kernels of learn/komd can be written.
func TestItemKernels(t *testing.T) {
	for _, text := range []string{
		"{name: linear}", "{name: polynomial, gamma: 1, degree: 2}", "{name: tanimoto}", "{name: rbf, gamma: 0.01}",
		"{name: conjunctive, degree: 2}", "{name: disjunctive, degree: 5}", "{name: dnf, degree: 2, clause: 3}", "{name: cnf, degree: 2, clause: 3}",
	} {
		j, err := reader().Parse("job.yaml", []byte(strings.Replace(recommender, "{name: linear}", text, 1)))
		if err != nil {
			t.Fatal(err)
		}
		k := j.Kernel
		s := komd.Spec{Name: komd.Name(k.Name), Degree: k.Degree, Clause: k.Clause, Coef0: k.Coef0, Gamma: k.Gamma}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A job among parties names the catalogue, since nobody sees all lists.
func TestDeployedRecommender(t *testing.T) {
	deployed := strings.NewReplacer("{by: devices}", "{by: devices, parties: [ann, bob]}", "{name: fedcfk}", "{name: fedcfk, items: [tea, 1, milk]}").Replace(recommender)
	j, err := reader().Parse("job.yaml", []byte(deployed))
	if err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, j)
	if err := j.Deployable(); err != nil {
		t.Error(err)
	}
	if err := j.Simulable(); err == nil || err.Error() != "job: mercer simulate takes the people from the ratings; remove \"parties\"" {
		t.Errorf("parties are simulated: %v", err)
	}
	for name, tt := range map[string]struct{ old, bad, want string }{
		"paper":       {"{name: fedcfk, ", "{name: fedcfk, mode: paper, ", `runs in simulate only; remove "mode: paper"`},
		"margin":      {"{name: fedcfk, ", "{name: fedcfk, margin: none, ", `runs in simulate only; remove "margin: none"`},
		"semi-honest": {"{name: fedcfk, ", "{name: fedcfk, adversary: semi-honest, ", `runs in simulate only; remove "adversary: semi-honest"`},
		"time":        {"{every: 10}", "{by: time, fraction: 0.1}", `use "test: {by: user-time, fraction: 0.1}" or "test: {every: 10}"`},
		"dropout":     {"{by: devices, ", "{by: devices, dropout: 0.1, ", "\"dropout\" is for mercer simulate only; remove it"},
	} {
		j, err := reader().Parse("job.yaml", []byte(strings.Replace(deployed, tt.old, tt.bad, 1)))
		if err != nil {
			t.Fatal(name, err)
		}
		if err := j.Deployable(); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
