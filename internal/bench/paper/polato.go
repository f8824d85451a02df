package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/report"
)

// polato lists the experiments of Polato et al., on the secure kernel and FedCFK.
func polato() []Experiment {
	return []Experiment{
		{"polato", "table1", "FedCFK on ml-100k, by the share of people who take part in one round", polatoTable1},
		{"polato", "figure1", "Error of FedCFK's estimated kernel, by rounds", polatoFigure1},
	}
}

// ml100k is the paper's smaller data set.
const ml100k = "ml-100k/u.data"

// ratings names the ratings at hand.
func ratings(l *Lab) (data string, have bool) {
	if l.Has(ml100k) {
		return "original: ml-100k", true
	}
	return "ml-100k is not in the data folder: mercer data get ml-100k", false
}

// polatoRound is a job of rounds of the published protocol.
func polatoRound(participation float64, rounds, repeats int) task {
	return task{
		name:     fmt.Sprintf("polato-%g-%d", 100*participation, rounds),
		data:     "source: " + ml100k + "\npartition: {by: devices}\ntest: {by: time, fraction: 0.1}",
		protocol: fmt.Sprintf("{name: fedcfk, mode: paper, rounds: %d, participation: %g, omitted: 0}", rounds, participation),
		kernel:   "{name: linear}", learner: "{name: cf-komd, lambda: 0.1}", repeats: repeats,
	}
}

// polatoShares are the shares of Table 1 with its AUC, nDCG@100 and recall@100.
var polatoShares = []struct {
	share  float64
	values [3]float64
}{
	{1, [3]float64{.808, .207, .325}},
	{.9, [3]float64{.808, .206, .325}},
	{.7, [3]float64{.801, .196, .308}},
	{.5, [3]float64{.797, .194, .314}},
	{.3, [3]float64{.772, .169, .270}},
}

// polatoTable1 is Table 1. The paper does not say how it held 10 % of the ratings out; these are
// the newest of all.
func polatoTable1(ctx context.Context, l *Lab) (*Finding, error) {
	data, have := ratings(l)
	f := &Finding{Data: data}
	if !have {
		return f, nil
	}
	auc := make(map[float64]float64)
	for _, p := range polatoShares {
		if l.Quick && (p.share == .9 || p.share == .7) {
			continue
		}
		r, err := l.do(ctx, polatoRound(p.share, 1, l.Runs))
		if err != nil {
			return nil, err
		}
		for i, figure := range []string{"auc", "ndcg_100", "recall_100"} {
			f.Rows = append(f.Rows, Row{fmt.Sprintf("%.0f %% of people", 100*p.share), figure, together(r, figure), published(p.values[i])})
		}
		auc[p.share] = together(r, "auc").Mean
	}
	half, third := auc[1]-auc[.5], auc[1]-auc[.3]
	f.Claims = append(f.Claims, judge("One round with half of the people costs little; with 30 % it costs clearly more.",
		half < 0.03 && third > 1.5*half, "AUC %.3f with all, %.3f less with half, %.3f less with 30 %%", auc[1], half, third))
	return f, nil
}

// polatoFigure1 is Figure 1: the mean squared difference between the normalised kernels.
func polatoFigure1(ctx context.Context, l *Lab) (*Finding, error) {
	data, have := ratings(l)
	f := &Finding{Data: data}
	if !have {
		return f, nil
	}
	rounds, shares := 100, []float64{.01, .05, .10}
	if l.Quick {
		rounds, shares = 20, []float64{.01, .05}
	}
	var lines []report.Line
	for _, share := range shares {
		r, err := l.do(ctx, polatoRound(share, rounds, 1))
		if err != nil {
			return nil, err
		}
		var own struct {
			Crowd struct {
				Paper struct {
					Errors []float64 `json:"kernel_errors"`
				}
			}
		}
		if err := details(r, &own); err != nil {
			return nil, err
		}
		errors := own.Crowd.Paper.Errors
		name := fmt.Sprintf("%.0f %% of people", 100*share)
		lines = append(lines, report.Line{Name: name, Values: errors})
		f.Rows = append(f.Rows,
			Row{name, "squared error after round 1", once(errors[0]), nil},
			Row{name, fmt.Sprintf("squared error after round %d", rounds), once(errors[len(errors)-1]), nil})
	}
	f.Curves = []report.Curve{{Title: "squared error of the normalised kernel", X: "rounds", Scale: report.LogScale(lines), Steps: numbered(rounds), Lines: lines}}
	first, last := lines[len(lines)-1].Values[0], lines[len(lines)-1].Values[rounds-1]
	f.Claims = append(f.Claims, doubted("Rounds bring the estimated kernel nearer to the kernel.", last < first/2,
		"with %g %% of people the error is %.4f after one round and %.4f after %d", 100*shares[len(shares)-1], first, last, rounds))
	return f, nil
}

// numbered names steps from 1, about ten of them with a text.
func numbered(n int) []string {
	steps, every := make([]string, n), int(math.Ceil(float64(n)/10))
	for i := range steps {
		if (i+1)%every == 0 || i == 0 {
			steps[i] = strconv.Itoa(i + 1)
		}
	}
	return steps
}

// doubted is a judged claim that is known not to hold in general.
func doubted(text string, holds bool, format string, numbers ...any) Claim {
	c := judge(text, holds, format, numbers...)
	c.Doubted = true
	return c
}
