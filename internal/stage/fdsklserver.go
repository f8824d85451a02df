package stage

import (
	"io"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// judge is the coordinator's machine of the finding.
func (s *Server) judge(setup Setup) (*Run, error) {
	m, err := broadcast.NewParty(setup.Setup)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		v, err := decodeFinding(s.Job.Learner.Name, m.Body())
		if err != nil {
			return protocol.Blame(s.Cast.Parties[0], protocol.KindMalformed, err)
		}
		s.vertical.finding, s.metrics = v, v.Metrics
		return nil
	}}, nil
}

// encodeFDSKL writes all that the coordinator has of the model: what it is of,
// and a name for the coefficients.
func (s *Server) encodeFDSKL(out io.Writer) error {
	var w wire.Writer
	w.String("mercer/v1/fdskl")
	w.Fixed(s.vertical.declared.digest[:])
	w.Uint32(uint32(job.As[*fdsklKeys](s.Job.Protocol).Directions))
	w.Uint8(uint8(job.As[*fdsklKeys](s.Job.Protocol).Bits))
	w.Fixed(s.vertical.finding.model[:])
	_, err := out.Write(w.Bytes())
	return err
}

func (s *Server) fdsklResult() *Result {
	rows := s.vertical.declared.list[0].rows
	train, test, err := heldOutSizes(s.Job, rows)
	if err != nil { // the parties would have said so
		return &Result{Job: s.Job.Name, Metrics: s.metrics}
	}
	return &Result{
		Job: s.Job.Name, Metrics: s.metrics, Grid: []learner.Cell{}, HeldOut: test, Training: train,
		Warnings: s.vertical.finding.Warnings("the training"), Leakage: FDSKLLeakage(s.Job, rows, fdskl.Exposure{}),
	}
}
