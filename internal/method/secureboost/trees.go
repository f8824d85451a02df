package secureboost

import (
	"crypto/sha256"
	"errors"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/linalg"
)

// Training is the label holder's side of a training: a booster, with the classes for which
// its scores stand.
type Training struct {
	*boost.Booster
	outputs *learner.Outputs
	labels  []string // of all rows
	train   int
}

// NewTraining returns the training of a job; the first train rows are not held out.
func NewTraining(j *job.Job, labels []string, train int) (*Training, error) {
	out, err := learner.OutputsOf(j, labels[:train])
	if err != nil {
		return nil, err
	}
	if out.Y.Rows > 1 {
		return nil, errors.New("boosted trees tell two classes apart, and the labels have more; choose two")
	}
	y := make([]float64, train)
	for i, v := range out.Y.Row(0) {
		y[i] = max(0, v)
	}
	b, err := boost.New(learner.TreesOf(j).Params, y, len(labels))
	return &Training{Booster: b, outputs: out, labels: labels, train: train}, err
}

// Measure returns the metrics on held-out rows.
func (t *Training) Measure() (learner.Metrics, error) {
	return t.outputs.Measure(t.decisions(), t.labels[t.train:])
}

// decisions are about the held-out rows.
func (t *Training) decisions() linalg.Matrix[float64] {
	scores := t.Scores()[t.train:]
	return linalg.Matrix[float64]{Rows: 1, Cols: len(scores), Stride: len(scores), Data: scores}
}

// hash names the model: the trees, as the label holder has them.
func (t *Training) hash() [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/secureboost/model")
	for _, tree := range t.Model().Trees {
		w.Uint32(uint32(len(tree)))
		for _, n := range tree {
			w.Uint32(uint32(n.Feature))
			w.Uint32(uint32(n.Bin))
			w.Float64(n.Value)
		}
	}
	return sha256.Sum256(w.Bytes())
}
