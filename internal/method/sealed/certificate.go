package sealed

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sealed"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Certifying selects the way in which the parties certify the opened model with their own sums, or none.
type Certifying string

// The ways of a job to certify.
const (
	Uncertified Certifying = ""
	Printed     Certifying = "printed"  // the result says whether the certificate holds
	Required    Certifying = "required" // the job fails if it does not hold
)

// certifying returns how a job certifies.
func certifying(j *job.Job) Certifying { return job.As[*Keys](j.Protocol).Certify }

// certificate returns the public numbers of the certificate for a model of the declared rows.
func (k public) certificate(j *job.Job) (sealed.Certificate, error) {
	p, err := k.problem(j)
	if err != nil {
		return sealed.Certificate{}, err
	}
	return sealed.NewCertificate(p, len(k.rows))
}

// certifyStep returns the step in which the parties certify the weights that they have received. The step
// is a secure sum. Each party adds its summands or, if the weights are larger than any rows make them, a 1
// that says so.
func certifyStep(c method.Instance) step {
	s := step{Name: "certificate", Party: (*party).certifier, Server: (*server).certificateAdder, Releases: (*party).release, Cost: certifyCost(c.Job)}
	s.Session, s.Follow = sums.Summing(c, "certificate", func(k public) (sums.Sum, error) {
		f, err := k.certificate(c.Job)
		if err != nil {
			return sums.Sum{}, fault.BadInput(err)
		}
		groups := []secagg.Group{{Entries: sealed.CheckSums, Bound: f.Most(), Signed: true}, {Entries: 1, Bound: 1}}
		return sums.Sum{Epoch: fmt.Sprintf("certificate/%x", k.drawn), Groups: groups}, nil
	})
	return s
}

// certifier builds the machine that adds the party's summands to the secure sum.
func (p *party) certifier(setup method.Setup) (*method.Run, error) {
	if p.solution == nil {
		return nil, errNoModel
	}
	f, err := p.public().certificate(p.Job)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	problem, err := p.public().problem(p.Job)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	own, err := p.sums(problem)
	if err != nil {
		return nil, err
	}
	v := sums.Vector{make([]int64, sealed.CheckSums), {0}}
	switch list, err := f.Summands(p.opened, own, p.index(), prg.Derive(setup.Seed, "sealed/certificate")); {
	case errors.Is(err, sealed.ErrLargeWeights):
		v[1][0] = 1
	case err != nil:
		return nil, err
	default:
		v[0] = list
	}
	return sums.Client(setup, v, func() {})
}

// index returns the party's place among the job's parties.
func (p *party) index() int {
	for i, name := range p.Parties {
		if name == p.Self {
			return i
		}
	}
	return 0
}

// certificateAdder builds the machine that adds up the parties' summands, and judges them.
func (s *server) certificateAdder(setup method.Setup) (*method.Run, error) {
	f, err := s.public().certificate(s.Job)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return sums.Server(setup, secagg.Limits{}, func(sum [][]int64) error {
		largest, holds := f.Largest(sum[0])
		large := sum[1][0] > 0
		s.certified = &Certified{Largest: float64(largest) * f.Unit(), Tolerance: float64(f.Tolerance()) * f.Unit(), Large: large, Holds: holds && !large}
		if s.certified.Holds || certifying(s.Job) != Required {
			return nil
		}
		return fault.Public(errors.New("sealed: the certificate " + s.certified.text() + "; nobody is named: a keeper, a party or a machine is at fault; keep this job's log, and run it again with other keepers"))
	})
}

// Certified is the certificate of an opened model.
type Certified struct {
	Largest   float64 `json:"largest_sum_in_rows"`
	Tolerance float64 `json:"tolerance_in_rows"`
	Large     bool    `json:"weights_too_large,omitempty"` // a party has weights that no rows make; its summands are 0
	Holds     bool    `json:"holds"`
}

// text says in words whether the certificate holds.
func (c *Certified) text() string {
	switch {
	case c.Holds:
		return fmt.Sprintf("holds: the opened weights solve the equations of the parties' own sums to %.2g rows (%.2g are accepted)", c.Largest, c.Tolerance)
	case c.Large:
		return "does not hold: the opened weights are larger than any rows make them"
	}
	return fmt.Sprintf("does not hold: the opened weights miss the equations of the parties' own sums by %.2g rows (%.2g are accepted)", c.Largest, c.Tolerance)
}

// certifyCost returns the formula of the step that certifies the weights. Each party adds up its rows once more, and
// multiplies its sums by the weights.
func certifyCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		c, err := secagg.Cost(s, secagg.Limits{})
		parties := slices.DeleteFunc(s.With(protocol.RoleParty), func(name string) bool { return sizes.Tables[name].Rows == 0 })
		m := expected(parties, sizes).features(j)
		for party, t := range sizes.Tables {
			load := mapping(t.Training(), t.Columns, m)
			load.Products += float64(m) * float64(m) * (float64(t.Training())/2 + float64(targetOf(j).columns()))
			load.Held = 24 * int64(m) * int64(m) // the sums, and one matrix of words
			c.Load(party, load)
		}
		return c, err
	}
}
