package fdskl

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/linear"
)

// Learned describes how a training on random features went.
type Learned struct {
	Metrics learner.Metrics // on held-out rows
	// Left is the gradient that remained when the passes were used up, as a share of the
	// gradient at first; 0 if the training ended by itself.
	Left float64
}

// Warnings warn about the figures of a training that has not converged; who names the
// learner.
func (l Learned) Warnings(who string) []string {
	if l.Left == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has not converged: after %d passes the gradient is still at %.2g of what it was, not at %g; figures may change with more. Raise lambda, or give fewer directions.",
		who, linear.DefaultMaxPasses, l.Left, linear.DefaultTol)}
}

// finding holds the label holder's report to the coordinator about the model it has learnt.
type finding struct {
	Learned
	model [32]byte // SHA-256 of the coefficients, which stay where they are
}

// findingMetrics lists the metrics that a finding may have, in its order.
func findingMetrics(t job.Task) []string {
	if t.Numbers {
		return []string{"rmse", "r2"}
	}
	return []string{"accuracy", "f1_micro", "f1_macro", "auc"}
}

// findingBytes is the length of every finding: it must not tell which metrics
// there are before it is told.
func findingBytes(t job.Task) int { return 9*len(findingMetrics(t)) + 8 + 32 }

func (v finding) encode(t job.Task) []byte {
	var w wire.Writer
	for _, name := range findingMetrics(t) {
		value, has := v.Metrics[name]
		w.Bool(has)
		w.Float64(value)
	}
	w.Float64(v.Left)
	w.Fixed(v.model[:])
	return w.Bytes()
}

func decodeFinding(t job.Task, b []byte) (finding, error) {
	r := wire.NewReader(b)
	v := finding{Learned: Learned{Metrics: learner.Metrics{}}}
	for _, name := range findingMetrics(t) {
		has, value := r.Bool(), r.Float64()
		if r.Err() == nil && value-value != 0 {
			r.Fail(fmt.Errorf("%s is %v", name, value))
		}
		if !has && math.Float64bits(value) != 0 {
			r.Fail(fmt.Errorf("%s is %v and not there", name, value))
		}
		if has {
			v.Metrics[name] = value
		}
	}
	if v.Left = r.Float64(); r.Err() == nil && (!(v.Left >= 0) || math.IsInf(v.Left, 1)) {
		r.Fail(fmt.Errorf("%v of a gradient", v.Left))
	}
	r.Fixed(v.model[:])
	return v, r.Close("stage: finding")
}
