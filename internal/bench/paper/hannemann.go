package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/report"
)

// hannemann lists the experiments that reproduce Hannemann et al., the paper on OKRA.
func hannemann() []Experiment {
	return []Experiment{
		{"hannemann", "table1", "Kernel PCA of OKRA beside kernel PCA without privacy", hannemannTable1},
		{"hannemann", "svm", "OKRA beside the support vector machine without privacy", hannemannSVM},
		{"hannemann", "grid", "The paper's grid over C and degree, by five folds", hannemannGrid},
		{"hannemann", "figure2", "Time by the number of parties", hannemannFigure2},
		{"hannemann", "figure3", "Time of encoding by the number of features", hannemannFigure3},
	}
}

// parties returns the names of n parties that hold rows, as a YAML list without brackets.
func parties(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("home-%d", i+1)
	}
	return strings.Join(names, ", ")
}

// hannemannSet describes a data set and the kernel for it. The table of support vector machines has
// one line for each set.
type hannemannSet struct {
	name, source string
	classes      string // YAML map of classes to merge; "" keeps all classes
	scale        string
	kernel       string
	f1, auc      *float64 // published values of the table; nil if the paper has no values for such rows
	unbalanced   bool     // whether class sizes differ; then the paper averages F1 over classes, else over rows
}

// f1Name returns the name of the F1 score that the paper reports for the set.
func (h hannemannSet) f1Name() string {
	if h.unbalanced {
		return "f1_macro"
	}
	return "f1_micro"
}

const (
	ofDistances = "{name: rbf, gamma: 1, gamma_unit: median}"
	linear      = "{name: linear}"
)

// ofSlices is the Gaussian kernel for images of slices of a head.
const ofSlices = "{name: rbf, gamma: 4, gamma_unit: median}"

// hannemannSets lists the data sets of the table. The images of blood cells are in grey, of 64 x 48
// pixels. Without these images, the program generates fewer rows of four classes.
var hannemannSets = []hannemannSet{
	{"Alzheimer's disease, two classes, 64 x 64 pixels", "alzheimer-mri#64x64", "{Demented: [MildDemented, ModerateDemented, VeryMildDemented]}", "none", ofSlices, published(.91), published(.97), true},
	{"Alzheimer's disease, four classes, 64 x 64 pixels", "alzheimer-mri#64x64", "", "none", ofSlices, published(.97), published(1), true},
	{"blood cells, four classes, 64 x 48 pixels in grey, rbf", bloodCells, "", "none", ofDistances, published(.88), published(.94), false},
	{"generated in place of blood cells, 1,000 rows of 30,000 features, four classes, rbf", "generated:1000x30000x4", "", "none", ofDistances, published(.88), published(.94), false},
	{"generated, 800 rows of 12,800 features, four classes, linear", "generated:800x12800x4", "", "none", linear, published(.89), published(.95), false},
	{"digits, rbf", "bundled:digits", "", "standard", ofDistances, nil, nil, false},
	{"digits, linear", "bundled:digits", "", "standard", linear, nil, nil, false},
	{"wdbc, rbf", "bundled:wdbc", "", "standard", ofDistances, nil, nil, true},
	{"wdbc, linear", "bundled:wdbc", "", "standard", linear, nil, nil, true},
}

const (
	bloodCells     = "blood-cells/train-images-idx3-ubyte.gz"
	manyRowsRepeat = 3 // largest number of splits of the blood cells, which have 9,957 rows
)

// replaced reports whether the set is generated although the data folder has the original images.
func (h hannemannSet) replaced(l *Runner) bool {
	return strings.HasPrefix(h.name, "generated in place of blood cells") && l.Has(bloodCells)
}

// repeats returns the number of splits.
func (h hannemannSet) repeats(l *Runner) int {
	if h.source == bloodCells {
		return min(l.Runs, manyRowsRepeat)
	}
	return l.Runs
}

// data returns the lines of a job's section data that select the rows.
func (h hannemannSet) data() string {
	keys := "source: " + h.source + "\nlabel: label\nscale: " + h.scale + "\npartition: {parties: [" + parties(3) + "]}\ntest: {fraction: 0.25}"
	if h.classes != "" {
		keys += "\nclasses: " + h.classes
	}
	return keys
}

// hannemannSVM reproduces the table of support vector machines. It compares OKRA with the same
// machine trained without privacy.
func hannemannSVM(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "original slices of Alzheimer's disease and images of blood cells where they are in the data folder; the other sets are generated or stand in"}
	worst := 0.0
	for _, set := range hannemannSets {
		source, _, _ := strings.Cut(set.source, "#")
		if !strings.Contains(source, ":") && !l.Has(source) || set.replaced(l) {
			continue
		}
		r, err := l.do(ctx, task{
			name:     "hannemann-svm",
			data:     set.data(),
			protocol: "{name: okra}", kernel: set.kernel, learner: "{name: svc, C: 10}", compare: "pooled", repeats: set.repeats(l),
		})
		if err != nil {
			return nil, err
		}
		for _, figure := range []struct {
			name  string
			paper *float64
		}{{set.f1Name(), set.f1}, {"auc", set.auc}} {
			ours, naive := together(r, figure.name), pooled(r, figure.name)
			f.Rows = append(f.Rows, Row{set.name + ", OKRA", figure.name, ours, figure.paper}, Row{set.name + ", naive", figure.name, naive, figure.paper})
			worst = math.Max(worst, math.Abs(ours.Mean-naive.Mean))
		}
	}
	f.Claims = []Claim{judge("OKRA gives the F1 and the AUC of the machine without privacy.", worst < 5e-5, "largest difference of a mean: %.2g", worst)}
	return f, nil
}

// paperRate, paperLatency and paperLoss describe the network that the paper assumes: bytes a
// second, seconds and the share of lost packets.
const (
	paperRate    = 1.25e6
	paperLatency = .1
	paperLoss    = .02
)

// paperLink models the paper's network. A loss lowers the rate to the share of bytes that arrive.
// TCP would lower the rate more: see mathisRate.
var paperLink = fmt.Sprintf("{rate: %g, latency: %gms, loss: %g}", paperRate, 1000*paperLatency, paperLoss)

// mathisRate returns the rate of one TCP connection over the paper's network, in bytes a second. By
// the formula of Mathis et al. (1997), the rate is (s/t) sqrt(1.5/p) for segments of s bytes, a
// round trip of t seconds and a share p of lost segments. Here s is 1,460, and t is the latency.
func mathisRate() float64 { return 1460 / paperLatency * math.Sqrt(1.5/paperLoss) }

// mathisLink models the paper's line with the rate of mathisRate and without loss.
func mathisLink() string {
	return fmt.Sprintf("{rate: %.0f, latency: %gms, loss: 0}", mathisRate(), 1000*paperLatency)
}

// rival is a protocol of Figure 2. The field ten holds the seconds that the paper's text gives for
// ten parties.
type rival struct {
	name, protocol string
	ten            *float64
}

// rivals lists the protocols of Figure 2. ESCAPED sends numbers of eight bytes, so the others do,
// too. The last line shows OKRA's default.
var rivals = []rival{
	{"OKRA", "{name: okra, wire: float64}", published(16)},
	{"FLAKE", "{name: flake, wire: float64}", nil},
	{"ESCAPED", "{name: escaped, mode: paper}", nil},
	{"OKRA, numbers of 4 bytes", "{name: okra}", nil},
}

// hannemannFigure2 reproduces Figure 2: the time by the number of parties, from 3 to 10. Each
// party has 400 rows of 1,000 features. The time includes that of the messages on the paper's
// network.
func hannemannFigure2(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: fmt.Sprintf("generated as in the paper: 400 rows of 1,000 features a party; numbers of 8 bytes unless a cell says 4; a loss of %g lowers the rate to %g times, where one TCP connection by Mathis' formula would carry %.2g of %.3g MB/s", paperLoss, 1-paperLoss, mathisRate()/1e6, paperRate/1e6)}
	counts := []int{3, 4, 5, 6, 7, 8, 9, 10}
	if l.Quick {
		counts = []int{3, 6, 10}
	}
	c := report.Curve{Title: "seconds with the modelled network", X: "parties"}
	for _, n := range counts {
		c.Steps = append(c.Steps, strconv.Itoa(n))
	}
	var slow []report.Line
	for _, rival := range rivals {
		line := report.Line{Name: rival.name}
		for _, n := range counts {
			modelled, err := f.timed(ctx, l, rival, n, paperLink, "")
			if err != nil {
				return nil, err
			}
			line.Values = append(line.Values, modelled)
		}
		c.Lines = append(c.Lines, line)
		modelled, err := f.timed(ctx, l, rival, 10, mathisLink(), ", TCP by Mathis' formula")
		if err != nil {
			return nil, err
		}
		slow = append(slow, report.Line{Name: rival.name, Values: []float64{modelled}})
	}
	c.Scale = report.LinearScale(c.Lines)
	f.Curves = []report.Curve{c}
	f.Claims = []Claim{
		aheadOf(c.Lines[:3], "OKRA is faster than FLAKE and ESCAPED at every number of parties, with numbers of 8 bytes."),
		aheadOf([]report.Line{c.Lines[3], c.Lines[2]}, "OKRA with numbers of 4 bytes is faster than ESCAPED with 8 at every number of parties."),
		aheadOf([]report.Line{slow[0], slow[2]}, "OKRA is faster than ESCAPED with ten parties over TCP by Mathis' formula, with numbers of 8 bytes."),
	}
	return f, nil
}

// timed runs one rival on a modelled line and adds the results to the measurement. It returns the
// total time of computing and messages, in seconds.
func (f *Measurement) timed(ctx context.Context, l *Runner, of rival, n int, link, note string) (float64, error) {
	r, err := l.do(ctx, task{
		name:     fmt.Sprintf("hannemann-%d", n),
		data:     fmt.Sprintf("source: generated:%dx1000\nlabel: label\npartition: {parties: [%s]}\ntest: {fraction: 0.25}", 400*n, parties(n)),
		protocol: of.protocol, kernel: "{name: rbf, gamma: 1, gamma_unit: median}", learner: "{name: svc, C: 1}", link: link,
	})
	if err != nil {
		return 0, err
	}
	rows, modelled := overNetwork(fmt.Sprintf("%s, %d parties%s", of.name, n, note), r)
	if n == 10 && note == "" {
		rows[len(rows)-1].Published = of.ten
	}
	f.Rows = append(f.Rows, rows...)
	return modelled, nil
}

// overNetwork returns rows with the seconds of computing, and the size and the modelled seconds of
// all messages. The last row has the sum of both times, which overNetwork also returns by itself.
func overNetwork(cell string, r *method.Result) ([]Row, float64) {
	computed, n := r.Timings["total"], r.Network
	together := computed + n.Seconds
	return []Row{
		{cell, "s of computing", once(computed), nil}, {cell, "MB sent", once(float64(n.Bytes) / 1e6), nil},
		{cell, "s on the network", once(n.Seconds), nil}, {cell, "s together", once(together), nil},
	}, together
}

// aheadOf judges the claim that the first line has lower values than every other line.
func aheadOf(lines []report.Line, claim string) Claim {
	least, most := math.Inf(1), 0.0
	for _, rival := range lines[1:] {
		for i, v := range rival.Values {
			if !math.IsNaN(v) {
				ratio := v / lines[0].Values[i]
				least, most = math.Min(least, ratio), math.Max(most, ratio)
			}
		}
	}
	return judge(claim, least > 1, "the rivals take %.2f to %.2f times as long", least, most)
}

// encoders lists the encoders of Figure 3. The largest measured numbers of features are most
// and, in quick mode, atLook. They are smaller for FLAKE, whose cost is cubic.
var encoders = []struct {
	name         string
	spec         okra.Spec
	most, atLook int
}{
	{"hadamard", okra.Spec{Encoder: okra.Hadamard, Rounds: 3}, 1 << 19, 1 << 15},
	{"block", okra.Spec{Encoder: okra.Block, Mode: "paper"}, 1 << 19, 1 << 15},
	{"FLAKE", okra.Spec{Encoder: okra.Flake}, 1 << 11, 1 << 9},
}

// hannemannFigure3 reproduces Figure 3: the time to make an encoder and to encode 400 rows.
func hannemannFigure3(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "generated as in the paper: 400 rows"}
	widths := []int{1 << 7, 1 << 9, 1 << 11, 1 << 13, 1 << 15, 1 << 17, 1 << 19}
	if l.Quick {
		widths = widths[:5]
	}
	c := report.Curve{Title: "seconds", X: "features"}
	for _, w := range widths {
		c.Steps = append(c.Steps, strconv.Itoa(w))
	}
	for _, e := range encoders {
		line, most := report.Line{Name: e.name}, e.most
		if l.Quick {
			most = e.atLook
		}
		for _, w := range widths {
			if w > most {
				line.Values = append(line.Values, math.NaN())
				continue
			}
			took, err := encodingTime(ctx, e.spec, w)
			if err != nil {
				return nil, err
			}
			line.Values = append(line.Values, took)
			f.Rows = append(f.Rows, Row{fmt.Sprintf("%s, %d features", e.name, w), "s", once(took), nil})
		}
		c.Lines = append(c.Lines, line)
	}
	c.Scale = report.LogScale(c.Lines)
	f.Curves = []report.Curve{c}
	f.Claims = []Claim{aheadOf([]report.Line{c.Lines[1], c.Lines[2]}, "OKRA's encoder of blocks is faster than FLAKE's at every number of features.")}
	return f, nil
}

// encodingTime returns the seconds to make an encoder and to encode 400 rows.
func encodingTime(ctx context.Context, spec okra.Spec, features int) (float64, error) {
	const rows = 400
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	params, err := okra.NewParams(spec)
	if err != nil {
		return 0, err
	}
	src, s := linalg.New[float64](rows, features), prg.New([32]byte{}, "bench/paper")
	for i := range src.Data {
		src.Data[i] = s.Float64()
	}
	began := time.Now()
	e, err := okra.NewEncoder(params, okra.Seed{1}, features, okra.Padding(features))
	if err != nil {
		return 0, err
	}
	e.Encode(linalg.New[float64](rows, e.Width()), src)
	return time.Since(began).Seconds(), nil
}
