package cli

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// repeatsOf collects the figures of runs.
func repeatsOf(seeds []uint64, runs []*method.Result) *method.Repeats {
	r := &method.Repeats{
		Seeds:       seeds,
		Together:    spreads(runs, func(r *method.Result) learner.Metrics { return r.Metrics }),
		Pooled:      spreads(runs, func(r *method.Result) learner.Metrics { return r.Pooled }),
		ExactKernel: spreads(runs, func(r *method.Result) learner.Metrics { return r.ExactKernel }),
	}
	for i, a := range runs[0].Alone {
		r.Alone = append(r.Alone, method.AloneSpread{Party: a.Party, Figures: spreads(runs, func(r *method.Result) learner.Metrics { return r.Alone[i].Metrics })})
	}
	seconds := make([]float64, len(runs))
	for i, run := range runs {
		seconds[i] = run.Timings["total"]
	}
	r.Seconds = learner.SpreadOf(seconds)
	return r
}

func spreads(runs []*method.Result, of func(*method.Result) learner.Metrics) map[string]learner.Spread {
	all := make([]learner.Metrics, len(runs))
	for i, r := range runs {
		all[i] = of(r)
	}
	return learner.Spreads(all)
}
