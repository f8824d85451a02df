package stage

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// planOKRA: agree on columns and scale among the parties, upload encoded rows, choose by folds if
// the job has any, learn, evaluate.
func planOKRA(j *job.Job, c Cast) ([]Stage, error) {
	plan := []Stage{headingStage(c)}
	if j.Data.Scale != job.None {
		st, err := scaleStage(j, c)
		if err != nil {
			return nil, err
		}
		plan = append(plan, st)
	}
	params, err := okraParams(j)
	if err != nil {
		return nil, err
	}
	plan = append(plan, okraStage(params, c))
	if j.Data.Folds > 0 {
		plan = append(plan, Stage{Name: "tune", Compute: (*Server).tune})
	}
	return append(plan,
		Stage{Name: "learn", Compute: (*Server).learn},
		Stage{Name: "evaluate", Compute: (*Server).evaluate}), nil
}

func okraParams(j *job.Job) (okra.Params, error) {
	return okra.NewParams(okra.Spec{
		Encoder: string(job.As[*okraKeys](j.Protocol).Encoder), Wire: string(job.As[*okraKeys](j.Protocol).Wire),
		Mode: string(j.Protocol.Mode()), Rounds: job.As[*okraKeys](j.Protocol).Rounds,
	})
}

func okraStage(params okra.Params, c Cast) Stage {
	return Stage{Name: "protocol", Session: &Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: c.withServer(), Purpose: "train",
		Release:   func(p *Party) method.Release { return p.release(method.ReleaseRows, c, p.split.Set) },
		Discloses: []string{okra.RowsKind}, Patient: []protocol.Timer{okra.TimerReceipt},
		party:  func(p *Party, setup Setup) (*Run, error) { return p.uploader(setup.Setup, params) },
		server: func(s *Server, setup Setup) (*Run, error) { return s.assembler(setup.Setup, params) },
	}}
}

// uploader encodes the party's rows and sends them.
func (p *Party) uploader(setup protocol.Setup, params okra.Params) (*Run, error) {
	input := okra.Input{Rows: p.rows, Labels: p.split.Set.Labels, Test: p.split.Test, Grid: p.grid == method.AllGrid}
	m, err := okra.NewParty(setup, params, input)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		p.total = m.TotalRows()
		p.epoch, p.parent = m.EpochSeed(), setup.Session.ID()
		return nil
	}}, nil
}

// assembler collects encoded rows into a Gram matrix.
func (s *Server) assembler(setup protocol.Setup, params okra.Params) (*Run, error) {
	m, err := okra.NewServer(setup, params, okra.Limits{})
	if err != nil {
		return nil, err
	}
	return &Run{Machine: bounded(m), Finish: func() error {
		s.upload, s.parent = m, setup.Session.ID()
		return nil
	}}, nil
}

// bounded has a machine that holds rows up to a limit say that more are the job's
// fault, and that another protocol has no matrix of all rows.
func bounded(m protocol.Machine) protocol.Machine {
	return worded{m, func(err error) error {
		var limit *okra.LimitError
		if !errors.As(err, &limit) {
			return err
		}
		return fault.BadInput(fmt.Errorf("%w, or use protocol moments, which makes no such matrix", err))
	}}
}
