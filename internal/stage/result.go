package stage

import (
	"github.com/mercer-fl/mercer/internal/method"
)

// Result returns what the coordinator knows of the job's result. Costs and
// comparisons are added by others.
func (s *Server) Result(facts method.Facts) *Result {
	if is[*momentsKeys](s.Job) {
		return s.momentsResult()
	}
	if is[*fdsklKeys](s.Job) {
		return s.fdsklResult()
	}
	if is[*fedcfkKeys](s.Job) {
		return s.crowdResult()
	}
	train, test := 0, 0
	for _, held := range s.task().Test {
		if held {
			test++
		} else {
			train++
		}
	}
	return &Result{
		Job: s.Job.Name, Metrics: s.metrics, Grid: append([]Cell{}, s.choice.Grid...), HeldOut: test, Training: train,
		Support: len(s.fitted.Support), Eigenvalues: s.fitted.Eigenvalues, Leakage: s.leakage(facts),
	}
}
