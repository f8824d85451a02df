// Package fedcfk is the method FedCFK: every person has a list of ratings in a
// device, and learns what to like next from how many people like two items
// together, of which the coordinator sees the sums only. See protocol/secagg.
//
//	popularity -> triangle -> learn -> tell (each party recommends to itself)
//
// The first two are secure sums, tell is a broadcast. Crowds too large for a process
// each run the same steps in one, see package local; so does mode paper, whose steps
// are its own.
package fedcfk

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
)

// Protocol is FedCFK.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[Party, Server, known]{
	Name: "fedcfk", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{
		Cuts: job.Devices, Rated: true, Undeployable: undeployable, Grid: job.ByItself,
		NoGrid: "fedcfk has nothing to choose one by, since held-out ratings stay in the devices",
	},
	Steps: steps, NewParty: newParty, NewServer: func(c method.Case) (*Server, error) { return crowdOf(c).Server(), nil },
	Public: (*Party).public, PublicServer: (*Server).public, Facts: method.NoFacts[Party], Minimums: minimums,
	Result: (*Server).Result, Ended: method.IgnoresEnds[Server],
	Model:   &method.ModelOf[Server]{Write: (*Server).WriteModel},         // every device gets it
	Outcome: func(*Server) *method.Outcome { return &method.Outcome{} },   // what is decided about held-out ratings stays with each device
	Hands:   &method.HandsOf[Party]{Recommended: (*Party).recommendation}, // each to its own person
	Present: present,
})

// undeployable refuses jobs that give lists away, or that need all lists in one place.
func undeployable(j *job.Job) string {
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
		return "dropout is for simulate only; remove it"
	}
	return ""
}

// minimums refuses a job that is below an operator's floors.
func minimums(f method.Floors, j *job.Job) error {
	k := job.As[*Keys](j.Protocol)
	switch {
	case !k.paper() && k.Threshold < f.Threshold:
		return fmt.Errorf("threshold is %d, this party asks for %d or more", k.Threshold, f.Threshold)
	case !k.paper() && f.Active && k.Margin != MarginCorrupted:
		return fmt.Errorf("margin is %s, this party asks for %s", k.Margin, MarginCorrupted)
	}
	return k.CheckFloors(f, "party")
}
