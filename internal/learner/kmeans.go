package learner

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// KMeans is kernel k-means.
type KMeans struct{ kmeans.Params }

var (
	_ KernelLearner = (*KMeans)(nil)
	_ job.Learner   = (*KMeans)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (KMeans) Name() string        { return "kmeans" }
func (KMeans) New() section.Values { return new(KMeans) }
func (KMeans) Task() job.Task      { return job.Task{} }

// Section declares the keys of the job file.
func (p *KMeans) Section() *section.Section {
	return &section.Section{Doc: "Kernel k-means: it puts rows into clusters.", Fields: []section.Field{
		{Key: "n_clusters", Value: section.Whole{Dst: &p.Clusters}, Default: "8", Doc: "The number of clusters, 1 or more."},
	}, Finish: func(in *section.Place) error { return in.Some("n_clusters", p.Clusters) }}
}

// Solver implements [KernelLearner].
func (p *KMeans) Solver(seed uint64) Solver {
	one := *p
	one.Seed = seed
	return one
}

// Fit implements [Solver]. It writes the squared distance of a row x to the mean of each cluster c, less k(x, x),
// as a kernel expansion: |mean|^2 - 2/|c| sum_(j in c) k(x, j). |c| is the number of the cluster's rows.
func (p KMeans) Fit(t Training) (*Solution, error) {
	p.Interrupt = t.Interrupt
	if n := t.Kernel.Len(); p.Clusters <= n && kmeans.Distinct(t.Kernel, p.Clusters) < p.Clusters {
		// The error does not say how many rows differ, because the other members read it.
		return nil, fault.Public(fault.BadInputf("kmeans: fewer training rows differ from each other than n_clusters, which is %d; lower n_clusters, or check the columns", p.Clusters))
	}
	m, err := kmeans.Fit(t.Kernel, p.Params)
	if err != nil {
		return nil, err
	}
	n := t.Kernel.Len()
	zero := m.Distances(linalg.New[float64](1, n)).Row(0) // squared norm of each cluster's mean
	sizes := make([]float64, p.Clusters)
	for _, c := range m.Assignment {
		sizes[c]++
	}
	h := model.Head{Output: model.Output{Kind: model.KMeans}}
	for c := range p.Clusters {
		coef := make([]float64, n)
		for j, own := range m.Assignment {
			if own == c {
				coef[j] = -2 / sizes[c]
			}
		}
		h.Functions = append(h.Functions, model.Dense(coef, -zero[c]))
	}
	f := denseSolution(h, t)
	f.Figures["inertia_training"] = m.Inertia
	f.Decide = func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64] {
		distances := f.Head.Decisions(cross)
		inertia := linalg.Sum(prior)
		for i := range distances.Rows {
			inertia += slices.Min(distances.Row(i))
		}
		f.Figures["inertia"] = max(0, inertia)
		return distances
	}
	return f, nil
}

// Measure adds the agreement between the clusters of held-out rows and their labels, if there are
// labels.
func (KMeans) Measure(f *Fitted, m Metrics) error {
	if f.Truth == nil {
		return nil
	}
	_, truth := dataset.Classes(f.Truth)
	_, clusters := dataset.Classes(f.Predicted)
	var err error
	m["adjusted_rand"], err = metrics.AdjustedRand(truth, clusters)
	return err
}
