package columns

import (
	"context"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// Learner is a coordinator that learns from the Gram matrix of all columns. A method's own
// server embeds it.
type Learner struct {
	Server
	Products
	learner.Work // on training rows before held-out rows, in the common order
	Layout       gram.Params
}

// LearnerOf returns the coordinator of a job.
func LearnerOf(c method.Case, a Products) Learner {
	return Learner{Server: Server{Case: c}, Products: a}
}

// TakeSums takes the sum of all Gram matrices over.
func (s *Learner) TakeSums(layout gram.Params, sums [][]int64) error {
	var err error
	s.Layout = layout
	s.Problem.Gram, err = layout.Matrix(sums)
	s.Problem.Test = HeldOutLast(layout.Training(), layout.HeldOut())
	return err
}

// LearningSteps are what the coordinator computes once it has the sums and the labels.
func LearningSteps[P, S any](j *job.Job, learner func(*S) *Learner) (list []method.StepOf[P, S, Declared]) {
	stages := []string{"learn", "evaluate"}
	if j.Data.Folds > 0 {
		stages = append([]string{"tune"}, stages...)
	}
	for _, stage := range stages {
		list = append(list, method.StepOf[P, S, Declared]{Name: stage, Compute: func(of *S, ctx context.Context, progress method.Reporter) error {
			s := learner(of)
			return s.Do(ctx, s.Job, stage, progress.Counts)
		}})
	}
	return list
}

// Outcome returns the decisions about held-out rows.
func (s *Learner) Outcome() *method.Outcome { return method.NewOutcome(s.Fitted) }

// WriteFunctions writes functions of the kernel with training rows, which are named by their
// places in the common order, under the name of the format. Rows are nowhere in it, and it
// predicts nothing without their products with new ones.
func (s *Learner) WriteFunctions(out io.Writer, format string) error {
	var w wire.Writer
	w.String(format)
	w.Fixed(s.Declared.Digest[:])
	k, h := s.Choice.Job.Kernel.Spec(), s.Fitted.Head
	w.String(k.Name)
	for _, v := range []float64{k.Gamma, k.Coef0, float64(k.Degree), k.Alpha, k.LengthScale, k.Nu, h.Noise, h.Unit} {
		w.Float64(v)
	}
	w.String(string(h.Kind))
	w.Strings(h.Classes)
	w.Uint32(uint32(len(h.Functions)))
	for _, f := range h.Functions {
		w.Float64(f.Rho)
		w.Uint32(uint32(len(f.Index)))
		for i, at := range f.Index {
			w.Uint32(uint32(s.Fitted.Support[at]))
			w.Float64(f.Coef[i])
		}
	}
	w.Uint32(uint32(len(h.Sigmoids)))
	for _, g := range h.Sigmoids {
		w.Float64(g.A)
		w.Float64(g.B)
	}
	if k.Amplitude != 0 {
		w.String("amplitude")
		w.Float64(k.Amplitude)
	}
	_, err := out.Write(w.Bytes())
	return err
}
