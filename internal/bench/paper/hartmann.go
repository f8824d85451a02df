package paper

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// hartmann lists the experiments that reproduce Hartmann et al., the paper on SecVM.
func hartmann() []Experiment {
	return []Experiment{
		{"hartmann", "figure2", "SecVM's learning curve, for the mean of the last k weight vectors", hartmannFigure2},
		{"hartmann", "figure3", "SecVM's accuracy by the number of bins", hartmannFigure3},
	}
}

// twitter is the file that replaces the paper's 350,000 profiles, which are not public.
const twitter = "twitter-gender/twitter-gender.train.svm"

// secVM holds the fields of a result that only SecVM has.
type secVM struct {
	SecVM struct {
		Averages []struct {
			Iteration, Averaged int
			Accuracy            float64
		}
		Bins []struct {
			Bins     int
			Accuracy float64
		} `json:"bin_curve"`
	}
}

// hartmannJob returns the job of a figure, and a text about its data. If the profiles are not
// available, it uses the bundled digits, odd against even.
func hartmannJob(l *Runner, protocol, learner, compare string) (t task, data string) {
	t = task{
		name: "hartmann", protocol: "{name: secvm, " + protocol + ", packages: 64}", kernel: "{name: linear}",
		learner: "{name: linear-svm, lambda: 0.001, iterations: 300" + learner + "}", compare: compare,
	}
	if l.Has(twitter) {
		t.data = "source: " + twitter + "\nlabel: label\npartition: {by: devices}\ntest: {source: twitter-gender/twitter-gender.test.svm}"
		return t, "stand-in: 10,020 Twitter profiles with 12,113 words, in place of 350,000 with 96 million"
	}
	t.data = "source: bundled:digits#odd\nlabel: label\npartition: {by: devices}\ntest: {fraction: 0.25}"
	return t, "stand-in: the bundled digits, odd against even"
}

func hartmannRun(ctx context.Context, l *Runner, protocol, learner, compare string) (*method.Result, secVM, string, error) {
	t, data := hartmannJob(l, protocol, learner, compare)
	var own secVM
	r, err := l.do(ctx, t)
	if err == nil {
		err = details(r, &own)
	}
	return r, own, data, err
}

// steps lists the step lengths of Figure 2: Mercer's default, and the constant learning rate eta of
// the paper's equation 2. The paper does not state the value of eta.
var steps = []struct{ name, protocol, learner string }{
	{"1/(lambda t)", "features: columns", ""},
	{"eta = 1", "mode: paper, features: columns", ", schedule: constant, rate: 1"},
	{"eta = 0.1", "mode: paper, features: columns", ", schedule: constant, rate: 0.1"},
}

// hartmannFigure2 reproduces Figure 2: the accuracy by iteration, for each step length. As in the
// paper, the features are not hashed.
func hartmannFigure2(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{}
	for _, step := range steps {
		_, own, data, err := hartmannRun(ctx, l, step.protocol, step.learner, "")
		if err != nil {
			return nil, err
		}
		f.Data = data
		f.addAverages(step.name, own)
	}
	return f, nil
}

// addAverages adds the rows, the curve and the claim of one step length.
func (f *Measurement) addAverages(step string, own secVM) {
	c := report.Curve{Title: "accuracy by iteration, steps of " + step, X: "iteration"}
	lines := make(map[int]*report.Line)
	var ks []int
	for _, a := range own.SecVM.Averages {
		if lines[a.Averaged] == nil {
			lines[a.Averaged] = &report.Line{Name: fmt.Sprintf("mean of %d", a.Averaged)}
			ks = append(ks, a.Averaged)
		}
		if a.Averaged == ks[0] {
			c.Steps = append(c.Steps, strconv.Itoa(a.Iteration))
		}
		lines[a.Averaged].Values = append(lines[a.Averaged].Values, a.Accuracy)
	}
	last := make(map[int]float64)
	for _, k := range ks {
		values := lines[k].Values
		last[k] = values[len(values)-1]
		if k != 5 { // the curve for 5 is left out, because there are only four colours
			c.Lines = append(c.Lines, *lines[k])
		}
		f.Rows = append(f.Rows, Row{step + ", " + lines[k].Name, "accuracy at the end", once(last[k]), nil})
	}
	c.Steps, c.Scale = thinned(c.Steps), report.CloseScale(c.Lines)
	f.Curves = append(f.Curves, c)
	claim := judge("The mean of the last two weight vectors is much better than the last one (steps of "+step+").", last[2] > last[1]+muchBetter,
		"accuracy %.3f with the last, %.3f with the mean of two", last[1], last[2])
	claim.Doubted = step != steps[0].name
	f.Claims = append(f.Claims, claim)
}

// muchBetter is the gain in accuracy above which a mean counts as much better.
const muchBetter = .02

// thinned keeps about ten of an axis's labels and empties the others.
func thinned(steps []string) []string {
	list, every := slices.Clone(steps), len(steps)/10+1
	for i := range list {
		if i%every != 0 {
			list[i] = ""
		}
	}
	return list
}

// hartmannFigure3 reproduces Figure 3: the accuracy by the number of bins.
func hartmannFigure3(ctx context.Context, l *Runner) (*Measurement, error) {
	r, own, data, err := hartmannRun(ctx, l, "bins: 16384", "", "pooled, curve")
	if err != nil {
		return nil, err
	}
	f := &Measurement{Data: data}
	line, c := report.Line{Name: "SecVM"}, report.Curve{Title: "accuracy by bins", X: "bins"}
	for _, b := range own.SecVM.Bins {
		c.Steps, line.Values = append(c.Steps, strconv.Itoa(b.Bins)), append(line.Values, b.Accuracy)
		f.Rows = append(f.Rows, Row{fmt.Sprintf("%d bins", b.Bins), "accuracy", once(b.Accuracy), nil})
	}
	c.Lines = []report.Line{line}
	c.Scale = report.CloseScale(c.Lines)
	f.Curves = []report.Curve{c}
	ours, best := r.Metrics["accuracy"], r.Pooled["accuracy"]
	f.Rows = append(f.Rows, Row{"pooled", "accuracy", once(best), nil})
	f.Claims = []Claim{
		judge("More bins give a higher accuracy.", line.Values[len(line.Values)-1] > line.Values[0], "%.3f with the fewest, %.3f with the most", line.Values[0], line.Values[len(line.Values)-1]),
		judge("Privacy costs no accuracy.", ours > best-0.01, "accuracy %.3f, pooled %.3f", ours, best),
	}
	return f, nil
}
