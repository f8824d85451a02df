package secvm

import (
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

// Crowd is SecVM among real devices that add up: a [method.Federated] whose plan has a sum for
// each iteration, and one in which the last weights are tested.
type Crowd struct{ Method }

// Passing says that each window follows from its own weights, and needs no earlier one.
func (Crowd) Passing() {}

// Crowd returns the method as a crowd over HTTP runs it, or the reason why none can run the job.
func (m Method) Crowd(j *job.Job) (method.Federated, error) {
	switch k := KeysOf(j); {
	case !k.summed():
		return nil, fault.BadInputf("secvm: devices that are enrolled by name add up; add aggregation: secagg to protocol, or serve packages with mercer gateway")
	case k.Adversary != sums.Active:
		return nil, fault.BadInputf("secvm: adversary: semi-honest trusts the server to tell everybody the same and runs in simulate only; remove adversary: semi-honest")
	case j.Data.Partition.Dropout > 0:
		return nil, fault.BadInputf("secvm: dropout is for simulate only; remove it")
	}
	return Crowd{m}, CheckUnseen(j, "the server of a crowd")
}

// summedOf returns the public settings of a case.
func summedOf(c method.Case) (Summed, error) {
	params, err := secvm.NewParams(SpecOf(c.Job))
	if err != nil {
		return Summed{}, fault.BadInput(err)
	}
	return Summed{Job: c.Job, ID: c.ID, Server: c.Coordinator, Params: params}, nil
}

// Plan implements [method.Federated]: a sum for each iteration, over all devices, also those
// that have vanished from earlier sums.
func (Crowd) Plan(c method.Case) ([]method.Step, error) {
	s, err := summedOf(c)
	if err != nil {
		return nil, err
	}
	params, err := s.adding(len(c.Parties))
	if err != nil {
		return nil, err
	}
	steps := make([]method.Step, learner.StepsOf(c.Job).Iterations+1)
	for i := range steps {
		steps[i] = method.Step{Name: WindowName(i), Session: &method.Session{
			Protocol: secagg.Name, Version: secagg.Version, Members: c.Crowd(), Purpose: "train",
			Follow: func(_ method.Known, announced []byte) (*method.Session, error) {
				w, err := s.told(announced)
				if err != nil {
					return nil, err
				}
				return s.session(uint32(i), secvm.HashWeights(w.Values()), params, c.Parties), nil
			},
		}}
	}
	return steps, nil
}

// WindowName names the step of an iteration.
func WindowName(iteration int) string { return fmt.Sprintf("window-%d", iteration) }

// told reads announced weights. An error blames the server.
func (c Summed) told(announced []byte) (secvm.Weights, error) {
	w, err := c.Params.DecodeWeights(announced)
	if err != nil {
		return w, protocol.Blame(c.Server, protocol.KindInconsistent, err)
	}
	return w, nil
}
