package stage

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// scaleStage brings the features of all parties to one scale. The coordinator
// is no member of its session.
func scaleStage(j *job.Job, c Cast) (Stage, error) {
	params, err := scale.NewParams(scale.Spec{Method: scale.Method(j.Data.Scale)})
	if err != nil {
		return Stage{}, err
	}
	return Stage{Name: "scale", Session: &Session{
		Protocol: scale.Name, Version: scale.Version, Params: params.Encode(), Members: c.parties(), Purpose: "train",
		party: func(p *Party, setup Setup) (*Run, error) { return p.scaler(setup.Setup, params) },
	}}, nil
}

// scaler is what leader and party of the session have in common.
type scaler interface {
	protocol.Machine
	Result() scale.Scaling
}

func (p *Party) scaler(setup protocol.Setup, params scale.Params) (*Run, error) {
	statistics, err := scale.Summarize(p.training(), params.Spec().Method)
	if err != nil {
		return nil, err
	}
	m, err := newScaler(setup, statistics)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: statistics.Hash(), Finish: func() error {
		p.scaling = m.Result()
		p.rows = p.scaling.Rows(p.rows)
		return nil
	}}, nil
}

func newScaler(setup protocol.Setup, s scale.Statistics) (scaler, error) {
	if setup.Session.RoleOf(setup.Self) == protocol.RoleLeader {
		return scale.NewLeader(setup, s)
	}
	return scale.NewParty(setup, s)
}

// Scaling is what parties agree on before they encode.
type Scaling = scale.Scaling

// ScaleOf is the scaling on which parties would agree that hold these training
// rows among them. It is for programs that own all the data.
func ScaleOf(j *job.Job, training linalg.Rows) (Scaling, error) {
	return scale.Pooled(training, scale.Method(j.Data.Scale))
}
