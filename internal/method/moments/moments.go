// Package moments binds sums of products of random features to learners. The coordinator learns
// from the sums over all parties' rows and sees no single party's sums. See protocol/secagg.
package moments

import (
	"encoding/hex"
	"math"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Protocol returns the binding of moments.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, public]{
	Name: "moments", Keys: func() job.Settings { return new(Keys) },
	Traits: job.Traits{
		Grid:        job.ByItself,                // the coordinator chooses a grid cell by the sums of all training rows
		Comparisons: []job.Comparison{job.Curve}, // a comparison with other numbers of random features
		Labels:      checkLabels,
		Learns:      learner.On[learner.SumsLearner],
		Streams:     true,
	},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public: (*party).public, PublicServer: (*server).public,
	Facts: method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
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
})

// step is a step of the moments plan.
type step = method.StepOf[party, server, public]

// steps returns the plan of a job. The parties agree on columns and a scaling, declare their
// numbers of training rows, and add up the moments of these rows. The coordinator selects and
// solves from the sums and sends all parties the solution. The parties add up the solution's errors
// on held-out rows.
func steps(c method.Instance) ([]step, error) {
	before, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	j := c.Job
	if err := checkGroups(c); err != nil {
		return nil, err
	}
	plan := method.Lift(func(p *party) *rows.Party { return p.Party }, func(s *server) *rows.Witness { return &s.Witness }, func(public) struct{} { return struct{}{} }, before)
	adds := step{Name: "sums", Party: (*party).summand, Server: (*server).adder, Releases: (*party).release, Cost: sumsCost(j)}
	adds.Session, adds.Follow = sums.Summing(c, "sums", func(k public) (sums.Sum, error) {
		groups, err := sumGroups(j, k.features(j), max(k.room, leastRoom))
		return sums.Sum{Epoch: "sums/" + hex.EncodeToString(k.counted[:]), Groups: groups}, err
	})
	broadcasts := step{Name: "broadcast", Party: (*party).solutionReceiver, Server: (*server).solutionSender, Releases: method.ReleasesNothing[party], Cost: method.FromSession(collective.BroadcastCost)}
	broadcasts.Session, broadcasts.Follow = sums.Broadcasting(c, func(k public) int { return fittedBytes(j, k.features(j)) })
	errs := step{Name: "errors", Party: (*party).errorSummand, Server: (*server).errorAdder, Releases: releasesErrors(j), Cost: errorsCost(j)}
	errs.Session, errs.Follow = sums.Summing(c, "errors", func(k public) (sums.Sum, error) {
		groups, err := errorGroups(j, k.features(j), max(k.room, leastRoom))
		return sums.Sum{Epoch: hex.EncodeToString(k.solution[:]), Groups: groups}, err
	})
	return append(plan,
		step{Name: "count", Session: &method.Session{
			Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Members: c.MembersWithoutLeader(), Purpose: "train",
		}, Party: (*party).declarer, Server: (*server).listener, Releases: method.With((*party).release, method.ReleaseCounts), Cost: countCost},
		adds, step{Name: "learn", Compute: (*server).solve, Cost: solveCost(c)}, broadcasts, errs, step{Name: "evaluate", Compute: (*server).evaluate, Cost: method.NoCost}), nil
}

// checkGroups refuses sums that secagg cannot add up among the parties, before anybody has declared rows.
func checkGroups(c method.Instance) error {
	features := public{rows: math.MaxInt64, columns: job.MaxFeatures}.features(c.Job)
	for _, of := range []func(*job.Job, int, int64) ([]secagg.Group, error){sumGroups, errorGroups} {
		groups, err := of(c.Job, features, leastRoom)
		if err != nil {
			return fault.BadInput(err)
		}
		if err := sums.Check(len(c.Parties), groups); err != nil {
			return err
		}
	}
	return nil
}

// releasesErrors returns the function that states the releases of the step errors. With noise the
// release is the same as that of the sums: held-out rows and training rows are different people,
// who each have the whole budget.
func releasesErrors(j *job.Job) func(*party) ([]method.Release, error) {
	if j.Data.Private {
		return (*party).release
	}
	return method.AlsoReleases[party](method.ReleaseErrors)
}

// fittedBytes returns the length in bytes of the message that holds the solution.
func fittedBytes(j *job.Job, features int) int {
	l := objectiveOf(j)
	return 4 + 8*(l.outputs()*(features+1)+l.extra(features))
}

// public holds the values that the steps so far have made public.
type public struct {
	rows     int64    // training rows of all parties; 0 before the count
	room     int64    // number of a party's rows for which the sums have room; see [roomFor]
	columns  int      // columns of each prepared table
	counted  [32]byte // SHA-256 of the parties' declared counts; zero before the count
	solution [32]byte // SHA-256 of the broadcast solution; zero before the broadcast
}

// leastRoom is the least number of a party's rows for which the sums have room.
const leastRoom = 1 << 20

// roomFor returns the number of a party's rows for which the sums have room, if the largest party
// has declared most training rows: the least power of two from leastRoom on. It bounds each party's
// entries, and so the words of the sums. It bounds the held-out rows too, which nobody declares.
func roomFor(most int64) int64 {
	room := int64(leastRoom)
	for room < most {
		room *= 2
	}
	return room
}

// sumGroups describes the groups of entries that each party adds to the sums over at most the given
// number of rows. These entries are the upper triangle of the matrix of the features' products, the
// products of features and targets, and the number of training rows. A regression without
// privacy also has the sums of the targets and of their squares. With privacy there is room for a party's noise.
func sumGroups(j *job.Job, features int, rows int64) ([]secagg.Group, error) {
	l := objectiveOf(j)
	groups := []secagg.Group{
		{Entries: moments.Triangle(features), Bound: rows * moments.Bound, Signed: true},
		{Entries: l.width() * features, Bound: rows * moments.Bound, Signed: true},
		{Entries: 1, Bound: rows},
	}
	if n := l.totals(); n > 0 {
		groups = append(groups, secagg.Group{Entries: n, Bound: rows * moments.Bound, Signed: true})
	}
	noise, err := noiseOf(j, features)
	if err == nil && noise != nil {
		groups[0].Bound += noised.Room(noise.Squares)
		groups[1].Bound += noised.Room(noise.Cross)
	}
	return groups, err
}

// errorGroups describes the groups of entries that each party adds to the sums of errors over at
// most the given number of rows. These entries are the party's number of held-out rows, the party's
// error sums, the party's membership figure, and a 1 if the party has such a figure. If the job
// counts decisions in bins, the entries also count, for both classes, the rows in each bin. With privacy
// there is room for a party's noise, and nobody measures membership.
func errorGroups(j *job.Job, features int, rows int64) ([]secagg.Group, error) {
	errors := secagg.Group{Entries: objectiveOf(j).errorSumCount(), Bound: rows * moments.SquaredBound, Signed: true}
	noise, err := noiseOf(j, features)
	if err != nil {
		return nil, err
	}
	if noise != nil {
		errors.Bound += noise.heldOut.Room()
		return []secagg.Group{{Entries: 1, Bound: rows}, errors}, nil
	}
	groups := []secagg.Group{{Entries: 1, Bound: rows}, errors, {Entries: 2, Bound: membershipOne}}
	if usesHistogram(j) {
		groups = append(groups, secagg.Group{Entries: 2 * moments.Bins, Bound: rows * moments.Thousand})
	}
	return groups, nil
}

// membershipOne is the integer that represents an area of 1 under the ROC curve in secure sums.
const membershipOne = 1 << 20

// sumVector presents a party's moments as a vector for secure aggregation, without a copy.
type sumVector struct{ *moments.Partial }

func (v sumVector) Read(group, first int, dst []int64) {
	switch group {
	case 0:
		copy(dst, v.Outer[first:])
	case 1:
		copy(dst, v.Cross[first:])
	case 2:
		dst[0] = int64(v.Rows)
	default:
		copy(dst, []int64{v.Total, v.Power}[first:])
	}
}
