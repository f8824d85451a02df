package sealed

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/randommodel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

const privateFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: private}
spec:
  data: {source: digits, label: label, features: 64, partition: {parties: [%s]}, test: {source: other}, scale: none}
  protocol: {name: sealed, %sclasses: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], privacy: {epsilon: %v, delta: 1.0e-5}}
  kernel: {name: rbf, gamma: 0.0005}
  learner: {name: ridge-classifier}
`

func privateJob(t testing.TB, parties, keys string, epsilon float64) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(privateFile, parties, keys, epsilon))
}

// squares adds up squares of noise, each divided by its variance.
type squares struct {
	sum   float64
	count int
}

func (s *squares) add(noise, deviation float64) {
	s.sum += noise * noise / (deviation * deviation)
	s.count++
}

// check compares the sum with chi-square's mean, within so many standard deviations.
func (s squares) check(t *testing.T, what string, within float64) {
	t.Helper()
	n := float64(s.count)
	t.Logf("%s: %.0f for %d numbers", what, s.sum, s.count)
	if math.Abs(s.sum-n) > within*math.Sqrt(2*n) {
		t.Errorf("%s: the squared noise over its variance adds up to %.0f for %d numbers", what, s.sum, s.count)
	}
}

// noiseIn returns by how much each equation of a model misses the sums of all rows: A W - B for the noise A of products and
// B of targets, in the unit of the protocol's rows.
func (f *federated) noiseIn(t *testing.T, problem sealed.Problem, w linalg.Matrix[float64]) linalg.Matrix[float64] {
	t.Helper()
	var outer, cross []int64
	for _, p := range f.Parties {
		own, err := p.sums(problem)
		if err != nil {
			t.Fatal(err)
		}
		outer, cross = added(outer, own.Outer), added(cross, own.Cross)
	}
	unit, missed := math.Ldexp(1, -2*problem.CellBits()), linalg.New[float64](w.Rows, w.Cols)
	for k := range w.Rows {
		to := missed.Row(k)
		for i := range w.Cols {
			to[i] = unit * (float64(cross[k*w.Cols+i]) - float64(problem.Ridge)*w.Row(k)[i])
		}
		at := 0
		for i := range w.Cols {
			for l := i; l < w.Cols; l++ {
				a := unit * float64(outer[at])
				to[i] -= a * w.Row(k)[l]
				if l > i {
					to[l] -= a * w.Row(k)[i]
				}
				at++
			}
		}
	}
	return missed
}

// The parties open the ridge of all rows' sums with the noise of all three keepers: neither less nor more.
func TestPrivateHospitals(t *testing.T) {
	for parties, training := range map[string]int{"north, south, east": 300, "north, south": 400} {
		j := privateJob(t, parties, "features: 40, ", 4)
		f := federate(t, j, deal(t, j, training))
		f.Finish(t)
		problem, err := f.Server.public().problem(j)
		if err != nil {
			t.Fatal(err)
		}
		solution := f.Parties["north"].solution
		w := linalg.New[float64](10, 40) // of the protocol's rows
		for k, v := range solution.Weights.Data {
			w.Data[k] = v / problem.RowScale() / unitOf(j, 40)
		}
		if !slices.Equal(f.Parties["south"].solution.Weights.Data, solution.Weights.Data) || math.Abs(solution.Alpha-problem.Alpha()) > 1e-9 {
			t.Error("two parties have different models")
		}
		products, cross := problem.Deviations()
		products, cross = products*problem.RowScale()*problem.RowScale(), cross*problem.RowScale()
		missed, all := f.noiseIn(t, problem, w), squares{}
		for k := range w.Rows {
			length := 0.
			for _, v := range w.Row(k) {
				length += v * v
			}
			for i, v := range missed.Row(k) {
				all.add(v, math.Sqrt(cross*cross+products*products*(length+w.Row(k)[i]*w.Row(k)[i])))
			}
		}
		all.check(t, parties, 8) // equations of one feature share noise
		if n := float64(all.count); math.Abs(all.sum-n) > .25*n {
			t.Errorf("%s: two or four keepers' noise would be a third less or more: %.0f of %.0f", parties, all.sum, n)
		}
		r := f.Result(t)
		d := r.Details.(*Details)
		if said := r.Leakage["server"]; len(said) == 0 || said[0] != f.Server.noisySentence() || r.Exposures["party"].Reach != protocol.ReachNone {
			t.Errorf("%v, %+v", said, r.Exposures)
		}
		if d.Privacy == nil || d.Privacy.Alpha != problem.Alpha() || d.Privacy.Epsilon != 4 || d.Sealed.Most != 0 || d.Privacy.Deviations["accuracy"] <= 0 {
			t.Errorf("%+v, %+v", d.Sealed, d.Privacy)
		}
	}
}

// With hardly any noise the private model is that of all rows.
func TestPrivateModelWithoutNoise(t *testing.T) {
	j := privateJob(t, "north, south, east", "features: 64, ", 100)
	f := federate(t, j, deal(t, j, 400))
	f.Finish(t)
	if m := f.Result(t).Metrics["accuracy"]; m < .8 {
		t.Errorf("accuracy %v", m)
	}
}

// Each party adds noise to its count of right answers, the same in a replay and other noise in another session.
func TestNoiseEntersTheErrors(t *testing.T) {
	j := privateJob(t, "north, south, east", "features: 8, ", 4)
	of, err := heldOutNoise(j)
	if err != nil || len(of) != 1 || of[0].Summands != (privacy.Summands{Honest: 2, All: 3}) {
		t.Fatalf("%+v, %v", of, err)
	}
	if need := moments.Thousand / math.Sqrt(2*(privacy.Guarantee{Epsilon: 4, Delta: 1e-5}).Rho()); of[0].Deviation()*math.Sqrt(2./3) < need*(1-1e-9) {
		t.Errorf("two parties' noise is below %v", need)
	}
	session := func(salt byte) *protocol.Session {
		s, err := protocol.NewSession(protocol.Descriptor{Protocol: "x", Params: []byte{salt}, Purpose: "train", Members: protocol.Members(protocol.RoleParty, "north", "south")})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	drawn := func(salt, seed byte) int64 {
		setup := methodtest.Setup(session(salt), "north").Setup
		setup.Seed[0] ^= seed
		figures := []int64{7000}
		if err := blurErrors(j, figures, setup); err != nil {
			t.Fatal(err)
		}
		return figures[0] - 7000
	}
	var all squares
	for seed := range byte(250) {
		all.add(float64(drawn(1, seed)), of[0].Deviation()/math.Sqrt(3))
	}
	all.check(t, "errors", 5)
	if once, again := drawn(1, 1), drawn(1, 1); once != again || once == drawn(2, 1) || once == drawn(1, 2) {
		t.Error("noise does not depend on seed and session alone")
	}
	plain := []int64{5000}
	if err := blurErrors(digitsJob(t, "north, south, east", ""), plain, methodtest.Setup(session(1), "north").Setup); err != nil || plain[0] != 5000 {
		t.Errorf("without privacy: %v, %v", plain, err)
	}
}

// What noise does to counts and sums of squares stays within the bounds of the metrics.
func TestNoisyMetrics(t *testing.T) {
	c := blurredClasses{classes: classes{"ill", "well"}}
	for figure, want := range map[int64]float64{-3000: 0, 25_000: .5, 99_000: 1} {
		if got := c.metrics(50, []int64{figure})["accuracy"]; got != want {
			t.Errorf("%d thousandths of 50 rows: %v, want %v", figure, got, want)
		}
	}
	if got := c.round([]int64{7}, 9); got[0] != 7000 {
		t.Errorf("%v: noise hides single rows, and rounding would add an error", got)
	}
	n := blurredNumbers{numbers: numbers(moments.Range{Least: 10, Greatest: 30})}
	y, err := n.values([]string{"9", "20", "31", "25"})
	if err != nil || !slices.Equal(y.Data, []float64{-1, 0, 1, .5}) {
		t.Errorf("%v, %v: numbers beyond the range must be cut", y, err)
	}
	if m := n.metrics(50, []int64{0, -5, -7}); m["rmse"] != 0 {
		t.Errorf("%v", m)
	}
	share := 0.
	for _, s := range n.Spends() {
		share += s.Share
	}
	if share != 1 {
		t.Errorf("the sums of errors spend %v of the budget", share)
	}
}

// Tables that differ in one person's row are treated alike: no floor counts people of a class, and no class needs cells.
func TestPrivateFloors(t *testing.T) {
	const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {source: small, label: label, features: 2, partition: {parties: [north, south, east]}, test: {source: other}, scale: none}
  protocol: {name: sealed, features: 64, classes: [ill, well], privacy: {epsilon: 4, delta: 1.0e-6}}
  kernel: {name: rbf, gamma: 0.1}
  learner: {name: ridge-classifier}
`
	for _, ill := range []int{0, 9, 10, 11} {
		c := methodtest.Instance(read(t, file))
		c.Limits = method.DefaultLimits()
		own, err := newParty(c, "north", table(100-ill, ill))
		if err == nil {
			own.declared.list = slices.Repeat([]declaration{{rows: 100, columns: 2}}, 3)
			err = own.checkDeclared()
		}
		if err != nil {
			t.Errorf("%d people of a class: %v", ill, err)
		}
		if _, err := readDeclarations(c, protocol.SessionID{1}, slices.Repeat([][]byte{declaration{rows: 100, columns: 2}.encode()}, 3)); err != nil {
			t.Errorf("a model of more numbers than a quarter of the cells: %v", err)
		}
	}
	c := methodtest.Instance(read(t, file))
	c.Limits = method.DefaultLimits()
	if _, err := newParty(c, "north", table(90, 9)); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("99 rows: %v; the number of rows is public", err)
	}
}

// A job with privacy has one release, which all steps name that tell anything.
func TestNoiseIsTheRelease(t *testing.T) {
	j := privateJob(t, "north, south, east", "features: 16, ", 4)
	f := federate(t, j, deal(t, j, 200))
	f.Until(t, "draw")
	for _, step := range []string{"count", "sealed", "errors"} {
		list := f.Releases(t, "south", step)
		i := slices.IndexFunc(list, func(r method.Release) bool { return r.Kind == method.ReleaseNoise })
		if i < 0 || list[i].Rho != (privacy.Guarantee{Epsilon: 4, Delta: 1e-5}).Rho() || list[i].Epsilon != 4 || list[i].Delta != 1e-5 {
			t.Errorf("%s: %+v", step, list)
		}
		for _, r := range list {
			if r.Kind != method.ReleaseNoise && r.Kind != method.ReleaseCounts {
				t.Errorf("%s releases %v", step, r.Kind)
			}
		}
	}
}

// The defaults of a job with privacy stand in its canonical file, so that operators read them.
func TestPrivateDefaults(t *testing.T) {
	k := job.As[*Keys](privateJob(t, "north, south, east", "", 4).Protocol)
	if k.Features != 128 || k.PerRow != 0 || k.Privacy.Guarantee != (privacy.Guarantee{Epsilon: 4, Delta: 1e-5}) || k.Demands().Privacy != k.Privacy.Guarantee {
		t.Errorf("%+v", k)
	}
}

// The statement of a job with privacy promises what the noise gives, and not what noise makes untrue.
func TestPrivateStatement(t *testing.T) {
	s := &server{Instance: methodtest.Instance(privateJob(t, "north, south", "features: 32, ", 4))}
	s.declared.list = []declaration{{rows: 300, columns: 64}, {rows: 200, columns: 64}}
	s.heldOut, s.figures = 120, []int64{90_000}
	d, err := s.details()
	if err != nil {
		t.Fatal(err)
	}
	lines := s.noisyLeakage(d)
	for role, e := range noisyExposures(d.Privacy) {
		if said := strings.Join(lines[role], " "); role != "keeper" && !strings.Contains(said, e.Why) {
			t.Errorf("%s: the statement does not say %q", role, e.Why)
		}
	}
	for role, list := range lines {
		if !slices.Contains(method.Roles(), role) {
			t.Errorf("no reader is shown what role %s learns", role)
		}
		for _, untrue := range []string{lastRowRead, otherPartyReads, memberTells, unverified} {
			if slices.Contains(list, untrue) {
				t.Errorf("%s: %q is not so with noise", role, untrue)
			}
		}
	}
	few := s.noiseWarnings(d)
	if len(few) != 1 || !strings.Contains(few[0], "500 training rows are") {
		t.Errorf("no warning of few rows: %v", few)
	}
	shown, err := present(s.Job, &method.Result{HeldOut: 120, Details: d})
	if err != nil || len(shown.More) != 3 || shown.More[2].Label != "Privacy" || !strings.HasPrefix(shown.Learner, "ridge-classifier, alpha = ") || !strings.HasSuffix(shown.Learner, " (from the noise)") || shown.Within != 0 ||
		len(shown.Notes) != 1 || !strings.HasPrefix(shown.Notes[0], "Together, the noise gives accuracy a standard error of 0.") {
		t.Errorf("%+v, %v", shown, err)
	}
}

// A regression with privacy cuts numbers to their range, also those of held-out rows, and refuses none.
func TestPrivateRegression(t *testing.T) {
	j := read(t, `apiVersion: mercer/v1
kind: Job
metadata: {name: waves}
spec:
  data: {source: waves, label: y, features: 2, partition: {parties: [north, south]}, test: {source: other}, scale: none}
  protocol: {name: sealed, targets: [-1, 1], features: 20, privacy: {epsilon: 50, delta: 1.0e-5}}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: ridge}
`)
	waves := func(n int) *dataset.Set {
		x := linalg.New[float64](n, 2)
		s := &dataset.Set{Name: "waves", X: dataset.NewDense(x)}
		for i := range n {
			x.Row(i)[0], x.Row(i)[1] = math.Mod(float64(i)*.37, 4)-2, math.Mod(float64(i)*.73, 4)-2
			s.Labels = append(s.Labels, fmt.Sprint(3*math.Sin(x.Row(i)[0])))
		}
		return s
	}
	f := federate(t, j, map[string]method.Table{"north": {Set: waves(2000), HeldOut: waves(400)}, "south": {Set: waves(2500), HeldOut: waves(400)}})
	f.Finish(t)
	m := f.Result(t).Metrics
	if m["rmse"] > .4 || m["r2"] < .7 {
		t.Errorf("%v", m)
	}
}

// With kernel linear the model has the columns of bounded rows and a constant, and a party predicts with it.
func TestPrivateLinear(t *testing.T) {
	j := read(t, `apiVersion: mercer/v1
kind: Job
metadata: {name: planes}
spec:
  data: {source: planes, label: label, features: 3, partition: {parties: [north, south]}, test: {source: other}, scale: none}
  protocol: {name: sealed, classes: [ill, well], privacy: {epsilon: 20, delta: 1.0e-5, bound: 2}}
  kernel: {name: linear}
  learner: {name: ridge-classifier}
`)
	planes := func(n int) *dataset.Set {
		x := linalg.New[float64](n, 3)
		s := &dataset.Set{Name: "planes", X: dataset.NewDense(x)}
		for i := range n {
			to := x.Row(i)
			to[0], to[1], to[2] = math.Mod(float64(i)*.37, 2)-1, math.Mod(float64(i)*.73, 2)-1, float64(i%3)
			label := "well"
			if to[0]+2*to[1] > .2 {
				label = "ill"
			}
			s.Labels = append(s.Labels, label)
		}
		return s
	}
	f := federate(t, j, map[string]method.Table{"north": {Set: planes(2000), HeldOut: planes(400)}, "south": {Set: planes(2500), HeldOut: planes(400)}})
	f.Finish(t)
	r := f.Result(t)
	if a := r.Metrics["accuracy"]; a < .85 || r.Details.(*Details).Sealed.Features != 4 {
		t.Errorf("accuracy %v, %+v", a, r.Details.(*Details).Sealed)
	}
	problem, err := f.Server.public().problem(j)
	if err != nil {
		t.Fatal(err)
	}
	own, err := f.Parties["north"].sums(problem)
	if err != nil {
		t.Fatal(err)
	}
	if constant, want := float64(own.Outer[len(own.Outer)-1]), .1*2000*problem.RowScale()*problem.RowScale()*math.Ldexp(1, 2*problem.CellBits()); math.Abs(constant-want) > 1e-3*want {
		t.Errorf("the constant's squares add up to %v, want %v", constant, want)
	}
	k, err := f.Parties["south"].retainedState(method.Closing{})
	if err != nil {
		t.Fatal(err)
	}
	set, right := planes(300), 0
	found, err := randommodel.Open(k).Predict(set)
	if err != nil {
		t.Fatal(err)
	}
	for i, label := range set.Labels {
		if found.Predicted[i] == label {
			right++
		}
	}
	if right < 255 {
		t.Errorf("%d of 300 predictions are right", right)
	}
	want := f.Parties["north"].solution.Decisions(feature.Linear{Inputs: 3, Bound: 2}, dataset.DenseOf(set.X).Matrix())
	if d := near(found.Decisions, want); d > 1e-12 {
		t.Errorf("the kept model decides otherwise, by %v", d)
	}
	plain := Ordinary(j)
	if plain.Data.Private || privacyOf(plain).Private() || privacyOf(plain).Bound != 2 || !privacyOf(j).Private() || job.As[*Keys](plain.Protocol).PerRow != defaultPerRow {
		t.Errorf("%+v", plain.Protocol)
	}
}

// A plan warns of rows that are few for the noise, and of a delta that is large for them, before the job runs.
func TestPrivateWarning(t *testing.T) {
	for rows, want := range map[int]string{150: "300 training rows are few", 4_000: "with 8000 training rows this privacy may cost", 100_000: "delta 1e-05 is much for 200000 training rows"} {
		c := methodtest.Instance(privateJob(t, "north, south", "features: 64, ", 4))
		params, err := public{rows: []int{rows, rows}, columns: 64}.params(c)
		if err != nil {
			t.Fatal(err)
		}
		s, err := protocol.NewSession(protocol.Descriptor{Protocol: sealed.Name, Version: sealed.Version, Params: params.Encode(), Purpose: "train",
			Members: append(protocol.Members(protocol.RoleParty, c.Parties...), protocol.Members(protocol.RoleKeeper, c.Coordinator)...)})
		if err != nil {
			t.Fatal(err)
		}
		cost, err := computeCost(c.Job)(method.Sizes{}, s)
		if err != nil || !strings.HasPrefix(cost.Warning, want) || (cost.Warning == "") != (want == "") {
			t.Errorf("%d rows: warning %q, %v; want %q", rows, cost.Warning, err, want)
		}
	}
	c := methodtest.Instance(read(t, strings.Replace(fmt.Sprintf(privateFile, "north, south", "features: 64, ", 4.), "1.0e-5", "1.0e-7", 1)))
	params, err := public{rows: []int{100_000, 100_000}, columns: 64}.params(c)
	if err != nil {
		t.Fatal(err)
	}
	if warning, err := warningOf(c.Job, &protocol.Session{Descriptor: protocol.Descriptor{Params: params.Encode()}}); warning != "" || err != nil {
		t.Errorf("many rows: warning %q, %v", warning, err)
	}
}
