package stage

import (
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// Server is what the coordinator has of a job while it runs.
type Server struct {
	Job  *job.Job
	Cast Cast

	choice  *learner.Choice
	fitted  *learner.Fitted
	metrics learner.Metrics

	vertical verticalServer

	ended map[string]Ended // how sessions went, by stage
}

// NewServer returns a coordinator's empty hands.
func NewServer(j *job.Job, c Cast) *Server {
	return &Server{Job: j, Cast: c, ended: make(map[string]Ended)}
}

// Ended notes how the session of a stage went. It is told of every session that has
// ended well, also after a restart.
func (s *Server) Ended(stage string, e Ended) { s.ended[stage] = e }

// EncodeModel writes the model file, once all stages are done.
func (s *Server) EncodeModel(w io.Writer) error {
	switch s.Job.Protocol.Values.(type) {
	case *gramKeys:
		return s.encodeGram(w)
	case *fdsklKeys:
		return s.encodeFDSKL(w)
	}
	return fmt.Errorf("stage: protocol %s leaves no model", s.Job.Protocol.Name())
}

// Private says that the model holds encoded rows and never leaves the
// coordinator.
func (s *Server) Private() bool { return false }

// Metrics returns the figures on held-out rows, nil before the evaluate stage.
func (s *Server) Metrics() learner.Metrics { return s.metrics }

// Outcome returns what was decided about held-out rows. Where they stay with
// the parties, that is nothing but the classes.
func (s *Server) Outcome() *Outcome {
	if is[*fdsklKeys](s.Job) { // they stay with the label holder
		return &Outcome{}
	}
	return method.NewOutcome(s.fitted)
}

// Known is what the stages so far have made public.
func (s *Server) Known() Known {
	return Known{Declared: s.vertical.declared}
}
