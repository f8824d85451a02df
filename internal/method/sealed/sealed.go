// Package sealed binds sealed moments to learners. Three keepers compute a ridge regression on features of the rows
// from shares of the parties' sums, and open the weights to the parties. No single member sees another party's sums
// over training rows. See protocol/sealed.
package sealed

import (
	"encoding/hex"
	"slices"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/sealed"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Protocol returns the binding of sealed moments.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, public]{
	Name: "sealed", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{
		NoGrid:  "protocol sealed opens one model only",
		NoStudy: "opens models, which studies do not count in this version",
		Labels:  checkLabels,
		Learns:  learns,
		Streams: true,
	},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public: (*party).public, PublicServer: (*server).public,
	Facts: method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Outcome: (*server).outcome,
	Questions: &method.QuestionsOf[party, server]{
		Keep: (*party).retainedState, OpenParty: openParty, Left: model.IsRandom,
	},
	Prepares: &method.PreparesOf[party, server]{
		Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
		Heard:   func(s *server) (*learner.Prepared, error) { return s.Witness.Prepared() },
		Notices: func(p *party) []string { return p.Party.Notices() },
	},
	Present: present,
	Foresee: foresee,
	NoFile:  noFile,
})

// step is a step of the plan.
type step = method.StepOf[party, server, public]

// steps returns the plan of a job. The parties agree on columns and a scaling. They declare their numbers of training
// rows, and draw the directions together. The keepers compute the weights and open them to the parties, which
// certify them if the job says so, and add up the errors on their held-out rows.
func steps(c method.Instance) ([]step, error) {
	before, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	if err := checkKeepers(c); err != nil {
		return nil, err
	}
	groups, err := errorGroups(c.Job)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if err := sums.Check(len(c.Parties), groups); err != nil {
		return nil, err
	}
	plan := method.Lift(func(p *party) *rows.Party { return p.Party }, func(s *server) *rows.Witness { return &s.Witness }, func(public) struct{} { return struct{}{} }, before)
	errs := step{Name: "errors", Party: (*party).errorSummand, Server: (*server).errorAdder, Releases: releasesErrors(c.Job), Cost: errorsCost(c.Job)}
	errs.Session, errs.Follow = sums.Summing(c, "errors", func(k public) (sums.Sum, error) {
		return sums.Sum{Epoch: "errors/" + hex.EncodeToString(k.drawn[:]), Groups: groups}, nil
	})
	plan = append(plan, countStep(c), drawStep(c), computeStep(c))
	if certifying(c.Job) != Uncertified {
		plan = append(plan, certifyStep(c))
	}
	return append(plan, errs, step{Name: "evaluate", Compute: (*server).evaluate, Cost: method.NoCost}), nil
}

// releasesErrors returns the function that states the releases of the step errors. With noise it states
// the release of the model, which names all rows.
func releasesErrors(j *job.Job) func(*party) ([]method.Release, error) {
	if j.Data.Private {
		return (*party).release
	}
	return method.AlsoReleases[party](method.ReleaseErrors)
}

// countStep returns the step in which each party declares its training rows and commits to its part of the directions.
func countStep(c method.Instance) step {
	return step{Name: "count", Session: gathering(c), Party: (*party).declarer, Server: (*server).listener,
		Releases: method.With((*party).release, method.ReleaseCounts), Cost: countCost}
}

// drawStep returns the step in which each party shows its part of the directions.
func drawStep(c method.Instance) step {
	return step{Name: "draw", Session: gathering(c), Party: (*party).drawer, Server: (*server).drawListener,
		Follow:   salted(func(k public) []byte { return k.counted[:] }, func(public) ([]byte, error) { return nil, nil }),
		Releases: method.ReleasesNothing[party], Cost: drawCost}
}

// gathering returns a session in which each party sends a statement to all members.
func gathering(c method.Instance) *method.Session {
	return &method.Session{Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Members: c.MembersWithoutLeader(), Purpose: "train"}
}

// computeStep returns the step in which the keepers compute and open the weights. The coordinator is a member only as a
// keeper.
func computeStep(c method.Instance) step {
	s := step{Name: "sealed", Session: &method.Session{Protocol: sealed.Name, Version: sealed.Version, Members: protocol.Members(protocol.RoleParty, c.Parties...), Purpose: "train",
		SlowTimers: []protocol.Timer{sealed.TimerWeights}},
		Party: (*party).computer, Releases: (*party).release, Cost: computeCost(c.Job)}
	if slices.Contains(keepersOf(c), c.Coordinator) {
		s.Session.Members = append(s.Session.Members, protocol.Members(protocol.RoleKeeper, c.Coordinator)...)
		s.Server = (*server).keeper
	}
	s.Follow = salted(func(k public) []byte { return k.drawn[:] }, func(k public) ([]byte, error) {
		p, err := k.params(c)
		if err != nil {
			return nil, err
		}
		return p.Encode(), nil
	})
	return s
}

// salted returns a function that derives the parameters of a session from public values. It makes the session's ID
// depend on the bytes that function salt returns, too.
func salted(salt func(public) []byte, params func(public) ([]byte, error)) func(method.Session, public, []byte) (*method.Session, error) {
	follow := method.From(params)
	return func(s method.Session, k public, announced []byte) (*method.Session, error) {
		s.Salt = salt(k)
		return follow(s, k, announced)
	}
}

// public holds the values that the steps so far have made public.
type public struct {
	rows    []int    // training rows of each party, in the job's order; nil before the count
	columns int      // columns of each prepared table
	counted [32]byte // SHA-256 of the parties' declarations; zero before the count
	drawn   [32]byte // seed of the directions; zero before it is drawn
}

// total returns the number of training rows of all parties.
func (k public) total() int {
	n := 0
	for _, rows := range k.rows {
		n += rows
	}
	return n
}

// errorGroups describes the groups of entries of the sum of errors. These are a party's number of held-out rows, and
// its sums of errors, with room for noise.
func errorGroups(j *job.Job) ([]secagg.Group, error) {
	noise, err := heldOutNoise(j)
	return []secagg.Group{
		{Entries: 1, Bound: sealed.MaxRows},
		{Entries: targetOf(j).errorSums(), Bound: sealed.MaxRows*moments.SquaredBound + noise.Room(), Signed: true},
	}, err
}

// noFile returns the place of a job's model, because no file holds it.
func noFile(j *job.Job) string {
	if j.Prediction == job.Open {
		return "lies at each party, which predicts with it (protocol sealed); the coordinator has no copy"
	}
	return `has no file: the parties used it for the figures alone (protocol sealed); with "prediction: open" each keeps it`
}
