// Package secvm is the method SecVM: devices that nobody knows by name, with a
// labelled record each, send what a support vector machine needs of them in
// packages that nobody can tie to them, or add it up so that a server sees the sum
// only. See protocol/secvm and protocol/secagg.
//
//	publish weights -> window -> step, until the last weights are tested
//
// Package gateway holds windows of real devices that send packages, and takes the training
// from here. Package crowd runs the sums of real devices. Package local plays a
// whole job in one process.
package secvm

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// Protocol is SecVM.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[Party, Server, nothing]{
	Name: "secvm", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{Cuts: job.Devices, Comparisons: []job.Comparison{job.Curve}, Undeployable: undeployable}, // other numbers of bins
	Steps:  steps, NewParty: newParty, NewServer: newServer,
	Public:       func(*Party) nothing { return nothing{} },
	PublicServer: func(*Server) nothing { return nothing{} },
	Facts:        method.NoFacts[Party], Minimums: minimums, Result: (*Server).result, Ended: (*Server).ended,
	Model: &method.ModelOf[Server]{Write: (*Server).writeModel}, // every device is told it
	Devices: &method.DevicesOf[Party, Server]{
		Serves: serves, Passing: true, Draw: (*Party).Draw, Model: (*Party).writeModel, Snapshot: (*Server).snapshot, Restore: (*Server).restore,
	},
	Present: present,
})

// undeployable refuses all jobs: a coordinator knows its parties, and they are few.
func undeployable(j *job.Job) string {
	if KeysOf(j).summed() {
		return "protocol secvm with aggregation: secagg has a crowd of devices, and no parties to submit a job to; mercer gateway sums serves it"
	}
	return "protocol secvm has devices that nobody knows by name, and so no parties to submit a job to; mercer gateway serves it"
}

// minimums refuses a job whose steps may have too few participants for an operator.
func minimums(f method.Floors, j *job.Job) error {
	k := KeysOf(j)
	if k.Cohort < f.Cohort {
		return fmt.Errorf("cohort is %d, a device asks for %d or more", k.Cohort, f.Cohort)
	}
	if k.summed() {
		return k.Keys.CheckFloors(f, "device")
	}
	return nil
}
