package fdskl

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/psi"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// errorGroups describes the entries that the active workers sum. They are the counts of judged
// held-out rows by class and predicted class, the number of labelled training rows, and the tally
// (columns.Party.Tally).
func errorGroups() []secagg.Group {
	return []secagg.Group{{Entries: 4, Bound: psi.MaxIDs}, {Entries: 1, Bound: psi.MaxIDs}, {Entries: 1, Bound: 1<<32 - 1}}
}

// errorCountMachine builds the machine with which a party adds its counts to the sum.
func (p *party) errorCountMachine(setup method.Setup) (*method.Run, error) {
	v := sums.Vector{make([]int64, 4), {0}, {0}}
	if p.solver != nil {
		counts, err := p.judgedCounts()
		if err != nil {
			return nil, fault.BadInput(err)
		}
		v = sums.Vector{counts, {int64(len(p.Spread().Training))}, {int64(p.Tally())}}
	}
	return sums.Client(setup, v, func() {})
}

// judgedCounts returns four counts of the held-out rows that this worker has evaluated. For each
// true class there are two: the rows predicted as the first class and as the second.
func (p *party) judgedCounts() ([]int64, error) {
	s := p.solver.(*partner)
	got, err := s.Learn(nil)
	if err != nil {
		return nil, err
	}
	counts, second := make([]int64, 4), s.out.Classes[1]
	truth := linalg.At(p.Set.Labels, s.own.HeldOut[:s.judged])
	for i, predicted := range s.out.Predict(got.Decisions) {
		at := 0
		if truth[i] == second {
			at += 2
		}
		if predicted == second {
			at++
		}
		counts[at]++
	}
	return counts, nil
}

// verdict holds the sums of the active workers' counts.
type verdict struct {
	counts [4]int64 // the number of held-out rows by class and predicted class
	labels int64    // the number of labels of training rows, over all active workers
	single bool     // true if each training row has exactly one label
}

// takeSums checks the sums and stores them at the coordinator.
func (s *server) takeSums(sum [][]int64) error {
	train, test, err := s.sizes()
	if err != nil {
		return err
	}
	v := verdict{counts: [4]int64(sum[0]), labels: sum[1][0], single: uint32(sum[2][0]) == 0 && sum[1][0] == int64(train)}
	if v.judged() > test || v.labels > int64(train*len(s.Job.Active())) {
		return fmt.Errorf("fdskl: the active workers report more rows than the job has: they judged %d of %d held-out rows, and have labels of %d of %d training rows", v.judged(), test, v.labels, train)
	}
	s.verdict = &v
	return nil
}

func (v *verdict) judged() int {
	n := int64(0)
	for _, count := range v.counts {
		n += count
	}
	return int(n)
}

// addToResult adds the metrics and the warnings to a result.
func (v *verdict) addToResult(r *method.Result) error {
	var err error
	r.Metrics, err = v.metrics()
	r.Warnings = append(r.Warnings, v.warnings(r.Training, r.HeldOut)...)
	return err
}

// metrics returns the metrics that follow from counts alone. AUC is missing, because it would need
// the decisions of several workers together.
func (v *verdict) metrics() (learner.Metrics, error) {
	if v.judged() == 0 {
		return learner.Metrics{}, nil
	}
	var truth, predicted []int
	for at, count := range v.counts {
		for range count {
			truth, predicted = append(truth, at/2), append(predicted, at%2)
		}
	}
	m, err := metrics.NewConfusionMatrix(truth, predicted)
	if err != nil {
		return nil, err
	}
	return learner.Metrics{"accuracy": m.Accuracy(), "f1_micro": m.F1Micro(), "f1_macro": m.F1Macro()}, nil
}

// warnings returns warnings about rows that have no label or several labels.
func (v *verdict) warnings(train, test int) []string {
	var list []string
	if !v.single {
		list = append(list, fmt.Sprintf("%d training rows have %d labels, and not one each. A row without a label teaches nothing; a row with two counts twice, and nothing tells whether they agree.", train, v.labels))
	}
	if n := v.judged(); n < test {
		list = append(list, fmt.Sprintf("%d of %d held-out rows have no label, and the figures are without them.", test-n, test))
	}
	return list
}

// decider requests the phases of new rows, batch by batch, and keeps only the decisions.
type decider struct {
	coefficients     linalg.Matrix[float64]
	mean             float64
	rows, directions int
	maxDirections    int                     // the largest number of directions in one request
	table            *linear.Phases[float64] // the phases of the current batch of rows
	batch            fdskl.Span              // the rows whose phases the decider requests now
	last             fdskl.Span              // the directions of the last request
	decisions        linalg.Matrix[float64]  // one row for each new row and one column for each output
}

// phasesAtOnce is the largest number of bytes of phases that a decider holds. deciderAtOnce is the
// largest number of rows in a batch.
const (
	phasesAtOnce  = 1 << 26
	deciderAtOnce = 1 << 12
)

// Next returns the next request for phases of the new rows; it implements [fdskl.Schedule].
func (d *decider) Next() (fdskl.Request, bool) {
	next := d.last.First + d.last.Count
	if d.batch.Count == 0 || next == d.directions {
		d.decide()
		first := d.batch.First + d.batch.Count
		d.batch, next = fdskl.Span{First: first, Count: min(d.table.Rows(), d.rows-first)}, 0
	}
	d.last = fdskl.Span{First: next, Count: min(d.maxDirections, d.directions-next)}
	return fdskl.Request{Rows: []fdskl.Span{d.batch}, Directions: d.last}, d.batch.Count > 0
}

// Answer stores the phases of the last request; it implements [fdskl.Schedule].
func (d *decider) Answer(rows []int, words []byte) {
	d.table.Put(words, rows[0]-d.batch.First, len(rows), d.last.First, d.last.Count)
}

// decide computes the decisions for the rows of the current batch.
func (d *decider) decide() {
	u := linear.Decide(rowRange[float64]{d.table, 0, d.batch.Count}, d.coefficients)
	for i := range d.batch.Count {
		for k := range u.Rows {
			d.decisions.Row(d.batch.First + i)[k] = u.Row(k)[i] + d.mean
		}
	}
}
