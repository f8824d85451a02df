package learner

import (
	"math"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/kpca"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// KPCA is kernel principal component analysis.
type KPCA struct{ Components int }

var (
	_ KernelLearner = (*KPCA)(nil)
	_ SumsLearner   = (*KPCA)(nil)
	_ job.Learner   = (*KPCA)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (KPCA) Name() string        { return "kpca" }
func (KPCA) New() section.Values { return new(KPCA) }
func (KPCA) Task() job.Task      { return job.Task{} }

// Section declares the keys of the job file.
func (p *KPCA) Section() *section.Section {
	return &section.Section{Doc: "Kernel principal component analysis: it gives rows new coordinates.", Fields: []section.Field{
		{Key: "n_components", Value: section.Whole{Dst: &p.Components}, Default: "2", Doc: "The number of components, 1 or more."},
	}, Finish: func(in *section.Place) error { return in.Some("n_components", p.Components) }}
}

// Solver implements [KernelLearner].
func (p *KPCA) Solver(uint64) Solver { return *p }

// Sums implements [SumsLearner].
func (p *KPCA) Sums() Objective { return Objective{Components: p.Components} }

// Fit implements [Solver]. It writes the scores as kernel expansions: the score of x along
// component c is
//
//	sum_j a_j (k(x, j) - mean of k(x, .) - mean_j + mean),  a = u_c / sqrt(lambda_c)
//
// Here u_c is eigenvector c of the centred kernel matrix, lambda_c its eigenvalue, k(x, j) the kernel of x with
// row j, mean_j the mean of k(j, .), and mean the mean of all kernel values. Lowering each a_j by the mean of all
// a_j subtracts the mean of k(x, .).
func (p KPCA) Fit(t Training) (*Solution, error) {
	m, err := kpca.FitUntil(t.Kernel, p.Components, t.Interrupt)
	if err != nil {
		return nil, err
	}
	h := model.Head{Output: model.Output{Kind: model.KPCA}}
	for c, lambda := range m.Eigenvalues {
		coef, rho := make([]float64, t.Kernel.Len()), 0.0
		shift := linalg.Sum(m.Vectors.Row(c)) / float64(len(coef)) // mean of the eigenvector, which is 0 except for rounding
		for j, u := range m.Vectors.Row(c) {
			coef[j] = (u - shift) / math.Sqrt(lambda)
			rho += u / math.Sqrt(lambda) * (m.Centring.Means[j] - m.Centring.Mean)
		}
		h.Functions = append(h.Functions, model.Dense(coef, rho))
	}
	f := denseSolution(h, t)
	f.Eigenvalues = m.Eigenvalues
	f.Figures["explained_variance_training"] = linalg.Sum(m.Eigenvalues) / trace(t, m)
	f.Decide = func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64] {
		scores := m.Transform(cross)
		if share, ok := explainedShare(m, scores, cross, prior); ok {
			f.Figures["explained_variance"] = share
		}
		return scores
	}
	return f, nil
}

// Measure implements [Solver].
func (KPCA) Measure(*Fitted, Metrics) error { return nil } // Fit has computed all metrics

// trace returns the sum of all eigenvalues of the centred kernel matrix.
func trace(t Training, m *kpca.Model) float64 {
	diagonal := make([]float64, t.Kernel.Len())
	t.Kernel.Diagonal(diagonal)
	return linalg.Sum(diagonal) - float64(len(diagonal))*m.Centring.Mean
}

// explainedShare returns the share of the rows' variance around the training mean that the
// principal components explain. It returns false if the variance is 0.
func explainedShare(m *kpca.Model, scores, cross linalg.Matrix[float64], prior []float64) (float64, bool) {
	kept, all := 0.0, 0.0
	for i, xx := range prior {
		for _, s := range scores.Row(i) {
			kept += s * s
		}
		all += xx - 2*linalg.Sum(cross.Row(i))/float64(cross.Cols) + m.Centring.Mean
	}
	return kept / all, all > 0
}
