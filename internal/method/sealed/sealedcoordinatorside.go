package sealed

import (
	"context"
	"errors"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/sealed"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// server is the coordinator. It sees the declarations, the figures, the certificate's sums and, if it is a keeper, a
// keeper's shares.
type server struct {
	method.Instance
	rows.Witness
	declared  declared
	drawn     [32]byte
	certified *Certified // nil without a certificate
	heldOut   int64
	figures   []int64 // sums of errors on held-out rows
}

func newServer(c method.Instance) (*server, error) {
	return &server{Instance: c, Witness: rows.WitnessOf(c)}, nil
}

func (s *server) public() public {
	k := s.declared.public()
	k.drawn = s.drawn
	return k
}

// listener builds the machine that receives the parties' declarations.
func (s *server) listener(setup method.Setup) (*method.Run, error) {
	return sums.Listener(setup, func(statements [][]byte) error {
		var err error
		s.declared, err = readDeclarations(s.Instance, setup.Session.ID(), statements)
		return err
	})
}

// drawListener builds the machine that receives the parties' tokens.
func (s *server) drawListener(setup method.Setup) (*method.Run, error) {
	return sums.Listener(setup, func(statements [][]byte) error {
		var err error
		s.drawn, err = s.declared.open(s.Parties, statements)
		return err
	})
}

// keeper builds the machine of a coordinator that is a keeper. It uses no weights.
func (s *server) keeper(setup method.Setup) (*method.Run, error) {
	m, err := sealed.NewMachine(setup.Setup, nil)
	return method.RunOf(m, err, method.Nothing)
}

// errorAdder builds the machine that adds up the errors of the model.
func (s *server) errorAdder(setup method.Setup) (*method.Run, error) {
	return sums.Server(setup, secagg.Limits{}, func(sum [][]int64) error {
		s.heldOut, s.figures = sum[0][0], sum[1]
		return nil
	})
}

// evaluate refuses a job without held-out rows.
func (s *server) evaluate(context.Context, method.Reporter) error {
	if s.heldOut == 0 {
		return fault.BadInput(errors.New(`sealed: no party has held-out rows to measure errors on; write a larger fraction, such as "test: {fraction: 0.25}"`))
	}
	return nil
}

// outcome returns only the classes, because decisions stay with the parties.
func (s *server) outcome() *method.Outcome {
	return &method.Outcome{Classes: job.As[*Keys](s.Job.Protocol).Classes}
}

func (s *server) result() (*method.Result, error) {
	details, err := s.details()
	if err != nil {
		return nil, err
	}
	r := &method.Result{
		Job: s.Job.Name, Metrics: targetOf(s.Job).metrics(s.heldOut, s.figures), Grid: []learner.Cell{}, HeldOut: int(s.heldOut), Training: s.public().total(),
		Details: details,
	}
	if details.Privacy != nil {
		r.Leakage, r.Exposures, r.Warnings = s.noisyLeakage(details), noisyExposures(details.Privacy), s.noiseWarnings(details)
	} else {
		r.Leakage, r.Exposures = s.leakage(details.Sealed), s.exposures()
	}
	rows.Expose(s.Instance, r)
	return r, nil
}
