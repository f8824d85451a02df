package stage

import (
	"encoding/hex"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// planMoments: agree on columns and scale among the parties, declare the numbers of
// training rows, add up the moments of all training rows,
// choose and solve by these, tell the one solution to all, add up its errors on
// held-out rows.
func planMoments(j *job.Job, c Cast) ([]Stage, error) {
	plan := []Stage{headingStage(c)}
	if j.Data.Scale != job.None {
		st, err := scaleStage(j, c)
		if err != nil {
			return nil, err
		}
		plan = append(plan, st)
	}
	plan = append(plan, countStage(j, c))
	groups := func(k Known) ([]secagg.Group, error) { return sumGroups(j, k.features(j)), nil }
	first := sumStage("sums", c, summing{
		epoch: func(k Known) string { return "sums/" + hex.EncodeToString(k.Counted[:]) }, groups: groups,
		party: (*Party).summand, server: (*Server).sums,
	})
	first.Session.Release = func(p *Party) method.Release { return p.sumsReleased(c) }
	second := sumStage("errors", c, summing{
		epoch: func(k Known) string { return hex.EncodeToString(k.Solution[:]) }, groups: alwaysGroups(errorGroups(j)),
		party: (*Party).errors, server: (*Server).errors,
	})
	most := Known{Rows: math.MaxInt64}.features(j)
	for _, groups := range [][]secagg.Group{sumGroups(j, most), errorGroups(j)} {
		if err := sums.Check(len(c.Parties), groups); err != nil {
			return nil, err
		}
	}
	return append(plan, first,
		Stage{Name: "learn", Compute: (*Server).solve},
		tellStage("tell", c, telling{
			length: func(k Known) int { return taughtBytes(j, k.features(j)) },
			body:   func(s *Server) []byte { return s.moments.body },
			party:  (*Party).told,
		}),
		second,
		Stage{Name: "evaluate", Compute: (*Server).judgeSolution}), nil
}

// summing is what a stage of secure aggregation adds, and what becomes of it.
type summing struct {
	epoch  func(Known) string // names what all must have been told alike
	groups func(Known) ([]secagg.Group, error)
	party  func(*Party, Setup) (*Run, error)
	server func(*Server, Setup) (*Run, error)
}

// sumStage adds up a vector of every party by secure aggregation, once for each
// submission of a job.
func sumStage(name string, c Cast, what summing) Stage {
	return Stage{Name: name, Session: adopted(sums.Session(c.framed(), name, func(k method.Known) (sums.Sum, error) {
		groups, err := what.groups(k.(Known))
		return sums.Sum{Epoch: what.epoch(k.(Known)), Groups: groups}, err
	}), what.party, what.server)}
}

// alwaysGroups are those of a sum that depends on the job only.
func alwaysGroups(groups []secagg.Group) func(Known) ([]secagg.Group, error) {
	return func(Known) ([]secagg.Group, error) { return groups, nil }
}

// sumGroups is what a party adds to the sums: the upper triangle of its A, its
// B, its number of training rows, and for a regression the sums of the numbers
// and of their squares.
func sumGroups(j *job.Job, features int) []secagg.Group {
	l := lessonOf(j)
	groups := []secagg.Group{
		{Entries: moments.Triangle(features), Bound: moments.Bound, Signed: true},
		{Entries: l.width() * features, Bound: moments.Bound, Signed: true},
		{Entries: 1, Bound: moments.MaxRows},
	}
	if n := l.totals(); n > 0 {
		groups = append(groups, secagg.Group{Entries: n, Bound: moments.Bound, Signed: true})
	}
	return groups
}

// errorGroups is what a party adds to the errors: its number of held-out rows,
// the figures by which the solution is judged, and its membership figure with a 1
// if it has one.
func errorGroups(j *job.Job) []secagg.Group {
	return []secagg.Group{
		{Entries: 1, Bound: moments.MaxRows},
		{Entries: lessonOf(j).figures(), Bound: moments.SquaredBound, Signed: true},
		{Entries: 2, Bound: membershipOne},
	}
}

// membershipOne is how a membership figure of 1 is written.
const membershipOne = 1 << 20

// vector is entries that are held as they are.
type vector [][]int64

func (v vector) Read(group, first int, dst []int64) { copy(dst, v[group][first:]) }

// sumVector reads a party's sums where they lie.
type sumVector struct{ *moments.Sums }

func (v sumVector) Read(group, first int, dst []int64) {
	switch group {
	case 0:
		v.ReadOuter(first, dst)
	case 1:
		v.ReadCross(first, dst)
	case 2:
		dst[0] = int64(v.Rows)
	default:
		copy(dst, []int64{int64(v.Total), int64(v.Power)}[first:])
	}
}

// directions are public: they follow from the name of the session that adds up
// the sums, which nobody knows before job and roster are fixed.
func directions(j *job.Job, sums protocol.SessionID, features, columns int) (feature.Map, error) {
	return moments.Features(j.Kernel.Spec(), sums, features, columns)
}

// telling is what the server tells all parties, and what a party does with it.
type telling struct {
	length func(Known) int
	body   func(*Server) []byte
	party  func(p *Party, body []byte, s *protocol.Session) error
}

// tellStage tells something public to all parties.
func tellStage(name string, c Cast, what telling) Stage {
	told := sums.Tell(c.framed(), func(k method.Known) int { return what.length(k.(Known)) })
	return Stage{Name: name, Session: adopted(told,
		func(p *Party, setup Setup) (*Run, error) {
			return sums.Hearer(setup, func(body []byte) error { return what.party(p, body, setup.Session) })
		},
		func(s *Server, setup Setup) (*Run, error) { return sums.Teller(setup, what.body(s)) })}
}

// toldWrong blames the server for what it must not tell a party.
func toldWrong(server string, format string, args ...any) error {
	return protocol.Blame(server, protocol.KindInconsistent, fmt.Errorf("stage: "+format, args...))
}
