package fdsvrg

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
)

// outcome holds the report that the party with the labels sends to the coordinator.
type outcome struct {
	metrics    learner.Metrics // metrics on held-out rows
	lossChange float64         // the change of the mean loss in the last epoch, as a share of the initial loss
	model      [sha256.Size]byte
}

// outcomeMetrics lists the metrics of a report in their order.
func outcomeMetrics(t job.Task) []string {
	if t.Numbers {
		return []string{"rmse", "r2"}
	}
	return []string{"accuracy", "f1_micro", "f1_macro", "auc"}
}

// outcomeBytes is the number of bytes in every report.
func outcomeBytes(t job.Task) int { return 9*len(outcomeMetrics(t)) + 8 + sha256.Size }

func (v outcome) encode(t job.Task) []byte {
	var w wire.Writer
	for _, name := range outcomeMetrics(t) {
		value, has := v.metrics[name]
		w.Bool(has)
		w.Float64(value)
	}
	w.Float64(v.lossChange)
	w.Fixed(v.model[:])
	return w.Bytes()
}

func decodeFinding(t job.Task, b []byte) (outcome, error) {
	r, v := wire.NewReader(b), outcome{metrics: learner.Metrics{}}
	for _, name := range outcomeMetrics(t) {
		has, value := r.Bool(), r.Float64()
		switch {
		case r.Err() != nil:
		case value-value != 0 || !has && math.Float64bits(value) != 0:
			r.Fail(fmt.Errorf("the metric %s has the invalid value %v", name, value))
		case has:
			v.metrics[name] = value
		}
	}
	if v.lossChange = r.Float64(); r.Err() == nil && !(v.lossChange >= 0) {
		r.Fail(fmt.Errorf("the change of the loss is %v; it must be at least 0", v.lossChange))
	}
	r.Fixed(v.model[:])
	return v, r.Close("fdsvrg: report")
}

// settled is the largest lossChange of a training that counts as converged.
const settled = 1e-4

// warnings returns a warning if the training has not converged.
func (v outcome) warnings() []string {
	if v.lossChange <= settled {
		return nil
	}
	return []string{fmt.Sprintf("the training has not converged: in the last epoch the mean loss changed by %.2g of its initial value. Give more iterations, a smaller batch or another rate.", v.lossChange)}
}
