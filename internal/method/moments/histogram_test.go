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
	"pgregory.net/rapid"
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
		retained, err := p.retainedState(method.Closing{})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := predict(retained, &dataset.Set{Name: "held out", X: raw.X, Columns: raw.Columns})
		if err != nil {
			t.Fatal(err)
		}
		for i, label := range raw.Labels {
			d := answer.Decisions.Row(i)
			truth, predicted = append(truth, label == positive), append(predicted, answer.Predicted[i])
			score := d[1] - d[0]
			if answer.Output.Classes[0] == positive {
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
	for _, classes := range []string{"even, odd", "odd, even"} {
		j := read(t, strings.NewReplacer("directions: 20", "directions: 64", "gamma: 0.3", "gamma: 0.02").Replace(fmt.Sprintf(histogramFile, classes)))
		tables := dealAll(t, j, "digits")
		for _, table := range tables {
			nameParity(table.Set)
		}
		f := runSteps(t, j, tables)
		r := f.Result(t)
		truth, scores, predicted := exactly(t, f, "odd")
		exact, err := metrics.ROCAUC(truth, scores)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Figures.Curves[0]
		t.Logf("classes %s: area %.5f within %.5f, exact %.5f, %d held out", classes, c.AUC, c.Within, exact, r.HeldOut)
		if off := math.Abs(c.AUC - exact); off > c.Within || off > 0.02 || c.Within > maxAreaError || r.Metrics["auc"] != c.AUC || c.Class != "odd" || r.Figures.Positive != "odd" {
			t.Errorf("area %v of class %s within %v, exact %v", c.AUC, c.Class, c.Within, exact)
		}
		labels := make([]string, len(truth))
		for i, is := range truth {
			labels[i] = map[bool]string{true: "odd", false: "even"}[is]
		}
		want, err := metrics.NewConfusionMatrix(labels, predicted)
		if err != nil {
			t.Fatal(err)
		}
		off := moments.RoundedOff(3, float64(r.HeldOut))
		for k, row := range r.Figures.Confusion.Matrix {
			for c, n := range row {
				if d := math.Abs(float64(n - want.Counts[k][c])); d > off || n%moments.Five != 0 {
					t.Errorf("confusion %v, in one place %v", r.Figures.Confusion.Matrix, want.Counts)
				}
			}
		}
		if b := r.Metrics["balanced_accuracy"]; math.Abs(b-want.BalancedAccuracy()) > 0.05 || math.Abs(want.Accuracy()-r.Metrics["accuracy"]) > off/float64(r.HeldOut) {
			t.Errorf("balanced accuracy %v, accuracy %v; in one place %v, %v", b, r.Metrics["accuracy"], want.BalancedAccuracy(), want.Accuracy())
		}
		if n := len(c.TPR); n < 10 || c.TPR[n-1] != 1 || c.FPR[n-1] != 1 || r.Figures.Classes != nil || r.Figures.Calibration != nil {
			t.Errorf("figures %+v", r.Figures)
		}
		f.LooksLikeNoise(t, "errors")
	}
}

// No counts of parties move the area by more than the bound on their rounding.
func TestRoundingOfAnArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const wide = 8
		parties := rapid.IntRange(1, 4).Draw(t, "parties")
		most := rapid.SampledFrom([]int{3, 40, 400}).Draw(t, "most")
		var exact, told [2][]float64
		for c := range exact {
			exact[c], told[c] = make([]float64, wide), make([]float64, wide)
		}
		for range parties {
			counts, n := [2][]int{}, 0
			for c := range counts {
				counts[c] = rapid.SliceOfN(rapid.IntRange(0, most), wide, wide).Draw(t, "counts")
				for _, v := range counts[c] {
					n += v
				}
			}
			for c := range counts {
				for i, v := range moments.RoundCounts(counts[c], n) {
					exact[c][i] += float64(counts[c][i])
					told[c][i] += float64(v) / moments.Thousand
				}
			}
		}
		want, _, both := metrics.Histogram{Positive: exact[1], Negative: exact[0]}.AUC()
		got, _, still := metrics.Histogram{Positive: told[1], Negative: told[0]}.AUC()
		if b := (bins{counts: told}); both && still && math.Abs(got-want) > b.maxAreaChange(got, parties)+1e-12 {
			t.Fatalf("area %v, told %v within %v", want, got, b.maxAreaChange(got, parties))
		}
	})
}

// With few rows the rounding hides the area: the result has none and says why.
func TestHistogramOfFewRows(t *testing.T) {
	j := read(t, fmt.Sprintf(histogramFile, `"0", "1"`))
	r := runSteps(t, j, dealAll(t, j, "wdbc")).Result(t)
	if r.Figures != nil || r.Metrics["auc"] != 0 {
		t.Errorf("%+v, %v", r.Figures, r.Metrics)
	}
	p, err := present(nil, r) // without a job file
	if err != nil || len(p.Later) == 0 || p.Later[0].Line != "206 held-out decisions in 100 bins are too few for figures: parties count in fives, which could move the area under the ROC curve by more than 0.1" {
		t.Errorf("%+v, %v", p, err)
	}
}

// Without the key nothing is counted in bins, and nothing that travels is longer for it.
func TestNoHistogramUnlessAsked(t *testing.T) {
	j := read(t, strings.Replace(fmt.Sprintf(histogramFile, `"0", "1"`), ", histogram: true", "", 1))
	f := runSteps(t, j, dealAll(t, j, "wdbc"))
	groups, err := errorGroups(j, 8, leastRoom)
	if err != nil {
		t.Fatal(err)
	}
	if r := f.Result(t); r.Figures != nil || r.Metrics["auc"] != 0 || len(groups) != 3 || strings.Contains(fmt.Sprint(r.Leakage), "bins") {
		t.Errorf("%+v", r)
	}
}

// A party with the usual limits requires ten held-out rows of each class, and reveals to nobody
// which class has fewer.
func TestHistogramOfAClassWithFewHeldOutRows(t *testing.T) {
	j := read(t, fmt.Sprintf(histogramFile, `"0", "1"`))
	table := dealAll(t, j, "wdbc")["north"]
	for i := range table.Set.Labels { // by which rows are held out, whatever their labels
		table.Set.IDs = append(table.Set.IDs, fmt.Sprint(i))
	}
	if err := withLimits(j, "north", table); err != nil {
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
	err := withLimits(j, "north", table)
	if fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), `9 of class "0"`) {
		t.Errorf("error %v", err)
	}
	if public := fault.NoticeOf(err).Sentence(); strings.ContainsAny(public, "0123456789") {
		t.Errorf("the others are told %q", public)
	}
}

// The server and all parties but one take their own histograms off the sum and have the last one's:
// nothing hides it but the others. It counts in whole fives, so that no row stands alone in a bin.
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
	for bin, n := range left {
		if n%(moments.Five*moments.Thousand) != 0 {
			t.Errorf("bin %d is told as %d thousandths of a row, which are no fives", bin, n)
		}
	}
	if got := fmt.Sprint(f.Result(t).Leakage["coalition"]); !strings.Contains(got, "learn the remaining party's histogram") {
		t.Error(got)
	}
}

// own returns a party's own histogram.
func own(t *testing.T, f *federated, name string) []int64 {
	t.Helper()
	p := f.Parties[name]
	e, err := errorsOf(p.Job, p.features, p.fitted, func(use panel) error { return p.Each(true, use) })
	if err != nil {
		t.Fatal(err)
	}
	return e.vector(objectiveOf(p.Job), nil)[3]
}

// A server that sends a forged solution, which puts each person that it knows into a bin of their
// own, reads nothing about them, because parties count in fives.
func TestAttackHistogramAsksAboutMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := evenDigits(t)
	var public []suspect // every seventh person, of whom the server knows the row
	held := 0
	for i := range 10 {
		p := f.Parties[f.Server.Parties[i%3]]
		public = append(public, suspect{p.Split.Set.X.Row(7*i, nil), 0})
		if p.Split.Test[7*i] {
			held++
		}
	}
	for _, bin := range f.ask(t, public, func(i int) int { return 3 * i }) {
		if f.Server.histogram[bin]+f.Server.histogram[moments.Bins+bin] != 0 {
			t.Errorf("somebody in bin %d is seen", bin)
		}
	}
	if held == 0 {
		t.Error("nobody of them is held out")
	}
	if got := fmt.Sprint(f.Result(t).Leakage["server"]); !strings.Contains(got, "tests each of them at once") {
		t.Error(got)
	}
}

// A server that also knows five people held out by the same party, for each person that it tests,
// learns from them where the rounding jumps: one job tests all. Nothing prevents it: the job must
// request a histogram, each party's operator must allow it, and the ledgers count the jobs.
func TestAttackHistogramAsksWithKnownPeople(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := evenDigits(t)
	const people = 5
	names := f.Server.Parties
	var public []suspect // each who is asked about, and then five who are known to be held out
	var in []bool
	next := make(map[string]int)
	take := func(name string, which func(held bool) bool) suspect {
		s := f.Parties[name].Split
		common, err := f.Parties[name].Common()
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, 64)
		for {
			i := next[name]
			next[name]++
			common.ReadRow(i, row)
			if s.Set.Labels[i] == "even" && which(s.Test[i]) && slices.Equal(row, s.Set.X.Row(i, nil)) { // without a rare value
				return suspect{row, 0}
			}
		}
	}
	for i := range people {
		name := names[i%3]
		in = append(in, i%2 == 0)
		public = append(public, take(name, func(held bool) bool { return held == in[i] }))
		for range moments.Five {
			public = append(public, take(name, func(held bool) bool { return held }))
		}
	}
	f.ask(t, public, func(i int) int { return i })
	before := make(map[string]int) // rows of a party that the server has found in earlier bins
	right := 0
	for i := range people {
		name, first := names[i%3], i*(moments.Five+1)
		n := len(f.Parties[name].Split.Rows(true))
		// would reports whether the bins are as if this many of the suspect's rows were held out.
		would := func(rows int) bool {
			for k := range moments.Five + 1 {
				told, c := int64(0), before[name]
				for _, v := range f.Server.histogram[first : first+k+1] {
					told += v
				}
				if told != moments.RoundShare(c+rows+k, n)-moments.RoundShare(c, n) {
					return false
				}
			}
			return true
		}
		if would(0) == !in[i] && would(1) == in[i] {
			right++
		}
		before[name] += moments.Five
		if in[i] {
			before[name]++
		}
	}
	t.Logf("one job: of %d people %d answers are right", people, right)
	if right < people {
		t.Errorf("%d of %d answers are right, want the attack to work: nothing prevents it", right, people)
	}
}

// nameParity makes of digits' labels even and odd.
func nameParity(set *dataset.Set) {
	for i, label := range set.Labels {
		set.Labels[i] = map[bool]string{true: "even", false: "odd"}[strings.Contains("02468", label)]
	}
}

// evenDigits are three parties with 500 digits each, whose job counts decisions.
func evenDigits(t *testing.T) *federated {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	nameParity(set)
	j := read(t, strings.NewReplacer("0.4", "0.3", "directions: 20", "directions: 1024", "minmax", "none", "gamma: 0.3", "gamma: 0.02").Replace(fmt.Sprintf(histogramFile, "even, odd")))
	tables := make(map[string]method.Table)
	for i, name := range j.Parties() {
		tables[name] = method.Table{Set: set.Subset(every(i*500, (i+1)*500)), Key: dataset.SplitKey{byte(i + 1)}}
	}
	return federate(t, j, tables)
}

// ask runs the job with a forged solution, and returns the bins of the tested people.
func (f *federated) ask(t *testing.T, public []suspect, bin func(i int) int) (bins []int) {
	t.Helper()
	for i := range public {
		bins = append(bins, bin(i))
	}
	for i, st := range f.Plan {
		f.Step(t, i)
		if st.Name == "learn" {
			f.Server.fitted = spreadOut(t, f, public, bins)
			f.Server.body = f.Server.fitted.encode()
		}
	}
	return bins
}

// spreadOut returns a solution that gives each suspect a decision in the middle of a bin of their own. Everybody else is
// near 0.
func spreadOut(t *testing.T, f *federated, list []suspect, bins []int) *fitted {
	t.Helper()
	m := f.Server.features()
	features, err := directions(f.Server.Job, f.Server.session, m, 64)
	if err != nil {
		t.Fatal(err)
	}
	phi, decisions := mat.NewDense(len(list), m, nil), mat.NewVecDense(len(list), nil)
	for i, who := range list {
		row := linalg.New[float64](1, m)
		features.Rows(row, linalg.Matrix[float64]{Rows: 1, Cols: 64, Stride: 64, Data: who.row})
		phi.SetRow(i, row.Data)
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
	return &fitted{solution: s}
}

// A party that counts other rows than it holds out is found, unless it lies in both.
func TestHistogramOfOtherRows(t *testing.T) {
	sum := make([]int64, 2*moments.Bins)
	sum[3], sum[moments.Bins+70] = 40*moments.Thousand, 60*moments.Thousand
	b := binsOf([]string{"a", "b"}, sum)
	for _, n := range []int64{88, 100, 112} { // as far as three parties round
		if err := b.check(n, 3); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []int64{0, 50, 87, 113, 200} {
		if err := b.check(n, 3); err == nil || !strings.Contains(err.Error(), "the histogram counts 100 held-out rows") {
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
		if _, err := (&job.Reader{Protocols: []job.Protocol{Protocol()}, Learners: learner.Table()}).Parse("job.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), `remove "histogram"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bins count held-out rows of each class. So an edition is clear for them only beside one from
// which none, or at least ten, of a held-out class have been added, removed or changed.
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
