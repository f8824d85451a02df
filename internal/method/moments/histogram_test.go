package moments

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"gonum.org/v1/gonum/mat"
)

const histogramFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: histogram}
spec:
  data: {source: tumours, label: label, partition: {parties: [north, south, east]}, test: {fraction: 0.4}, scale: minmax}
  protocol: {name: moments, directions: 20, classes: [%s], histogram: true}
  kernel: {name: rbf, gamma: 0.3}
  learner: {name: ridge-classifier, alpha: [0.01, 1]}
`

// exactly returns the truth and the decisions for the class that is later by name of all held-out
// rows, party after party, by the model that a party keeps.
func exactly(t *testing.T, f *federated, positive string) (truth []bool, scores []float64, predicted []string) {
	t.Helper()
	for _, name := range f.Server.Job.Parties() {
		p := f.Parties[name]
		raw := p.Split.Set.Subset(p.Split.Rows(true))
		keepsake, err := p.keep(method.Closing{})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := predict(keepsake, &dataset.Set{Name: "held out", X: raw.X, Columns: raw.Columns})
		if err != nil {
			t.Fatal(err)
		}
		for i, label := range raw.Labels {
			d := answer.Decisions.Row(i)
			truth, predicted = append(truth, label == positive), append(predicted, answer.Predicted[i])
			score := d[1] - d[0]
			if answer.Reading.Classes[0] == positive {
				score = -score
			}
			scores = append(scores, score/2)
		}
	}
	return truth, scores, predicted
}

// The area by the sums is as near to the area of all held-out rows in one place as the result says, and
// the curves' table counts the rows as their predictions do, whatever the order of the classes.
func TestHistogramOfAllParties(t *testing.T) {
	for _, classes := range []string{`"0", "1"`, `"1", "0"`} {
		j := read(t, fmt.Sprintf(histogramFile, classes))
		f := runSteps(t, j, dealAll(t, j, "wdbc"))
		r := f.Result(t)
		truth, scores, predicted := exactly(t, f, "1")
		exact, err := metrics.ROCAUC(truth, scores)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Figures.Curves[0]
		t.Logf("classes %s: area %.5f within %.5f, exact %.5f, %d held out", classes, c.AUC, c.Within, exact, r.HeldOut)
		if off := math.Abs(c.AUC - exact); off > c.Within || c.Within > 0.02 || r.Metrics["auc"] != c.AUC || c.Class != "1" || r.Figures.Positive != "1" {
			t.Errorf("area %v of class %s within %v, exact %v", c.AUC, c.Class, c.Within, exact)
		}
		labels := make([]string, len(truth))
		for i, is := range truth {
			labels[i] = map[bool]string{true: "1", false: "0"}[is]
		}
		want, err := metrics.NewConfusionMatrix(labels, predicted)
		if err != nil {
			t.Fatal(err)
		}
		for k, row := range r.Figures.Confusion.Matrix {
			if !slices.Equal(row, want.Counts[k]) {
				t.Errorf("confusion %v, in one place %v", r.Figures.Confusion.Matrix, want.Counts)
			}
		}
		if b := r.Metrics["balanced_accuracy"]; b != want.BalancedAccuracy() || math.Abs(want.Accuracy()-r.Metrics["accuracy"]) > 1e-3 {
			t.Errorf("balanced accuracy %v, accuracy %v; in one place %v, %v", b, r.Metrics["accuracy"], want.BalancedAccuracy(), want.Accuracy())
		}
		if n := len(c.TPR); n < 10 || c.TPR[n-1] != 1 || c.FPR[n-1] != 1 || r.Figures.Classes != nil || r.Figures.Calibration != nil {
			t.Errorf("figures %+v", r.Figures)
		}
		f.LooksLikeNoise(t, "errors")
	}
}

// Without the key nothing is counted in bins, and nothing that travels is longer for it.
func TestNoHistogramUnlessAsked(t *testing.T) {
	j := read(t, strings.Replace(fmt.Sprintf(histogramFile, `"0", "1"`), ", histogram: true", "", 1))
	f := runSteps(t, j, dealAll(t, j, "wdbc"))
	if r := f.Result(t); r.Figures != nil || r.Metrics["auc"] != 0 || len(errorGroups(j)) != 3 || strings.Contains(fmt.Sprint(r.Leakage), "bins") {
		t.Errorf("%+v", r)
	}
}

// A party with the usual floors asks for ten held-out rows of each class, and says to nobody which
// class has fewer.
func TestHistogramOfAClassWithFewHeldOutRows(t *testing.T) {
	j := read(t, fmt.Sprintf(histogramFile, `"0", "1"`))
	table := dealAll(t, j, "wdbc")["north"]
	for i := range table.Set.Labels { // by which rows are held out, whatever their labels
		table.Set.IDs = append(table.Set.IDs, fmt.Sprint(i))
	}
	if err := withFloors(j, "north", table); err != nil {
		t.Fatalf("with enough rows: %v", err)
	}
	left := 0
	for _, i := range partyOf(t, j, "north", table).Split.Rows(true) {
		if table.Set.Labels[i] == "0" {
			if left++; left > 9 {
				table.Set.Labels[i] = "1"
			}
		}
	}
	err := withFloors(j, "north", table)
	if fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), `9 of class "0"`) {
		t.Errorf("error %v", err)
	}
	if public := fault.NoticeOf(err).Sentence(); strings.ContainsAny(public, "0123456789") {
		t.Errorf("the others are told %q", public)
	}
}

// alone counts the rows that are the only ones of their class in their bin.
func alone(counts []int64) (rows int) {
	for _, n := range counts {
		if math.Round(float64(n)/moments.Thousand) == 1 {
			rows++
		}
	}
	return rows
}

// The server and all parties but one take their own histograms off the sum and have the last one's,
// to the row: nothing hides it but the others. Many of its rows stand alone in their bins then. In
// the sum of all, which the server has without help, fewer do.
func TestAttackHistogramOfOneParty(t *testing.T) {
	j := read(t, fmt.Sprintf(histogramFile, `"0", "1"`))
	f := runSteps(t, j, dealAll(t, j, "wdbc"))
	left := slices.Clone(f.Server.histogram)
	for _, name := range []string{"north", "south"} {
		for k, n := range own(t, f, name) {
			left[k] -= n
		}
	}
	if !slices.Equal(left, own(t, f, "east")) {
		t.Error("what is left is not the last party's histogram")
	}
	rows := len(f.Parties["east"].Split.Rows(true))
	t.Logf("of %d held-out rows of one party %d are alone in a bin; of %d of all %d are", rows, alone(left), f.Server.heldOut, alone(f.Server.histogram))
	if 10*alone(left) < 2*rows {
		t.Errorf("%d of %d rows are alone: want the attack to work, nothing prevents it", alone(left), rows)
	}
	if got := fmt.Sprint(f.Result(t).Leakage["coalition"]); !strings.Contains(got, "learn that one's histogram") {
		t.Error(got)
	}
}

// own returns a party's own histogram.
func own(t *testing.T, f *federated, name string) []int64 {
	t.Helper()
	p := f.Parties[name]
	rows, labels, err := p.rowsThat(true)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := p.histogram(rows, labels)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// A server that tells a question in place of the solution, and puts each person that it knows into
// a bin of their own, reads from one job who of them is held out. Without histograms a job answers
// how many of them are. Nothing prevents it: the job must ask for a histogram, each party's operator
// must allow it, and the ledgers count the jobs.
func TestAttackHistogramAsksAboutMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	for i, label := range set.Labels {
		set.Labels[i] = map[bool]string{true: "even", false: "odd"}[strings.Contains("02468", label)]
	}
	j := read(t, strings.NewReplacer("0.4", "0.3", "directions: 20", "directions: 1024", "minmax", "none", "gamma: 0.3", "gamma: 0.02").Replace(fmt.Sprintf(histogramFile, "even, odd")))
	tables := make(map[string]method.Table)
	for i, name := range j.Parties() {
		tables[name] = method.Table{Set: set.Subset(every(i*500, (i+1)*500)), Key: dataset.SplitKey{byte(i + 1)}}
	}
	f := federate(t, j, tables)
	const people = 10
	var known []suspect // every seventh person, of whom the server knows the row
	var in []bool
	for i := range people {
		p := f.Parties[j.Parties()[i%3]]
		known = append(known, suspect{p.Split.Set.X.Row(7*i, nil), 0})
		in = append(in, p.Split.Test[7*i])
	}
	var asked []int
	for i, st := range f.Plan {
		f.Step(t, i)
		if st.Name == "learn" {
			f.Server.fitted, asked = spreadOut(t, f, known)
			f.Server.body = f.Server.fitted.encode()
		}
	}
	right := 0
	for i, bin := range asked {
		count := f.Server.histogram[bin] + f.Server.histogram[moments.Bins+bin]
		if (count > 0) == in[i] {
			right++
		}
	}
	t.Logf("one job, %d people: %d answers are right; %d are held out", people, right, len(slices.DeleteFunc(in, func(b bool) bool { return !b })))
	if right < people-1 {
		t.Errorf("%d of %d answers are right, want the attack to work: nothing prevents it", right, people)
	}
	if got := fmt.Sprint(f.Result(t).Leakage["server"]); !strings.Contains(got, "asks about each of them at once") {
		t.Error(got)
	}
}

// spreadOut returns a solution that gives each suspect a decision in the middle of a bin of their
// own, and the bins. Everybody else is near 0.
func spreadOut(t *testing.T, f *federated, list []suspect) (*fitted, []int) {
	t.Helper()
	m := f.Server.features()
	features, err := directions(f.Server.Job, f.Server.session, m, 64)
	if err != nil {
		t.Fatal(err)
	}
	phi, decisions := mat.NewDense(len(list), m, nil), mat.NewVecDense(len(list), nil)
	var bins []int
	for i, who := range list {
		row := linalg.New[float64](1, m)
		features.Rows(row, linalg.Matrix[float64]{Rows: 1, Cols: 64, Stride: 64, Data: who.row})
		phi.SetRow(i, row.Data)
		bins = append(bins, moments.Bins-1-3*i)
		decisions.SetVec(i, (float64(bins[i])+0.5)*2*moments.Clip/moments.Bins-moments.Clip)
	}
	var products mat.Dense
	var share mat.VecDense
	products.Mul(phi, phi.T())
	if err := share.SolveVec(&products, decisions); err != nil {
		t.Fatal(err)
	}
	s := moments.Solution{Weights: linalg.New[float64](2, m), Offset: make([]float64, 2)}
	for k := range m {
		s.Weights.Row(1)[k] = 2 * mat.Dot(phi.ColView(k), &share)
	}
	return &fitted{solution: s}, bins
}

// A party that counts other rows than it holds out is found, unless it lies in both.
func TestHistogramOfOtherRows(t *testing.T) {
	sum := make([]int64, 2*moments.Bins)
	sum[3], sum[moments.Bins+70] = 40*moments.Thousand, 60*moments.Thousand
	b := binsOf([]string{"a", "b"}, sum)
	if err := b.check(100); err != nil {
		t.Error(err)
	}
	for _, n := range []int64{0, 50, 99, 101, 200} {
		if err := b.check(n); err == nil || !strings.Contains(err.Error(), "a histogram of 100 held-out rows") {
			t.Errorf("of %d rows: %v", n, err)
		}
	}
}

func TestRefusedHistogramsOfMoments(t *testing.T) {
	j := read(t, fmt.Sprintf(histogramFile, `"0", "1"`))
	if !j.Protocol.Demands().Counts {
		t.Error("the job does not say that it counts")
	}
	for name, text := range map[string]string{
		"three classes": fmt.Sprintf(histogramFile, `a, b, c`),
		"one party":     strings.Replace(fmt.Sprintf(histogramFile, `a, b`), "{fraction: 0.4}", "{party: north}", 1),
	} {
		if _, err := (&job.Reader{Protocols: []job.Protocol{Protocol()}, Learners: learner.Table()}).Parse("job.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "remove histogram") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bins count held-out rows of each class: an edition is clear for them only beside one from which ten or none of a class
// that is held out have come, gone or changed.
func TestBinsWaitBesideFewHeldOut(t *testing.T) {
	for histogram, want := range map[string]string{"": "[first second]", ", histogram: true": "[first]"} {
		j := read(t, strings.Replace(fmt.Sprintf(histogramFile, `"0", "1"`), ", histogram: true", histogram, 1))
		table := dealAll(t, j, "wdbc")["north"]
		table.Edition = method.Edition{ID: "third", Clear: method.Clear{Classes: []string{"first", "second"}, HeldOut: []string{"first"}}}
		list, err := partyOf(t, j, "north", table).release()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(list[0].Edition.Clear.Classes); got != want {
			t.Errorf("protocol with %q is clear beside %s, want %s", histogram, got, want)
		}
	}
}
