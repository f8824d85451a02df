package rows

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/scale"
)

func scaleParams(j *job.Job) (scale.Params, error) {
	return scale.NewParams(scale.Spec{Method: scale.Method(j.Data.Scale)})
}

// scaler is the machine of a leader or of a party.
type scaler interface {
	protocol.Machine
	Result() scale.Scaling
}

func (p *Party) scaler(setup protocol.Setup) (*method.Run, error) {
	params, err := scaleParams(p.Job)
	if err != nil {
		return nil, err
	}
	statistics, err := scale.Summarize(p.Training(), params.Spec().Method)
	if err != nil {
		return nil, err
	}
	m, err := newScaler(setup, statistics)
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, InputHash: statistics.Hash(), Finish: func() error {
		p.Scaling = m.Result()
		p.Rows = p.Scaling.Rows(p.Rows)
		return nil
	}}, nil
}

func newScaler(setup protocol.Setup, s scale.Statistics) (scaler, error) {
	if setup.Session.RoleOf(setup.Self) == protocol.RoleLeader {
		return scale.NewLeader(setup, s)
	}
	return scale.NewParty(setup, s)
}
