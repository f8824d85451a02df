package learner

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/svm"
)

// SpecOf builds what the sections kernel and learner of a job describe, which
// has neither grid nor units.
func SpecOf(j *job.Job) (Spec, error) {
	k, err := kernel.New(j.Kernel.Spec())
	if err != nil {
		return Spec{}, fault.BadInput(err)
	}
	m, err := solverOf(j.Learner, j.Seed)
	return Spec{Kernel: k, Solver: m}, err
}

func solverOf(l job.Learner, seed uint64) (Solver, error) {
	build, known := solvers()[l.Name]
	if !known {
		return nil, fault.BadInput(fmt.Errorf("stage: learner %q cannot be run", l.Name))
	}
	return build(l, seed), nil
}

// solvers builds each learner of a job file from its section.
func solvers() map[job.LearnerName]func(l job.Learner, seed uint64) Solver {
	nu := func(l job.Learner) svm.NuParams { return svm.NuParams{Nu: l.Nu, Tol: l.Tol} }
	return map[job.LearnerName]func(l job.Learner, seed uint64) Solver{
		job.SVC: func(l job.Learner, seed uint64) Solver {
			return SVC{Params: params(l), Probability: l.Probability, Seed: seed}
		},
		job.NuSVC: func(l job.Learner, seed uint64) Solver {
			return NuSVC{NuParams: nu(l), Probability: l.Probability, Seed: seed}
		},
		job.OneClass: func(l job.Learner, _ uint64) Solver { return OneClass{NuParams: nu(l)} },
		job.SVR: func(l job.Learner, _ uint64) Solver {
			return SVR{SVRParams: svm.SVRParams{C: l.C, Epsilon: l.Epsilon, Tol: l.Tol}}
		},
		job.Ridge: func(l job.Learner, _ uint64) Solver { return Ridge{Alpha: l.Alpha} },
		job.GP:    func(l job.Learner, _ uint64) Solver { return GP{Noise: l.Noise} },
		job.KPCA:  func(l job.Learner, _ uint64) Solver { return KPCA{Components: l.NComponents} },
		job.KMeans: func(l job.Learner, seed uint64) Solver {
			return KMeans{Params: kmeans.Params{Clusters: l.NClusters, Seed: seed}}
		},
	}
}

// params are a learner section in the terms of package svm.
func params(l job.Learner) svm.Params {
	return svm.Params{C: l.C, Tol: l.Tol, Weights: l.ClassWeight}
}
