package launch

import (
	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/stage"
)

// compareRandom compares a job of protocol fdskl with the same training on all
// columns in one place, and on those of the label holder, by directions of their
// own: decisions are not compared, since other directions give others. It also
// measures what the label holder could find out.
func compareRandom(j *job.Job, shares []Share, own []stage.Split, r *stage.Result) error {
	all, err := beside(own)
	if err != nil {
		return err
	}
	if j.Compares(job.Pooled) {
		if r.Pooled, err = random(j, all); err != nil {
			return err
		}
	}
	if j.Compares(job.Alone) {
		for i, s := range shares {
			one := stage.Alone{Party: s.Party, Rows: r.Training}
			if one.Metrics, err = random(j, own[i]); err != nil {
				one.Failure = err.Error()
			}
			r.Alone = append(r.Alone, one)
		}
	}
	p, err := prepare(j, []stage.Split{all}, []stage.Split{all})
	if err != nil {
		return err
	}
	exposure, err := stage.ExposeRandom(j, p.rows, own[0].Set.X.Cols())
	if err != nil {
		return err
	}
	r.Leakage = stage.FDSKLLeakage(j, r.Training+r.HeldOut, exposure)
	return nil
}

// random trains on columns in one place.
func random(j *job.Job, s stage.Split) (evaluate.Metrics, error) {
	if s.Set.Labels == nil {
		return nil, errNoLabels
	}
	p, err := prepare(j, []stage.Split{s}, []stage.Split{s})
	if err != nil {
		return nil, err
	}
	return stage.LearnRandom(j, p.rows, p.labels, countRows([]stage.Split{s}, false))
}
