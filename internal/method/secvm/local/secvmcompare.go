package local

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/secagg"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// averages collects the accuracy of averaged weights on the held-out records. Each average is over the
// last weight vectors, as in figure 2 of the paper. Every device receives these vectors, but only the
// launching process has the held-out records.
type averages struct {
	counts []int
	last   [][]float64 // the last weight vectors, as many as the longest average needs
	points []secvm.AveragePoint
}

// note stores the weights of an iteration. If measure is not nil, note also measures the means of
// the last weights.
func (a *averages) note(iteration int, w []float64, measure func(w []float64) float64) {
	if a.last = append(a.last, w); len(a.last) > slices.Max(a.counts) {
		a.last = a.last[1:]
	}
	if measure == nil {
		return
	}
	for _, n := range a.counts { // with fewer than n vectors, the mean of all of them
		last := a.last[max(0, len(a.last)-n):]
		a.points = append(a.points, secvm.AveragePoint{Iteration: iteration, Averaged: n, Accuracy: measure(mean(last))})
	}
}

func mean(vectors [][]float64) []float64 {
	m := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		for j, x := range v {
			m[j] += x / float64(len(vectors))
		}
	}
	return m
}

// follow notes the weights of an iteration. It measures the first ten iterations, and about thirty
// later ones.
func (r *records) follow(iteration int, w []float64) {
	if iteration == 0 || iteration == learner.StepsOf(r.Job).Iterations { // skip the first weights, which are zero, and the last, which are a mean
		return
	}
	measure := r.accuracy
	if iteration > 10 && iteration%max(1, learner.StepsOf(r.Job).Iterations/30) != 0 {
		measure = nil
	}
	r.curve.note(iteration, w, measure)
}

// accuracy returns the accuracy of weights on the records of testing devices.
func (r *records) accuracy(w []float64) float64 {
	right := 0
	tests := r.devicesWith(secvmmachines.Test)
	for _, i := range tests {
		if p := r.profiles[i]; secvmmachines.Predict(p.Vector.Score(w)) == p.Label {
			right++
		}
	}
	return float64(right) / float64(len(tests))
}

func (r *records) devicesWith(role secvmmachines.Role) []int {
	var list []int
	for i, have := range r.roles {
		if have == role {
			list = append(list, i)
		}
	}
	return list
}

// evaluate computes the accuracy from the testing devices' packages or summands, and the other figures from
// their records.
func (r *records) evaluate(context.Context) error {
	tests := r.last.Outcomes()
	_, w := r.server.Published()
	m, err := r.measure(func(i int) float64 { return r.profiles[i].Vector.Score(w) })
	if err != nil {
		return err
	}
	m["accuracy"] = secvm.AccuracyOf(tests)
	r.result.Metrics = m
	spec := r.server.Params().Spec()
	r.figures = &secvm.Figures{
		Source: r.rows.Name, Devices: len(r.devices), Trainers: len(r.devicesWith(secvmmachines.Train)), Testers: len(r.devicesWith(secvmmachines.Test)),
		Windows: learner.StepsOf(r.Job).Iterations + 1, Bins: spec.Bins, Features: secvm.KeysOf(r.Job).Space, Packages: spec.Packages, PackageBytes: secvmmachines.PackageSize, Sampled: r.sampled,
		Classes:  secvm.TestsOf(r.classes, tests),
		Averages: r.curve.points,
	}
	r.figures.Majority = secvm.MajorityOf(r.figures.Classes)
	r.result.Details = &secvm.Details{SecVM: r.figures}
	if r.summing != nil {
		r.result.Exact, r.figures.Sums = &r.summing.exact, r.summing.sums
	}
	return nil
}

// measure evaluates given scores of the testing devices.
func (r *records) measure(score func(device int) float64) (learner.Metrics, error) {
	tests := r.devicesWith(secvmmachines.Test)
	truth, guess := make([]string, len(tests)), make([]string, len(tests))
	positive, scores := make([]bool, len(tests)), make([]float64, len(tests))
	name := func(label int8) string { return r.classes[(label+1)/2] }
	for k, i := range tests {
		scores[k] = score(i)
		positive[k] = r.profiles[i].Label > 0
		truth[k], guess[k] = name(r.profiles[i].Label), name(secvmmachines.Predict(scores[k]))
	}
	confusion, err := metrics.NewConfusionMatrix(truth, guess)
	if err != nil {
		return nil, err
	}
	m := learner.Metrics{"accuracy": confusion.Accuracy(), "f1_micro": confusion.F1Micro(), "f1_macro": confusion.F1Macro()}
	if auc, err := metrics.ROCAUC(positive, scores); err == nil { // AUC does not exist if all testing devices have one class
		m["auc"] = auc
	}
	return m, nil
}

// compare makes the comparisons that the job requests. For the comparison pooled, it trains linear machines
// on the pooled records, over a grid of the parameter C, and reports the machine with the best accuracy on
// the held-out records. This choice favours the pooled machine over the job's model.
func (r *records) compare(ctx context.Context) error {
	if r.Job.Compares(job.Curve) {
		if err := r.compareBins(ctx); err != nil {
			return err
		}
	}
	if !r.Job.Compares(job.Pooled) {
		return nil
	}
	train := r.devicesWith(secvmmachines.Train)
	all, err := r.featured()
	if err != nil {
		return err
	}
	k, err := kernel.New(kernel.Spec{Name: "linear"})
	if err != nil {
		return err
	}
	src := kernel.Subset(kernel.NewLazySparse(all, k), train)
	codes := make([]int, len(train))
	for n, i := range train {
		codes[n] = int(r.profiles[i].Label+1) / 2
	}
	for power := -9; power <= 1; power++ {
		machine, err := svm.TrainSVC(src, codes, r.classes[:], svm.Params{C: math.Ldexp(1, power), Weights: learner.StepsOf(r.Job).ClassWeight, Interrupt: ctx.Err}, nil)
		if err != nil {
			return err
		}
		m, err := r.measurePooled(machine, all, train)
		if err != nil {
			return err
		}
		if r.result.Pooled == nil || m["accuracy"] > r.result.Pooled["accuracy"] {
			r.result.Pooled, r.figures.PooledC = m, math.Ldexp(1, power)
		}
	}
	return nil
}

// compareBins measures the accuracy of the job for several numbers of bins, and computes the sums
// in this process. It hashes the features even if the job does not.
func (r *records) compareBins(ctx context.Context) error {
	for power := 6; power <= 16; power++ {
		j := *r.Job
		k := *secvm.KeysOf(&j)
		k.Space, k.Bins, k.Hashes = "", 1<<power, max(1, k.Hashes)
		j.Protocol.Values = &k
		accuracy, err := r.accuracyOf(ctx, &j)
		if err != nil {
			return err
		}
		r.figures.BinCurve = append(r.figures.BinCurve, secvm.BinPoint{Bins: 1 << power, Accuracy: accuracy})
	}
	return nil
}

// accuracyOf returns the accuracy of a variant of the job on the same devices, which keep their
// roles. It plays the variant in mode "paper", because cover packages do not change the result.
func (r *records) accuracyOf(ctx context.Context, j *job.Job) (float64, error) {
	c := r.people
	k := *secvm.KeysOf(j)
	k.Mode, k.Aggregation = job.Paper, secvm.AnonymousPackages
	j.Protocol.Values, j.Data.Partition.Dropout = &k, 0
	c.Job = j
	other, err := enlist(c, r.roles)
	if err != nil {
		return 0, err
	}
	for !other.server.Done() {
		if err := other.step(ctx); err != nil {
			return 0, err
		}
	}
	return secvm.AccuracyOf(other.last.Outcomes()), nil
}

// featured returns a table with the bins of all devices' records.
func (r *records) featured() (*dataset.CSR, error) {
	start, bins, counts := []int{0}, []int32{}, []float64{}
	for _, p := range r.profiles {
		for _, e := range p.Vector {
			bins, counts = append(bins, int32(e.Bin)), append(counts, float64(e.Count))
		}
		start = append(start, len(bins))
	}
	return dataset.NewCSR(r.server.Params().Spec().Bins, start, bins, counts)
}

// measurePooled adds up a machine's support vectors, and evaluates the sum as a weight vector.
func (r *records) measurePooled(m *svm.Classifier, all *dataset.CSR, train []int) (learner.Metrics, error) {
	pair, support := m.Pairs[0], m.Support()
	w := make([]float64, all.Cols())
	for k, at := range pair.Index {
		all.Each(train[support[at]], func(bin int, count float64) { w[bin] -= pair.Coef[k] * count })
	}
	return r.measure(func(i int) float64 { // reverse the sign, because the classifier is positive for the first class
		d := pair.Rho
		for _, e := range r.profiles[i].Vector {
			d += w[e.Bin] * float64(e.Count)
		}
		return d
	})
}

// summing holds the state of a played job whose windows are secure sums.
type summing struct {
	*clients.Clients
	windows secvm.Summed
	sums    []sums.Figures
	exact   bool // every sum so far equals the sum of the plain packages
}

// sumUp runs a window as a secure sum over all devices. It also calls devices that dropped out of
// earlier windows.
func (r *records) sumUp(ctx context.Context, iteration uint32, published []float64) (*secvmmachines.Sum, error) {
	s, err := r.summing.windows.Window(iteration, published, r.summing.Names)
	if err != nil {
		return nil, err
	}
	call := secvm.Call{Iteration: iteration, Weights: published, Devices: r.summing.Names, Session: s.Session.ID()}
	summands, err := r.summands(call)
	if err != nil {
		return nil, err
	}
	done, err := r.summing.Sum(ctx, s, r.summing.Leaving(s), func(device int) secagg.Vector { return summands[device] })
	if err != nil {
		return nil, err
	}
	sum, err := secvmmachines.NewSum(r.server.Params(), done.Sums, len(done.Added))
	if err != nil {
		return nil, err
	}
	r.summing.sums = append(r.summing.sums, done.Figures())
	return sum, r.compareSum(sum, done.Added, call)
}

// summands returns the vectors that the devices add to a secure sum. Each device first checks the
// server's call.
func (r *records) summands(call secvm.Call) ([]secvmmachines.Summand, error) {
	list, errs := make([]secvmmachines.Summand, len(r.devices)), make([]error, len(r.devices))
	linalg.For(len(list), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			_, weights, err := r.summing.windows.Accept(call)
			if err == nil {
				list[i], err = r.devices[i].Summand(weights)
			}
			errs[i] = err
		}
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, fmt.Errorf("%s: %w", r.summing.Names[i], errs[i]) // all devices got the same call, so one error stands for all
	}
	return list, nil
}

// compareSum compares a secure sum with the plain sum of the packages of the same devices.
func (r *records) compareSum(s *secvmmachines.Sum, added []string, call secvm.Call) error {
	weights, err := r.server.Params().Weights(call.Weights)
	if err != nil {
		return err
	}
	plain := secvmmachines.NewTally(r.server.Params())
	for _, name := range added {
		if err := r.deliver(plain, r.summing.Place[name], call.Iteration, weights); err != nil {
			return err
		}
	}
	want, _, err := plain.Gradient(1, 1)
	if err != nil {
		return err
	}
	got, _, err := s.Gradient(1, 1)
	r.summing.exact = r.summing.exact && slices.Equal(got, want) && s.Census == plain.Census
	return err
}
