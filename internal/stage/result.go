package stage

import (
	"github.com/mercer-fl/mercer/internal/method"
)

// Result returns what the coordinator knows of the job's result. Costs and
// comparisons are added by others.
func (s *Server) Result(facts method.Facts) *Result {
	if is[*fdsklKeys](s.Job) {
		return s.fdsklResult()
	}
	r := method.NewResult(s.Job, s.choice, s.fitted, s.task().Test)
	r.Metrics, r.Leakage = s.metrics, s.gramLeakage(facts)
	return r
}
