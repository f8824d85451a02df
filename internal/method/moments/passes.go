package moments

import (
	"context"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// panel processes some of a party's rows, in the form that enters sums, with their labels.
type panel = func(rows linalg.Rows, labels []string) error

// each calls a function with all rows of one side of a split, panel after panel.
type each = func(use panel) error

// addUp returns the moments of training rows. They do not depend on the division into panels.
func addUp(l objective, m feature.Mapping, training each) (*moments.Partial, error) {
	a := moments.NewAccumulator(m, l.width())
	err := training(func(rows linalg.Rows, labels []string) error {
		n, _ := rows.Shape()
		y, err := l.targets(labels, n)
		if err != nil {
			return err
		}
		return a.Add(rows, y)
	})
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return a.Partial, nil
}

// SumShard returns the moments of a shard's training rows, for the features m of a job. They depend only on
// the arguments. The moments of a table's shards merge to the moments of the table.
func SumShard(j *job.Job, m feature.Mapping, s rows.Shard) (*moments.Partial, error) {
	return addUp(objectiveOf(j), m, func(use panel) error { return s.Each(j, false, use) })
}

// HeldOut holds the sums of a solution's errors over some held-out rows, before they are rounded. A party
// must not send unrounded sums.
type HeldOut struct {
	Rows      int
	Figures   []int64
	Histogram *[2][]int // rows by class and bin; nil if the job has no histogram
}

// Merge adds the sums over other rows of the same job.
func (h *HeldOut) Merge(o *HeldOut) error {
	if len(o.Figures) != len(h.Figures) || (o.Histogram == nil) != (h.Histogram == nil) {
		return fmt.Errorf("moments: the two results are of different jobs, with %d and %d sums of errors, and cannot be added", len(o.Figures), len(h.Figures))
	}
	h.add(o.Figures, o.Rows)
	if h.Histogram != nil {
		h.count(*o.Histogram)
	}
	return nil
}

func (h *HeldOut) add(figures []int64, rows int) {
	h.Rows += rows
	for i, v := range figures {
		h.Figures[i] += v
	}
}

func (h *HeldOut) count(bins [2][]int) {
	for c := range bins {
		for b, n := range bins[c] {
			h.Histogram[c][b] += n
		}
	}
}

// MeasureShard measures a solution, as the coordinator sends it to the parties, on a shard's held-out
// rows. The result depends only on the arguments. The results of a table's shards merge to the result for
// the table.
func MeasureShard(j *job.Job, m feature.Mapping, solution []byte, s rows.Shard) (*HeldOut, error) {
	t, err := decodeFitted(j, m.Len(), solution)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return errorsOf(j, m, t, func(use panel) error { return s.Each(j, true, use) })
}

// Directions returns the random features of a job over rows of the given columns, whose seed is the
// ID of the session that adds up the sums.
func Directions(j *job.Job, seed protocol.SessionID, features, columns int) (feature.Mapping, error) {
	return directions(j, seed, features, columns)
}

// Learn chooses a value of the regulariser by the sums, and returns the encoded solution as the
// coordinator sends it to the parties.
func Learn(ctx context.Context, j *job.Job, s *moments.Sums) ([]byte, error) {
	t, _, err := choose(ctx, j, s)
	if err != nil {
		return nil, err
	}
	return t.encode(), nil
}

// errorsOf measures a solution on held-out rows. The sums do not depend on the division into panels.
func errorsOf(j *job.Job, m feature.Mapping, t *fitted, heldOut each) (*HeldOut, error) {
	l := objectiveOf(j)
	h := &HeldOut{Figures: make([]int64, l.errorSumCount())}
	measure, err := l.measurer(m, t)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if usesHistogram(j) {
		h.Histogram = &[2][]int{make([]int, moments.Bins), make([]int, moments.Bins)}
	}
	err = heldOut(func(rows linalg.Rows, labels []string) error {
		figures, err := measure(rows, labels)
		if err != nil {
			return err
		}
		n, _ := rows.Shape()
		h.add(figures, n)
		if h.Histogram == nil {
			return nil
		}
		counts, err := moments.CountDecisions(m, t.solution, rows, classRidge(job.As[*Keys](j.Protocol).Classes).codes(labels))
		h.count(counts)
		return err
	})
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return h, nil
}

// rounded returns the rounded sums of errors, which a party can report.
func (h *HeldOut) rounded(l objective) []int64 { return l.round(h.Figures, h.Rows) }

// vector returns a party's entries of the secure sum of errors.
func (h *HeldOut) vector(l objective, membership []int64) sums.Vector {
	v := sums.Vector{{int64(h.Rows)}, h.rounded(l), membership}
	if b := h.Histogram; b != nil {
		v = append(v, append(moments.RoundCounts(b[0], h.Rows), moments.RoundCounts(b[1], h.Rows)...))
	}
	return v
}
