package sealed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/randommodel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

const digitsFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: sealed}
spec:
  data: {source: digits, label: label, partition: {parties: [%s]}, test: {source: other}, scale: none}
  protocol: {name: sealed%s, classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]}
  kernel: {name: rbf, gamma: 0.0005}
  learner: {name: ridge-classifier%s}
`

// read reads a job file that has no mistake.
func read(t testing.TB, text string) *job.Job {
	t.Helper()
	return methodtest.Read(t, Protocol(), text)
}

func digitsJob(t testing.TB, parties, keys string) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(digitsFile, parties, keys, ""))
}

// deal deals digits to the job's parties: training rows and 60 held-out rows each.
func deal(t *testing.T, j *job.Job, training int) map[string]method.Table {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	order, tables, at := rand.New(rand.NewPCG(1, 2)).Perm(set.X.Rows()), make(map[string]method.Table), 0
	take := func(n int) *dataset.Set {
		at += n
		return set.Subset(order[at-n : at])
	}
	for _, name := range j.Parties() {
		tables[name] = method.Table{Set: take(training), HeldOut: take(60)}
	}
	return tables
}

type federated struct {
	*methodtest.Typed[*server, *party]
}

func federate(t *testing.T, j *job.Job, tables map[string]method.Table) *federated {
	t.Helper()
	return &federated{methodtest.Join[*server, *party](t, Protocol(), j, tables)}
}

// plain is the solution of a job whose parties' sums one process adds up, with the job's directions.
func (f *federated) plain(t *testing.T) moments.Solution {
	t.Helper()
	problem, err := f.Server.public().problem(f.Job)
	if err != nil {
		t.Fatal(err)
	}
	var outer, cross []int64
	for _, p := range f.Parties {
		own, err := p.sums(problem)
		if err != nil {
			t.Fatal(err)
		}
		outer, cross = added(outer, own.Outer), added(cross, own.Cross)
	}
	w, err := sealed.SolvePlain(problem, outer, cross)
	if err != nil {
		t.Fatal(err)
	}
	return solutionOf(f.Job, problem, w)
}

func added(to, more []int64) []int64 {
	if to == nil {
		return slices.Clone(more)
	}
	for i, v := range more {
		to[i] += v
	}
	return to
}

func near(a, b linalg.Matrix[float64]) float64 {
	worst := 0.
	for k, v := range a.Data {
		worst = max(worst, math.Abs(v-b.Data[k]))
	}
	return worst
}

// All parties get the model of all rows, and nobody sends the coordinator anything that depends on a row but the
// declarations and the masked figures.
func TestThreeHospitals(t *testing.T) {
	j := digitsJob(t, "north, south, east", ", features: 64")
	f := federate(t, j, deal(t, j, 300))
	f.Finish(t)
	want := f.plain(t)
	for name, p := range f.Parties {
		if d := near(p.solution.Weights, want.Weights); d > 1e-3 || !slices.Equal(p.solution.Weights.Data, f.Parties["north"].solution.Weights.Data) {
			t.Errorf("%s has a model that differs by %v from that of all rows", name, d)
		}
	}
	if len(f.Sent["sealed"]) > 0 {
		t.Error("the coordinator is no keeper, and is sent messages of the computation")
	}
	f.LooksLikeNoise(t, "errors")
	if f.Server.figures[0]%(moments.Five*moments.Thousand) != 0 {
		t.Errorf("parties tell %d thousandths of a right answer, not fives", f.Server.figures[0])
	}
	r := f.Result(t)
	if r.Metrics["accuracy"] < .9 || r.Training != 900 || r.HeldOut != 180 {
		t.Errorf("%+v, %d and %d rows", r.Metrics, r.Training, r.HeldOut)
	}
	d := r.Details.(*Details).Sealed
	if d.Numbers != 640 || d.Most != 14400 || math.Abs(d.Alpha-.09) > 1e-4 || !slices.Equal(d.Keepers, []string{"north", "south", "east"}) {
		t.Errorf("%+v", d)
	}
}

// Of two parties the coordinator is the third keeper. It sees shares, and no model.
func TestTwoHospitals(t *testing.T) {
	j := digitsJob(t, "north, south", ", features: 32")
	f := federate(t, j, deal(t, j, 200))
	f.Finish(t)
	if d := near(f.Parties["south"].solution.Weights, f.plain(t).Weights); d > 1e-3 {
		t.Errorf("the model differs by %v", d)
	}
	lines := f.Result(t).Leakage
	if len(f.Sent["sealed"]) == 0 || !strings.Contains(strings.Join(lines["server"], " "), "It is a keeper, too") || !slices.Contains(lines["party"], otherPartyReads) {
		t.Errorf("%d messages; %v", len(f.Sent["sealed"]), lines)
	}
}

// A party that is no keeper waits for the whole computation. Keepers hear of each other's steps, and wait one round.
func TestTimers(t *testing.T) {
	j := digitsJob(t, "north, south, east, west", "")
	plan, err := Protocol().Plan(methodtest.Instance(j))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range plan {
		for timer, slow := range map[protocol.Timer]bool{sealed.TimerUpload: false, sealed.TimerKeeper: false, sealed.TimerWeights: true} {
			if step.Name == "sealed" && (step.Session.Timeout(timer, j.Timeout.Round) > j.Timeout.Round) != slow {
				t.Errorf("%s: slow %v, want %v", timer, !slow, slow)
			}
		}
	}
}

// Each job draws its own directions, whatever seed it states.
func TestDirectionsAreNew(t *testing.T) {
	j := digitsJob(t, "north, south, east", ", features: 32")
	tables := deal(t, j, 100)
	var drawn [][32]byte
	for id := range byte(2) {
		c := methodtest.Instance(j)
		c.ID = job.ID{9, id}
		f := methodtest.StatesOf[*server, *party](methodtest.New(t, Protocol(), c, tables))
		f.Until(t, "draw")
		if f.Server.drawn == [32]byte{} || f.Server.drawn != f.Parties["east"].drawn {
			t.Error("members disagree about the directions")
		}
		drawn = append(drawn, f.Server.drawn)
	}
	if drawn[0] == drawn[1] {
		t.Error("two jobs have the same directions")
	}
}

// A party that has seen other directions or declarations than the others derives another session, and none runs.
func TestMembersWithOtherDirections(t *testing.T) {
	j := digitsJob(t, "north, south, east", ", features: 32")
	f := federate(t, j, deal(t, j, 100))
	f.Until(t, "count")
	f.Parties["south"].declared.digest[0] ^= 1
	if err := f.Try(t.Context(), f.Index(t, "draw"), func() {}); err == nil || !strings.Contains(err.Error(), "south derives a session with another ID") {
		t.Errorf("other declarations: %v", err)
	}
	f.Parties["south"].declared.digest[0] ^= 1
	f.Step(t, f.Index(t, "draw"))
	for _, step := range []string{"sealed", "errors"} {
		f.Parties["east"].drawn[0] ^= 1
		if err := f.Try(t.Context(), f.Index(t, step), func() {}); err == nil || !strings.Contains(err.Error(), "east derives a session with another ID") {
			t.Errorf("other directions at %s: %v", step, err)
		}
		f.Parties["east"].drawn[0] ^= 1
		f.Step(t, f.Index(t, step))
	}
}

// A party predicts with the state that it keeps as it did in the job.
func TestPartiesPredict(t *testing.T) {
	j := digitsJob(t, "north, south, east", ", features: 64")
	tables := deal(t, j, 200)
	f := federate(t, j, tables)
	f.Finish(t)
	k, err := f.Parties["east"].retainedState(method.Closing{})
	if err != nil || k.Method != "sealed" || !Protocol().Answers() {
		t.Fatalf("%+v, %v", k, err)
	}
	set := tables["north"].HeldOut
	found, err := randommodel.Open(k).Predict(set)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, label := range set.Labels {
		if found.Predicted[i] == label {
			right++
		}
	}
	if right < 50 {
		t.Errorf("%d of 60 held-out digits are right", right)
	}
}

// Of two classes the weights have one column, and the model has both outputs.
func TestTwoClasses(t *testing.T) {
	two := classes{"ill", "well"}
	y, err := two.values([]string{"well", "ill"})
	if err != nil || two.columns() != 1 || !slices.Equal(y.Data, []float64{1, -1}) {
		t.Errorf("%v, %v", y, err)
	}
	s := two.solution(linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{.5, -2}})
	if !slices.Equal(s.Weights.Data, []float64{-.5, 2, .5, -2}) || len(s.Offset) != 2 {
		t.Errorf("%+v", s)
	}
	three := classes{"a", "b", "c"}
	if y, err = three.values([]string{"c", "a"}); err != nil || !slices.Equal(y.Data, []float64{0, 1, 0, 0, 1, 0}) {
		t.Errorf("%v, %v", y, err)
	}
}

// The regression of numbers is that of a ridge on their distance to the middle of the range.
func TestNumbers(t *testing.T) {
	n := numbers(moments.Range{Least: 10, Greatest: 30})
	y, err := n.values([]string{"10", "20", "25"})
	if err != nil || !slices.Equal(y.Data, []float64{-1, 0, .5}) {
		t.Errorf("%v, %v", y, err)
	}
	s := n.solution(linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{.25}})
	if s.Weights.Data[0] != 2.5 || s.Offset[0] != 20 {
		t.Errorf("%+v", s)
	}
}

const wavesFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: waves}
spec:
  data: {source: waves, label: y, partition: {parties: [north, south]}, test: {source: other}, scale: none}
  protocol: {name: sealed, targets: [-3, 3], features: 100}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: %s}
`

// waves deals rows of a smooth function to two parties.
func waves() map[string]method.Table {
	r := rand.New(rand.NewPCG(3, 4))
	rows := func(n int) *dataset.Set {
		x := linalg.New[float64](n, 2)
		s := &dataset.Set{Name: "waves", X: dataset.NewDense(x)}
		for i := range n {
			x.Row(i)[0], x.Row(i)[1] = 4*r.Float64()-2, 4*r.Float64()-2
			s.Labels = append(s.Labels, fmt.Sprint(math.Sin(2*x.Row(i)[0])+math.Cos(x.Row(i)[1])))
		}
		return s
	}
	return map[string]method.Table{"north": {Set: rows(300), HeldOut: rows(60)}, "south": {Set: rows(250), HeldOut: rows(60)}}
}

// A regression of two parties: what their rows say of a smooth function.
func TestRegression(t *testing.T) {
	j := read(t, fmt.Sprintf(wavesFile, "ridge, alpha: 0.1"))
	f := federate(t, j, waves())
	f.Finish(t)
	m := f.Result(t).Metrics
	if m["rmse"] > .2 || m["r2"] < .95 || f.Parties["north"].solution.Alpha < .1 || f.Parties["north"].solution.Alpha > .1001 {
		t.Errorf("%v, alpha %v", m, f.Parties["north"].solution.Alpha)
	}
}

// Nothing is said to stay hidden that a sentence of the statement contradicts.
func TestStatement(t *testing.T) {
	s := &server{Instance: methodtest.Instance(digitsJob(t, "north, south, east", ", features: 32"))}
	s.declared.list = []declaration{{rows: 300, columns: 64}, {rows: 200, columns: 64}, {rows: 250, columns: 64}}
	d, err := s.details()
	if err != nil {
		t.Fatal(err)
	}
	lines := s.leakage(d.Sealed)
	for role, e := range s.exposures() {
		if !slices.Contains(lines[role], e.Why) {
			t.Errorf("%s: the statement does not say %q", role, e.Why)
		}
	}
	const want = "Unless two of the three keepers (north, south, east) put their pieces together, nobody, the coordinator included, sees anything of a party's training rows but the finished model, 80 blurred sums of its check, and how many rows each party has."
	if lines["server"][0] != want || !strings.Contains(strings.Join(lines["party"], " "), "north 300, south 200, east 250, of 64 prepared columns") {
		t.Errorf("%v", lines)
	}
	for role := range lines {
		if !slices.Contains(method.Roles(), role) {
			t.Errorf("no reader is shown what role %s learns", role)
		}
	}
	if all := strings.Join(lines["party"], " "); !strings.Contains(all, "no more numbers (320) than there are training rows (750)") || !strings.Contains(jointTells(751, 750), "exactly who did") {
		t.Error(all)
	}
	if e := s.exposures()["coalition"]; e.Reach != protocol.ReachPart {
		t.Errorf("two keepers: %+v", e)
	}
}

// The result page names the model's numbers and the settings that the rows determined.
func TestPresent(t *testing.T) {
	j := digitsJob(t, "north, south, east", "")
	r := &method.Result{HeldOut: 180, Details: &Details{Sealed: &Figures{Keepers: []string{"a", "b", "c"}, Features: 450, Targets: 10, Numbers: 4500, Most: 14400, Alpha: .09, Steps: 592, Within: .066}}}
	shown, err := present(j, r)
	if err != nil || len(shown.More) != 3 || shown.Within != .066 || shown.Settings != ", features = 450" || shown.Learner != "ridge-classifier, alpha = 0.09 (for all rows)" {
		t.Fatalf("%+v, %v", shown, err)
	}
	if want := []string{"Held-out rows: 180, which each party counts in fives: the accuracy is off by at most 0.0660."}; !slices.Equal(shown.Notes, want) {
		t.Errorf("notes %q, want %q", shown.Notes, want)
	}
	if want := "4500 numbers (450 random features, drawn anew in each job, by 10 targets) of at most 14400; alpha 0.09, by a polynomial of degree 592"; shown.More[0].Value != want {
		t.Error(shown.More[0].Value)
	}
	if shown, err = present(j, &method.Result{}); shown != nil || err != nil {
		t.Errorf("no details: %v, %v", shown, err)
	}
}
