package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/hinge"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// SecVM is the server's side of a SecVM job: which weights to publish, and what
// becomes of a window's counts. After the last iteration the mean of the last
// weight vectors is published once more, for the testing devices.
type SecVM struct {
	params  secvm.Params
	classes [2]string // of label -1 and +1
	weights [2]float64
	learner *hinge.Trainer
	last    uint32 // iteration that is tested only
	limit   float64
	done    bool
}

// SecVMParams are what a job's devices are told.
func SecVMParams(j *job.Job) (secvm.Params, error) {
	return secvm.NewParams(secvm.Spec{
		Name: j.Name, Bins: job.As[*secvmKeys](j.Protocol).Bins, Hashes: job.As[*secvmKeys](j.Protocol).Hashes, Packages: job.As[*secvmKeys](j.Protocol).Packages, Cohort: job.As[*secvmKeys](j.Protocol).Cohort,
		Classes: len(j.Learner.ClassWeight) > 0, MaxWeight: weightLimit(j), Radius: radius(j),
	})
}

// radius is that of the ball that a hardened job's weights are kept in; 0: none.
func radius(j *job.Job) float64 {
	if j.Protocol.Mode() == job.Paper {
		return 0
	}
	largest := 1.
	for _, w := range j.Learner.ClassWeight {
		largest = max(largest, w)
	}
	return hinge.Radius(j.Learner.Lambda, largest)
}

// weightLimit is the ball's radius; without a ball, what pegasos keeps to by itself
// where features are 0 or 1: its first step sets a weight to 1/lambda times a mean
// of them.
func weightLimit(j *job.Job) float64 {
	if r := radius(j); r > 0 {
		return r
	}
	return max(1, 1/j.Learner.Lambda)
}

// NewSecVM begins to train. The second class is the positive one.
func NewSecVM(j *job.Job, classes [2]string) (*SecVM, error) {
	p, err := SecVMParams(j)
	if err != nil {
		return nil, err
	}
	s := &SecVM{params: p, classes: classes, weights: [2]float64{1, 1}, last: uint32(j.Learner.Iterations), limit: p.Spec().MaxWeight}
	for class, w := range j.Learner.ClassWeight {
		switch class {
		case classes[0]:
			s.weights[0] = w
		case classes[1]:
			s.weights[1] = w
		default:
			return nil, fmt.Errorf("stage: class_weight names class %q; the classes are %q and %q", class, classes[0], classes[1])
		}
	}
	s.learner, err = hinge.New(hinge.Spec{Lambda: j.Learner.Lambda, Schedule: hinge.Schedule(j.Learner.Schedule), Average: j.Learner.Average, Radius: p.Spec().Radius}, p.Features())
	return s, err
}

// Params are the model's parameters.
func (s *SecVM) Params() secvm.Params { return s.params }

// Published returns the open iteration and the weights to publish for it, which
// keep within what devices have been promised.
func (s *SecVM) Published() (iteration uint32, weights []float64) {
	iteration = uint32(s.learner.Iterations())
	weights = s.learner.Weights()
	if iteration == s.last {
		weights = s.learner.Mean()
	}
	for j, w := range weights {
		weights[j] = min(max(w, -s.limit), s.limit)
	}
	return iteration, weights
}

// Close takes what a window gave, and says whether the iteration is over. With
// too few participants it stays open, and the next window's counts are to be
// added to these; of a sum there is no second.
func (s *SecVM) Close(w Window) (bool, error) {
	if !w.Enough() {
		return false, nil
	}
	if uint32(s.learner.Iterations()) == s.last {
		s.done = true
		return true, nil
	}
	sum, n, err := w.Gradient(s.weights[0], s.weights[1])
	if err != nil {
		return false, err
	}
	return true, s.learner.Step(sum, n)
}

// Snapshot returns what the server has learnt so far, for [SecVM.Restore].
func (s *SecVM) Snapshot() []byte {
	var w wire.Writer
	w.Uint32(uint32(s.learner.Iterations()))
	w.Bool(s.done)
	for _, v := range s.learner.Last() {
		w.Float64s(v)
	}
	return w.Bytes()
}

// Restore goes on from a snapshot of the same job.
func (s *SecVM) Restore(snapshot []byte) error {
	r := wire.NewReader(snapshot)
	t, done := int(r.Uint32()), r.Bool()
	spec := s.learner.Spec()
	last := make([][]float64, min(t, spec.Average, r.Len()/(8*s.params.Features())))
	for i := range last {
		last[i] = make([]float64, s.params.Features())
		r.Float64s(last[i])
	}
	if err := r.Close("stage: snapshot of a linear machine"); err != nil {
		return err
	}
	l, err := hinge.Resume(spec, s.params.Features(), t, last)
	if err != nil {
		return err
	}
	s.learner, s.done = l, done
	return nil
}

// Done says whether the last weights have been tested.
func (s *SecVM) Done() bool { return s.done }

// Model is a trained model: what any device needs to predict for itself.
func (s *SecVM) Model() LinearModel {
	_, w := s.Published()
	return LinearModel{Params: s.params, Classes: s.classes, Weights: w}
}

// LinearModel is a linear machine on hashed features. It is public.
type LinearModel struct {
	Params  secvm.Params
	Classes [2]string // of label -1 and +1
	Weights []float64
}

// Predict returns the class of a record with the features of these names.
func (m LinearModel) Predict(names []string) string {
	if secvm.Predict(m.Params.Vector(names).Score(m.Weights)) < 0 {
		return m.Classes[0]
	}
	return m.Classes[1]
}

const linearModelMagic = "mercer/v1/linear-model"

// Encode returns the canonical bytes.
func (m LinearModel) Encode() []byte {
	var w wire.Writer
	w.String(linearModelMagic)
	w.Bytes32(m.Params.Encode())
	w.String(m.Classes[0])
	w.String(m.Classes[1])
	w.Bytes32(secvm.EncodeWeights(m.Weights))
	return w.Bytes()
}

// DecodeLinearModel reads what Encode writes, and checks it.
func DecodeLinearModel(b []byte) (LinearModel, error) {
	const maxParams, maxClass, maxWeights = 1 << 10, 1 << 10, 8 * (1<<20 + 1)
	r := wire.NewReader(b)
	if magic := r.String(64); r.Err() == nil && magic != linearModelMagic {
		r.Fail(fmt.Errorf("a model of %q", magic))
	}
	params := r.Bytes32(maxParams)
	m := LinearModel{Classes: [2]string{r.String(maxClass), r.String(maxClass)}}
	weights := r.Bytes32(maxWeights)
	err := r.Close("stage: linear model")
	if err == nil {
		m.Params, err = secvm.DecodeParams(params)
	}
	if err != nil {
		return LinearModel{}, err
	}
	w, err := m.Params.DecodeWeights(weights)
	m.Weights = w.Values()
	return m, err
}
