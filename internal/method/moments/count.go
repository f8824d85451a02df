package moments

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/moments"
)

// DefaultFeatures returns the default number of random features: the largest even number that
// leaves rowsPerFeature of all training rows for each.
func DefaultFeatures(rows int64) int {
	return int(min(rows/rowsPerFeature/2*2, MaxDirections))
}

// features is the number that the job says or, once the rows are declared, the
// default.
func (k known) features(j *job.Job) int {
	if job.As[*Keys](j.Protocol).Directions > 0 {
		return job.As[*Keys](j.Protocol).Directions
	}
	return DefaultFeatures(k.rows)
}

// declarer declares a party's number of training rows to all members: a sum that is
// mostly one party's rows hides nobody there from the others.
func (p *party) declarer(setup method.Setup) (*method.Run, error) {
	var own wire.Writer
	own.Uint64(uint64(len(p.Split.Rows(false))))
	return sums.Declarer(setup, own.Bytes(), p.hear)
}

// listener hears the numbers at the coordinator.
func (s *server) listener(setup method.Setup) (*method.Run, error) {
	return sums.Listener(setup, func(statements [][]byte) error {
		var err error
		s.counted, err = hearCounts(s.Job, s.Parties, statements)
		return err
	})
}

// headcount is the numbers of training rows as all parties have declared them.
type headcount struct {
	list   []int64 // in the order of the cast; nil before
	digest [sha256.Size]byte
}

// total is the number of all training rows.
func (c headcount) total() int64 {
	sum := int64(0)
	for _, n := range c.list {
		sum += n
	}
	return sum
}

// hearCounts reads what the parties have declared.
func hearCounts(j *job.Job, parties []string, statements [][]byte) (headcount, error) {
	var c headcount
	digest, err := sums.Statements(parties, statements, func(b []byte) error {
		r := wire.NewReader(b)
		n := r.Uint64()
		if r.Err() == nil && n > moments.MaxRows {
			r.Fail(fmt.Errorf("%d training rows; at most %d can be summed up at one place", n, moments.MaxRows))
		}
		c.list = append(c.list, int64(n))
		return r.Close("stage: number of rows")
	})
	if err != nil {
		return headcount{}, err
	}
	c.digest = digest
	if rows := c.total(); job.As[*Keys](j.Protocol).Directions == 0 && DefaultFeatures(rows) < 2 {
		return headcount{}, fault.BadInputf("stage: %d training rows are too few for two random features of %d rows each; a job with so few says directions itself, and shows who is among the rows", rows, rowsPerFeature)
	}
	return c, nil
}

// hear takes the numbers of training rows over. Nothing binds them to real rows: what
// stands against it is the party's own floors and its operator's bound.
func (p *party) hear(statements [][]byte) error {
	all, err := hearCounts(p.Job, p.Parties, statements)
	if err != nil {
		return err
	}
	if err := p.Limits.Floors.CheckShares(all.list); err != nil {
		return err
	}
	most, m := p.Limits.Directions, DefaultFeatures(all.total())
	if job.As[*Keys](p.Job.Protocol).Directions == 0 && most > 0 && m > most {
		return fault.Forbiddenf("the parties have %d training rows, which asks for sums of %d features; this party allows %d (max_directions in its policy)", all.total(), m, most)
	}
	p.counted = all
	return nil
}
