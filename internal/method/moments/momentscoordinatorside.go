package moments

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/randommodel"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// server is the coordinator, which holds the sums and the results computed from them.
type server struct {
	method.Instance
	rows.Witness
	counted    headcount
	session    protocol.SessionID // ID of the sums' session, from which the directions follow
	sums       *moments.Sums
	scores     []float64 // score of each hyperparameter value in the job; nil if the job has only one value
	fitted     *fitted
	body       []byte // the encoded solution, as sent to the parties
	heldOut    int64
	figures    []int64 // sums of errors that evaluate the solution
	histogram  []int64 // counts of decisions by class and bin; nil if the job has no histogram
	membership float64 // mean of the parties' results of the membership attack
	measured   int     // number of parties that measured the membership attack
	results    *results
}

func newServer(c method.Instance) (*server, error) {
	return &server{Instance: c, Witness: rows.WitnessOf(c)}, nil
}

func (s *server) public() public {
	k := s.counted.public()
	if s.body != nil {
		k.solution = sha256.Sum256(s.body)
	}
	return k
}

// solutionSender builds the machine that sends the solution to the parties.
func (s *server) solutionSender(setup method.Setup) (*method.Run, error) {
	return sums.Sender(setup, s.body)
}

// listener builds the machine that receives the parties' declared numbers of rows.
func (s *server) listener(setup method.Setup) (*method.Run, error) {
	return sums.Listener(setup, func(statements [][]byte) error {
		var err error
		s.counted, err = readCounts(s.Job, s.Parties, statements)
		return err
	})
}

// outcome returns only the classes, because decisions stay with the parties.
func (s *server) outcome() *method.Outcome {
	return &method.Outcome{Classes: job.As[*Keys](s.Job.Protocol).Classes}
}

// adder builds the machine that adds up the moments of all training rows.
func (s *server) adder(setup method.Setup) (*method.Run, error) {
	return sums.Server(setup, secagg.Limits{}, func(sum [][]int64) error {
		if n := s.counted.total(); sum[2][0] != n {
			return fmt.Errorf("moments: the sums are over %d training rows, but the parties have declared %d; some party does not add the rows that it declares", sum[2][0], n)
		}
		var err error
		s.session = setup.Session.ID()
		s.sums, err = moments.FromEntries(s.features(), objectiveOf(s.Job).width(), sum[0], sum[1], int(sum[2][0]))
		if err == nil && len(sum) > 3 {
			s.sums.Total, s.sums.Power = float64(sum[3][0]), float64(sum[3][1])
		}
		return err
	})
}

// features returns the number of features, which are random ones or, with kernel linear, the columns and a constant.
func (s *server) features() int { return s.public().features(s.Job) }

// solve computes the solution for the hyperparameter value that the sums select.
func (s *server) solve(ctx context.Context, _ method.Reporter) error {
	t, scores, err := choose(ctx, s.Job, s.sums)
	if err != nil {
		return err
	}
	s.fitted, s.scores, s.body = t, scores, t.encode()
	return nil
}

// errorAdder builds the machine that adds up the errors of the solution.
func (s *server) errorAdder(setup method.Setup) (*method.Run, error) {
	return sums.Server(setup, secagg.Limits{}, func(sum [][]int64) error {
		s.heldOut, s.figures = sum[0][0], sum[1]
		if s.Job.Data.Private {
			return nil
		}
		if s.measured = int(sum[2][1]); s.measured > 0 {
			s.membership = float64(sum[2][0]) / membershipOne / float64(s.measured)
		}
		if usesHistogram(s.Job) {
			s.histogram = sum[3]
		}
		return nil
	})
}

// evaluate computes metrics from the solution's sums of errors on the held-out rows.
func (s *server) evaluate(context.Context, method.Reporter) error {
	if s.heldOut == 0 {
		return fault.BadInput(errors.New(`moments: no party has held-out rows to measure errors on; write a larger fraction, such as "test: {fraction: 0.25}"`))
	}
	v, err := objectiveOf(s.Job).evaluate(s.sums, s.fitted, s.heldOut, s.figures)
	if err != nil {
		return fault.BadInput(err)
	}
	if s.results = v; s.histogram == nil {
		return nil
	}
	v.assessment, err = s.assess(v.metrics)
	return err
}

// cells lists the grid of values with the scores on the training rows.
func (s *server) cells() []learner.Cell {
	cells := []learner.Cell{}
	for k, score := range s.scores {
		l := s.Job.Learners()[k]
		cells = append(cells, learner.Cell{
			Kernel: s.Job.Kernel.Spec(), Numbers: learner.NumbersOf(l), Score: objectiveOf(s.Job).criterion().name,
			Folds: []float64{}, Mean: score, Rows: s.sums.Rows, Best: k == s.fitted.choice,
		})
	}
	return cells
}

func (s *server) result() (*method.Result, error) {
	r := &method.Result{
		Job: s.Job.Name, Metrics: s.results.metrics, Figures: s.results.assessment, Grid: s.cells(), HeldOut: int(s.heldOut), Training: s.sums.Rows,
		Eigenvalues: s.results.values,
	}
	f, err := s.privacyFigures()
	switch {
	case err != nil:
		return nil, err
	case f != nil:
		r.Leakage, r.Exposures, r.Details = s.noisyLeakage(f), noisyExposures(f), &Details{Sums: s.sumsResult(), Privacy: f}
		r.Warnings = s.noiseWarnings(f)
	default:
		r.Leakage, r.Exposures, r.Details = s.leakage(), s.exposures(), &Details{Sums: s.sumsResult()}
	}
	rows.Expose(s.Instance, r)
	return r, nil
}

// sumsResult describes how much the sums reveal about single rows.
func (s *server) sumsResult() *Figures {
	r := &Figures{
		Features: s.features(), RowsPerFeature: float64(s.sums.Rows) / float64(s.features()),
		TooFew: s.histogram != nil && s.results.assessment == nil,
	}
	if s.measured > 0 {
		r.Membership = &s.membership
	}
	if s.tellsShares() {
		r.Within = moments.RoundedOff(len(s.Parties), float64(s.heldOut)) / float64(s.heldOut)
	}
	return r
}

// tellsShares reports whether the job's metrics include shares of held-out rows, such as accuracy, whose
// counts the parties have rounded.
func (s *server) tellsShares() bool {
	switch l := objectiveOf(s.Job).(type) {
	case classRidge:
		return true
	case gaussianProcess:
		return l.deviations
	}
	return false
}

// randomModel returns the model of a job: the solution, and the seed of the random features or, with kernel linear, the
// bound of rows.
func randomModel(j *job.Job, t *fitted, sums protocol.SessionID) (model.RandomSpec, error) {
	bound, err := boundOf(j)
	r := model.RandomSpec{Kernel: j.Kernel.Spec(), Seed: sums, Bound: bound, Solution: t.solution, Scaled: j.Data.Scale != job.None}
	if isLinear(j) {
		r.Seed, r.Width = [32]byte{}, t.solution.Weights.Cols-1
	}
	r.Output = learner.OutputOf(j, job.As[*Keys](j.Protocol).Classes)
	objectiveOf(j).describe(t, &r)
	return r, err
}

// writeModel writes the model without preparation and scaling, which only the parties keep. The width of
// the rows is in the file only with kernel linear.
func (s *server) writeModel(out io.Writer) error {
	r, err := randomModel(s.Job, s.fitted, s.session)
	if err != nil {
		return err
	}
	r.Scaled = r.Scaled || s.Job.Data.Prepares()
	m, err := model.NewRandom(r)
	if err != nil {
		return err
	}
	return model.EncodeRandom(out, m)
}

// retainedState returns the model and the party's scaling, as state for later queries.
func (p *party) retainedState(method.Closing) (method.RetainedState, error) {
	if p.fitted == nil {
		return method.RetainedState{}, errors.New("moments: this party has not received the job's solution")
	}
	r, err := randomModel(p.Job, p.fitted, p.session)
	if err != nil {
		return method.RetainedState{}, err
	}
	return randommodel.Keep("moments", r, p.Party)
}

func openParty(k method.RetainedState, _ *job.Reader) (method.Erasable, error) {
	return randommodel.Open(k), nil
}
