package moments

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol"
)

const noisyFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: noisy}
spec:
  data: {source: digits, label: label, features: 64, partition: {parties: [north, south, east]}, test: {source: other}, scale: none}
  protocol: {name: moments, directions: %d, classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], privacy: {epsilon: %v, delta: 1.0e-5}}
  kernel: {name: rbf, gamma: 0.002}
  learner: {name: ridge-classifier}
`

func noisyJob(t testing.TB, directions int, epsilon float64) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(noisyFile, directions, epsilon))
}

// federateAs makes everybody ready for a job with another ID, and so with other sessions.
func federateAs(t *testing.T, j *job.Job, number byte, tables map[string]method.Table) *federated {
	t.Helper()
	c := methodtest.Instance(j)
	c.ID = job.ID{0xb, number}
	return &federated{methodtest.StatesOf[*server, *party](methodtest.New(t, Protocol(), c, tables))}
}

// exactSums returns the sums over all parties' rows without noise.
func exactSums(t *testing.T, f *federated) *moments.Partial {
	t.Helper()
	var all *moments.Partial
	for _, p := range f.Parties {
		own, err := addUp(objectiveOf(p.Job), p.features, func(use panel) error { return p.Each(false, use) })
		switch {
		case err != nil:
			t.Fatal(err)
		case all == nil:
			all = own
		default:
			if err := all.Merge(own); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
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

// check compares the sum with chi-square's mean, within five standard deviations.
func (s squares) check(t *testing.T, what string) {
	t.Helper()
	n := float64(s.count)
	t.Logf("%s: %.0f for %d numbers", what, s.sum, s.count)
	if math.Abs(s.sum-n) > 5*math.Sqrt(2*n) {
		t.Errorf("%s: the squared noise over its variance adds up to %.0f for %d numbers", what, s.sum, s.count)
	}
}

// What the coordinator opens differs from the exact sums by noise of the variance that the guarantee needs: neither
// more nor, if a party adds none, less.
func TestNoiseEntersTheSums(t *testing.T) {
	j := noisyJob(t, 8, 4)
	tables, _ := deal(t, j, 1)
	for name, table := range tables {
		tables[name] = method.Table{Set: table.Set.Subset(every(0, 30)), HeldOut: table.HeldOut}
	}
	n, err := noiseOf(j, 8)
	if err != nil {
		t.Fatal(err)
	}
	var products, diagonal, cross squares
	for number := range byte(20) {
		f := federateAs(t, j, number, tables)
		f.Until(t, "sums")
		exact := exactSums(t, f).Sums()
		for i := range 8 {
			for k := i; k < 8; k++ {
				of, to := n.Products, &products
				if i == k {
					of, to = n.Squares, &diagonal
				}
				to.add(f.Server.sums.Outer.Row(i)[k]-exact.Outer.Row(i)[k], of.Deviation())
			}
		}
		for k, v := range exact.Cross.Data {
			cross.add(f.Server.sums.Cross.Data[k]-v, n.Cross.Deviation())
		}
	}
	products.check(t, "products of features")
	diagonal.check(t, "squares of features")
	cross.check(t, "products with targets")
	if got, want := n.Squares.Deviation()/n.Products.Deviation(), math.Sqrt2; math.Abs(got-want) > 1e-3 {
		t.Errorf("squares have %v times the noise of products, want %v", got, want)
	}
}

// So does each count of right answers.
func TestNoiseEntersTheErrors(t *testing.T) {
	j := noisyJob(t, 8, 4)
	tables, _ := deal(t, j, 1)
	f := runSteps(t, j, tables)
	n, err := noiseOf(j, 8)
	if err != nil {
		t.Fatal(err)
	}
	session := settle(t, f.Plan[f.Index(t, "errors")].Session, f.Server.public())
	s, err := protocol.NewSession(session.Descriptor(f.ID, 0, [32]byte{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range f.Parties {
		h, err := errorsOf(j, p.features, p.fitted, func(use panel) error { return p.Each(true, use) })
		if err != nil {
			t.Fatal(err)
		}
		var all squares
		for k := range byte(200) {
			setup := methodtest.Setup(s, name).Setup
			setup.Seed[0] ^= k
			v, err := p.errorVector(h, setup)
			if err != nil {
				t.Fatal(err)
			}
			if v[0][0] != 30 || len(v) != 2 || len(v[1]) != 1 {
				t.Fatalf("%s adds %v", name, v)
			}
			all.add(float64(v[1][0]-moments.Thousand*h.Figures[0]), n.heldOut[0].Deviation()/math.Sqrt(3))
		}
		all.check(t, name)
	}
}

// A replay repeats the noise. Another session, another seed and another party have other noise.
func TestNoiseIsRepeatedByAReplay(t *testing.T) {
	j := noisyJob(t, 8, 4)
	tables, _ := deal(t, j, 1)
	sum := func(number byte, change func(*protocol.Setup)) []int64 {
		f := federateAs(t, j, number, tables)
		f.Until(t, "count")
		i := f.Index(t, "sums")
		s, err := protocol.NewSession(settle(t, f.Plan[i].Session, f.Server.public()).Descriptor(f.ID, i, [32]byte{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		setup := methodtest.Setup(s, "north").Setup
		change(&setup)
		own := moments.NewPartial(8, 10)
		if err := f.Parties["north"].blur(own, setup); err != nil {
			t.Fatal(err)
		}
		return own.Outer
	}
	same := func(*protocol.Setup) {}
	first := sum(1, same)
	if again := sum(1, same); !slices.Equal(first, again) {
		t.Error("a replay has other noise")
	}
	if slices.Equal(first, sum(2, same)) {
		t.Error("another session has the same noise")
	}
	if slices.Equal(first, sum(1, func(s *protocol.Setup) { s.Seed[5] ^= 1 })) {
		t.Error("another seed gives the same noise")
	}
}

// Apart from the noise everything is exact: without the parties' noise, the opened sums are the sums over all rows, number
// for number, and the model is the ridge regression of the opened sums with the alpha that follows from the noise.
func TestNoisyModelIsTheRidgeOfTheSums(t *testing.T) {
	j := noisyJob(t, 40, 50)
	tables, _ := deal(t, j, 1)
	f := runSteps(t, j, tables)
	exact, opened := exactSums(t, f), f.Server.sums
	n, err := noiseOf(j, 40)
	if err != nil {
		t.Fatal(err)
	}
	i := f.Index(t, "sums")
	s, err := protocol.NewSession(settle(t, f.Plan[i].Session, public{rows: 600, columns: 64, counted: f.Server.counted.digest}).Descriptor(f.ID, i, [32]byte{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	for name := range f.Parties {
		if err := n.blur(exact, methodtest.Setup(s, name).Setup); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(exact.Sums(), opened); d != "" {
		t.Errorf("without noise the sums differ from those over all rows: %s", d)
	}
	want, err := moments.SolveNoisy(opened, n.Ridge)
	if err != nil {
		t.Fatal(err)
	}
	want = moments.UnitClasses{Count: 10}.Outputs(want)
	if d := cmp.Diff(want, f.Server.fitted.solution); d != "" {
		t.Errorf("the model is another one: %s", d)
	}
	ordinary := runSteps(t, read(t, strings.Replace(fmt.Sprintf(momentsFile, "none"), "[0.01, 1, 100]", fmt.Sprint(n.alphas()[0]), 1)), tables).Result(t).Metrics["accuracy"]
	got := f.Result(t).Metrics["accuracy"]
	t.Logf("accuracy %.3f with alpha %.3g, %.3f without noise", got, n.alphas()[0], ordinary)
	if got < ordinary-.15 {
		t.Errorf("with little noise the accuracy is %.3f, and %.3f without", got, ordinary)
	}
}

// Nobody rounds what has noise, and the accuracy says how much the noise may move it.
func TestNoisyAccuracyHasAStandardError(t *testing.T) {
	j := noisyJob(t, 64, 1)
	tables, _ := deal(t, j, 1)
	f := runSteps(t, j, tables)
	r := f.Result(t)
	d, err := method.DetailsOf[Details](r)
	if err != nil {
		t.Fatal(err)
	}
	rho := privacy.Guarantee{Epsilon: 1, Delta: 1e-5}.Rho()
	want := math.Sqrt(1.5/(2*rho)) / 90 // of three parties' noise two thirds give the guarantee
	if got := d.Privacy.Deviations["accuracy"]; math.Abs(got/want-1) > .02 {
		t.Errorf("the standard error is %v, want %v", got, want)
	}
	if a := r.Metrics["accuracy"]; a < 0 || a > 1 || f.Server.measured != 0 || d.Sums.Membership != nil || d.Sums.Within != 0 {
		t.Errorf("metrics %v, figures %+v", r.Metrics, d.Sums)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "600 training rows are few") {
		t.Errorf("warnings %q", r.Warnings)
	}
	shown, err := present(j, r)
	if err != nil || !strings.HasPrefix(shown.Learner, "ridge-classifier, alpha = ") || !strings.Contains(fmt.Sprint(shown.Later), "epsilon = 1, delta = 1e-05") || !strings.Contains(fmt.Sprint(shown.Notes), "Together, the noise gives accuracy a standard error of ") {
		t.Errorf("shown is %v, %v", shown, err)
	}
	for role, lines := range r.Leakage {
		if all := strings.Join(lines, " "); strings.Contains(all, "ledger blocks") || strings.Contains(all, "An exact sum") {
			t.Errorf("%s: %s", role, all)
		}
	}
}

// Without privacy, linear features have the learner's own alpha, in the unit in which a row's features have length 1, as
// the one that follows from the noise. [moments.Solve] multiplies by half of the number of features.
func TestOrdinaryAlphaOfLinearFeatures(t *testing.T) {
	j := read(t, strings.NewReplacer("directions: %d, ", "", "delta: 1.0e-5", "delta: 1.0e-5, bound: 1", "%v", "4", "rbf, gamma: 0.002", "linear").Replace(noisyFile))
	for _, one := range []*job.Job{Ordinary(j), Ordinary(noisyJob(t, 64, 4))} {
		features := public{columns: 64}.features(one)
		got, err := regularisers(one, features)
		if err != nil || len(got) != 1 || math.Abs(got[0]*float64(features)/2/squaredFeatures(one, features)-1) > 1e-12 {
			t.Errorf("%s: alphas %v of %d features, %v", one.Kernel.Name, got, features, err)
		}
	}
}

// A release of a job with privacy has its cost, and is the same for the sums and the errors.
func TestNoiseIsReleasedOnce(t *testing.T) {
	j := noisyJob(t, 8, 4)
	tables, _ := deal(t, j, 1)
	f := federate(t, j, tables)
	want := privacy.Guarantee{Epsilon: 4, Delta: 1e-5}.Rho()
	for _, step := range []string{"count", "sums", "errors"} {
		list := f.Releases(t, "north", step)
		if r := list[0]; r.Kind != method.ReleaseNoise || r.Rho != want || r.Epsilon != 4 || r.Delta != 1e-5 || r.Among != nil || r.Numbers != 0 {
			t.Errorf("%s releases %+v", step, r)
		}
	}
}

const personFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: persons}
spec:
  data:
    source: small
    label: label
    partition: {parties: [north, south, east]}
    test: {fraction: 0.25}
    schema:
      age: {range: [0, 120], outside: clip, missing: 40}
      krea: {range: [1, 400], outside: clip, missing: 90, transform: log}
      bmi: {range: [10, 60], outside: missing, missing: 25, indicator: true}
      hiv: {type: boolean, missing: "no"}
      smoker: {type: category, categories: [never, often], unknown: other, missing: category}
    scale: range
  protocol: {name: moments, directions: 16, classes: [a, b]%s}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: ridge-classifier}
`

const ofPersons = ", privacy: {epsilon: 4, delta: 1.0e-6}"

// person is a line of a table with the id of a row in training.
func person(cells string) string { return "north-one," + cells }

// rareClass returns a table of 150 people, of whom the given number have class b.
func rareClass(t *testing.T, rare int, more string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(methodtest.Patients("north", 400)), "\n")
	for i := range lines {
		if i > 0 {
			lines[i] = lines[i][:len(lines[i])-1] + "a"
		}
	}
	for k := range rare {
		lines = append(lines, fmt.Sprintf("north-b%d,50,100,20000,25,no,never,b", k))
	}
	return strings.Join(append(lines, more), "\n") + "\n"
}

// seen holds all that others see of a party's run: the sizes of all messages in order, and everything public.
type seen struct {
	Messages []string
	Public   public
	Leakage  map[string][]string
	Warnings []string
	Refusal  string
}

// watch runs a job in which north has the given table.
func watch(t *testing.T, j *job.Job, north string) seen {
	t.Helper()
	c := methodtest.Instance(j)
	c.Limits = method.DefaultLimits()
	tables := make(map[string]method.Table)
	for name, text := range map[string]string{"north": north, "south": methodtest.Patients("south", 400), "east": methodtest.Patients("east", 400)} {
		tables[name] = methodtest.Hospital(t, j, name, text, "patient")
	}
	var w seen
	for name, table := range tables {
		if _, err := Protocol().Party(c, name, table); err != nil {
			return seen{Refusal: err.Error()}
		}
	}
	f := methodtest.StatesOf[*server, *party](methodtest.New(t, Protocol(), c, tables))
	f.Observe = func(step string, m protocol.Message) {
		w.Messages = append(w.Messages, fmt.Sprintf("%s %s %s %s %d", step, m.Kind, m.Sender, m.Receiver, len(m.Body)))
	}
	f.Finish(t)
	r := f.Result(t)
	w.Public, w.Leakage, w.Warnings = f.Server.public(), r.Leakage, r.Warnings
	w.Public.solution = [32]byte{} // it follows from the sums with noise
	return w
}

// Whoever looks at a job with privacy cannot tell by refusals, sizes or public numbers which of two tables a party
// has that differ in one person. Without privacy the party's rules answer some of these questions.
func TestOnePersonChangesNothingButNoise(t *testing.T) {
	j := read(t, fmt.Sprintf(personFile, ofPersons))
	usual := watch(t, j, rareClass(t, 9, person("50,100,20000,25,no,never,a")))
	if usual.Refusal != "" || len(usual.Messages) == 0 {
		t.Fatalf("refused: %s", usual.Refusal)
	}
	for what, cells := range map[string]string{
		"the tenth of a class":    "50,100,20000,25,no,never,b",
		"extreme numbers":         "1e300,1e-300,20000,-1e308,no,never,a",
		"the only one with a yes": "50,100,20000,25,yes,never,a",
		"gaps":                    ",,20000,,,,a",
		"a word of their own":     "50,100,20000,25,no,sometimes,a",
	} {
		got := watch(t, j, rareClass(t, 9, person(cells)))
		if d := cmp.Diff(usual, got, cmp.AllowUnexported(public{})); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	without := read(t, fmt.Sprintf(personFile, ""))
	nine, forty := watch(t, without, rareClass(t, 9, person("50,100,20000,25,no,never,a"))), watch(t, without, rareClass(t, 40, person("50,100,20000,25,no,never,a")))
	if (nine.Refusal == "") == (forty.Refusal == "") {
		t.Errorf("without privacy the floors refuse %q and %q", nine.Refusal, forty.Refusal)
	}
}

// The prepared rows of the others do not depend on one person either: not even if this person is the tenth with a value.
func TestOnePersonChangesNoOtherRow(t *testing.T) {
	j := read(t, fmt.Sprintf(personFile, ofPersons))
	rows := func(rare int, cells string) [][]float64 {
		var same []string
		for k := range rare {
			same = append(same, fmt.Sprintf("north-h%d,50,100,20000,25,yes,often,a", k))
		}
		p := partyOf(t, j, "north", methodtest.Hospital(t, j, "north", rareClass(t, 9, strings.Join(append(same, person(cells)), "\n")), "patient"))
		x, err := p.Common()
		if err != nil {
			t.Fatal(err)
		}
		n, width := x.Shape()
		all := make([][]float64, n-1) // without the last
		for i := range all {
			all[i] = make([]float64, width)
			x.ReadRow(i, all[i])
		}
		return all
	}
	for rare := range 18 { // about three quarters of them train
		usual := rows(rare, "50,100,20000,25,no,never,a")
		for _, cells := range []string{"1e300,1e-300,20000,-1e308,no,never,a", "50,100,20000,25,yes,sometimes,b", ",,20000,,,,a"} {
			if d := cmp.Diff(usual, rows(rare, cells)); d != "" {
				t.Errorf("%d others with a yes, %s: %s", rare, cells, d)
			}
		}
	}
}

// Numbers to predict have noise, too: their sums follow from the definition, and the range's ends cut them.
func TestNoisyNumbers(t *testing.T) {
	text := strings.NewReplacer(`classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]`, "targets: [1, 8]", "ridge-classifier", "ridge").Replace(fmt.Sprintf(noisyFile, 40, 100.))
	j := read(t, text)
	tables, _ := deal(t, j, 1) // the labels 0 and 9 are outside the range
	f := runSteps(t, j, tables)
	r := f.Result(t)
	t.Log(r.Metrics, slices.Sorted(maps.Keys(r.Metrics)), r.Details)
	d, err := method.DetailsOf[Details](r)
	if err != nil {
		t.Fatal(err)
	}
	if off := d.Privacy.Deviations["rmse"]; !(off > 0) || r.Metrics["rmse"] > 2.5 || r.Metrics["rmse"] < 1 {
		t.Errorf("metrics %v, standard error of rmse %v", r.Metrics, off)
	}
	n, err := noiseOf(j, 40)
	if err != nil {
		t.Fatal(err)
	}
	total := privacy.Guarantee{Epsilon: 100, Delta: 1e-5}.Rho()
	for i, most := range []float64{1 << 24, 1 << 24, 4 << 24} {
		share := []float64{.25, .25, .5}[i]
		want := most * math.Sqrt(1.5/(2*share*total))
		if got := n.heldOut[i].Deviation(); math.Abs(got/want-1) > .02 {
			t.Errorf("error sum %d has noise %v, want %v", i, got, want)
		}
	}
}

// The sums have room for each party's noise, far beyond what it will ever be.
func TestSumsHaveRoomForNoise(t *testing.T) {
	j := noisyJob(t, 40, 4)
	n, err := noiseOf(j, 40)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := sumGroups(j, 40, leastRoom)
	if err != nil {
		t.Fatal(err)
	}
	for i, deviation := range []float64{n.Squares.Deviation(), n.Cross.Deviation()} {
		if left := float64(groups[i].Bound - leastRoom*moments.Bound); left < 20*deviation {
			t.Errorf("group %d has room for %v, and the noise has deviation %v", i, left, deviation)
		}
	}
}

// With kernel linear the features are the columns and a constant, shortened to the bound that the ranges or the job state.
func TestNoisyLinearModel(t *testing.T) {
	text := strings.NewReplacer("directions: 40, ", "", "kernel: {name: rbf, gamma: 0.002}", "kernel: {name: linear}", "delta: 1.0e-5", "delta: 1.0e-5, bound: 70").Replace(fmt.Sprintf(noisyFile, 40, 100.))
	j := read(t, text)
	tables, set := deal(t, j, 1)
	f := runSteps(t, j, tables)
	n, err := noiseOf(j, 65)
	if err != nil {
		t.Fatal(err)
	}
	if n.Shape.SquaredFeatures < moments.One*moments.One || float64(n.Shape.SquaredFeatures) > 1.001*moments.One*moments.One {
		t.Errorf("a row's features have a squared length of up to %d units", n.Shape.SquaredFeatures)
	}
	exact, opened := exactSums(t, f).Sums(), f.Server.sums
	var products squares
	for i := range 65 {
		for k := i + 1; k < 65; k++ {
			products.add(opened.Outer.Row(i)[k]-exact.Outer.Row(i)[k], n.Products.Deviation())
		}
	}
	products.check(t, "products of columns")
	if a := f.Result(t).Metrics["accuracy"]; a < .5 {
		t.Errorf("the accuracy is %.3f", a)
	}
	kept, err := f.Parties["north"].retainedState(method.Closing{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Server.writeModel(io.Discard); err != nil {
		t.Error(err)
	}
	held := set.Subset(every(600, 690))
	answer, err := predict(kept, held)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, label := range held.Labels {
		if answer.Predicted[i] == label {
			right++
		}
	}
	if want := float64(f.Server.figures[0]) / moments.Thousand; math.Abs(float64(right)-want) > 5*n.heldOut[0].Deviation()/moments.Thousand+1e-3 {
		t.Errorf("the model is right for %d rows, and %v were counted", right, want)
	}
	ranged := read(t, strings.NewReplacer("directions: 16, ", "", "kernel: {name: rbf, gamma: 0.5}", "kernel: {name: linear}").Replace(fmt.Sprintf(personFile, ofPersons)))
	if bound, err := boundOf(ranged); err != nil || math.Abs(bound-math.Sqrt(6)) > 1e-12 { // five columns and an indicator
		t.Errorf("the ranges give the bound %v, %v", bound, err)
	}
}

// A table of numbers with one that is too large for features is refused without privacy. With privacy the number is cut,
// in memory and in blocks, and nobody else's features change.
func TestExtremeNumbersAreCut(t *testing.T) {
	j := noisyJob(t, 8, 4)
	tables, _ := deal(t, j, 1)
	usual := tables["north"].Set
	x := dataset.DenseOf(usual.X).Matrix()
	wild := linalg.New[float64](x.Rows, x.Cols)
	copy(wild.Data, x.Data)
	wild.Row(3)[5] = -1e300
	odd := *usual
	odd.X = dataset.NewDense(wild)
	table := method.Table{Set: &odd, Key: dataset.SplitKey{1}}
	j.Data.Test = job.Test{Fraction: .25}
	inBlocks, _ := streamed(table, 7)
	features, err := directions(j, protocol.SessionID{1}, 8, 64)
	if err != nil {
		t.Fatal(err)
	}
	for what, one := range map[string]method.Table{"in memory": table, "in blocks": inBlocks} {
		p := partyOf(t, j, "north", one)
		own, err := addUp(objectiveOf(j), features, func(use panel) error { return p.Each(false, use) })
		if err != nil || own.Rows == 0 {
			t.Errorf("%s: %v", what, err)
		}
		sample, err := p.Sample(false, 200)
		if err != nil {
			t.Fatal(err)
		}
		n, width := sample.Shape()
		row, cut := make([]float64, width), 0
		for i := range n {
			sample.ReadRow(i, row)
			if slices.Contains(row, -1<<50) {
				cut++
			}
		}
		held := p.Count(true)
		if cut+held == 0 || cut > 1 || n+held != 200 {
			t.Errorf("%s: %d rows are cut", what, cut)
		}
	}
}
