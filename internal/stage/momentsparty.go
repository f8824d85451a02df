package stage

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// momentsParty is what a party has of a job of moments.
type momentsParty struct {
	features feature.Map
	own      *moments.Sums
	path     []moments.Solution
	digest   [sha256.Size]byte // of the solutions as they were told
}

// Known is what the stages so far have made public.
func (p *Party) Known() Known {
	if p == nil {
		return Known{}
	}
	return Known{Solution: p.moments.digest, Declared: p.vertical.declared}
}

// rowsThat returns the rows that are held out, or that are not, with their
// classes as numbers.
func (p *Party) rowsThat(held bool) (linalg.Rows, []int) {
	var index, codes []int
	for i, test := range p.split.Test {
		if test == held {
			index, codes = append(index, i), append(codes, slices.Index(p.Job.Protocol.Classes, p.split.Set.Labels[i]))
		}
	}
	return linalg.Pick(p.rows, index), codes
}

// checkListed refuses rows of classes that the job does not list.
func checkListed(j *job.Job, set *dataset.Set) error {
	for _, label := range set.Labels {
		if !slices.Contains(j.Protocol.Classes, label) {
			return fmt.Errorf("%s has a row of class %q, which the job's protocol does not list; give classes: all there are", set.Name, label)
		}
	}
	return nil
}

// summand adds up the moments of the party's training rows.
func (p *Party) summand(setup Setup, params secagg.Params) (*Run, error) {
	rows, codes := p.rowsThat(false)
	features := directions(p.Job, setup.Session.ID(), p.width())
	own, err := moments.Summarize(features, rows, codes, len(p.Job.Protocol.Classes))
	if err != nil {
		return nil, session.BadInput(err)
	}
	return client(setup, params, sumVector{own}, func() { p.moments.features, p.moments.own = features, own })
}

// client is the machine that adds a vector.
func client(setup Setup, params secagg.Params, v secagg.Vector, finish func()) (*Run, error) {
	id := secagg.Identity{Sign: setup.Sign, Keys: setup.keys(setup.Session.With(protocol.RoleParty))}
	m, err := secagg.NewClient(setup.Setup, params, v, id)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { finish(); return nil }}, nil
}

// told takes the solutions over.
func (p *Party) told(body []byte, s *protocol.Session) error {
	path, err := decodeSolutions(p.Job, body)
	if err != nil {
		return toldWrong(s.With(protocol.RoleServer)[0], "%w", err)
	}
	p.moments.path, p.moments.digest = path, sha256.Sum256(body)
	return nil
}

// encodeSolutions writes the weights of a path.
func encodeSolutions(path []moments.Solution) []byte {
	var w wire.Writer
	for _, s := range path {
		w.Float64s(s.Weights.Data)
	}
	return w.Bytes()
}

// decodeSolutions reads what encodeSolutions wrote.
func decodeSolutions(j *job.Job, b []byte) ([]moments.Solution, error) {
	r := wire.NewReader(b)
	var path []moments.Solution
	for _, alpha := range alphas(j) {
		w := linalg.New[float64](len(j.Protocol.Classes), j.Protocol.Directions)
		r.Float64s(w.Data)
		for _, v := range w.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				r.Fail(fmt.Errorf("a weight is %v", v))
			}
		}
		path = append(path, moments.Solution{Alpha: alpha, Weights: w})
	}
	return path, r.Close("solutions")
}

// errors adds up the errors of the solutions on the party's held-out rows.
func (p *Party) errors(setup Setup, params secagg.Params) (*Run, error) {
	rows, codes := p.rowsThat(true)
	e, err := moments.Measure(p.moments.features, p.moments.path, rows, codes)
	if err != nil {
		return nil, session.BadInput(err)
	}
	membership, err := p.membership(rows)
	if err != nil {
		return nil, err
	}
	return client(setup, params, vector{{e.Rows}, e.Correct, e.Squared, membership}, func() { p.moments.own = nil })
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
