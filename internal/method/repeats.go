package method

import "github.com/mercer-fl/mercer/internal/learner"

// Repeats holds the figures of a job's runs on several partitions and splits.
type Repeats struct {
	Seeds       []uint64                  `json:"seeds"` // of the runs, in order
	Together    map[string]learner.Spread `json:"together"`
	Pooled      map[string]learner.Spread `json:"pooled,omitempty"`
	ExactKernel map[string]learner.Spread `json:"exact_kernel,omitempty"`
	Alone       []AloneSpread             `json:"alone,omitempty"` // in the order of the parties
	Seconds     learner.Spread            `json:"total_s"`
}

// AloneSpread holds the figures of one party without the others.
type AloneSpread struct {
	Party   string                    `json:"party"`
	Figures map[string]learner.Spread `json:"figures"`
}

// RepeatsOf collects the figures of runs.
func RepeatsOf(seeds []uint64, runs []*Result) *Repeats {
	r := &Repeats{
		Seeds:       seeds,
		Together:    spreads(runs, func(r *Result) learner.Metrics { return r.Metrics }),
		Pooled:      spreads(runs, func(r *Result) learner.Metrics { return r.Pooled }),
		ExactKernel: spreads(runs, func(r *Result) learner.Metrics { return r.ExactKernel }),
	}
	for i, a := range runs[0].Alone {
		r.Alone = append(r.Alone, AloneSpread{a.Party, spreads(runs, func(r *Result) learner.Metrics { return r.Alone[i].Metrics })})
	}
	seconds := make([]float64, len(runs))
	for i, run := range runs {
		seconds[i] = run.Timings["total"]
	}
	r.Seconds = learner.SpreadOf(seconds)
	return r
}

func spreads(runs []*Result, of func(*Result) learner.Metrics) map[string]learner.Spread {
	all := make([]learner.Metrics, len(runs))
	for i, r := range runs {
		all[i] = of(r)
	}
	return learner.Spreads(all)
}
