package local

import (
	"context"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/learn/komd"
)

// compare compares the secure sums with directly computed sums. Then it learns from the lists of
// all people together, if the job requests this comparison.
func (r *jobRun) compare(context.Context) error {
	exact := r.exactPopularity() && r.exactPairs(r.second, r.kernel.Kept, 1)
	r.result.Exact = &exact
	return r.learnPooled()
}

// learnPooled learns from the lists of all people together, if the job requests this comparison.
func (p *people) learnPooled() error {
	if !p.Job.Compares(job.Pooled) {
		return nil
	}
	m, err := p.pooledModel()
	if err != nil {
		return err
	}
	p.result.Pooled, _, err = learner.Ranking(p.setting.Items, p.train, p.test, func(user int) ([]float64, error) {
		return m.Scores(p.train[user], learner.ProfileOf(p.Job).Lambda)
	})
	return err
}

// pooledModel fits the job's learner to the lists of all people together, without a threshold. The
// difference from the job's own model is the cost of privacy.
func (p *people) pooledModel() (*komd.Model, error) {
	counts := komd.CountsOf(p.setting.Items, p.train)
	if most := p.setting.Keys().Ratings; most > 0 {
		counts = komd.ProductsOf(p.setting.Items, most, p.train, p.rated)
	}
	k, err := fedcfk.SpecOf(p.Job.Kernel).Kernel(counts)
	if err != nil {
		return nil, err
	}
	return komd.New(k), nil
}

// countPairs counts, directly from the lists of the named people, how many like both item i and
// item j. The count is at index i*items + j. With ratings it adds up products of ratings.
func (p *people) countPairs(names []string) []int64 {
	counts := make([]int64, p.setting.Items*p.setting.Items)
	for _, name := range names {
		profile, rated := p.train[p.Place[name]], p.rated[p.Place[name]]
		for k, i := range profile {
			for l, j := range profile {
				product := int64(1)
				if rated != nil {
					product = rated[k] * rated[l]
				}
				counts[i*p.setting.Items+j] += product
			}
		}
	}
	return counts
}

func (r *jobRun) exactPopularity() bool {
	plain, likes := r.countPairs(r.first.Added), make([]int64, r.setting.Items)
	for _, name := range r.first.Added {
		for _, i := range r.train[r.Place[name]] {
			likes[i]++
		}
	}
	squares := r.setting.Squares(r.first.Sums[0])
	for i, n := range r.setting.Popularity(r.first.Sums[0]) {
		if n != likes[i] || squares[i] != plain[i*r.setting.Items+i] {
			return false
		}
	}
	return true
}

// exactPairs reports whether a secure sum of pairs of the given items equals the directly computed
// sum. With gap 0 the pairs include an item with itself; with gap 1 they do not.
func (p *people) exactPairs(s *clients.Sum, items []int, gap int) bool {
	plain, at := p.countPairs(s.Added), 0
	for k, i := range items {
		for _, j := range items[k+gap:] {
			if s.Sums[0][at] != plain[i*p.setting.Items+j] {
				return false
			}
			at++
		}
	}
	return at == len(s.Sums[0])
}
