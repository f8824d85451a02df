package secvm

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/hinge"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Training is the server's training of a linear support vector machine. It selects the weights to
// publish, and makes a step with a window's counts. After the last iteration it publishes the mean
// of the last weight vectors for the testing devices.
type Training struct {
	params  secvm.Params
	classes [2]string // the class of label -1 and the class of label +1
	weights [2]float64
	learner *hinge.Trainer
	last    uint32 // the iteration that only tests the final weights
	limit   float64
	done    bool
}

// SpecOf returns the specification that a job's devices receive.
func SpecOf(j *job.Job) secvm.Spec {
	k := KeysOf(j)
	return secvm.Spec{
		Name: j.Name, Bins: k.Bins, Hashes: k.Hashes, Columns: k.Unhashed(), Packages: k.Packages, Cohort: k.Cohort,
		Classes: len(learner.StepsOf(j).ClassWeight) > 0, MaxWeight: weightLimit(j), Radius: radius(j),
	}
}

// CheckUnseen refuses a job that a server without the records cannot run. Such a server cannot
// count columns, list classes or assign roles. server names the program.
func CheckUnseen(j *job.Job, server string) error {
	switch k := KeysOf(j); {
	case len(k.Classes) != 2:
		return fault.BadInputf(`%s sees no labels, so the job must name the classes; write "protocol: {name: secvm, classes: [MINUS, PLUS]}"`, server)
	case k.Unhashed() && k.Bins == 0:
		return fault.BadInputf(`%s has no table and cannot count its columns; add "bins" to protocol, with the number of columns in the public list`, server)
	case j.Data.Test.Source != "" || j.Data.Test.Every != 0:
		return fault.BadInputf(`each device itself draws whether it tests, so the job cannot select held-out rows; write "test: {fraction: 0.25}"`)
	}
	return nil
}

// radius returns the radius of the ball that contains the weights of a job in mode hardened. It
// returns 0 if there is no ball.
func radius(j *job.Job) float64 {
	if j.Protocol.Mode() == job.Paper {
		return 0
	}
	largest := 1.
	for _, w := range learner.StepsOf(j).ClassWeight {
		largest = max(largest, w)
	}
	return hinge.Radius(learner.StepsOf(j).Lambda, largest)
}

// weightLimit returns the largest magnitude of a weight, which is the radius of the ball that
// contains the weights. Without a ball, the limit is the bound that pegasos keeps by itself if
// features are 0 or 1. The first step of pegasos sets a weight to at most 1/lambda, because the
// mean of such features is at most 1.
func weightLimit(j *job.Job) float64 {
	if r := radius(j); r > 0 {
		return r
	}
	return max(1, 1/learner.StepsOf(j).Lambda)
}

// NewTraining returns a training that has not yet made a step. The second class is the positive
// one.
func NewTraining(j *job.Job, classes [2]string) (*Training, error) {
	p, err := secvm.NewParams(SpecOf(j))
	if err != nil {
		return nil, err
	}
	l := learner.StepsOf(j)
	s := &Training{params: p, classes: classes, weights: [2]float64{1, 1}, last: uint32(l.Iterations), limit: p.Spec().MaxWeight}
	for class, w := range l.ClassWeight {
		switch class {
		case classes[0]:
			s.weights[0] = w
		case classes[1]:
			s.weights[1] = w
		default:
			return nil, fmt.Errorf("secvm: class_weight names class %q; the classes are %q and %q", class, classes[0], classes[1])
		}
	}
	s.learner, err = hinge.New(hinge.Spec{Lambda: l.Lambda, Schedule: l.Schedule, Rate: l.Rate, Average: l.Average, Radius: p.Spec().Radius}, p.Features())
	return s, err
}

// Params returns the model's parameters.
func (s *Training) Params() secvm.Params { return s.params }

// Published returns the current iteration and the weights to publish for it. The weights are within
// the limits promised to devices.
func (s *Training) Published() (iteration uint32, weights []float64) {
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

// Close processes the result of a window and reports whether its iteration is over. With too few
// participants the iteration stays open, and the next window's counts are added to these counts. An
// iteration has only one secure sum.
func (s *Training) Close(w Window) (bool, error) {
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

// Snapshot encodes the training's state for [Training.Restore].
func (s *Training) Snapshot() []byte {
	var w wire.Writer
	w.Uint32(uint32(s.learner.Iterations()))
	w.Bool(s.done)
	for _, v := range s.learner.Last() {
		w.Float64s(v)
	}
	return w.Bytes()
}

// Restore restores the state of a snapshot of the same job. It refuses bytes that are no snapshot of such a training.
func (s *Training) Restore(snapshot []byte) error {
	r := wire.NewReader(snapshot)
	t, done := int(r.Uint32()), r.Bool()
	spec := s.learner.Spec()
	last := make([][]float64, min(t, spec.Average, r.Len()/(8*s.params.Features())))
	for i := range last {
		last[i] = make([]float64, s.params.Features())
		r.Float64s(last[i])
	}
	if err := r.Close("secvm: snapshot of a linear machine"); err != nil {
		return err
	}
	l, err := hinge.Resume(spec, s.params.Features(), t, last)
	if err != nil {
		return err
	}
	s.learner, s.done = l, done
	return nil
}

// Done reports whether the devices have tested the last weights.
func (s *Training) Done() bool { return s.done }

// Model returns the trained model, with which any device predicts for itself.
func (s *Training) Model() LinearModel {
	_, w := s.Published()
	return LinearModel{Params: s.params, Classes: s.classes, Weights: w}
}

// LinearModel is a linear classifier on hashed features or on columns. It is public.
type LinearModel struct {
	Params  secvm.Params
	Classes [2]string // the class of label -1 and the class of label +1
	Weights []float64
}

// Predict returns the class of a record with the given feature names.
func (m LinearModel) Predict(names []string) string {
	if secvm.Predict(m.Params.Vector(names).Score(m.Weights)) < 0 {
		return m.Classes[0]
	}
	return m.Classes[1]
}

const linearModelMagic = "mercer/v1/linear-model"

// Encode returns the canonical encoding of the model.
func (m LinearModel) Encode() []byte {
	var w wire.Writer
	w.String(linearModelMagic)
	w.Bytes32(m.Params.Encode())
	w.String(m.Classes[0])
	w.String(m.Classes[1])
	w.Bytes32(secvm.EncodeWeights(m.Weights))
	return w.Bytes()
}

// DecodeLinearModel decodes a model that Encode wrote. It refuses all other bytes.
func DecodeLinearModel(b []byte) (LinearModel, error) {
	const maxParams, maxClass, maxWeights = 1 << 10, 1 << 10, 8 * (1<<20 + 1)
	r := wire.NewReader(b)
	if magic := r.String(64); r.Err() == nil && magic != linearModelMagic {
		r.Fail(fmt.Errorf("the magic string is %q; it must name a linear model", magic))
	}
	params := r.Bytes32(maxParams)
	m := LinearModel{Classes: [2]string{r.String(maxClass), r.String(maxClass)}}
	weights := r.Bytes32(maxWeights)
	err := r.Close("secvm: linear model")
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
