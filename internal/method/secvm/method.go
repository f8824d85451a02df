// Package secvm is the method SecVM: devices that nobody knows by name, with a
// labelled record each, send what a support vector machine needs of them in
// packages that nobody can tie to them, or add it up so that a server sees the sum
// only. See protocol/secvm and protocol/secagg.
//
//	publish weights -> window -> step, until the last weights are tested
//
// Package gateway holds windows of real devices that send packages, and takes the training
// from here. Package crowd runs the sums of real devices by [Crowd]. Package local plays a
// whole job in one process.
package secvm

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method"
)

// Method is SecVM.
type Method struct{}

// Name returns the word in job files.
func (Method) Name() string { return "secvm" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Cuts returns the partition between the devices.
func (Method) Cuts() job.Direction { return job.Devices }

// Comparisons are other numbers of bins.
func (Method) Comparisons() []job.Comparison { return []job.Comparison{job.Curve} }

// Undeployable refuses all jobs: a coordinator knows its parties, and they are few.
func (Method) Undeployable(j *job.Job) string {
	if KeysOf(j).summed() {
		return "protocol secvm with aggregation: secagg has a crowd of devices, and no parties to submit a job to; mercer gateway sums serves it"
	}
	return "protocol secvm has devices that nobody knows by name, and so no parties to submit a job to; mercer gateway serves it"
}

// CheckFloors refuses a job whose steps may have too few participants for an operator.
func (Method) CheckFloors(f method.Floors, j *job.Job) error {
	k := KeysOf(j)
	if k.Cohort < f.Cohort {
		return fmt.Errorf("cohort is %d, a device asks for %d or more", k.Cohort, f.Cohort)
	}
	if k.summed() {
		return k.Keys.CheckFloors(f, "device")
	}
	return nil
}
