package stage

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/spell"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// momentsParty is what a party has of a job of moments.
type momentsParty struct {
	counted  headcount
	session  protocol.SessionID
	features feature.Map
	own      *moments.Sums
	taught   *taught
	digest   [sha256.Size]byte // of the solution as it was told
}

// Known is what the stages so far have made public.
func (p *Party) Known() Known {
	if p == nil {
		return Known{}
	}
	return Known{
		Rows: p.moments.counted.total(), Counted: p.moments.counted.digest, Solution: p.moments.digest, Declared: p.vertical.declared,
		Crowd: p.crowd.crowdKnown,
	}
}

// rowsThat returns the rows that are held out, or that are not, with their
// labels, nil where the job has none.
func (p *Party) rowsThat(held bool) (linalg.Rows, []string) {
	var index []int
	var labels []string
	for i, test := range p.split.Test {
		if test != held {
			continue
		}
		index = append(index, i)
		if p.split.Set.Labels != nil {
			labels = append(labels, p.split.Set.Labels[i])
		}
	}
	return linalg.Pick(p.rows, index), labels
}

// checkTargets refuses labels that a job of moments does not foresee.
func checkTargets(j *job.Job, set *dataset.Set) error {
	switch l := lessonOf(j).(type) {
	case classLesson:
		return checkListed(l, set)
	case processLesson:
		return l.checkNumbers(set)
	case numberLesson:
		return l.checkNumbers(set)
	}
	return nil
}

// checkListed refuses rows of classes that the job does not list.
func checkListed(classes []string, set *dataset.Set) error {
	for _, label := range set.Labels {
		if !slices.Contains(classes, label) {
			if at := slices.IndexFunc(classes, func(c string) bool { return spell.Differs(c, label) }); at >= 0 {
				own, listed := spell.Quote(label, classes[at])
				return fmt.Errorf("%s has a row of class %s, and the job's protocol lists %s, which differs only by case, blanks or Unicode form; write one of them everywhere", set.Name, own, listed)
			}
			return fmt.Errorf("%s has a row of class %q, which the job's protocol does not list; give classes: all there are", set.Name, label)
		}
	}
	return nil
}

// summand adds up the moments of the party's training rows.
func (p *Party) summand(setup Setup) (*Run, error) {
	rows, labels := p.rowsThat(false)
	features, err := directions(p.Job, setup.Session.ID(), p.Known().features(p.Job), p.width())
	if err != nil {
		return nil, err
	}
	n, _ := rows.Shape()
	targets, err := lessonOf(p.Job).targets(labels, n)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	own, err := moments.Summarize(features, rows, targets)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return sums.Client(setup, sumVector{own}, func() {
		p.moments.session, p.moments.features, p.moments.own = setup.Session.ID(), features, own
	})
}

// told takes the solution over.
func (p *Party) told(body []byte, s *protocol.Session) error {
	t, err := decodeTaught(p.Job, p.Known().features(p.Job), body)
	if err != nil {
		return toldWrong(s.With(protocol.RoleServer)[0], "%w", err)
	}
	p.moments.taught, p.moments.digest = t, sha256.Sum256(body)
	return nil
}

// errors adds up the errors of the solution on the party's held-out rows.
func (p *Party) errors(setup Setup) (*Run, error) {
	rows, labels := p.rowsThat(true)
	figures, err := lessonOf(p.Job).measure(p.moments.features, p.moments.taught, rows, labels)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	membership, err := p.membership(rows)
	if err != nil {
		return nil, err
	}
	n, _ := rows.Shape()
	return sums.Client(setup, vector{{int64(n)}, figures, membership}, func() { p.moments.own = nil })
}

// membershipSample is how many training rows, and how many held-out rows, a
// party tries the attack with.
const membershipSample = 1024

// membership is how well the party's own sums tell its own training rows from
// its held-out rows, and 1; or zeros where it has not both.
func (p *Party) membership(held linalg.Rows) ([]int64, error) {
	training := p.training()
	few := func(rows linalg.Rows) linalg.Rows {
		n, _ := rows.Shape()
		index := make([]int, min(n, membershipSample))
		for i := range index {
			index[i] = i
		}
		return linalg.Pick(rows, index)
	}
	if n, _ := held.Shape(); n == 0 || p.moments.own.Rows == 0 {
		return []int64{0, 0}, nil
	}
	auc, err := moments.Membership(p.moments.own, p.moments.features, few(training), few(held))
	if err != nil {
		return nil, err
	}
	return []int64{int64(math.RoundToEven(auc * membershipOne)), 1}, nil
}
