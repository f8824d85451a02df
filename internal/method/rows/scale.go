package rows

import (
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
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
	places, x := numbers(p.Split, p.Split.Rows(false))
	statistics, err := p.statistics(x, params.Spec().Method)
	if err != nil {
		return nil, err
	}
	m, err := newScaler(setup, statistics)
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, InputHash: statistics.Hash(), Finish: func() error {
		p.Scaling = m.Result().Spread(places, p.Width())
		p.scaled()
		return nil
	}}, nil
}

// statistics summarises the party's training rows; a party that is held out has none.
func (p *Party) statistics(rows linalg.Rows, m scale.Method) (scale.Statistics, error) {
	if _, columns := rows.Shape(); p.Tested() {
		return scale.Nothing(columns, m), nil
	}
	return scale.Summarize(rows, m)
}

func newScaler(setup protocol.Setup, s scale.Statistics) (scaler, error) {
	if setup.Session.RoleOf(setup.Self) == protocol.RoleLeader {
		return scale.NewLeader(setup, s)
	}
	return scale.NewParty(setup, s)
}

// numbers returns the places of the columns that are scaled, and these columns of the given rows:
// with a schema not the columns of categories.
func numbers(s method.Split, rows []int) ([]int, linalg.Rows) {
	if s.Prepared == nil {
		return dataset.Complement(s.Set.X.Cols(), nil), linalg.Pick(dataset.RowsOf(s.Set.X), rows)
	}
	places := s.Prepared.Numbers()
	return places, linalg.Pick(dataset.RowsOf(s.Set.X.Columns(places)), rows)
}

// Together returns the scaling of rows of several parties in one place, as the parties would
// find it among themselves; it is empty where the job has none.
func Together(j *job.Job, s method.Split) (scale.Scaling, error) {
	switch {
	case j.Data.Scale == job.None:
		return scale.Scaling{}, nil
	case s.Prepared != nil && s.Prepared.Offset != nil:
		return scale.Scaling{Offset: s.Prepared.Offset, Factor: s.Prepared.Factor}, nil
	}
	places, x := numbers(s, s.Rows(false))
	if len(places) == 0 {
		return scale.Scaling{}, nil
	}
	found, err := scale.Pooled(x, scale.Method(j.Data.Scale))
	if err != nil {
		return scale.Scaling{}, err
	}
	return found.Spread(places, s.Set.X.Cols()), nil
}
