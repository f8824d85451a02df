package columns

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// prepare fits a preparation and a scaling on the training rows: every column belongs to one
// party, so nobody else is asked.
func (p *Party) prepare() error {
	split := method.Split{Set: p.Set, Test: HeldOutLast(p.train, p.Set.X.Rows()-p.train)}
	split, scaling, err := PrepareAlone(p.Job, split)
	if err != nil {
		return err
	}
	p.Set, p.Prepared, p.Scaling = split.Set, split.Prepared, scaling
	if p.Rows = dataset.RowsOf(p.Set.X); scaling.Offset != nil {
		p.Rows = scaling.Rows(p.Rows)
	}
	return nil
}

// Preparation implements [method.Preparing].
func (p *Party) Preparation() *prepare.Preparation { return p.Prepared }

// PrepareAlone prepares the table of a holder of columns, and returns its scaling, which is empty
// where the job has none.
func PrepareAlone(j *job.Job, s method.Split) (method.Split, scale.Scaling, error) {
	x, places := s.Set.X, dataset.Complement(s.Set.X.Cols(), nil)
	if f, typed := s.Set.X.(*prepare.Frame); typed {
		made, err := prepare.FitAlone(f, s.Rows(false), j.Data.Fitted())
		if err != nil {
			return s, scale.Scaling{}, fmt.Errorf("%s: %w", s.Set.Name, err)
		}
		if s.Set, err = made.Prepare(s.Set, f); err != nil {
			return s, scale.Scaling{}, err
		}
		s.Prepared, places = made, made.Numbers()
		x = s.Set.X.Columns(places)
		if made.Offset != nil {
			return s, scale.Scaling{Offset: made.Offset, Factor: made.Factor}, nil
		}
	}
	if j.Data.Scale == job.None || len(places) == 0 {
		return s, scale.Scaling{}, nil
	}
	found, err := scale.Pooled(linalg.Pick(dataset.RowsOf(x), s.Rows(false)), scale.Method(j.Data.Scale))
	if err != nil {
		return s, scale.Scaling{}, err
	}
	return s, found.Spread(places, s.Set.X.Cols()), nil
}
