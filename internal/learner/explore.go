package learner

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/kpca"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// OneClass finds the region where rows lie. Like LIBSVM it learns from all
// training rows, whatever their labels.
type OneClass struct{ svm.NuParams }

// KPCA is kernel principal component analysis.
type KPCA struct{ Components int }

// KMeans is kernel k-means.
type KMeans struct{ kmeans.Params }

func (o OneClass) fit(t training) (*found, error) {
	o.Interrupt = t.interrupt
	m, err := svm.TrainOneClass(t.kernel, o.NuParams)
	if err != nil {
		return nil, err
	}
	return machine(model.OneClass, m), nil
}

// measure adds the share of held-out rows that lie inside and, where the labels
// are 1 and -1, accuracy and AUC.
func (OneClass) measure(f *Fitted, m Metrics) error {
	inside := 0
	for _, p := range f.Predicted {
		if p == model.Inside {
			inside++
		}
	}
	m["inside"] = float64(inside) / float64(f.held)
	if f.Truth == nil || slices.ContainsFunc(f.Truth, func(s string) bool { return s != model.Inside && s != model.Outside }) {
		return nil
	}
	positive := make([]bool, f.held)
	for i, label := range f.Truth {
		positive[i] = label == model.Inside
	}
	if auc, err := metrics.ROCAUC(positive, column(f.Decisions, 0)); err == nil {
		m["auc"] = auc
	}
	var err error
	m["accuracy"], err = metrics.Accuracy(f.Truth, f.Predicted)
	return err
}

// fit writes the scores as functions: the score of x along component c is
//
//	sum_j a_j (k(x, j) - mean of k(x, .) - mean_j + mean),  a = u_c / sqrt(lambda_c)
//
// where the mean of k(x, .) only shifts every a_j by their mean.
func (p KPCA) fit(t training) (*found, error) {
	m, err := kpca.FitUntil(t.kernel, p.Components, t.interrupt)
	if err != nil {
		return nil, err
	}
	h := model.Head{Reading: model.Reading{Kind: model.KPCA}}
	for c, lambda := range m.Eigenvalues {
		coef, rho := make([]float64, t.kernel.Len()), 0.0
		shift := sum(m.Vectors.Row(c)) / float64(len(coef)) // 0 but for rounding
		for j, u := range m.Vectors.Row(c) {
			coef[j] = (u - shift) / math.Sqrt(lambda)
			rho += u / math.Sqrt(lambda) * (m.Centring.Means[j] - m.Centring.Mean)
		}
		h.Functions = append(h.Functions, model.Dense(coef, rho))
	}
	f := dense(h, t)
	f.values = m.Eigenvalues
	f.figures["explained_variance_training"] = sum(m.Eigenvalues) / trace(t, m)
	f.decide = func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64] {
		scores := m.Transform(cross)
		if share, ok := explained(m, scores, cross, prior); ok {
			f.figures["explained_variance"] = share
		}
		return scores
	}
	return f, nil
}

func (KPCA) measure(*Fitted, Metrics) error { return nil } // all is known from fitting

// trace is the sum of all eigenvalues of the centred kernel matrix.
func trace(t training, m *kpca.Model) float64 {
	diagonal := make([]float64, t.kernel.Len())
	t.kernel.Diagonal(diagonal)
	return sum(diagonal) - float64(len(diagonal))*m.Centring.Mean
}

// explained is the share of the squared distance of rows to the training mean
// that their scores account for.
func explained(m *kpca.Model, scores, cross linalg.Matrix[float64], prior []float64) (float64, bool) {
	kept, all := 0.0, 0.0
	for i, xx := range prior {
		for _, s := range scores.Row(i) {
			kept += s * s
		}
		all += xx - 2*sum(cross.Row(i))/float64(cross.Cols) + m.Centring.Mean
	}
	return kept / all, all > 0
}

func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

// fit writes the distances as functions: |mean|^2 - 2/|c| sum_(j in c) k(x, j).
func (p KMeans) fit(t training) (*found, error) {
	p.Interrupt = t.interrupt
	m, err := kmeans.Fit(t.kernel, p.Params)
	if err != nil {
		return nil, err
	}
	n := t.kernel.Len()
	zero := m.Distances(linalg.New[float64](1, n)).Row(0) // |mean|^2
	sizes := make([]float64, p.Clusters)
	for _, c := range m.Assignment {
		sizes[c]++
	}
	h := model.Head{Reading: model.Reading{Kind: model.KMeans}}
	for c := range p.Clusters {
		coef := make([]float64, n)
		for j, own := range m.Assignment {
			if own == c {
				coef[j] = -2 / sizes[c]
			}
		}
		h.Functions = append(h.Functions, model.Dense(coef, -zero[c]))
	}
	f := dense(h, t)
	f.figures["inertia_training"] = m.Inertia
	f.decide = func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64] {
		distances := f.head.Decisions(cross)
		inertia := sum(prior)
		for i := range distances.Rows {
			inertia += slices.Min(distances.Row(i))
		}
		f.figures["inertia"] = max(0, inertia)
		return distances
	}
	return f, nil
}

// measure adds how well the clusters of the held-out rows agree with their
// labels, if they have any.
func (KMeans) measure(f *Fitted, m Metrics) error {
	if f.Truth == nil {
		return nil
	}
	_, truth := dataset.Classes(f.Truth)
	_, clusters := dataset.Classes(f.Predicted)
	var err error
	m["adjusted_rand"], err = metrics.AdjustedRand(truth, clusters)
	return err
}
