package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/report"
)

// gu lists the experiments that reproduce Gu et al., the paper on FDSKL. Figure 6 comes last: it
// measures no times and runs several jobs at once, and the others measure the times of jobs that
// Figure 6 then need not run again.
func gu() []Experiment {
	return []Experiment{
		{"gu", "figure3", "Test error against time", guFigure3},
		{"gu", "figure4", "Time to add up kernel matrices by ring, tree and star", guFigure4},
		{"gu", "figure5", "Time of FDSKL by the number of rows", guFigure5},
		{"gu", "table4", "Minutes of training", guTable4},
		{"gu", "figure6", "Test error over random splits", guFigure6},
	}
}

// guSet describes one of the paper's ten data sets.
type guSet struct {
	name               string
	source             string // file of the set; "" if it is not available and must be generated
	label              string
	shape              string
	scale              string
	gamma              float64 // kernel parameter, in units of 1 / median squared distance of the rows
	rate               float64 // constant step size of Algorithm 1, chosen from .003 to 8 on an original data set
	exact              bool    // whether the rows are few enough to compare with the exact kernel
	fdskl, secureBoost float64 // published minutes of Table 4
	once               bool    // trains on one split only
	large              bool    // trains the rivals on rivalRepeats splits only
}

// guSets holds the data sets of Table 3 that have at most 60,000 rows and few columns.
var guSets = []guSet{
	{"phishing", "phishing", "label", "11055x68", "none", 1, .03, true, 1, 10, false, false},
	{"a9a", "a9a/a9a + a9a/a9a.t", "label", "48842x123", "none", .5, .1, false, 2, 15, false, true},
	{"default-credit", "", "y", "30000x23", "standard", .5, .03, false, 1, 13, false, false},
	{"ijcnn1", "", "", "49990x22", "none", 1, .1, false, 1, 17, false, true},
	{"cod-rna", "", "", "59535x8", "none", 1, .1, false, 1, 16, false, true},
}

// guLargeSets holds the paper's other data sets. Only w8a is available; the program generates
// rows of the other sets' shapes. real-sim's 72,309 and epsilon's 400,000 rows would take too
// long, so fewer rows are generated.
var guLargeSets = []guSet{
	{name: "gisette", shape: "6000x5000", scale: "none", gamma: 1, rate: .1, once: true},
	{name: "w8a", source: "w8a/w8a.gz", label: "label", shape: "49749x300#sparse=0.04", scale: "none", gamma: 1, rate: .1, once: true},
	{name: "real-sim, 4,000 rows", shape: "4000x20958#sparse=0.0025", scale: "none", gamma: 1, rate: .1, once: true},
	{name: "epsilon, 10,000 rows", shape: "10000x2000", scale: "none", gamma: 1, rate: .1, once: true},
	{name: "givemecredit", shape: "150000x10", scale: "standard", gamma: 1, rate: .1, once: true},
}

// data returns the lines of a job's section data that select the rows. It also returns the
// origin of the rows: original or generated.
func (g guSet) data(l *Runner) (keys, origin string) {
	if g.name == "default-credit" && l.Has("default-credit/guest.csv") {
		return "sources: {guest: default-credit/guest.csv, host: default-credit/host.csv}\nid: id\nlabel: y\npartition: {by: columns, aligned: true}\ntest: {fraction: 0.25}\nscale: standard", "original"
	}
	source, label, origin := "generated:"+g.shape, "label", "generated"
	if first, _, _ := strings.Cut(g.source, " + "); g.source != "" && l.Has(first) {
		source, label, origin = g.source, g.label, "original"
	}
	return "source: " + source + "\nlabel: " + label + "\npartition: {by: columns, parties: [a, b, c, d], aligned: true}\ntest: {fraction: 0.25}\nscale: " + g.scale, origin
}

// guSetsFor returns the data sets of an experiment. In quick mode it leaves out the sets whose
// original data is never available.
func guSetsFor(l *Runner) []guSet {
	if l.Quick {
		return guSets[:3]
	}
	return guSets
}

func (g guSet) job(l *Runner) (task, string) {
	keys, origin := g.data(l)
	t := task{
		name: "gu-" + dashed(g.name), data: keys, protocol: "{name: fdskl, directions: 2048}",
		kernel: fmt.Sprintf("{name: rbf, gamma: %g, gamma_unit: median}", g.gamma), learner: "{name: logistic}", compare: "pooled", repeats: l.Runs,
	}
	if g.exact {
		t.compare = "pooled, exact-kernel"
	}
	if g.once {
		t.repeats = 0
	}
	return t, origin
}

// Names of the two trainings of FDSKL.
const (
	algorithm1 = "FDSKL, Algorithm 1 as published"
	oneShot    = "one-shot FDSKL (Mercer)"
)

const (
	publishedIterations = 4096 // number of iterations of Algorithm 1, which the paper does not print
	publishedRepeats    = 3    // largest number of splits; more would take long, as every party sends a message in each iteration
	rivalRepeats        = 3    // largest number of splits of the rivals on more than 40,000 rows
)

// published changes a job to Algorithm 1 as published, on the same rows. Each iteration uses a
// random row and a new direction, with a constant step size. The comparison on pooled columns is
// then DSG with the same step size.
func (g guSet) published(t task, iterations int) task {
	t.protocol = fmt.Sprintf("{name: fdskl, training: faithful, directions: %d}", iterations)
	t.learner = fmt.Sprintf("{name: logistic, rate: %g, lambda: 1.0e-5}", g.rate)
	t.compare = "pooled"
	t.repeats = min(t.repeats, publishedRepeats)
	return t
}

// dashed turns the name of a data set into a valid job name.
func dashed(name string) string {
	return strings.NewReplacer(", ", "-", ",", "", " ", "-").Replace(name)
}

// guRival is a protocol with which Figure 6 compares FDSKL.
type guRival struct{ name, protocol, kernel, learner string }

// guRivals lists the rivals that can learn from as many rows as FDSKL.
var guRivals = []guRival{
	{"FD-SVRG", "{name: fd-svrg, mode: paper}", "{name: linear}", "{name: logistic, batch: 256, rate: 2, iterations: 40}"},
	{"SecureBoost", "{name: secureboost, mode: paper, he: none}", "{name: linear}", "{name: boosted-trees}"},
}

// encryptedTree is SecureBoost with encryption and only one tree. One tree is enough to estimate
// the time, because all trees take about the same time. Training boostedTrees encrypted trees would
// take hours.
var encryptedTree = guRival{"SecureBoost", "{name: secureboost, mode: paper, he: paillier}", "{name: linear}", "{name: boosted-trees, rounds: 1}"}

// boostedTrees is the number of trees in a full SecureBoost model.
const boostedTrees = 50

// on changes a job to the rival's protocol, on the same rows.
func (g guRival) on(t task) task {
	t.protocol, t.kernel, t.learner, t.compare = g.protocol, g.kernel, g.learner, ""
	return t
}

// guFigure6 reproduces Figure 6: box plots of the test errors over random splits. The errors on
// generated rows cannot be compared with the paper's.
func guFigure6(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "original, or generated where the cell says so"}
	sets := guSetsFor(l)
	if !l.Quick {
		sets = slices.Concat(sets, guLargeSets)
	}
	found, errs := make([]*guErrors, len(sets)), make([]error, len(sets))
	linalg.Each(len(sets), 1, func(i int) { found[i], errs[i] = sets[i].errors(ctx, l) })
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for i, g := range sets {
		e := found[i]
		f.Boxes = append(f.Boxes, report.Boxes{Title: "error on " + g.name + ", " + e.origin, Boxes: e.boxes})
		for _, b := range e.boxes {
			f.Rows = append(f.Rows, Row{fmt.Sprintf("%s (%s), %s", g.name, e.origin, b.Name), "error", learner.SpreadOf(b.Values), nil})
		}
		f.Rows = append(f.Rows, e.sent...)
		if e.origin == "original" {
			f.Claims = append(f.Claims, e.claims(g.name)...)
		}
	}
	return f, nil
}

// guErrors holds the errors of all methods on one set.
type guErrors struct {
	origin string
	boxes  []report.Box
	sent   []Row // MiB that the two trainings of FDSKL sent
}

func (e *guErrors) add(name string, kind report.Kind, accuracy learner.Spread) {
	e.boxes = append(e.boxes, report.Box{Name: name, Kind: kind, Values: errorsOf(accuracy).Values})
}

// mean returns the mean error of the named method.
func (e *guErrors) mean(name string) float64 {
	i := slices.IndexFunc(e.boxes, func(b report.Box) bool { return b.Name == name })
	return learner.SpreadOf(e.boxes[i].Values).Mean
}

// errors runs all methods on the set and returns their errors.
func (g guSet) errors(ctx context.Context, l *Runner) (*guErrors, error) {
	e := &guErrors{}
	var t task
	t, e.origin = g.job(l)
	r, err := l.do(ctx, g.published(t, publishedIterations))
	if err != nil {
		return nil, err
	}
	e.add(algorithm1, report.Together, together(r, "accuracy"))
	e.add("DSG", report.Pooled, pooled(r, "accuracy"))
	e.sent = append(e.sent, sentBy(g.name, algorithm1, r))
	if r, err = l.do(ctx, t); err != nil {
		return nil, err
	}
	e.add(oneShot, report.Together, together(r, "accuracy"))
	e.add("one-shot, pooled", report.Pooled, pooled(r, "accuracy"))
	e.sent = append(e.sent, sentBy(g.name, oneShot, r))
	if g.exact {
		e.add("LIBSVM's kernel", report.Pooled, exactKernel(r, "accuracy"))
	}
	if g.large {
		t.repeats = min(t.repeats, rivalRepeats)
	}
	for _, rival := range guRivals {
		r, err := l.do(ctx, rival.on(t))
		if err != nil {
			return nil, err
		}
		e.add(rival.name, report.Sums, together(r, "accuracy"))
	}
	return e, nil
}

// sentBy returns a row with the MiB that all parties sent in a training.
func sentBy(set, training string, r *method.Result) Row {
	sent := uint64(0)
	for _, p := range r.Parties {
		sent += p.Sent
	}
	return Row{set + ", " + training, "MiB sent", once(float64(sent) / (1 << 20)), nil}
}

// claims judges the paper's claims about the errors of Algorithm 1, and Mercer's claim about its
// own training.
func (e *guErrors) claims(set string) []Claim {
	ours, dsg, linear, fast := e.mean(algorithm1), e.mean("DSG"), e.mean("FD-SVRG"), e.mean(oneShot)
	return []Claim{
		judge("FDSKL has the error of DSG on pooled columns ("+set+").", math.Abs(ours-dsg) < .03, "%.4f against %.4f", ours, dsg),
		doubted("FDSKL has a lower error than linear FD-SVRG ("+set+").", ours < linear, "%.4f against %.4f, after %d iterations", ours, linear, publishedIterations),
		judge("Mercer: one-shot FDSKL has a lower error than Algorithm 1 ("+set+").", fast < ours, "%.4f against %.4f", fast, ours),
	}
}

// guTable4 reproduces Table 4: minutes of training. The paper's machine had 24 cores.
func guTable4(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "original, or generated where the cell says so"}
	for _, g := range guSetsFor(l) {
		t, origin := g.job(l)
		minutes := func(name string, t task, figure string, of float64, published *float64) (float64, error) {
			r, err := l.do(ctx, t)
			if err != nil {
				return 0, err
			}
			m := of * training(r) / 60
			f.Rows = append(f.Rows, Row{fmt.Sprintf("%s (%s), %s", g.name, origin, name), figure, once(m), published})
			return m, nil
		}
		const whole = "minutes of protocol and learning"
		ours, err := minutes(algorithm1, g.published(t, publishedIterations), whole, 1, published(g.fdskl))
		if err != nil {
			return nil, err
		}
		fast, err := minutes(oneShot, t, whole, 1, nil)
		if err != nil {
			return nil, err
		}
		if l.Quick && g.name != "phishing" {
			continue
		}
		t = encryptedTree.on(t)
		t.repeats = 0
		trees, err := minutes("SecureBoost", t, fmt.Sprintf("minutes of %d trees like the first", boostedTrees), boostedTrees, published(g.secureBoost))
		if err != nil {
			return nil, err
		}
		f.Claims = append(f.Claims,
			judge("FDSKL trains faster than SecureBoost ("+g.name+").", trees > ours, "%d iterations of Algorithm 1 are %.1f times as fast; the paper: %.0f times", publishedIterations, trees/ours, g.secureBoost/g.fdskl),
			judge("Mercer: one-shot FDSKL trains faster than SecureBoost ("+g.name+").", trees > fast, "%.0f times as fast", trees/fast))
	}
	return f, nil
}

// training returns the seconds of protocol and learning. It leaves out the alignment of ids,
// which the paper does not count.
func training(r *method.Result) float64 { return r.Timings["protocol"] + r.Timings["learn"] }

// growing lists the protocols of Figure 5, each with the number of rows up to which it is measured. The number is
// smaller for PP-SVMV, because PP-SVMV holds a matrix of all pairs of rows.
var growing = []struct {
	name, protocol, learner string
	most                    int
}{
	{algorithm1, "{name: fdskl, training: faithful, directions: 512}", "{name: logistic, rate: 0.1, lambda: 1.0e-5}", 1 << 20},
	{"PP-SVMV", "{name: pp-svmv, mode: paper}", "{name: svc, C: 1}", 16000},
	{oneShot, "{name: fdskl, directions: 512}", "{name: logistic}", 1 << 20},
}

// guFigure5 reproduces Figure 5: the time by the number of rows.
func guFigure5(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "generated: 50 columns"}
	rows := []int{1000, 2000, 4000, 8000, 16000, 32000, 64000}
	if l.Quick {
		rows = rows[:4]
	}
	c := report.Curve{Title: "seconds of protocol and learning", X: "rows"}
	for _, n := range rows {
		c.Steps = append(c.Steps, strconv.Itoa(n))
	}
	for _, g := range growing {
		line := report.Line{Name: g.name}
		for _, n := range rows {
			if n > g.most {
				line.Values = append(line.Values, math.NaN())
				continue
			}
			r, err := l.do(ctx, task{
				name:     fmt.Sprintf("gu-rows-%d", n),
				data:     fmt.Sprintf("source: generated:%dx50\nlabel: label\npartition: {by: columns, parties: [a, b, c, d], aligned: true}\ntest: {fraction: 0.25}", n),
				protocol: g.protocol, kernel: "{name: rbf, gamma: 1, gamma_unit: median}", learner: g.learner,
			})
			if err != nil {
				return nil, err
			}
			line.Values = append(line.Values, training(r))
			f.Rows = append(f.Rows, Row{fmt.Sprintf("%d rows, %s", n, g.name), "s", once(training(r)), nil})
		}
		c.Lines = append(c.Lines, line)
	}
	c.Scale = report.LogScale(c.Lines)
	f.Curves = []report.Curve{c}
	last, ours := len(rows)-1, c.Lines[0].Values
	longer := ours[last] / ours[0]
	more := float64(rows[last]) / float64(rows[0])
	f.Claims = []Claim{
		judge("FDSKL's time grows no faster than the rows.", longer < 1.2*more, "%.0f times the rows take %.1f times as long", more, longer),
		outgrows(c.Lines[0], c.Lines[1]),
		wall(rows),
	}
	return f, nil
}

// wall judges the claim that PP-SVMV runs out of memory at a number of rows that FDSKL can
// handle.
func wall(rows []int) Claim {
	c := Claim{Text: "PP-SVMV runs out of memory where FDSKL goes on.", Verdict: Unknown, Numbers: fmt.Sprintf("all had room for %d rows", rows[len(rows)-1])}
	last, most := rows[len(rows)-1], growing[1].most
	if last > most {
		gib := float64(last) * float64(last+1) / 2 * 8 / (1 << 30)
		c.Verdict, c.Numbers = Holds, fmt.Sprintf("the matrix of %d rows has %.1f GiB, which every party of PP-SVMV would hold and pass on; FDSKL trained on them", last, gib)
	}
	return c
}

// exactKernel returns a figure of the comparison that trains with the exact kernel.
func exactKernel(r *method.Result, figure string) learner.Spread {
	if r.Repeats != nil {
		return r.Repeats.ExactKernel[figure]
	}
	return once(r.ExactKernel[figure])
}

// errorsOf converts accuracies to errors.
func errorsOf(accuracy learner.Spread) learner.Spread {
	values := make([]float64, len(accuracy.Values))
	for i, v := range accuracy.Values {
		values[i] = 1 - v
	}
	return learner.SpreadOf(values)
}

// outgrows judges the claim that time grows faster on the rival's line than on our line. It
// compares only the numbers of rows that the rival can handle.
func outgrows(ours, rival report.Line) Claim {
	ratios := make([]float64, 0, len(rival.Values))
	for i, v := range rival.Values {
		if !math.IsNaN(v) {
			ratios = append(ratios, v/ours.Values[i])
		}
	}
	first, last := ratios[0], ratios[len(ratios)-1]
	return judge(rival.Name+"'s time grows faster than "+ours.Name+"'s.", last > first, "it takes %.2f times as long with the fewest rows, %.1f times with the most that it has room for here", first, last)
}
