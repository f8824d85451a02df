package simulate

import (
	"cmp"
	"context"
	"slices"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/stage"
)

// compare checks the sums against plain ones, and learns from all lists in one
// place.
func (r *recommending) compare(context.Context) error {
	exact := r.exactPopularity() && r.exactTriangle()
	r.result.Exact = &exact
	if err := r.recommend(); err != nil {
		return err
	}
	if !r.Job.Compares(job.Pooled) {
		return nil
	}
	m, err := r.crowd.PooledModel(r.train)
	if err != nil {
		return err
	}
	r.result.Pooled, _, err = evaluate.Ranking(r.crowd.Items, r.train, r.test, func(user int) ([]float64, error) {
		return m.Scores(r.train[user], r.Job.Learner.Lambda)
	})
	return err
}

// plain counts in the lists of the named people, by the dumbest way there is, how
// many like item i and item j, at i items + j.
func (r *recommending) plain(names []string) []int64 {
	counts := make([]int64, r.crowd.Items*r.crowd.Items)
	for _, name := range names {
		profile := r.train[r.place[name]]
		for _, i := range profile {
			for _, j := range profile {
				counts[i*r.crowd.Items+j]++
			}
		}
	}
	return counts
}

func (r *recommending) exactPopularity() bool {
	plain := r.plain(r.first.added)
	for i, n := range r.first.sums {
		if n != plain[i*r.crowd.Items+i] {
			return false
		}
	}
	return true
}

func (r *recommending) exactTriangle() bool {
	plain, sums := r.plain(r.second.added), r.second.sums
	at := 0
	for k, i := range r.kept {
		for _, j := range r.kept[k:] {
			if sums[at] != plain[i*r.crowd.Items+j] {
				return false
			}
			at++
		}
	}
	return at == len(sums)
}

// shown is how many recommendations a result shows.
const shown = 5

// recommend shows what the first device would.
func (r *recommending) recommend() error {
	scores, err := r.devices[0].Recommend(r.kernel.Model(), r.kernel.Kept, r.first.sums, r.Job.Learner.Lambda)
	if err != nil {
		return err
	}
	var list []stage.Recommendation
	for i, s := range scores {
		if _, known := slices.BinarySearch(r.train[0], i); !known {
			list = append(list, stage.Recommendation{Item: r.Ratings.Items[i], Score: s})
		}
	}
	slices.SortStableFunc(list, func(a, b stage.Recommendation) int { return cmp.Compare(b.Score, a.Score) })
	r.result.Crowd.Recommended = list[:min(shown, len(list))]
	return nil
}
