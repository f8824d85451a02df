package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/report"
)

// polato lists the experiments that reproduce Polato et al., the paper on the secure kernel and
// FedCFK.
func polato() []Experiment {
	return []Experiment{
		{"polato", "table1", "FedCFK on ml-100k, by the share of people who take part in one round", polatoTable1},
		{"polato", "table2", "FedCFK on ml-1m, by the share of people who take part in one round", polatoTable2},
		{"polato", "figure1", "Error of FedCFK's estimated kernel, by rounds", polatoFigure1},
	}
}

// polatoSet describes one of the paper's two sets of ratings, with the published table.
type polatoSet struct {
	name, source string
	get          string // how to get the ratings
	table        []polatoShare
}

// polatoShare holds a share of people who take part, with the published AUC, nDCG@100 and
// recall@100.
type polatoShare struct {
	share  float64
	values [3]float64
}

var ml100k = polatoSet{"ml-100k", "ml-100k/u.data", "mercer data get ml-100k", []polatoShare{
	{1, [3]float64{.808, .207, .325}},
	{.9, [3]float64{.808, .206, .325}},
	{.7, [3]float64{.801, .196, .308}},
	{.5, [3]float64{.797, .194, .314}},
	{.3, [3]float64{.772, .169, .270}},
}}

var ml1m = polatoSet{"ml-1m", "ml-1m/ratings.dat", "put GroupLens's ml-1m there", []polatoShare{
	{1, [3]float64{.823, .129, .191}},
	{.9, [3]float64{.822, .128, .190}},
	{.7, [3]float64{.821, .126, .188}},
	{.5, [3]float64{.819, .127, .189}},
	{.3, [3]float64{.813, .127, .190}},
}}

// round returns a job that runs the given number of rounds of the published protocol.
func (p polatoSet) round(participation float64, rounds, repeats int) task {
	return task{
		name:     fmt.Sprintf("polato-%g-%d", 100*participation, rounds),
		data:     "source: " + p.source + "\npartition: {by: devices}\ntest: {by: time, fraction: 0.1}",
		protocol: fmt.Sprintf("{name: fedcfk, mode: paper, rounds: %d, participation: %g, omitted: 0}", rounds, participation),
		kernel:   "{name: linear}", learner: "{name: cf-komd, lambda: 0.1}", repeats: repeats,
	}
}

// missing returns a measurement without results if the ratings are not available. Otherwise it
// returns nil.
func (p polatoSet) missing(l *Runner, claim string) *Measurement {
	if l.Has(p.source) {
		return nil
	}
	why := p.name + " is not in the data folder: " + p.get
	return &Measurement{Data: why, Claims: []Claim{{Text: claim, Verdict: Unknown, Numbers: why}}}
}

func polatoTable1(ctx context.Context, l *Runner) (*Measurement, error) {
	return ml100k.robustness(ctx, l)
}
func polatoTable2(ctx context.Context, l *Runner) (*Measurement, error) {
	return ml1m.robustness(ctx, l)
}

// robustness reproduces Table 1 or 2. The paper does not say how it held out 10 % of the
// ratings. Here the newest ratings are held out.
func (p polatoSet) robustness(ctx context.Context, l *Runner) (*Measurement, error) {
	claim := fmt.Sprintf("One round with half of the people costs little; with 30 %% it costs clearly more (%s).", p.name)
	if f := p.missing(l, claim); f != nil {
		return f, nil
	}
	f, auc := &Measurement{Data: "original: " + p.name}, make(map[float64]float64)
	for _, cells := range p.table {
		if l.Quick && (cells.share == .9 || cells.share == .7) {
			continue
		}
		runs := l.Runs
		if cells.share == 1 {
			runs = 1 // if all people take part, nothing is random and each run is equal
		}
		r, err := l.do(ctx, p.round(cells.share, 1, runs))
		if err != nil {
			return nil, err
		}
		for i, figure := range []string{"auc", "ndcg_100", "recall_100"} {
			f.Rows = append(f.Rows, Row{fmt.Sprintf("%.0f %% of people", 100*cells.share), figure, together(r, figure), published(cells.values[i])})
		}
		auc[cells.share] = together(r, "auc").Mean
	}
	half, third := auc[1]-auc[.5], auc[1]-auc[.3]
	f.Claims = append(f.Claims, judge(claim, half < 0.03 && third > 1.5*half, "AUC %.3f with all, %.3f less with half, %.3f less with 30 %%", auc[1], half, third))
	return f, nil
}

// polatoFigure1 reproduces Figure 1: the mean squared difference between the estimated and the
// true normalised kernel.
func polatoFigure1(ctx context.Context, l *Runner) (*Measurement, error) {
	const claim = "Rounds bring the estimated kernel nearer to the kernel."
	if f := ml100k.missing(l, claim); f != nil {
		return f, nil
	}
	f := &Measurement{Data: "original: " + ml100k.name}
	rounds, shares := 100, []float64{.01, .05, .10}
	if l.Quick {
		rounds, shares = 20, []float64{.01, .05}
	}
	var lines []report.Line
	for _, share := range shares {
		r, err := l.do(ctx, ml100k.round(share, rounds, 1))
		if err != nil {
			return nil, err
		}
		var own struct {
			Devices struct {
				Paper struct {
					Errors []float64 `json:"kernel_errors"`
				}
			}
		}
		if err := details(r, &own); err != nil {
			return nil, err
		}
		errors := own.Devices.Paper.Errors
		name := fmt.Sprintf("%.0f %% of people", 100*share)
		lines = append(lines, report.Line{Name: name, Values: errors})
		f.Rows = append(f.Rows,
			Row{name, "squared error after round 1", once(errors[0]), nil},
			Row{name, fmt.Sprintf("squared error after round %d", rounds), once(errors[len(errors)-1]), nil})
	}
	f.Curves = []report.Curve{{Title: "squared error of the normalised kernel", X: "rounds", Scale: report.LogScale(lines), Steps: numbered(rounds), Lines: lines}}
	first, last := lines[len(lines)-1].Values[0], lines[len(lines)-1].Values[rounds-1]
	f.Claims = append(f.Claims, doubted(claim, last < first/2,
		"with %g %% of people the error is %.4f after one round and %.4f after %d", 100*shares[len(shares)-1], first, last, rounds))
	return f, nil
}

// numbered returns the labels of n steps, counted from 1. Only about ten labels have a text.
func numbered(n int) []string {
	steps, every := make([]string, n), int(math.Ceil(float64(n)/10))
	for i := range steps {
		if (i+1)%every == 0 || i == 0 {
			steps[i] = strconv.Itoa(i + 1)
		}
	}
	return steps
}

// doubted judges a claim that is known not to hold in general.
func doubted(text string, holds bool, format string, numbers ...any) Claim {
	return asDoubted(judge(text, holds, format, numbers...))
}

// asDoubted marks a claim as one that does not hold in general according to the documentation.
func asDoubted(c Claim) Claim {
	c.Doubted = true
	return c
}
