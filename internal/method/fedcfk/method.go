// Package fedcfk is the method FedCFK: every person has a list of ratings in a
// device, and learns what to like next from how many people like two items
// together, of which the coordinator sees the sums only. See protocol/secagg.
package fedcfk

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method/sums"
)

// Method is FedCFK.
type Method struct{}

// Name returns the word in job files.
func (Method) Name() string { return "fedcfk" }

// New returns keys to read into.
func (Method) New() section.Values { return new(Keys) }

// Cuts returns the partition between the people.
func (Method) Cuts() job.Direction { return job.Devices }

// Rated marks a method on ratings.
func (Method) Rated() {}

// NoGrid refuses grids.
func (Method) NoGrid() string {
	return "fedcfk has nothing to choose one by: what is held out stays in the devices"
}

// Undeployable refuses what gives lists away, and what needs all lists in one
// place.
func (Method) Undeployable(j *job.Job) string {
	switch k := job.As[*Keys](j.Protocol); {
	case k.Mode == job.Paper:
		return "mode paper of fedcfk gives lists away and runs in simulate only; remove mode: paper"
	case len(k.Items) == 0:
		return "parties that each have their own list need one catalogue; add items: and all items there are to protocol"
	case k.Margin == MarginNone:
		return "margin: none relies on clients that a server may have invented and runs in simulate only; remove margin: none"
	case k.Adversary == sums.SemiHonest:
		return "adversary: semi-honest trusts the server to tell everybody the same and runs in simulate only; remove adversary: semi-honest"
	case j.Data.Test.By == job.Time:
		return "the newest ratings of all can be held out in simulate only; use test: {by: user-time, fraction: 0.1} or {every: 10}"
	case j.Data.Partition.Dropout > 0:
		return "dropout is of simulate; remove it"
	}
	return ""
}
