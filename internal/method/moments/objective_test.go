package moments

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

const lessonFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: objective}
spec:
  data: {source: waves, label: %s, partition: {parties: [north, south, east]}, test: {source: other}, scale: standard}
  protocol: {name: moments%s}
  kernel: {name: rbf, gamma: 0.5}
  learner: {%s}
  prediction: open
`

// lessonJob is a job with a learner.
func lessonJob(t *testing.T, label, protocol, learner string) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(lessonFile, label, protocol, learner))
}

// waves are rows with a smooth function of them as label.
func waves(seed uint64, n int) *dataset.Set {
	r := rand.New(rand.NewPCG(seed, 9))
	x, labels := linalg.New[float64](n, 2), make([]string, n)
	for i := range n {
		a, b := 4*r.Float64()-2, 40*r.Float64()-20
		copy(x.Row(i), []float64{a, b})
		labels[i] = strconv.FormatFloat(20+15*math.Sin(2*a)*math.Cos(b/10)+0.3*r.NormFloat64(), 'g', -1, 64)
	}
	return &dataset.Set{Name: "waves", X: dataset.NewDense(x), Labels: labels}
}

// dealWaves gives each party 200 rows, 40 of them held out.
func dealWaves() map[string]method.Table {
	tables := make(map[string]method.Table)
	for i, name := range []string{"north", "south", "east"} {
		tables[name] = method.Table{Set: waves(uint64(i), 160), HeldOut: waves(uint64(10+i), 40)}
	}
	return tables
}

// together is the parties' held-out rows.
func together(t *testing.T, j *job.Job, tables map[string]method.Table) *dataset.Set {
	t.Helper()
	var sets []*dataset.Set
	for _, name := range j.Parties() {
		sets = append(sets, tables[name].HeldOut)
	}
	all, err := dataset.Append(sets...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Ridge regression and Gaussian processes give the same predictions. Every party computes them by
// itself, and gets the figures that the server got as sums.
func TestNumbersFromSums(t *testing.T) {
	tables := dealWaves()
	for _, tt := range []struct{ learner, list, more string }{{"ridge", "alpha", ""}, {"gp", "noise", ""}, {"gp", "noise", ", deviations: true"}} {
		j := lessonJob(t, "label", ", directions: 80, targets: [-20, 60]"+tt.more, "name: "+tt.learner+", "+tt.list+": [0.05, 50]")
		f := runSteps(t, j, tables)
		result := f.Result(t)
		held := together(t, j, tables)
		retained, err := f.Parties["south"].retainedState(method.Closing{})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := predict(retained, &dataset.Set{Name: "new", X: held.X})
		if err != nil {
			t.Fatal(err)
		}
		truth, err := dataset.Targets(held.Labels)
		if err != nil {
			t.Fatal(err)
		}
		predicted, within, deviation := make([]float64, len(truth)), 0.0, 0.0
		for i := range predicted {
			predicted[i] = answer.Decisions.Row(i)[0]
			if tt.more != "" {
				d := answer.Decisions.Row(i)[1]
				deviation += d / float64(len(truth))
				if math.Abs(predicted[i]-truth[i]) <= 1.96*d {
					within += 1 / float64(len(truth))
				}
			}
		}
		rmse, err := metrics.RMSE(truth, predicted)
		if err != nil {
			t.Fatal(err)
		}
		r2, err := metrics.R2(truth, predicted)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v", tt.learner, result.Metrics)
		want := map[string]float64{"rmse": rmse, "r2": r2}
		if tt.learner == "gp" {
			want["log_marginal_likelihood"] = result.Metrics["log_marginal_likelihood"]
		}
		if tt.more != "" {
			want["mean_deviation"], want["coverage_95"] = deviation, within
		}
		for name, v := range want { // each party's part has three digits
			if math.Abs(result.Metrics[name]-v) > 3e-3*max(1, math.Abs(v)) {
				t.Errorf("%s: %s is %v, the parties' predictions have %v", tt.learner, name, result.Metrics[name], v)
			}
		}
		if len(result.Metrics) != len(want) || r2 < 0.9 || !result.Grid[0].Best || result.Grid[1].Best || result.Details.(*Details).Sums.RowsPerFeature != 6 || result.HeldOut != 120 {
			t.Errorf("%s: %+v", tt.learner, result)
		}
		if got := strings.Join(result.Leakage["party"], " "); strings.Contains(got, "sums of products") != (tt.more != "") {
			t.Errorf("%s: a party learns: %s", tt.learner, got)
		}
	}
}

func TestComponentsFromSums(t *testing.T) {
	j := lessonJob(t, "none", ", directions: 60", "name: kpca, n_components: 3")
	tables := dealWaves()
	for name, table := range tables {
		table.Set.Labels, table.HeldOut.Labels = nil, nil
		tables[name] = table
	}
	f := runSteps(t, j, tables)
	result := f.Result(t)
	if v := result.Metrics["explained_variance"]; len(result.Eigenvalues) != 3 || math.Abs(v-result.Metrics["explained_variance_training"]) > 0.05 || v < 0.3 || v > 1 || len(result.Grid) != 0 {
		t.Errorf("result %+v", result)
	}
	retained, err := f.Parties["east"].retainedState(method.Closing{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := predict(retained, together(t, j, tables))
	if err != nil {
		t.Fatal(err)
	}
	kept := 0.0
	for _, v := range answer.Decisions.Data {
		kept += v * v
	}
	if got := float64(f.Server.figures[0]) / (1 << 24); answer.Predicted != nil || answer.Decisions.Cols != 3 || math.Abs(kept-got) > 5e-3*kept {
		t.Errorf("squared scores %v, by the parties' sums %v", kept, got)
	}
}

// Without directions the rows are counted first, and there are as many features
// as leave twenty of all rows for each.
func TestDirectionsByDefault(t *testing.T) {
	j := momentsJob(t, "none")
	job.As[*Keys](j.Protocol).Directions = 0
	tables, _ := deal(t, j, 1)
	f := runSteps(t, j, tables)
	result := f.Result(t)
	if result.Details.(*Details).Sums.Features != 30 || result.Details.(*Details).Sums.RowsPerFeature != 20 || f.Parties["north"].features.Len() != 30 {
		t.Errorf("%+v, at a party %d", result.Details.(*Details).Sums, f.Parties["north"].features.Len())
	}
	if got := strings.Join(result.Leakage["party"], " "); !strings.Contains(got, "north 200, south 200, east 200") {
		t.Error(got)
	}
	sums := f.Plan[f.Index(t, "sums")].Session
	if slices.Equal(settle(t, sums, public{rows: 600, columns: 30, counted: [32]byte{1}}).Params, settle(t, sums, public{rows: 600, columns: 30, counted: [32]byte{2}}).Params) {
		t.Error("a party that declares one number here and another there meets one session")
	}
	for rows, want := range map[int64]int{0: 0, 39: 0, 40: 2, 79: 2, 80: 4, 32561: 1628, 1 << 40: MaxDirections, 1 << 62: MaxDirections} {
		if got := DefaultFeatures(rows, 1000, 2); got != want {
			t.Errorf("%d features of %d rows, want %d", got, rows, want)
		}
	}
}

// The sums of a default number of features are of no more numbers than a quarter of the rows'
// cells, and two features more would be.
func TestDefaultFeaturesTellAQuarterOfTheCells(t *testing.T) {
	for _, tt := range []struct {
		rows           int64
		columns, width int
		want           int
	}{
		{889, 5, 2, 44}, {2000, 5, 2, 68}, {10000, 5, 2, 154}, {10000, 1, 2, 68}, {100000, 2, 10, 304}, {40, 1, 2, 2}, {40, 1, 9, 0}, {2000, 10, 2, 96}, {1900, 10, 2, 94},
	} {
		got := DefaultFeatures(tt.rows, tt.columns, tt.width)
		told := func(m int) int64 { return int64(m*(m+1)/2 + m*tt.width) }
		cells := tt.rows * int64(tt.columns) / cellsPerNumber
		if got != tt.want || told(got) > cells || told(got+2) <= cells && int64(got+2) <= tt.rows/rowsPerFeature {
			t.Errorf("%d features of %d rows of %d columns, want %d; %d numbers of %d", got, tt.rows, tt.columns, tt.want, told(got), cells)
		}
	}
}

// Declarations are limited. A party refuses them if its policy limits the share of one party, or
// the features. With the usual limits a party refuses sums that would be mostly its own.
func TestCountsThatAreRefused(t *testing.T) {
	j := momentsJob(t, "none")
	job.As[*Keys](j.Protocol).Directions = 0
	tables, _ := deal(t, j, 1)
	p := partyOf(t, j, "north", tables["north"])
	declares := func(rows uint64, columns uint32) []byte {
		var w wire.Writer
		w.Uint64(rows)
		w.Uint32(columns)
		return w.Bytes()
	}
	statement := func(rows uint64) []byte { return declares(rows, 30) }
	for name, tt := range map[string]struct {
		rows   []uint64
		most   int
		limits method.Limits
		code   fault.Code
	}{
		"three alike":        {[]uint64{200, 200, 200}, 30, method.DefaultLimits(), fault.CodeDone},
		"half of all":        {[]uint64{200, 100, 100}, 30, method.DefaultLimits(), fault.CodeDone},
		"more than half":     {[]uint64{200, 100, 99}, 30, method.DefaultLimits(), fault.CodePolicy},
		"without limits":     {[]uint64{2000, 1, 1}, 0, method.Limits{}, fault.CodeDone},
		"two, three to one":  {[]uint64{300, 100}, 30, method.DefaultLimits(), fault.CodeDone},
		"two, and more":      {[]uint64{301, 100}, 30, method.DefaultLimits(), fault.CodePolicy},
		"beyond the policy":  {[]uint64{200, 200, 200}, 28, method.DefaultLimits(), fault.CodePolicy},
		"more than there is": {[]uint64{200, 200, 1 << 63}, 0, method.Limits{}, fault.CodeMisbehaved},
		"hardly any":         {[]uint64{13, 13, 13}, 0, method.Limits{}, fault.CodeBadInput},
	} {
		var statements [][]byte
		for _, n := range tt.rows {
			statements = append(statements, statement(n))
		}
		p.Limits, p.counted = tt.limits, headcount{}
		p.Limits.Directions = tt.most
		err := p.takeCounts(statements)
		if fault.CodeOf(err) != tt.code || (err == nil) != (p.counted.list != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.takeCounts([][]byte{statement(200), {1}, statement(200)}); fault.CodeOf(err) != fault.CodeMisbehaved {
		t.Errorf("a statement of one byte: %v", err)
	}
	for _, columns := range []uint32{0, 29, 1<<24 + 1} {
		if err := p.takeCounts([][]byte{statement(200), declares(200, columns), statement(200)}); fault.CodeOf(err) != fault.CodeMisbehaved || !strings.Contains(err.Error(), "columns") {
			t.Errorf("%d columns: %v", columns, err)
		}
	}
}

func FuzzHearCounts(f *testing.F) {
	j := momentsJob(f, "none")
	f.Add(make([]byte, 12))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readCounts(j, j.Parties(), [][]byte{b, b, b})
		if err == nil && (len(b) != 12 || c.total() > 3*moments.MaxRows) {
			t.Errorf("%x is read as %v", b, c.list)
		}
	})
}

// The coordinator's file lacks the scaling, and says so; a party's has it.
func TestModelsOfMoments(t *testing.T) {
	j := momentsJob(t, "minmax")
	j.Kernel.Gamma = 0.1
	tables, set := deal(t, j, 3)
	f := runSteps(t, j, tables)
	var b bytes.Buffer
	if err := f.Server.writeModel(&b); err != nil {
		t.Fatal(err)
	}
	m, err := model.OpenRandom(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Decisions(dataset.DenseOf(set.X).Matrix()); !errors.Is(err, model.ErrUnscaled) {
		t.Errorf("error %v", err)
	}
	var answers []*method.Prediction
	for _, name := range j.Parties() {
		retained, err := f.Parties[name].retainedState(method.Closing{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := predict(retained, set.Subset(every(600, 690)))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
		if _, err := predict(retained, set.SelectColumns([]int{0, 1})); err == nil || !strings.Contains(err.Error(), "2 features; the model was trained on 64") {
			t.Errorf("narrow rows: %v", err)
		}
	}
	accuracy, err := metrics.Accuracy(set.Labels[600:690], answers[0].Predicted)
	if err != nil || math.Abs(accuracy-f.Result(t).Metrics["accuracy"]) > (moments.RoundedOff(3, 90)+1)/90 { // the sums count held-out rows without their rare values, in fives
		t.Errorf("accuracy %v (%v), by the sums %v", accuracy, err, f.Result(t).Metrics)
	}
	if cmp.Diff(answers[0], answers[1]) != "" || cmp.Diff(answers[0], answers[2]) != "" {
		t.Error("the parties' models differ")
	}
	early := partyOf(t, j, "north", tables["north"])
	if _, err := early.retainedState(method.Closing{}); err == nil {
		t.Error("a retained state before the job has begun")
	}
}

func TestNumbersThatAreRefused(t *testing.T) {
	j := lessonJob(t, "label", ", directions: 4, targets: [0, 30]", "name: gp")
	tables := dealWaves()
	if _, err := Protocol().Party(methodtest.Instance(j), "north", tables["north"]); err == nil || !strings.Contains(err.Error(), "outside the job's targets [0, 30]") {
		t.Errorf("error %v", err)
	}
	tables["north"].Set.Labels[0] = "many"
	if _, err := Protocol().Party(methodtest.Instance(j), "north", tables["north"]); err == nil || !strings.Contains(err.Error(), "many") {
		t.Errorf("error %v", err)
	}
}
