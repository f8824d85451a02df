package simulate

import (
	"cmp"
	"context"
	"slices"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/learn/komd"
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
	k, err := stage.ItemSpec(r.Job.Kernel).Kernel(komd.CountsOf(r.crowd.Items, r.train))
	if err != nil {
		return err
	}
	m := komd.New(k)
	r.result.Pooled, _, err = evaluate.Ranking(r.crowd.Items, r.train, r.test, func(user int) ([]float64, error) {
		return m.Scores(r.train[user], r.Job.Learner.Lambda)
	})
	return err
}

// plain counts the lists of the named people.
func (r *recommending) plain(names []string) komd.Counts {
	var profiles [][]int
	for _, name := range names {
		profiles = append(profiles, r.train[r.place[name]])
	}
	return komd.CountsOf(r.crowd.Items, profiles)
}

func (r *recommending) exactPopularity() bool {
	plain := r.plain(r.first.server.Survivors())
	for i, n := range r.first.sums() {
		if float64(n) != plain.C.Row(i)[i] {
			return false
		}
	}
	return true
}

func (r *recommending) exactTriangle() bool {
	plain, sums := r.plain(r.second.server.Survivors()), r.second.sums()
	at := 0
	for k, i := range r.kept {
		for _, j := range r.kept[k:] {
			if float64(sums[at]) != plain.C.Row(i)[j] {
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
	scores, err := r.devices[0].Recommend(r.kernel.Model(), r.kernel.Kept, r.first.sums(), r.Job.Learner.Lambda)
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
