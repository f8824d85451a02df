package stage

import (
	"io"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// Server is what the coordinator has of a job while it runs.
type Server struct {
	Job  *job.Job
	Cast Cast

	upload  *okra.Server       // the Gram matrix, labels, encoded rows
	parent  protocol.SessionID // of the upload
	choice  *Choice
	fitted  *evaluate.Fitted
	model   *model.Private
	metrics evaluate.Metrics
	moments momentsServer

	vertical verticalServer
	crowd    crowdServer

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
	case *momentsKeys:
		return s.encodeMoments(w)
	case *gramKeys:
		return s.encodeGram(w)
	case *fdsklKeys:
		return s.encodeFDSKL(w)
	case *fedcfkKeys:
		_, err := w.Write(s.crowd.broadcast)
		return err
	}
	return model.EncodePrivate(w, s.model)
}

// Private says that the model holds encoded rows and never leaves the
// coordinator.
func (s *Server) Private() bool { return s.model != nil }

// Metrics returns the figures on held-out rows, nil before the evaluate stage.
func (s *Server) Metrics() evaluate.Metrics { return s.metrics }

// Outcome returns what was decided about held-out rows. Where they stay with
// the parties, that is nothing but the classes.
func (s *Server) Outcome() *Outcome {
	if is[*momentsKeys](s.Job) {
		return &Outcome{Classes: job.As[*momentsKeys](s.Job.Protocol).Classes}
	}
	if is[*fdsklKeys](s.Job) || is[*fedcfkKeys](s.Job) { // they stay with the label holder, or with each device
		return &Outcome{}
	}
	return method.NewOutcome(s.fitted)
}
