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
	if err := j.Deployable(); err == nil || err.Error() != "job: parties that each have their own list need one catalogue; add items: and all items there are to protocol" {
		t.Errorf("a crowd is deployed: %v", err)
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

// Kernels between items are of no use between rows, and all of learn/komd's can
// be written.
func TestItemKernels(t *testing.T) {
	rows := strings.NewReplacer("{name: fedcfk}", "{name: okra}", "{name: cf-komd}", "{name: kpca}", "{by: devices}", "{parties: [a, b]}", "{name: linear}", "{name: conjunctive, degree: 2}").Replace(recommender)
	_, err := reader().Parse("job.yaml", []byte(rows))
	if want := "job.yaml:10: the conjunctive kernel is one between items, of protocol fedcfk; protocol okra has rows"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
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
	if err := j.Simulable(); err == nil || err.Error() != "job: to simulate, the people are those of the ratings; remove parties" {
		t.Errorf("parties are simulated: %v", err)
	}
	for name, tt := range map[string]struct{ old, bad, want string }{
		"paper":       {"{name: fedcfk, ", "{name: fedcfk, mode: paper, ", "runs in simulate only; remove mode: paper"},
		"margin":      {"{name: fedcfk, ", "{name: fedcfk, margin: none, ", "runs in simulate only; remove margin: none"},
		"semi-honest": {"{name: fedcfk, ", "{name: fedcfk, adversary: semi-honest, ", "runs in simulate only; remove adversary: semi-honest"},
		"time":        {"{every: 10}", "{by: time, fraction: 0.1}", "use test: {by: user-time, fraction: 0.1} or {every: 10}"},
		"dropout":     {"{by: devices, ", "{by: devices, dropout: 0.1, ", "dropout is of simulate; remove it"},
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

func TestBadRecommenders(t *testing.T) {
	for name, tt := range map[string]struct{ old, bad, want string }{
		"threshold in paper": {"{name: fedcfk}", "{name: fedcfk, mode: paper, threshold: 3}", "job.yaml:9: mode paper of fedcfk counts every item, however few like it; remove threshold, or use mode: hardened"},
		"rounds":             {"{name: fedcfk}", "{name: fedcfk, rounds: 3}", "job.yaml:9: rounds is of mode paper of fedcfk, which gives lists away; remove it, or add mode: paper to reproduce the paper"},
		"no rounds":          {"{name: fedcfk}", "{name: fedcfk, mode: paper, rounds: 0}", "job.yaml:9: rounds is 0; write a whole number from 1"},
		"many rounds":        {"{name: fedcfk}", "{name: fedcfk, mode: paper, rounds: 10001}", "job.yaml:9: rounds is 10001; write 1 to 10000"},
		"participation":      {"{name: fedcfk}", "{name: fedcfk, mode: paper, participation: 1.5}", "job.yaml:9: participation is 1.5; write the share of the people in each round, above 0 and up to 1, such as 0.1"},
		"decoys":             {"{name: fedcfk}", "{name: fedcfk, mode: paper, decoys: 0}", "job.yaml:9: decoys is 0; write a whole number from 1"},
		"omitted":            {"{name: fedcfk}", "{name: fedcfk, mode: paper, omitted: 1}", "job.yaml:9: omitted is 1; write a share of the liked items from 0 to below 1, such as 0.1"},
		"rounds of okra":     {"{name: fedcfk}", "{name: okra, decoys: 3}", "job.yaml:9: protocol okra has no decoys; remove it"},
		"grid":               {"{name: linear}", "{name: conjunctive, degree: [2, 3]}", "job.yaml:10: the lists make a grid of 2 cells, and fedcfk has nothing to choose one by: what is held out stays in the devices; give single numbers"},
		"no degree":          {"{name: linear}", "{name: dnf, clause: 2}", "job.yaml:10: the dnf kernel needs degree; add one such as degree: 2"},
		"no clause":          {"{name: linear}", "{name: cnf, degree: 2}", "job.yaml:10: the cnf kernel needs clause; add one such as clause: 2"},
		"large clause":       {"{name: linear}", "{name: cnf, degree: 2, clause: 21}", "job.yaml:10: clause is 21; write 1 to 20"},
		"no clauses":         {"{name: linear}", "{name: disjunctive, degree: 2, clause: 2}", "job.yaml:10: the disjunctive kernel has no clause; remove it"},
		"recommend":          {"{name: cf-komd}", "{name: cf-komd, recommend: 0}", "job.yaml:11: recommend is 0; write a whole number from 1"},
		"encoder":            {"{name: fedcfk}", "{name: fedcfk, wire: float32}", "job.yaml:9: protocol fedcfk has no wire; remove it"},
		"a key of crowds":    {"{name: fedcfk}", "{name: okra, threshold: 3}", "job.yaml:9: protocol okra has no threshold; remove it"},
		"pooled":             {"{name: fedcfk}", "{name: pooled, dropped: 0.3}", "job.yaml:9: protocol pooled has no dropped; remove it"},
		"share":              {"{name: fedcfk}", "{name: fedcfk, corrupted: 1.5}", "job.yaml:9: corrupted is 1.5; write a share of the clients from 0 to below 1, such as 0.1"},
		"threshold":          {"{name: fedcfk}", "{name: fedcfk, threshold: 0}", "job.yaml:9: threshold is 0; write a whole number from 1"},
		"threshold of one":   {"{name: fedcfk}", "{name: fedcfk, threshold: 1}", "job.yaml:9: threshold is 1; the row of an item that one person alone likes is that person's list, so write 2 or more, such as 10"},
		"margin":             {"{name: fedcfk}", "{name: fedcfk, margin: all}", `job.yaml:9: unknown margin "all"; this version has corrupted, none`},
		"another learner":    {"{name: cf-komd}", "{name: kpca}", "job.yaml:11: protocol fedcfk and learner kpca do not go together; fedcfk and cf-komd do"},
		"another protocol":   {"{name: fedcfk}", "{name: okra}", "job.yaml:5: protocol okra has no devices; partition: {by: rows, parties: [north, south]}"},
		"lambda":             {"{name: cf-komd}", "{name: cf-komd, lambda: -1}", "job.yaml:11: lambda is -1; write a number above 0"},
		"rows":               {"{by: devices}", "{parties: [a, b]}", "job.yaml:5: protocol fedcfk and this partition do not go together; fedcfk takes partition: {by: devices}"},
		"skew":               {"{by: devices}", "{by: devices, skew: 2}", "job.yaml:7: every device has its own data; remove skew"},
		"items twice":        {"{name: fedcfk}", "{name: fedcfk, items: [a, b, a]}", `job.yaml:9: items names "a" twice; keep one`},
		"items of okra":      {"{name: fedcfk}", "{name: okra, items: [a, b]}", "job.yaml:9: protocol okra has no items; remove it"},
		"dropout of rows":    {"{by: devices}", "{parties: [a, b], dropout: .1}", "job.yaml:7: dropout is of devices; remove it"},
		"dropout":            {"{by: devices}", "{by: devices, dropout: 1}", "job.yaml:7: dropout is 1; write a share of the devices from 0 to below 1, such as 0.1"},
		"too much dropout":   {"{by: devices}", "{by: devices, dropout: .2}", "job.yaml:5: dropout is 0.2, and the protocol gives way to 0.1 only; raise dropped or lower dropout"},
		"label":              {"source: u.data", "source: u.data\n    label: rating", "job.yaml:5: fedcfk reads one source of ratings; it has no label, id, folds or test source"},
		"random test":        {"{every: 10}", "{fraction: 0.1}", "job.yaml:5: ratings are held out by test: {every: 10}, {by: user-time, fraction: 0.1} or {by: time, fraction: 0.1}"},
		"by alone":           {"{every: 10}", "{by: time}", "job.yaml:8: by says which ratings are the newest; beside it give fraction: 0.1 and nothing else"},
		"scale":              {"{every: 10}", "{every: 10}\n    scale: minmax", "job.yaml:9: what devices hold is not scaled; remove scale"},
		"alone":              {"{name: cf-komd}", "{name: cf-komd}\n  compare: [alone]", "job.yaml:12: one person alone has nothing to recommend from; write compare: [pooled] or []"},
		"prediction":         {"{name: cf-komd}", "{name: cf-komd}\n  prediction: open", "job.yaml:12: fedcfk has no prediction: open, since every device predicts for itself; remove it"},
		"kernel":             {"{name: linear}", "{name: matern}", "job.yaml:10: learner cf-komd has no kernel matern; it has linear, polynomial, tanimoto, rbf, conjunctive, disjunctive, dnf, cnf"},
		"kernel in units":    {"{name: linear}", "{name: rbf, gamma_unit: median}", "job.yaml:10: fedcfk has no gamma_unit; give gamma as a number"},
		"polynomial's gamma": {"{name: linear}", "{name: polynomial, gamma: 2}", "job.yaml:10: gamma of a kernel between items is 2; it is (C + coef0)^degree, so write gamma: 1"},
		"degree":             {"{name: linear}", "{name: polynomial, gamma: 1, degree: 40}", "job.yaml:10: degree of a kernel between items is 40; write 1 to 20"},
	} {
		if !strings.Contains(recommender, tt.old) {
			t.Fatalf("%s: nothing to replace", name)
		}
		_, err := reader().Parse("job.yaml", []byte(strings.Replace(recommender, tt.old, tt.bad, 1)))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s\n got %v\nwant %s", name, err, tt.want)
		}
	}
}
