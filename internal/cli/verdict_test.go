package cli

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/protocol"
)

// patients is a result for two classes, of which 0 has more training rows.
func patients() *method.Result {
	return &method.Result{
		Metrics: learner.Metrics{"accuracy": 0.68}, HeldOut: 191, Training: 495, Leakage: map[string][]string{"server": nil, "party": nil},
		Figures: &learner.Assessment{
			Classes:   []learner.ClassCount{{Class: "0", Training: 300, HeldOut: 113}, {Class: "1", Training: 195, HeldOut: 78}},
			Intervals: map[string]*metrics.Interval{"accuracy": {Low: 0.617, High: 0.731}},
		},
		Alone: []method.Alone{
			{Party: "bray", Metrics: learner.Metrics{"accuracy": 0.64}}, {Party: "cork", Metrics: learner.Metrics{"accuracy": 0.6754}},
			{Party: "dingle", Metrics: learner.Metrics{"accuracy": 0.99}, Failure: "it has no labels"},
		},
	}
}

// The interval of a share that is known within a rounding error holds the intervals of all counts
// that the share may stand for.
func TestIntervalOfARoundedShare(t *testing.T) {
	o := outcome{Result: &method.Result{Metrics: learner.Metrics{"accuracy": 0.64}, HeldOut: 200}, shown: &method.Presentation{Within: 0.02}}
	got := o.interval("accuracy")
	for right := 124; right <= 132; right++ {
		if one := metrics.Wilson(right, 200); got.Low > one.Low || got.High < one.High {
			t.Errorf("%d of 200 right: %v is not within %v", right, *one, *got)
		}
	}
	if outer := metrics.Wilson(123, 200); got.Low <= outer.Low {
		t.Errorf("%v begins below the interval of a share that is out of question", *got)
	}
	if full := roundedInterval(0.99, 0.05, 20); full.High != 1 {
		t.Errorf("the upper end of 20 of 20 is %g", full.High)
	}
}

// What a method says about its scores is under their table without --verbose, too.
func TestNotesOfTheMethod(t *testing.T) {
	o := outcome{Result: patients(), shown: &method.Presentation{Notes: []string{"The certificate holds.", "Off by at most 0.02."}}}
	var b strings.Builder
	if err := o.Print(&b); err != nil || !strings.Contains(b.String(), "\nThe certificate holds.\nOff by at most 0.02.\n") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

func TestVerdict(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(o *outcome)
		want   string
	}{
		"classes": {func(*outcome) {}, "On 191 rows not used for training, the joint model is right for 68 % (95 % interval: 62 to 73); always answering 0 would be right for 59 %; the best single site, cork: 68 %, within the interval: these rows do not show that joining helps."},
		"one site": {func(o *outcome) { o.Alone, o.Leakage = nil, map[string][]string{"server": nil} },
			"On 191 rows not used for training, the model is right for 68 % (95 % interval: 62 to 73); always answering 0 would be right for 59 %."},
		"repeated": {func(o *outcome) {
			o.Alone, o.Repeats = nil, &learner.Repeats{Seeds: []uint64{1, 2, 3}, Together: map[string]learner.Spread{"accuracy": {Mean: .66, Deviation: .031}}}
		}, "In the first of 3 splits, on 191 rows not used for training, the joint model is right for 68 % (95 % interval: 62 to 73); always answering 0 would be right for 59 %. Over all splits it is 66 % in the mean, with a standard deviation of 3 %."},
		"repeated beside sites": {func(o *outcome) {
			o.Repeats = &learner.Repeats{
				Seeds: []uint64{1, 2, 3}, Together: map[string]learner.Spread{"accuracy": {Mean: .66, Deviation: .031}},
				Alone: []learner.AloneSpread{{Party: "bray", Figures: map[string]learner.Spread{"accuracy": {Mean: .64}}}, {Party: "cork", Figures: map[string]learner.Spread{"accuracy": {Mean: .62}}}},
			}
		}, "In the first of 3 splits, on 191 rows not used for training, the joint model is right for 68 % (95 % interval: 62 to 73); always answering 0 would be right for 59 %; the best single site, cork: 68 %. Over all splits it is 66 % in the mean, with a standard deviation of 3 %; the best single site, bray: 64 % in the mean, less than a standard deviation apart."},
		"repeated, no gain": {func(o *outcome) {
			o.Figures, o.Metrics, o.Alone = nil, learner.Metrics{"rmse": 3}, nil
			o.Repeats = &learner.Repeats{
				Seeds: []uint64{1, 2}, Together: map[string]learner.Spread{"rmse": {Mean: 3.1, Deviation: .2}},
				Alone: []learner.AloneSpread{{Party: "bray", Figures: map[string]learner.Spread{"rmse": {Mean: 2.9}}}},
			}
		}, "In the first of 2 splits, on 191 rows not used for training, the joint model has a root mean squared error of 3. Over all splits it is 3.1 in the mean, with a standard deviation of 0.2; the best single site, bray: 2.9 in the mean, and joining gained nothing over it."},
		"no counts": {func(o *outcome) { o.Figures, o.Alone = nil, nil }, "On 191 rows not used for training, the joint model is right for 68 %."},
		"counts of the owner of all rows": {func(o *outcome) {
			o.classes, o.Figures, o.Alone = o.Figures.Classes, nil, nil
		}, "On 191 rows not used for training, the joint model is right for 68 %; always answering 0 would be right for 59 %."},
		"nearly always right": {func(o *outcome) { o.Metrics["accuracy"], o.Figures, o.Alone = 0.9973, nil, nil },
			"On 191 rows not used for training, the joint model is right for 99.7 %."},
		"always right": {func(o *outcome) { o.Metrics["accuracy"], o.Figures, o.Alone = 1, nil, nil },
			"On 191 rows not used for training, the joint model is right for 100 %."},
		"trained without labels": {func(o *outcome) {
			o.Alone, o.Figures = nil, &learner.Assessment{Classes: []learner.ClassCount{{Class: "in", HeldOut: 50}, {Class: "out", HeldOut: 141}}}
		}, "On 191 rows not used for training, the joint model is right for 68 %; always answering out would be right for 74 %."},
		"other classes held out": {func(o *outcome) {
			o.Alone, o.Figures = nil, &learner.Assessment{Classes: []learner.ClassCount{{Class: "0", Training: 300, HeldOut: 50}, {Class: "1", Training: 195, HeldOut: 150}}}
		}, "On 191 rows not used for training, the joint model is right for 68 %; always answering 0 would be right for 25 %."},
		"folds": {func(o *outcome) { o.HeldOut, o.Figures, o.Alone, o.Grid = 0, nil, nil, []learner.Cell{{}} },
			"On 495 rows, each held out once, the joint model is right for 68 %."},
		"numbers": {func(o *outcome) {
			o.Figures, o.Metrics = nil, learner.Metrics{"rmse": 3, "r2": 0.75}
			o.Alone = []method.Alone{{Party: "bray", Metrics: learner.Metrics{"rmse": 4.5}}, {Party: "cork", Metrics: learner.Metrics{"rmse": 5}}}
		}, "On 191 rows not used for training, the joint model has a root mean squared error of 3; always answering the mean has 6; the best single site, bray: 4.5."},
		"no gain": {func(o *outcome) {
			o.Figures, o.Metrics["accuracy"] = nil, 0.6754
		}, "On 191 rows not used for training, the joint model is right for 68 %; the best single site, cork: 68 %, and joining gained nothing over it here."},
		"no gain in numbers": {func(o *outcome) {
			o.Figures, o.Metrics = nil, learner.Metrics{"rmse": 3}
			o.Alone = []method.Alone{{Party: "bray", Metrics: learner.Metrics{"rmse": 2.5}}}
		}, "On 191 rows not used for training, the joint model has a root mean squared error of 3; the best single site, bray: 2.5, and joining gained nothing over it here."},
		"components": {func(o *outcome) { o.HeldOut, o.Metrics, o.Eigenvalues = 0, nil, []float64{2, 1} },
			"2 components of 495 rows were computed; without labels no figure says how well they predict."},
		"no test": {func(o *outcome) { o.HeldOut = 0 }, "The model was trained on 495 rows; no row was held out, so no figure says how well it predicts."},
		"devices": {func(o *outcome) {
			o.HeldOut, o.shown = 0, &method.Presentation{Unit: "ratings", Text: []method.Block{{}}}
		},
			"The model was trained on 495 ratings; this result has no figure on how well it predicts."},
		"clusters": {func(o *outcome) { o.Metrics = nil }, "The model was trained on 495 rows; its predictions were compared with no truth, so no figure says how good they are."},
	} {
		o := outcome{Result: patients()}
		tt.change(&o)
		if got := o.verdict(); got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
}

// Sites alone are said to share numbers only if there was a choice.
func TestSharedCell(t *testing.T) {
	o := outcome{Result: patients()}
	for cells, want := range map[int]bool{0: false, 1: false, 2: true} {
		if o.Grid = make([]learner.Cell, cells); (o.sharedCell() != "") != want {
			t.Errorf("%d cells: %q", cells, o.sharedCell())
		}
	}
	if o.Alone = nil; o.sharedCell() != "" {
		t.Error("without sites alone")
	}
}

// Where the exact kernel does clearly better than random features, the result says what to change.
func TestCoarseFeatures(t *testing.T) {
	data := "source: people, label: y, partition: {parties: [a, b, c]}"
	sums := jobtest.Parse(t, "apiVersion: mercer/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  data: {"+data+"}\n  protocol: {name: moments, classes: [ill, well]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier}\n")
	for name, tt := range map[string]struct {
		job   *job.Job
		exact float64
		want  bool
	}{
		"better": {sums, .9, true}, "a little better": {sums, .685, false}, "worse": {sums, .5, false}, "no features": {jobOver(t, data, "okra"), .9, false},
	} {
		r := patients()
		r.Pooled = learner.Metrics{"accuracy": tt.exact}
		o := outcome{Result: r, job: tt.job}
		if got := o.coarse() != ""; got != tt.want {
			t.Errorf("%s: %q", name, o.coarse())
		}
	}
	r, private := patients(), *sums
	r.Pooled = learner.Metrics{"accuracy": .7}
	if got := (outcome{Result: r, job: sums, shown: &method.Presentation{Within: .03}}).coarse(); got != "" {
		t.Errorf("within the rounding: %q", got)
	}
	if got := (outcome{Result: r, job: sums}).coarse(); got == "" {
		t.Error("without rounding: no advice")
	}
	r.Pooled, private.Data.Private = learner.Metrics{"accuracy": .9}, true
	if got := (outcome{Result: r, job: &private}).coarse(); !strings.Contains(got, "price of privacy") || strings.Contains(got, "more directions") {
		t.Errorf("with privacy: %q", got)
	}
	private.Kernel.Name = job.Linear
	if got := (outcome{Result: r, job: &private}).coarse(); !strings.Contains(got, "Without noise") || strings.Contains(got, "features") {
		t.Errorf("with privacy and linear features: %q", got)
	}
}

// A constant answer has the metrics that it would have as a model.
func TestConstantAnswer(t *testing.T) {
	c := constantClass(patients().Figures.Classes)
	truth, predicted := make([]string, 191), make([]string, 191)
	for i := range truth {
		truth[i], predicted[i] = "0", "0"
		if i >= 113 {
			truth[i] = "1"
		}
	}
	m, err := metrics.NewConfusionMatrix(truth, predicted)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"accuracy": m.Accuracy(), "balanced_accuracy": m.BalancedAccuracy(), "f1_macro": m.F1Macro(), "auc": 0.5} {
		if got := c.metrics[name]; got-want > 1e-12 || want-got > 1e-12 {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if got := constantClass([]learner.ClassCount{{Class: "0", Training: 3}}); got != nil {
		t.Errorf("without held-out rows: %v", got)
	}
}

// Three lines name who reconstructs how much, and from what. The first "in part" is explained.
func TestPrivacyLines(t *testing.T) {
	yes, part, no := protocol.Exposure{Reach: protocol.ReachAll, Why: "From all of it."}, protocol.Exposure{Reach: protocol.ReachPart, Why: "From some"}, protocol.Exposure{Reach: protocol.ReachNone, Why: "It has nothing."}
	const explained = " (some values, approximate values, or those of people whom it partly knows)"
	for want, exposures := range map[string]map[string]protocol.Exposure{
		"": nil,
		"The coordinator (server) can reconstruct rows: yes. From all of it.|Another party alone: no. It has nothing.|Members that work together: in part" + explained + ". From some.":                                      {"server": yes, "party": no, "coalition": part},
		"The coordinator (server) can reconstruct rows: no. It has nothing.|The party with the labels alone: in part" + explained + ". From some.|Members that work together: yes. From all of it.":                          {"server": no, "passive": no, "active": part, "coalition": yes},
		"The coordinator (server) can reconstruct rows: in part" + explained + ". From some.|The leading party alone: yes. From all of it.|Members that work together: in part. From some.":                                  {"server": part, "leader": yes, "party": part, "coalition": part},
		"The coordinator (server) can reconstruct rows: no. It has nothing.|Another party alone: in part" + explained + ". From some.|One keeper alone: no. It has nothing.|Members that work together: in part. From some.": {"server": no, "party": part, "keeper": no, "coalition": part},
		"Whoever runs the job can reconstruct rows: yes. From all of it.": {"server": yes},
	} {
		if got := strings.Join(privacyLines(exposures), "|"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestOneLineOfObjections(t *testing.T) {
	for want, n := range map[string]objections{
		"": {},
		"3 of 3 parties with default policies would refuse this job":                                                      {parties: 3, refuse: 3},
		"of 3 parties with default policies 3 would refuse this job and 1 would withhold the figures over their own rows": {parties: 3, refuse: 3, withhold: 1},
	} {
		if got := n.warning(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Where no party would object, the result says so, and who decides.
func TestOutlookOnRefusals(t *testing.T) {
	const decide = ": each party decides by its own policy and its ledger of earlier releases"
	for want, n := range map[string]objections{
		"": {},
		"refusals: none in this run; deployed, 2 of 3 parties with default policies would refuse this job" + decide: {parties: 3, refuse: 2},
		"refusals: none in this run; deployed, 0 of 3 parties with default policies would refuse this job" + decide: {parties: 3},
	} {
		if got := strings.Join(n.outlook(), "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var b strings.Builder
	o := outcome{Result: patients(), objections: objections{parties: 3}}
	if err := o.Print(&b); err != nil || !strings.Contains(b.String(), "\nrefusals: none in this run; deployed, 0 of 3 parties with default policies would\nrefuse this job: ") {
		t.Errorf("error %v, printed %s", err, b.String())
	}
}
