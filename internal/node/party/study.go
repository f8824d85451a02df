package party

import (
	"errors"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/study"
)

// Studies keeps the studies that a party's operator has approved, and what their jobs have used: a
// [study.Studies].
type Studies interface {
	Approved(hash, table string) (bool, error)
	// Check returns a *study.LimitError if the study has no room for a job whose sums together have so
	// many numbers. Enter returns the same error, or records the job.
	Check(of *job.Study, id string, numbers int64, now time.Time) error
	Enter(of *job.Study, id string, numbers int64, now time.Time) error
}

// studyOf returns the study that a job names, if this party must keep to it; nil for a question, and if
// one operator owns all parties' data.
func (p *Party) studyOf(w *work) (*job.Study, error) {
	if w.job.Study == nil || w.inquiry != nil {
		return nil, nil
	}
	switch policy, err := p.Policy(w.table()); {
	case err != nil:
		return nil, errUnusable(err)
	case policy.Own:
		return nil, nil
	case p.Studies == nil:
		return nil, errors.New("party: the job names a study, and this process keeps no studies")
	}
	return w.job.Study, nil
}

// inStudy checks, before the table is read, that the operator has approved the study that a job names,
// and that the study has room for the job. The job itself lies inside the study, because the Reader
// refuses other jobs. A job that has begun continues after a revocation.
func (p *Party) inStudy(w *work) error {
	s, err := p.studyOf(w)
	if s == nil || err != nil || p.jobs[w.id] != nil {
		return err
	}
	switch yes, err := p.Studies.Approved(s.Hash(), w.table()); {
	case err != nil:
		return fault.Disk.Of(err)
	case !yes:
		return refuse("the operator has not approved study %s for this table, or has revoked it; run mercer federation study approve FILE with the same file as the other parties", s.Name)
	}
	return limitError(p.Studies.Check(s, w.id.String(), 0, time.Now()))
}

// roomInStudy checks that the study has room for the numbers in a job's sums. They follow from
// numbers of rows and columns that all parties know.
func (p *Party) roomInStudy(w *work) error {
	s, err := p.studyOf(w)
	if s == nil || err != nil {
		return err
	}
	return limitError(p.Studies.Check(s, w.id.String(), w.numbers(), time.Now()))
}

// enterStudy records a job in its study, before the party accepts the session.
func (p *Party) enterStudy(w *work) error {
	s, err := p.studyOf(w)
	if s == nil || err != nil {
		return err
	}
	return limitError(p.Studies.Enter(s, w.id.String(), w.numbers(), time.Now()))
}

// numbers returns how many numbers the job's admitted sums have.
func (w *work) numbers() (sum int64) {
	for _, a := range w.admission {
		if a.kind == method.ReleaseSums {
			sum += a.out.Numbers
		}
	}
	return sum
}

// limitError makes a study's limit a refusal that peers may read. It names only counts and the study.
func limitError(err error) error {
	var limit *study.LimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limit):
		return fault.Public(fault.Forbidden(err))
	}
	return fault.Disk.Of(err)
}
