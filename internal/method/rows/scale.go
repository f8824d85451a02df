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
	numbers := numbersOf(p.Split)
	statistics, err := p.statistics(numbers, params.Spec().Method)
	if err != nil {
		return nil, err
	}
	m, err := newScaler(setup, statistics)
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, InputHash: statistics.Hash(), Finish: func() error {
		p.Scaling = numbers.beside(m.Result())
		p.Rows = p.Scaling.Rows(p.Rows)
		return nil
	}}, nil
}

// statistics summarises the party's training rows; a party that is held out has none.
func (p *Party) statistics(n numbers, m scale.Method) (scale.Statistics, error) {
	rows := n.of(p.Split.Set, p.Split.Rows(false))
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

// numbers are the columns that are scaled: with a schema not the columns of categories.
type numbers struct {
	width  int
	places []int // nil for all
}

func numbersOf(s method.Split) numbers {
	n := numbers{width: s.Set.X.Cols()}
	if s.Prepared == nil {
		return n
	}
	n.places = []int{}
	for k, scaled := range s.Prepared.Scaled() {
		if scaled {
			n.places = append(n.places, k)
		}
	}
	return n
}

// of returns the given rows of these columns.
func (n numbers) of(set *dataset.Set, rows []int) linalg.Rows {
	x := set.X
	if n.places != nil {
		x = x.Columns(n.places)
	}
	return linalg.Pick(dataset.RowsOf(x), rows)
}

// beside returns a scaling of all columns that leaves the others as they are.
func (n numbers) beside(s scale.Scaling) scale.Scaling {
	if n.places == nil {
		return s
	}
	all := scale.Scaling{Offset: make([]float64, n.width), Factor: make([]float64, n.width)}
	for k := range all.Factor {
		all.Factor[k] = 1
	}
	for i, k := range n.places {
		all.Offset[k], all.Factor[k] = s.Offset[i], s.Factor[i]
	}
	return all
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
	n := numbersOf(s)
	if n.places != nil && len(n.places) == 0 {
		return scale.Scaling{}, nil
	}
	found, err := scale.Pooled(n.of(s.Set, s.Rows(false)), scale.Method(j.Data.Scale))
	return n.beside(found), err
}
