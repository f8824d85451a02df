package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/report"
)

// small returns a runner with no data folder, whose jobs are parsed but not run: each gives
// figures that follow from its name.
func small(t *testing.T, result func(*job.Job) *method.Result) (*Runner, *[]string) {
	t.Helper()
	var mu sync.Mutex
	var ran []string
	return &Runner{
		Reader: all.Reader(), Runs: 1, Quick: true, Has: func(string) bool { return false },
		Run: func(_ context.Context, j *job.Job) (*method.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, j.Name)
			return result(j), nil
		},
	}, &ran
}

func TestEveryExperimentHasAPaperAndANameOfItsOwn(t *testing.T) {
	seen := make(map[string]bool)
	for _, e := range Experiments() {
		if !slices.Contains(Papers(), e.Paper) || e.Name == "" || e.Title == "" || seen[e.Paper+e.Name] {
			t.Errorf("experiment %+v", e)
		}
		seen[e.Paper+e.Name] = true
	}
}

func TestFigure6TurnsAccuracyIntoErrorAndMarksGeneratedRows(t *testing.T) {
	runner, _ := small(t, func(j *job.Job) *method.Result {
		accuracy := 0.75
		if k, is := j.Protocol.Values.(*fdskl.Keys); !is {
			accuracy = 0.625
		} else if k.Training == fdskl.Faithful {
			accuracy = 0.5
		}
		return &method.Result{Metrics: map[string]float64{"accuracy": accuracy}, Pooled: map[string]float64{"accuracy": 0.875}, ExactKernel: map[string]float64{"accuracy": 1}}
	})
	f, err := guFigure6(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		name  string
		error float64
	}{{"FDSKL, Algorithm 1 as published", .5}, {"DSG", .125}, {"one-shot FDSKL (Mercer)", .25}, {"one-shot, pooled", .125},
		{"LIBSVM's kernel", 0}, {"FD-SVRG", .375}, {"SecureBoost", .375}} {
		if r := f.Rows[i]; r.Cell != "phishing (generated), "+want.name || r.Ours.Mean != want.error || r.Published != nil {
			t.Errorf("row %+v, want %+v", r, want)
		}
	}
	if len(f.Claims) != 0 {
		t.Errorf("claims about generated rows: %v", f.Claims)
	}
	if len(f.Boxes) != 3 {
		t.Errorf("%d box plots, want one for each data set", len(f.Boxes))
	}
}

// A box plot has the error of every split: ten if the runner makes ten. There are three of Algorithm 1
// and DSG, which take longest, and of the rivals on more than 40,000 rows.
func TestFigure6HasTheErrorOfEverySplit(t *testing.T) {
	runner, _ := small(t, func(j *job.Job) *method.Result {
		var accuracies []float64
		for i := range j.Repeats {
			accuracies = append(accuracies, 1-float64(i)/16)
		}
		all := map[string]learner.Spread{"accuracy": learner.SpreadOf(accuracies)}
		return &method.Result{Repeats: &learner.Repeats{Together: all, Pooled: all, ExactKernel: all}}
	})
	runner.Runs = 10
	f, err := guFigure6(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0, .0625, .125, .1875, .25, .3125, .375, .4375, .5, .5625}
	for set, splits := range [][]int{{3, 3, 10, 10, 10, 10, 10}, {3, 3, 10, 10, 3, 3}} {
		boxes := f.Boxes[set]
		if len(boxes.Boxes) != len(splits) {
			t.Fatalf("%s: %d boxes, want %d", boxes.Title, len(boxes.Boxes), len(splits))
		}
		for i, b := range boxes.Boxes {
			if !slices.Equal(b.Values, want[:splits[i]]) {
				t.Errorf("%s: %s has the errors %v, want %v", boxes.Title, b.Name, b.Values, want[:splits[i]])
			}
		}
	}
}

func TestEqualJobsRunOnce(t *testing.T) {
	runner, ran := small(t, func(*job.Job) *method.Result {
		return &method.Result{Metrics: map[string]float64{"accuracy": 0.75}, Timings: map[string]float64{"protocol": 30, "learn": 30}}
	})
	if _, err := guFigure6(t.Context(), runner); err != nil {
		t.Fatal(err)
	}
	f, err := guTable4(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(*ran) // Figure 6 runs its sets at the same time
	a, b, c := "gu-a9a", "gu-default-credit", "gu-phishing"
	if want := []string{a, a, a, a, b, b, b, b, c, c, c, c, c}; !slices.Equal(*ran, want) {
		t.Errorf("ran %v, want %v: two trainings of FDSKL and two rivals once each on each set, and an encrypted tree", *ran, want)
	}
	if r := f.Rows[2]; r.Ours.Mean != 50 || *r.Published != 10 {
		t.Errorf("minutes of 50 trees on phishing: %+v", r)
	}
	if r := f.Rows[3]; r.Ours.Mean != 1 || *r.Published != 2 {
		t.Errorf("minutes on a9a: %+v", r)
	}
}

func TestTwoClassesOfAlzheimersDiseaseMergeTheStages(t *testing.T) {
	runner, _ := small(t, nil)
	var merged []job.MergedClass
	var two *job.Job // the one on two classes
	generated := false
	runner.Has = func(string) bool { return true }
	runner.Run = func(_ context.Context, j *job.Job) (*method.Result, error) {
		if merged = append(merged, j.Data.Classes...); len(j.Data.Classes) > 0 {
			two = j
		}
		generated = generated || j.Data.Source == "generated:1000x30000x4"
		return &method.Result{}, nil
	}
	runner.Runs = 10
	f, err := hannemannSVM(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	stages := []string{"MildDemented", "ModerateDemented", "VeryMildDemented"}
	if len(merged) != 1 || merged[0].Class != "Demented" || !slices.Equal(merged[0].Of, stages) || generated {
		t.Errorf("merged %+v, four generated classes beside the blood cells: %v", merged, generated)
	}
	if k := two.Kernel; k.Name != job.RBF || k.Gamma != 4 || k.GammaUnit != job.Median || job.As[*learner.SVC](two.Learner).C != 10 {
		t.Errorf("kernel %+v, learner %+v; want gamma 4 over the median and C 10", k, two.Learner)
	}
	if two.Data.Source != "alzheimer-mri#64x64" || two.Data.Test.Fraction != .25 || two.Cells() != 1 || two.Repeats != 10 {
		t.Errorf("data %+v, %d cells, %d splits; want the slices, a quarter held out, no grid and ten splits", two.Data, two.Cells(), two.Repeats)
	}
	if r := f.Rows[0]; r.Figure != "f1_macro" || *r.Published != .91 || *f.Rows[2].Published != .97 {
		t.Errorf("rows %+v and %+v", r, f.Rows[2])
	}
	runner.Has = func(source string) bool { return source != bloodCells }
	if _, err := hannemannSVM(t.Context(), runner); err != nil || !generated {
		t.Errorf("four generated classes in place of the blood cells: %v, %v", generated, err)
	}
}

func TestPolatoWithoutRatingsSaysWhatToGet(t *testing.T) {
	runner, ran := small(t, nil)
	f, err := polatoTable1(t.Context(), runner)
	if err != nil || len(f.Rows) != 0 || !strings.Contains(f.Data, "mercer data get ml-100k") || len(*ran) != 0 {
		t.Errorf("%+v, error %v, ran %v", f, err, *ran)
	}
}

func TestClaimsAreJudgedByOurNumbers(t *testing.T) {
	lines := []report.Line{{Values: []float64{1, 2}}, {Values: []float64{2, 3}}}
	if c := aheadOf(lines, "first"); c.Verdict != Holds || c.Surprises() {
		t.Errorf("faster everywhere: %+v", c)
	}
	lines[1].Values[1] = 1.5
	if c := aheadOf(lines, "first"); c.Verdict != Fails || !c.Surprises() {
		t.Errorf("slower once: %+v", c)
	}
	if c := doubted("x", false, ""); c.Surprises() {
		t.Errorf("a claim that is known not to hold surprises: %+v", c)
	}
}

func TestErrorsNameTheExperiment(t *testing.T) {
	runner, _ := small(t, nil)
	runner.Run = func(context.Context, *job.Job) (*method.Result, error) { return nil, errors.New("no room") }
	e := Experiments()[len(Experiments())-1]
	if _, err := e.Run(t.Context(), runner); err == nil || !strings.Contains(err.Error(), "gu figure6: job gu-phishing: no room") {
		t.Errorf("error %v", err)
	}
}

func TestCSVHasALineForEachRow(t *testing.T) {
	f := &Measurement{Experiment: Experiments()[0], Data: "original", Rows: []Row{{"all", "auc", once(0.5), published(0.808)}, {"half", "auc", once(0.25), nil}}}
	var b strings.Builder
	if err := WriteCSV(&b, []*Measurement{f}); err != nil {
		t.Fatal(err)
	}
	want := "paper,experiment,cell,figure,mean,deviation,runs,paper,data\npolato,table1,all,auc,0.5,,1,0.808,original\npolato,table1,half,auc,0.25,,1,no number,original\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// Figure 5 has generated rows of 50 columns, from 1,000 to 64,000. PP-SVMV has as many as its matrix has
// room for, FDSKL all.
func TestFigure5GrowsToTheWall(t *testing.T) {
	trained := make(map[string][]string) // sources by protocol
	runner, _ := small(t, func(j *job.Job) *method.Result {
		name := j.Protocol.Name()
		if k, is := j.Protocol.Values.(*fdskl.Keys); is && k.Training == fdskl.Faithful {
			name = "Algorithm 1"
		}
		trained[name] = append(trained[name], j.Data.Source)
		return &method.Result{Timings: map[string]float64{"protocol": 1, "learn": 2}}
	})
	runner.Quick = false
	f, err := guFigure5(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, n := range []int{1000, 2000, 4000, 8000, 16000, 32000, 64000} {
		all = append(all, fmt.Sprintf("generated:%dx50", n))
	}
	want := map[string][]string{"Algorithm 1": all, "fdskl": all, "pp-svmv": all[:5]}
	if d := cmp.Diff(want, trained); d != "" {
		t.Errorf("tables (-want +got):\n%s", d)
	}
	if line := f.Curves[0].Lines[1].Values; line[4] != 3 || !math.IsNaN(line[5]) || f.Claims[2].Verdict != Holds {
		t.Errorf("seconds of PP-SVMV %v, claim %+v", line, f.Claims[2])
	}
}

func TestTheWallNeedsMoreRowsThanTheMatrixHasRoomFor(t *testing.T) {
	if c := wall([]int{1000, 8000}); c.Verdict != Unknown {
		t.Errorf("few rows: %+v", c)
	}
	if c := wall([]int{1000, 64000}); c.Verdict != Holds || !strings.Contains(c.Numbers, "64000 rows has 15.3 GiB") {
		t.Errorf("many rows: %+v", c)
	}
}

func TestFigure6HasAllTenSets(t *testing.T) {
	gisette := 0
	runner, ran := small(t, func(j *job.Job) *method.Result {
		if j.Name == "gu-gisette" {
			if gisette++; j.Data.Source != "generated:6000x5000" || j.Repeats > 1 {
				t.Errorf("gisette is %s, %d splits; want generated rows of its shape and one split", j.Data.Source, j.Repeats)
			}
		}
		one := map[string]float64{"accuracy": .5}
		return &method.Result{Metrics: one, Pooled: one, ExactKernel: one}
	})
	runner.Quick, runner.Runs = false, 3
	f, err := guFigure6(t.Context(), runner)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Boxes) != 10 || gisette != 4 || !slices.Contains(*ran, "gu-real-sim-4000-rows") {
		t.Errorf("%d box plots of the jobs %v", len(f.Boxes), *ran)
	}
}
