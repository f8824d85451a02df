package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// DefaultFeatures is how many random features a job has by default: the largest
// even number that leaves rowsPerFeature of all training rows for each.
func DefaultFeatures(rows int64) int {
	return int(min(rows/rowsPerFeature/2*2, job.MaxDirections))
}

// features is the number that the job says or, once the rows are counted, the
// default.
func (k Known) features(j *job.Job) int {
	if j.Protocol.Directions > 0 {
		return j.Protocol.Directions
	}
	return DefaultFeatures(k.Rows)
}

// countStages add up the numbers of training rows and tell the sum to all.
func countStages(c Cast) ([]Stage, error) {
	one := []secagg.Group{{Entries: 1, Bound: moments.MaxRows}}
	count := sumStage("count", c, summing{
		epoch: func(Known) string { return "count" }, groups: alwaysGroups(one),
		party: (*Party).count, server: (*Server).count,
	})
	_, err := summable(c, "any", one)
	return []Stage{count, tellStage("announce", c, telling{
		length: func(Known) int { return 8 },
		body:   (*Server).total,
		party:  (*Party).announced,
	})}, err
}

// count adds the party's number of training rows.
func (p *Party) count(setup Setup, params secagg.Params) (*Run, error) {
	return client(setup, params, vector{{int64(p.trainingRows())}}, func() {})
}

// trainingRows is the number of the party's own.
func (p *Party) trainingRows() int {
	n := 0
	for _, held := range p.split.Test {
		if !held {
			n++
		}
	}
	return n
}

func (s *Server) count(setup Setup, params secagg.Params) (*Run, error) {
	return s.adder(setup, params, secagg.Limits{}, func(sums [][]int64) error {
		s.moments.rows = sums[0][0]
		if DefaultFeatures(s.moments.rows) < 2 {
			return session.BadInput(fmt.Errorf("stage: %d training rows are too few for two random features of %d rows each; a job with so few says directions itself, and shows who is among the rows", s.moments.rows, rowsPerFeature))
		}
		return nil
	})
}

// total is the number of training rows as it is told.
func (s *Server) total() []byte {
	var w wire.Writer
	w.Uint64(uint64(s.moments.rows))
	return w.Bytes()
}

// announced takes the number of all training rows over. The party cannot check
// it but against its own rows and its operator's bound.
func (p *Party) announced(body []byte, s *protocol.Session) error {
	r := wire.NewReader(body)
	n := r.Uint64()
	if err := r.Close("number of rows"); err != nil {
		return err
	}
	server := s.With(protocol.RoleServer)[0]
	if most := uint64(len(p.Job.Parties())) * moments.MaxRows; n < uint64(p.trainingRows()) || n > most || DefaultFeatures(int64(n)) < 2 {
		return toldWrong(server, "%d training rows, %d of which are this party's, among %d parties", n, p.trainingRows(), len(p.Job.Parties()))
	}
	if m := DefaultFeatures(int64(n)); p.MaxFeatures > 0 && m > p.MaxFeatures {
		return session.Forbidden(fmt.Errorf("%s counts %d training rows and asks for sums of %d features; this party allows %d (max_directions in its policy)", server, n, m, p.MaxFeatures))
	}
	p.moments.rows = int64(n)
	return nil
}
