package paper

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/komd"
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

// robustness reproduces Table 1 or 2. The paper does not say how it held out 10 % of the ratings.
// Here the newest ratings are held out. Only one round runs with masks. The rounds of the table add
// up counts without masks, because the masked sums of the protocol are exact.
func (p polatoSet) robustness(ctx context.Context, l *Runner) (*Measurement, error) {
	claim := fmt.Sprintf("One round with half of the people costs little; with 30 %% it costs clearly more (%s).", p.name)
	if f := p.missing(l, claim); f != nil {
		return f, nil
	}
	ratings, err := l.Ratings(p.source)
	if err != nil {
		return nil, err
	}
	f, auc := &Measurement{Data: "original: " + p.name + "; counts without masks, which equal the sums of the protocol, but for the row with masks"}, make(map[float64]float64)
	for _, cells := range p.table {
		if l.Quick && (cells.share == .9 || cells.share == .7) {
			continue
		}
		drawn, judged, err := oneRound(ctx, ratings, cells.share, l.Runs)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%.0f %% of people", 100*cells.share)
		for i, figure := range rankingFigures {
			f.Rows = append(f.Rows, Row{name, figure, learner.SpreadOf(drawn[figure]), published(cells.values[i])})
		}
		auc[cells.share] = learner.SpreadOf(drawn["auc"]).Mean
		if cells.share == 1 {
			f.Rows = append(f.Rows, Row{name, "people judged", once(float64(judged)), nil})
		}
	}
	half, third := auc[1]-auc[.5], auc[1]-auc[.3]
	f.Claims = append(f.Claims, judge(claim, half < 0.03 && third > 1.5*half, "AUC %.3f with all, %.3f less with half, %.3f less with 30 %%", auc[1], half, third))
	return f, f.masked(ctx, l, p)
}

// masked adds the figures of one round of the protocol with half of the people.
func (f *Measurement) masked(ctx context.Context, l *Runner, p polatoSet) error {
	r, err := l.do(ctx, p.round(.5, 1, 1))
	if err != nil {
		return err
	}
	for _, figure := range rankingFigures {
		f.Rows = append(f.Rows, Row{"50 % of people, with masks", figure, together(r, figure), nil})
	}
	f.Claims = append(f.Claims, judge("The sum gives the kernel exactly.", r.Exact != nil && *r.Exact, "every masked count of a round with half of the people equals the count without masks"))
	return nil
}

// rankingFigures lists the figures of the paper's tables.
var rankingFigures = []string{"auc", "ndcg_100", "recall_100"}

// oneRound returns the ranking figures after one round, for each of several random draws of people.
// In each draw, the given share of the people contributes to one kernel, which gives the rankings
// of all people. It also returns the number of people who have a training item, and hold out an item that
// occurs in training.
func oneRound(ctx context.Context, ratings *dataset.Ratings, share float64, runs int) (drawn map[string][]float64, judged int, err error) {
	in, out, err := ratings.Newest(.1)
	if err != nil {
		return nil, 0, err
	}
	if share == 1 {
		runs = 1 // with all people, every draw is the same
	}
	train, test, items := ratings.Profiles(in), ratings.Profiles(out), len(ratings.Items)
	s := prg.New([32]byte{}, fmt.Sprintf("bench/paper/table %g", share))
	drawn = make(map[string][]float64)
	for range runs {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		kernel, err := komd.Spec{Name: komd.Linear}.Kernel(komd.CountsOf(items, crowd{low: share, high: share}.draw(s, train)))
		if err != nil {
			return nil, 0, err
		}
		model := komd.New(kernel)
		var m learner.Metrics
		m, judged, err = learner.Ranking(items, train, test, func(user int) ([]float64, error) {
			return model.Scores(train[user], komd.DefaultLambda)
		})
		if err != nil {
			return nil, 0, err
		}
		for _, figure := range rankingFigures {
			drawn[figure] = append(drawn[figure], m[figure])
		}
	}
	return drawn, judged, nil
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

// asDoubted marks a claim that, by the documentation, does not hold in general.
func asDoubted(c Claim) Claim {
	c.Doubted = true
	return c
}
