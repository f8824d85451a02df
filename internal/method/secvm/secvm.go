// Package secvm runs jobs of protocol SecVM, in which many devices with one labelled record each
// train a support vector machine. Devices send their contributions in unlinkable packages, or add
// them up so that a server sees only the sum. See protocol/secvm and protocol/secagg.
//
//	publish weights -> window -> step, until the last weights are tested
//
// Package gateway runs windows of real devices that send packages, with the training of this
// package. Package devices runs the sums of real devices. Package local plays a whole job in one
// process.
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

// Protocol returns the method that runs protocol SecVM.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[Party, Server, nothing]{
	Name: "secvm", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{Cuts: job.Devices, Learns: func(j *job.Job) bool { return learner.StepsOf(j) != nil }, Comparisons: []job.Comparison{job.Curve}, Undeployable: undeployable, NoStudy: job.DevicesOnly}, // job.Curve compares several numbers of bins
	Steps:  steps, NewParty: newParty, NewServer: newServer,
	Public:       func(*Party) nothing { return nothing{} },
	PublicServer: func(*Server) nothing { return nothing{} },
	Facts:        method.NoFacts[Party], Minimums: minimums, Result: (*Server).result, Ended: (*Server).ended,
	Model: &method.ModelOf[Server]{Write: (*Server).writeModel}, // the model is public, because every device receives it
	Devices: &method.DevicesOf[Party, Server]{
		Serves: checkEnrolled, Passing: true, Draw: (*Party).Draw, Model: (*Party).writeModel, Snapshot: (*Server).snapshot, Restore: (*Server).restore,
	},
	Present: present,
})

// undeployable explains why no job of SecVM can be submitted to a coordinator. SecVM needs many
// anonymous devices, and a coordinator has few known parties.
func undeployable(j *job.Job) string {
	if KeysOf(j).summed() {
		return `protocol secvm with "aggregation: secagg" has devices and no parties to submit a job to; mercer gateway sums serves it`
	}
	return "protocol secvm has devices that nobody knows by name, and so no parties to submit a job to; mercer gateway serves it"
}

// minimums refuses a job whose cohort, or whose settings of secure sums, are outside a device's limits.
func minimums(f method.Limits, j *job.Job) error {
	k := KeysOf(j)
	if k.Cohort < f.Cohort {
		return fmt.Errorf("cohort is %d; a device requires at least %d", k.Cohort, f.Cohort)
	}
	if k.summed() {
		return k.Keys.CheckLimits(f, "device")
	}
	return nil
}

// checkEnrolled refuses a job that enrolled devices cannot run. Such devices run secure sums only.
func checkEnrolled(j *job.Job) error {
	switch k := KeysOf(j); {
	case !k.summed():
		return fault.BadInputf(`secvm: devices that are enrolled by name run secure sums only; add "aggregation: secagg" to protocol, or serve packages with mercer gateway`)
	case k.Adversary != sums.Active:
		return fault.BadInputf(`secvm: only simulate allows "adversary: semi-honest", which trusts the server to send every device the same messages; remove "adversary: semi-honest"`)
	case j.Data.Partition.Dropout > 0:
		return fault.BadInputf(`secvm: only simulate allows "dropout"; remove "dropout" from partition`)
	}
	return CheckUnseen(j, "the server of devices")
}

// summedOf returns the public settings of a job of secure sums.
func summedOf(c method.Instance) (Summed, error) {
	params, err := secvm.NewParams(SpecOf(c.Job))
	if err != nil {
		return Summed{}, fault.BadInput(err)
	}
	return Summed{Job: c.Job, ID: c.ID, Server: c.Coordinator, Params: params}, nil
}

type step = method.StepOf[Party, Server, nothing]

// nothing is the type of public values for a job that has none. The session of every window follows from
// the window's own announcement.
type nothing = struct{}

// steps returns one step for each iteration, and a last step that tests the final weights. Each
// step is a secure sum over all devices. Devices that dropped out of earlier sums take part again.
// Claims ensure that a person's record goes into only one sum for each iteration. A device releases
// nothing that the release ledger counts.
func steps(c method.Instance) ([]step, error) {
	if err := checkEnrolled(c.Job); err != nil {
		return nil, err
	}
	s, err := summedOf(c)
	if err != nil {
		return nil, err
	}
	params, err := s.adding(len(c.Parties))
	if err != nil {
		return nil, err
	}
	list := make([]step, learner.StepsOf(c.Job).Iterations+1)
	for i := range list {
		list[i] = step{
			Name:    WindowName(i),
			Session: &method.Session{Protocol: secagg.Name, Version: secagg.Version, Members: c.MembersWithoutLeader(), Purpose: "train"},
			Follow: func(_ method.Session, _ nothing, announced []byte) (*method.Session, error) {
				w, err := s.decodeAnnounced(announced)
				if err != nil {
					return nil, err
				}
				return s.session(uint32(i), secvm.HashWeights(w.Values()), params, c.Parties), nil
			},
			Party: (*Party).add, Server: (*Server).add, Releases: method.ReleasesNothing[Party], Announce: (*Server).announce,
		}
	}
	return list, nil
}

// WindowName returns the name of the step that runs an iteration's window.
func WindowName(iteration int) string { return fmt.Sprintf("window-%d", iteration) }

// decodeAnnounced decodes the weights that the server has announced. An error blames the server.
func (c Summed) decodeAnnounced(announced []byte) (secvm.Weights, error) {
	w, err := c.Params.DecodeWeights(announced)
	if err != nil {
		return w, protocol.Blame(c.Server, protocol.KindInconsistent, err)
	}
	return w, nil
}
