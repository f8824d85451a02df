package rows

import (
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/scale"
)

func scaleParams(j *job.Job) (scale.Params, error) {
	return scale.NewParams(scale.Spec{Method: scale.Method(j.Data.Scale)})
}

// scaler is the machine that fits a common scaling, at the leader or at another party.
type scaler interface {
	protocol.Machine
	Result() scale.Scaling
}

func (p *Party) scaler(s method.Setup) (*method.Run, error) {
	setup := s.Setup
	params, err := scaleParams(p.Job)
	if err != nil {
		return nil, err
	}
	places := numbers(p.Split)
	statistics, err := p.statistics(params.Spec().Method)
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
		if !p.Tested() {
			p.noticeRare(p.rareNumbers(places))
		}
		return nil
	}}, nil
}

// statistics summarises the party's training rows. If the party has no training rows, the
// statistics are empty.
func (p *Party) statistics(m scale.Method) (scale.Statistics, error) {
	switch {
	case p.Tested():
		return scale.Nothing(len(numbers(p.Split)), m), nil
	case p.stream != nil:
		return p.stream.summarize(p.Job, m)
	}
	_, common, err := commonNumbers(p.Split)
	if err != nil {
		return scale.Statistics{}, p.ownFault(err)
	}
	return scale.Summarize(linalg.Pick(common, p.Split.Rows(false)), m)
}

func newScaler(setup protocol.Setup, s scale.Statistics) (scaler, error) {
	if setup.Session.RoleOf(setup.Self) == protocol.RoleLeader {
		return scale.NewLeader(setup, s)
	}
	return scale.NewParty(setup, s)
}

// numbers lists the places of the columns that are scaled. With a schema, columns of categories are
// not among them.
func numbers(s method.Split) []int {
	if s.Prepared == nil {
		return dataset.Complement(s.Set.X.Cols(), nil)
	}
	return s.Prepared.Numbers()
}

// commonNumbers returns all rows of the scaled columns, with rare values replaced as by [Common].
// It also returns the places of these columns.
func commonNumbers(s method.Split) ([]int, linalg.Rows, error) {
	x, places := s.Set.X, numbers(s)
	if s.Frame != nil {
		table, err := s.Prepared.Common(s.Frame, counted(s))
		return places, dataset.RowsOf(table.Columns(places)), err
	}
	if len(places) < x.Cols() {
		x = x.Columns(places)
	}
	return places, level{dataset.RowsOf(x), dataset.NearConstantColumns(x, counted(s), prepare.Least)}, nil
}

// Together computes, in one process, the scaling on which several parties would agree. The scaling
// is empty if the job has none. A single party, or a job whose rows are in one place
// anyway, releases sums to nobody, so Together then replaces no rare value.
func Together(j *job.Job, parties []method.Split) (scale.Scaling, error) {
	if len(parties) == 1 || j.Unshared() {
		return PooledScaling(j, parties)
	}
	return fitScaling(j, parties, func(s method.Split, _ []int) (linalg.Rows, error) {
		_, x, err := commonNumbers(s)
		return x, err
	})
}

// PooledScaling computes the scaling that the owner of all rows would choose. It replaces no rare
// value. It is empty if the job has none.
func PooledScaling(j *job.Job, parties []method.Split) (scale.Scaling, error) {
	return fitScaling(j, parties, func(s method.Split, places []int) (linalg.Rows, error) {
		if len(places) == s.Set.X.Cols() {
			return dataset.RowsOf(s.Set.X), nil
		}
		return dataset.RowsOf(s.Set.X.Columns(places)), nil
	})
}

// fitScaling computes the job's scaling. The function summarized returns the rows of a party that
// are summarised; they have only the scaled columns.
func fitScaling(j *job.Job, parties []method.Split, summarized func(s method.Split, places []int) (linalg.Rows, error)) (scale.Scaling, error) {
	first := parties[0]
	switch {
	case j.Data.Scale == job.None:
		return scale.Scaling{}, nil
	case first.Prepared != nil && first.Prepared.Offset != nil:
		return scale.Scaling{Offset: first.Prepared.Offset, Factor: first.Prepared.Factor}, nil
	}
	places, all := numbers(first), below{}
	if len(places) == 0 {
		return scale.Scaling{}, nil
	}
	for _, s := range parties {
		x, err := summarized(s, places)
		if err != nil {
			return scale.Scaling{}, err
		}
		all = append(all, linalg.Pick(x, s.Rows(false)))
	}
	found, err := scale.Pooled(all, scale.Method(j.Data.Scale))
	if err != nil {
		return scale.Scaling{}, err
	}
	return found.Spread(places, first.Set.X.Cols()), nil
}
