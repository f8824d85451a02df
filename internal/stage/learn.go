package stage

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// learn fits the job's learner on the Gram matrix and keeps the model, which
// holds encoded rows and therefore never leaves the coordinator.
func (s *Server) learn(progress Reporter) error {
	learner, err := Learner(s.Job)
	if err != nil {
		return err
	}
	task := evaluate.Task{Gram: s.upload.Gram(), Labels: s.upload.Labels(), Test: s.upload.Test()}
	s.fitted, err = evaluate.Fit(task, learner, func(done, total int) {
		if progress != nil {
			progress(protocol.Progress{Stage: "learn", Done: int64(done), Total: int64(total)})
		}
	})
	if errors.Is(err, evaluate.ErrOneClass) {
		return session.BadInput(err)
	}
	if err != nil {
		return err
	}
	m, err := model.NewSVC(KernelSpec(s.Job), nil, s.upload.Rows(s.fitted.Support), s.fitted.Classifier)
	if err != nil {
		return err
	}
	s.model, err = model.NewPrivate(m)
	return err
}

func (s *Server) evaluate(Reporter) error {
	var err error
	s.metrics, err = s.fitted.Measure()
	return err
}

// Learner builds what a job's learner section describes.
func Learner(j *job.Job) (evaluate.Learner, error) {
	k, err := kernel.New(KernelSpec(j))
	if err != nil {
		return evaluate.Learner{}, session.BadInput(err)
	}
	return evaluate.Learner{Kernel: k, SVC: svm.Params{C: j.Learner.C, Tol: j.Learner.Tol, Weights: j.Learner.ClassWeight}}, nil
}

// KernelSpec is a job's kernel section in the terms of package kernel.
func KernelSpec(j *job.Job) kernel.Spec {
	k := j.Kernel
	return kernel.Spec{Name: string(k.Name), Gamma: k.Gamma, Coef0: k.Coef0, Degree: k.Degree, Alpha: k.Alpha, LengthScale: k.LengthScale}
}
