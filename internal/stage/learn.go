package stage

import (
	"context"
	"fmt"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
)

// learn fits the job's learner on the Gram matrix and keeps the model, which
// holds encoded rows and therefore never leaves the coordinator.
func (s *Server) learn(ctx context.Context, progress Reporter) error {
	if s.choice == nil {
		if err := s.tune(ctx, progress); err != nil {
			return err
		}
	}
	var err error
	if s.fitted, err = s.choice.Fit(ctx, s.task(), progress.Counts("learn")); err != nil {
		return err
	}
	if vertical(s.Job) {
		return nil // its model holds no rows
	}
	m, err := model.New(s.choice.Job.Kernel.Spec(), nil, s.upload.Rows(s.fitted.Support), s.fitted.Head)
	if err != nil {
		return err
	}
	s.model, err = model.NewPrivate(m)
	return err
}

// tune chooses a cell of the job's grid.
func (s *Server) tune(ctx context.Context, progress Reporter) error {
	var err error
	s.choice, err = Choose(ctx, s.Job, s.task(), progress)
	return err
}

func (s *Server) task() evaluate.Task {
	if vertical(s.Job) {
		return s.vertical.task
	}
	return evaluate.Task{Gram: s.upload.Gram(), Labels: s.upload.Labels(), Test: s.upload.Test()}
}

func (s *Server) evaluate(context.Context, Reporter) error {
	var err error
	s.metrics, err = s.fitted.Measure()
	return err
}

// Learner builds what the sections kernel and learner of a job describe, which
// has neither grid nor units.
func Learner(j *job.Job) (evaluate.Learner, error) {
	k, err := kernel.New(j.Kernel.Spec())
	if err != nil {
		return evaluate.Learner{}, fault.BadInput(err)
	}
	m, err := methodOf(j.Learner, j.Seed)
	return evaluate.Learner{Kernel: k, Method: m}, err
}

func methodOf(l job.Learner, seed uint64) (evaluate.Method, error) {
	build, known := methods()[l.Name]
	if !known {
		return nil, fault.BadInput(fmt.Errorf("stage: learner %q cannot be run", l.Name))
	}
	return build(l, seed), nil
}

// methods builds each learner of a job file from its section.
func methods() map[job.LearnerName]func(l job.Learner, seed uint64) evaluate.Method {
	nu := func(l job.Learner) svm.NuParams { return svm.NuParams{Nu: l.Nu, Tol: l.Tol} }
	return map[job.LearnerName]func(l job.Learner, seed uint64) evaluate.Method{
		job.SVC: func(l job.Learner, seed uint64) evaluate.Method {
			return evaluate.SVC{Params: params(l), Probability: l.Probability, Seed: seed}
		},
		job.NuSVC: func(l job.Learner, seed uint64) evaluate.Method {
			return evaluate.NuSVC{NuParams: nu(l), Probability: l.Probability, Seed: seed}
		},
		job.OneClass: func(l job.Learner, _ uint64) evaluate.Method { return evaluate.OneClass{NuParams: nu(l)} },
		job.SVR: func(l job.Learner, _ uint64) evaluate.Method {
			return evaluate.SVR{SVRParams: svm.SVRParams{C: l.C, Epsilon: l.Epsilon, Tol: l.Tol}}
		},
		job.Ridge: func(l job.Learner, _ uint64) evaluate.Method { return evaluate.Ridge{Alpha: l.Alpha} },
		job.GP:    func(l job.Learner, _ uint64) evaluate.Method { return evaluate.GP{Noise: l.Noise} },
		job.KPCA:  func(l job.Learner, _ uint64) evaluate.Method { return evaluate.KPCA{Components: l.NComponents} },
		job.KMeans: func(l job.Learner, seed uint64) evaluate.Method {
			return evaluate.KMeans{Params: kmeans.Params{Clusters: l.NClusters, Seed: seed}}
		},
	}
}
