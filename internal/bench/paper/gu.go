package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// gu lists the experiments of Gu et al., on FDSKL.
func gu() []Experiment {
	return []Experiment{
		{"gu", "figure3", "Test error against time", guFigure3},
		{"gu", "figure6", "Test error over random splits", guFigure6},
		{"gu", "figure4", "Time to add up kernel matrices by ring, tree and star", guFigure4},
		{"gu", "figure5", "Time of FDSKL by the number of rows", guFigure5},
		{"gu", "table4", "Minutes of training", guTable4},
	}
}

// guSet is one of the paper's ten data sets.
type guSet struct {
	name               string
	source             string // "" if it is not available: then rows and columns are generated
	label              string
	shape              string
	scale              string
	gamma              float64 // over the median squared distance
	exact              bool    // few enough rows for the kernel itself
	fdskl, secureBoost float64 // minutes of Table 4
	once               bool    // one split only
}

// guSets are the data sets of Table 3 that have at most 60,000 rows and few columns.
var guSets = []guSet{
	{"phishing", "phishing", "label", "11055x68", "none", 1, true, 1, 10, false},
	{"a9a", "a9a/a9a + a9a/a9a.t", "label", "48842x123", "none", .5, false, 2, 15, false},
	{"default-credit", "", "y", "30000x23", "standard", .5, false, 1, 13, false},
	{"ijcnn1", "", "", "49990x22", "none", 1, false, 1, 17, false},
	{"cod-rna", "", "", "59535x8", "none", 1, false, 1, 16, false},
}

// guLargeSets are the paper's other sets, which are not available: generated rows of their
// shapes. real-sim's 72,309 and epsilon's 400,000 rows would take too long, so there are
// fewer.
var guLargeSets = []guSet{
	{name: "gisette", shape: "6000x5000", scale: "none", gamma: 1, once: true},
	{name: "w8a", shape: "49749x300#sparse=0.04", scale: "none", gamma: 1, once: true},
	{name: "real-sim, 4,000 rows", shape: "4000x20958#sparse=0.0025", scale: "none", gamma: 1, once: true},
	{name: "epsilon, 10,000 rows", shape: "10000x2000", scale: "none", gamma: 1, once: true},
	{name: "givemecredit", shape: "150000x10", scale: "standard", gamma: 1, once: true},
}

// data describes the rows, and data lists the keys of a job that reads them.
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

// guSetsFor returns the data sets; in quick mode only the original ones.
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

// dashed returns a valid name for a job.
func dashed(name string) string {
	return strings.NewReplacer(", ", "-", ",", "", " ", "-").Replace(name)
}

// guRival is a protocol to which Figure 6 compares FDSKL.
type guRival struct{ name, protocol, kernel, learner string }

// guRivals are the rivals that learn from as many rows.
var guRivals = []guRival{
	{"FD-SVRG", "{name: fd-svrg, mode: paper}", "{name: linear}", "{name: logistic, batch: 256, rate: 2, iterations: 40}"},
	{"SecureBoost", "{name: secureboost, mode: paper, he: none}", "{name: linear}", "{name: boosted-trees}"},
}

// encryptedTree is SecureBoost with one tree under encryption. All trees cost about as much, and
// boostedTrees of them take hours.
var encryptedTree = guRival{"SecureBoost", "{name: secureboost, mode: paper, he: paillier}", "{name: linear}", "{name: boosted-trees, rounds: 1}"}

// boostedTrees counts the trees of a model.
const boostedTrees = 50

// on returns the rival's job on the rows of another job.
func (g guRival) on(t task) task {
	t.protocol, t.kernel, t.learner, t.compare = g.protocol, g.kernel, g.learner, ""
	return t
}

// guFigure6 makes Figure 6: box plots of the errors of 10 splits. The errors on generated
// rows cannot be compared with the paper's.
func guFigure6(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "original, or generated where the cell says so"}
	sets := guSetsFor(l)
	if !l.Quick {
		sets = slices.Concat(sets, guLargeSets)
	}
	for _, g := range sets {
		t, origin := g.job(l)
		r, err := l.do(ctx, t)
		if err != nil {
			return nil, err
		}
		b := report.Boxes{Title: "error on " + g.name + ", " + origin}
		add := func(name string, kind report.Kind, accuracy learner.Spread) {
			e := errorsOf(accuracy)
			b.Boxes = append(b.Boxes, report.Box{Name: name, Kind: kind, Values: e.Values})
			f.Rows = append(f.Rows, Row{fmt.Sprintf("%s (%s), %s", g.name, origin, name), "error", e, nil})
		}
		add("FDSKL", report.Together, together(r, "accuracy"))
		add("DSG", report.Pooled, pooled(r, "accuracy"))
		if g.exact {
			add("LIBSVM's kernel", report.Pooled, exactKernel(r, "accuracy"))
		}
		for _, rival := range guRivals {
			r, err := l.do(ctx, rival.on(t))
			if err != nil {
				return nil, err
			}
			add(rival.name, report.Sums, together(r, "accuracy"))
		}
		f.Boxes = append(f.Boxes, b)
		if origin == "original" {
			ours, dsg := errorsOf(together(r, "accuracy")).Mean, errorsOf(pooled(r, "accuracy")).Mean
			f.Claims = append(f.Claims, judge("FDSKL has the error of DSG on pooled columns ("+g.name+").", ours < dsg+0.005, "%.4f against %.4f", ours, dsg))
		}
	}
	return f, nil
}

// guTable4 makes Table 4: minutes of training. The paper's machine had 24 cores.
func guTable4(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "original, or generated where the cell says so"}
	for _, g := range guSetsFor(l) {
		t, origin := g.job(l)
		r, err := l.do(ctx, t)
		if err != nil {
			return nil, err
		}
		f.Rows = append(f.Rows, Row{fmt.Sprintf("%s (%s), FDSKL", g.name, origin), "minutes of protocol and learning", once(training(r) / 60), published(g.fdskl)})
		if l.Quick && g.name != "phishing" {
			continue
		}
		t = encryptedTree.on(t)
		t.repeats = 0
		tree, err := l.do(ctx, t)
		if err != nil {
			return nil, err
		}
		trees := boostedTrees * training(tree)
		f.Rows = append(f.Rows, Row{fmt.Sprintf("%s (%s), SecureBoost", g.name, origin), fmt.Sprintf("minutes of %d trees like the first", boostedTrees), once(trees / 60), published(g.secureBoost)})
		f.Claims = append(f.Claims, judge("FDSKL trains faster than SecureBoost ("+g.name+").", trees > training(r), "%.0f times as fast; the paper: %.0f times", trees/training(r), g.secureBoost/g.fdskl))
	}
	return f, nil
}

// training returns the seconds of protocol and learning, without the alignment of ids, which the
// paper does not count.
func training(r *method.Result) float64 { return r.Timings["protocol"] + r.Timings["learn"] }

// growing lists the protocols of Figure 5, each with the most rows for which this machine
// has memory: a matrix of all pairs of rows allows no more.
var growing = []struct {
	name, protocol, learner string
	most                    int
}{
	{"FDSKL", "{name: fdskl, directions: 512}", "{name: logistic}", 1 << 20},
	{"PP-SVMV", "{name: pp-svmv, mode: paper}", "{name: svc, C: 1}", 16000},
}

// guFigure5 makes Figure 5: time against rows.
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

// wall returns the claim about the largest number of rows of each protocol.
func wall(rows []int) Claim {
	c := Claim{Text: "PP-SVMV runs out of memory where FDSKL goes on.", Verdict: Unknown, Numbers: fmt.Sprintf("all had room for %d rows", rows[len(rows)-1])}
	last, most := rows[len(rows)-1], growing[1].most
	if last > most {
		gib := float64(last) * float64(last+1) / 2 * 8 / (1 << 30)
		c.Verdict, c.Numbers = Holds, fmt.Sprintf("the matrix of %d rows has %.1f GiB, which every party of PP-SVMV would hold and pass on; FDSKL trained on them", last, gib)
	}
	return c
}

// exactKernel returns a figure for the exact kernel.
func exactKernel(r *method.Result, figure string) learner.Spread {
	if r.Repeats != nil {
		return r.Repeats.ExactKernel[figure]
	}
	return once(r.ExactKernel[figure])
}

// errorsOf turns accuracies into errors.
func errorsOf(accuracy learner.Spread) learner.Spread {
	values := make([]float64, len(accuracy.Values))
	for i, v := range accuracy.Values {
		values[i] = 1 - v
	}
	return learner.SpreadOf(values)
}

// outgrows judges whether the rival's time grows faster, up to the most rows that it can
// handle.
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
