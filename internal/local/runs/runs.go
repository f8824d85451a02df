// Package runs lists the runs of one job in a process that owns all data. It also collects the
// metrics of these runs.
package runs

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// Run is one run of a job, with a name that distinguishes it from the job's other runs.
type Run struct {
	Name string
	Job  *job.Job
}

// Of returns the runs of a job. A job has one run for each repeat, or one for each held-out party,
// or a single run.
func Of(j *job.Job) []Run {
	if j.Data.Test.Parties != "" {
		var turns []Run
		for _, party := range j.Parties() {
			turns = append(turns, Run{"without-" + party, j.WithoutParty(party)})
		}
		return turns
	}
	repeats := []Run{{"", j.Repeat(0)}}
	for i := 1; i < j.Repeats; i++ {
		repeats = append(repeats, Run{fmt.Sprintf("repeat-%d", i+1), j.Repeat(i)})
	}
	return repeats
}

// Collect combines the results of all runs into one. It returns the first run's result. If the job repeats, or
// holds out each party in turn, it adds the metrics of all runs.
func Collect(j *job.Job, runs []Run, results []*method.Result) *method.Result {
	first := results[0]
	switch {
	case j.Data.Test.Parties != "":
		first.LeaveOneSiteOut = turnsOf(j.Parties(), results)
	case j.Repeats > 0:
		seeds := make([]uint64, len(runs))
		for i, run := range runs {
			seeds[i] = run.Job.Seed
		}
		first.Repeats = repeatsOf(seeds, results)
	}
	return first
}

// repeatsOf collects the metrics of repeated runs.
func repeatsOf(seeds []uint64, runs []*method.Result) *learner.Repeats {
	r := &learner.Repeats{
		Seeds:       seeds,
		Together:    spreads(runs, func(r *method.Result) learner.Metrics { return r.Metrics }),
		Pooled:      spreads(runs, func(r *method.Result) learner.Metrics { return r.Pooled }),
		ExactKernel: spreads(runs, func(r *method.Result) learner.Metrics { return r.ExactKernel }),
	}
	for i, a := range runs[0].Alone {
		r.Alone = append(r.Alone, learner.AloneSpread{Party: a.Party, Figures: spreads(runs, func(r *method.Result) learner.Metrics { return r.Alone[i].Metrics })})
	}
	r.Seconds = secondsOf(runs)
	return r
}

// secondsOf returns the spread of the runs' total times.
func secondsOf(runs []*method.Result) learner.Spread {
	seconds := make([]float64, len(runs))
	for i, run := range runs {
		seconds[i] = run.Timings["total"]
	}
	return learner.SpreadOf(seconds)
}

func spreads(runs []*method.Result, of func(*method.Result) learner.Metrics) map[string]learner.Spread {
	all := make([]learner.Metrics, len(runs))
	for i, r := range runs {
		all[i] = of(r)
	}
	return learner.Spreads(all)
}

// turnsOf collects the metrics of a job that holds out each party in turn.
func turnsOf(parties []string, runs []*method.Result) *method.LeaveOneSiteOut {
	t := &method.LeaveOneSiteOut{
		Together: spreads(runs, func(r *method.Result) learner.Metrics { return r.Metrics }),
		Pooled:   spreads(runs, func(r *method.Result) learner.Metrics { return r.Pooled }),
		Seconds:  secondsOf(runs),
	}
	for i, r := range runs {
		t.Parties = append(t.Parties, method.Site{Party: parties[i], Training: r.Training, HeldOut: r.HeldOut, Metrics: r.Metrics, Pooled: r.Pooled, Alone: r.Alone})
	}
	return t
}
