package stage

import (
	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
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
}

// NewServer returns a coordinator's empty hands.
func NewServer(j *job.Job, c Cast) *Server { return &Server{Job: j, Cast: c} }

// Model returns the trained model, nil before the learn stage.
func (s *Server) Model() *model.Private { return s.model }

// Metrics returns the figures on held-out rows, nil before the evaluate stage.
func (s *Server) Metrics() evaluate.Metrics { return s.metrics }

// Fitted returns the learner with its decisions on held-out rows.
func (s *Server) Fitted() *evaluate.Fitted { return s.fitted }
