package fdsvrg

import (
	"crypto/sha256"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdsvrg"
)

// A margin is the product of a row with the weights of one or of all parties. Margins are fixed-point
// numbers in multiples of 2^-marginBits. No margin of one party exceeds mostMargin, so the sum of all
// parties' margins fits a word.
const (
	marginBits = 32
	mostMargin = 1 << 56
)

// rateOf returns the learning rate. The default rate is 1/(4b), where b bounds the objective's
// second derivative.
func rateOf(j *job.Job, loss linear.Loss, d columns.Declared) float64 {
	_, params := learner.OptimizerParamsOf(j)
	if params.Rate > 0 {
		return params.Rate
	}
	norm := 0.0
	for _, one := range d.List {
		norm += one.Unit
	}
	return 1 / (4 * (loss.Curvature()*norm + params.Lambda))
}

// WithOnes appends a column of ones to the columns of the party with the labels. The weight of this
// column is the intercept. The penalty applies to it as to all weights.
type WithOnes struct{ linalg.Rows }

// Shape returns the number of rows and the number of columns, with the appended column; it
// implements [linalg.Rows].
func (r WithOnes) Shape() (rows, cols int) {
	rows, cols = r.Rows.Shape()
	return rows, cols + 1
}

// ReadRow reads a row and appends 1; it implements [linalg.Rows].
func (r WithOnes) ReadRow(i int, dst []float64) {
	last := len(dst) - 1
	r.Rows.ReadRow(i, dst[:last])
	dst[last] = 1
}

// weights holds a party's columns and the weights that it trains for them.
type weights struct {
	x            linalg.Matrix[float64]
	w, mean      []float64 // mean is the gradient of the mean loss at the weights of the last full step
	rate, lambda float64
}

func newWeights(rows linalg.Rows, rate, lambda float64) *weights {
	n, width := rows.Shape()
	v := &weights{x: linalg.New[float64](n, width), w: make([]float64, width), mean: make([]float64, width), rate: rate, lambda: lambda}
	linalg.Gather(v.x, rows, 0)
	return v
}

// Hash returns a digest of the columns and the settings; it implements [fdsvrg.Worker].
func (v *weights) Hash() [sha256.Size]byte {
	h := sha256.New()
	var w wire.Writer
	w.String("mercer/v1/fd-svrg/columns")
	w.Float64s([]float64{v.rate, v.lambda})
	w.Uint32(uint32(v.x.Cols))
	h.Write(w.Bytes())
	for i := range v.x.Rows {
		w.Reset()
		w.Float64s(v.x.Row(i))
		h.Write(w.Bytes())
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Margins computes the party's contribution to the margin of each row of a step. It implements
// [fdsvrg.Worker].
func (v *weights) Margins(s fdsvrg.Step) []int64 {
	margins := make([]int64, len(s.Rows))
	for i, row := range s.Rows {
		margin := math.RoundToEven(math.Ldexp(linalg.Dot(v.w, v.x.Row(row)), marginBits))
		if margin-margin != 0 { // the margin of a diverged training is not finite, and the training's loss reports the divergence
			margin = mostMargin
		}
		margins[i] = int64(max(-mostMargin, min(mostMargin, margin)))
	}
	return margins
}

// Learn updates the weights with the slopes of a step, which are derivatives of the loss in the
// margins. It implements [fdsvrg.Worker]. The slopes of a full step are the slopes of the mean
// loss. The slopes of an inner step are differences from the slopes of the last full step.
func (v *weights) Learn(s fdsvrg.Step, slopes []float64) {
	if s.Kind == fdsvrg.Full {
		clear(v.mean)
		v.gather(v.mean, s, slopes)
		return
	}
	gradient := make([]float64, len(v.w))
	copy(gradient, v.mean)
	linalg.Axpy(v.lambda, v.w, gradient)
	v.gather(gradient, s, slopes)
	linalg.Axpy(-v.rate, gradient, v.w)
}

// gather adds to a vector the rows of a step, each multiplied by its slope.
func (v *weights) gather(to []float64, s fdsvrg.Step, slopes []float64) {
	for i, row := range s.Rows {
		linalg.Axpy(slopes[i], v.x.Row(row), to)
	}
}

// trainer computes the slopes and decisions at the party with the labels.
type trainer struct {
	loss      linear.Loss
	y         []float64 // the targets of the training rows
	slopes    []float64 // the slopes of the last full step
	losses    []float64 // the mean loss at each full step and after the training
	decisions []float64 // the decisions on all rows, after the training
}

// margin converts a sum of fixed-point margins to a floating-point number.
func margin(sum int64) float64 { return math.Ldexp(float64(sum), -marginBits) }

// Slopes returns the slopes of a step's rows from their margins; it implements [fdsvrg.Judge].
func (t *trainer) Slopes(s fdsvrg.Step, margins []int64) []float64 {
	slopes := make([]float64, len(margins))
	if s.Kind == fdsvrg.Full {
		t.losses = append(t.losses, t.meanLoss(margins))
		t.slopes = make([]float64, len(t.y))
	}
	for i, row := range s.Rows {
		slope := t.loss.Slope(margin(margins[i]), t.y[row])
		if s.Kind == fdsvrg.Full {
			t.slopes[row] = slope
			slopes[i] = slope / float64(len(t.y))
		} else {
			slopes[i] = (slope - t.slopes[row]) / float64(len(s.Rows))
		}
	}
	return slopes
}

// meanLoss returns the mean loss over the training rows, which are the first rows.
func (t *trainer) meanLoss(margins []int64) float64 {
	sum := 0.0
	for i, y := range t.y {
		sum += t.loss.Value(margin(margins[i]), y)
	}
	return sum / float64(len(t.y))
}

// Decide stores the decisions that follow from the margins of all rows; it implements
// [fdsvrg.Judge].
func (t *trainer) Decide(margins []int64) {
	t.losses = append(t.losses, t.meanLoss(margins))
	for _, m := range margins {
		t.decisions = append(t.decisions, margin(m))
	}
}

// lossChange returns the change of the mean loss in the last epoch, as a share of the initial loss.
func (t *trainer) lossChange() float64 {
	n := len(t.losses)
	return math.Abs(t.losses[n-1]-t.losses[n-2]) / max(t.losses[0], math.SmallestNonzeroFloat64)
}
