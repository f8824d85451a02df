package secvm

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Window is the server's result of one window, to which every device contributes once. It is a
// [secvm.Tally] of anonymous packages or a [secvm.Sum].
type Window interface {
	Enough() bool // reports whether the participants suffice for a step
	Gradient(minus, plus float64) (sum []float64, n float64, err error)
	Outcomes() [2]secvm.Outcome // the outcomes of the tests, by class
}

// Summed holds the public settings of a job with secure sums. In such a job, devices send no
// packages, but add up their vectors in one secure sum for each window.
type Summed struct {
	Job    *job.Job
	ID     job.ID
	Roster [sha256.Size]byte // a digest of all devices' keys
	Server string
	Params secvm.Params
}

// Minimum returns the smallest number of devices with which a secure sum can end. The sum begins
// with the given number of devices. A device adds to no smaller sum. The minimum is all devices
// minus those that can drop out, and never fewer than the participants that the model promises.
func (c Summed) Minimum(devices int) int {
	return max(2, c.Params.Spec().Cohort, devices-sums.Share(KeysOf(c.Job).Dropped, devices))
}

// Window returns the secure sum over the listed devices for one iteration. A device adds to an
// iteration of a model once, however the session ends, because the epoch and the purpose name only
// the model and the iteration. The session's id depends on the weights, so a device that received
// other weights is in a session by itself (design of secagg, section 7: Pasquini et al., arXiv
// 2111.07380).
func (c Summed) Window(iteration uint32, weights []float64, devices []string) (sums.Summation, error) {
	params, err := c.adding(len(devices))
	if err != nil {
		return sums.Summation{}, err
	}
	opened, err := protocol.NewSession(c.session(iteration, secvm.HashWeights(weights), params, devices).Descriptor(c.ID, int(iteration), c.Roster, 1))
	return sums.Summation{Session: opened, Params: params}, err
}

// adding returns the parameters of the secure sum of any window with the given number of devices.
func (c Summed) adding(devices int) (secagg.Params, error) {
	least := c.Minimum(devices)
	if least > devices {
		return secagg.Params{}, fault.BadInputf(`secvm: the window has %d devices, but a sum needs at least %d; lower "cohort", or gather more devices`, devices, least)
	}
	params, err := secagg.NewParams(KeysOf(c.Job).Spec(least, c.epoch(), groups(c.Params)...), devices)
	if err != nil {
		return secagg.Params{}, fault.BadInput(err)
	}
	return params, nil
}

// epoch returns the name of the model in the devices' ledgers.
func (c Summed) epoch() string { return fmt.Sprintf("secvm/%016x", c.Params.Tag()) }

// session returns the session of an iteration's secure sum. The session depends on the hash of the
// weights.
func (c Summed) session(iteration uint32, weights [sha256.Size]byte, params secagg.Params, devices []string) *method.Session {
	s := method.Session{
		Purpose: fmt.Sprintf("secvm/iteration/%d", iteration), Salt: weights[:], Absent: len(devices) - params.Cohort(),
		SlowTimers: []protocol.Timer{secagg.TimerServer}, // the server can wait one round for each device that vanishes
	}
	s.Claims = []string{secagg.Claim(c.epoch(), s.Purpose)}
	return sums.Aggregating(s, params, c.Server, devices)
}

func groups(p secvm.Params) []secagg.Group {
	var list []secagg.Group
	for _, b := range p.Blocks() {
		list = append(list, secagg.Group(b))
	}
	return list
}

// Call is the message with which the server begins a window on all devices.
type Call struct {
	Iteration uint32
	Weights   []float64
	Devices   []string
	Session   protocol.SessionID
}

// Accept checks the call with which the server begins a window at a device. It checks the weights
// and the iteration, and that the session follows from both. An error blames the server.
func (c Summed) Accept(call Call) (sums.Summation, secvm.Weights, error) {
	refuse := func(err error) (sums.Summation, secvm.Weights, error) {
		return sums.Summation{}, secvm.Weights{}, protocol.Blame(c.Server, protocol.KindInconsistent, err)
	}
	if last := learner.StepsOf(c.Job).Iterations; int64(call.Iteration) > int64(last) {
		return refuse(fmt.Errorf("secvm: the call is for iteration %d; the last iteration is %d", call.Iteration, last))
	}
	weights, err := c.Params.Weights(call.Weights)
	if err != nil {
		return refuse(err)
	}
	s, err := c.Window(call.Iteration, call.Weights, call.Devices)
	if err != nil {
		return refuse(err)
	}
	if s.Session.ID() != call.Session {
		return refuse(fmt.Errorf("secvm: the session of the call does not match the iteration %d and the weights of the call", call.Iteration))
	}
	return s, weights, nil
}
