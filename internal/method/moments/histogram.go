package moments

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/moments"
)

// usesHistogram reports whether the job counts held-out decisions in bins.
func usesHistogram(j *job.Job) bool { return job.As[*Keys](j.Protocol).Histogram }

// bins holds the sum of all parties' histograms.
type bins struct {
	classes [2]string // class names, ascending; the second class is positive
	counts  [2][]float64
}

// binsOf converts the sum of the histograms to bins. If the job lists the classes in descending
// order, it reverses the bins.
func binsOf(classes []string, sum []int64) bins {
	b := bins{classes: [2]string(classes)}
	for c := range b.counts {
		for _, v := range sum[c*moments.Bins : (c+1)*moments.Bins] {
			b.counts[c] = append(b.counts[c], float64(v)/moments.Thousand)
		}
	}
	if classes[0] > classes[1] {
		slices.Reverse(b.classes[:])
		slices.Reverse(b.counts[:])
		slices.Reverse(b.counts[0])
		slices.Reverse(b.counts[1])
	}
	return b
}

// check refuses bins whose total differs from the number of held-out rows by more than the parties'
// rounding.
func (b bins) check(heldOut int64, parties int) error {
	rows, want := rowsOf(b.counts[0])+rowsOf(b.counts[1]), float64(heldOut)
	if math.Abs(rows-want) > moments.RoundedOff(parties, want)+0.5 {
		return fmt.Errorf("moments: the histogram counts %.0f held-out rows, but the parties declare %d; some party does not count the rows that it declares", rows, heldOut)
	}
	return nil
}

// maxAreaError is the largest permitted error of a reported area under the curve. With few rows the
// parties' rounding changes the area by more, and can hide all wrong decisions.
const maxAreaError = 0.1

// assess computes metrics and curves from the bins, and adds the metrics to m. It returns nil if the rows
// are too few, or if one of the classes has none.
func (s *server) assess(m learner.Metrics) (*learner.Assessment, error) {
	b := binsOf(job.As[*Keys](s.Job.Protocol).Classes, s.histogram)
	if err := b.check(s.heldOut, len(s.Parties)); err != nil {
		return nil, err
	}
	h := metrics.Histogram{Positive: b.counts[1], Negative: b.counts[0]}
	area, within, both := h.AUC()
	if within = min(1, within+b.maxAreaChange(area, len(s.Parties))); !both || within > maxAreaError {
		return nil, nil
	}
	confusion := b.confusion()
	m["auc"], m["balanced_accuracy"], m["f1_macro"] = area, confusion.BalancedAccuracy(), confusion.F1Macro()
	m["average_precision"], _ = h.AveragePrecision()
	roc, pr := h.ROC(), h.PrecisionRecall()
	return &learner.Assessment{
		Positive: b.classes[1], Confusion: &learner.Confusion{Classes: confusion.Classes, Matrix: confusion.Counts}, PerClass: confusion.PerClass(),
		Curves: []learner.ClassCurves{{
			Class: b.classes[1], AUC: area, Within: within, AP: m["average_precision"],
			FPR: roc.X, TPR: roc.Y, Recall: pr.X, Precision: pr.Y,
		}},
	}, nil
}

// confusion returns the confusion matrix. Each half of the bins holds the rows predicted as one
// class.
func (b bins) confusion() *metrics.ConfusionMatrix {
	var times []int
	for _, counts := range b.counts {
		below := rowsOf(counts[:moments.Bins/2])
		times = append(times, int(math.Round(below)), int(math.Round(rowsOf(counts)-below)))
	}
	return metrics.Count(b.classes[:], []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, times)
}

// maxAreaChange returns the largest change of the area under the curve that the parties' rounding
// can cause. Parties round the cumulative number of each class's rows at each bin. A misplaced and
// overcounted positive row changes the area by (2 - area) of a row, a negative row by (1 + area).
func (b bins) maxAreaChange(area float64, parties int) float64 {
	negative, positive := rowsOf(b.counts[0]), rowsOf(b.counts[1])
	off := moments.RoundedOff(parties, negative+positive)
	if off >= min(negative, positive) {
		return 1
	}
	return off * max((2-area)/(positive-off), (1+area)/(negative-off))
}

func rowsOf(counts []float64) (sum float64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
