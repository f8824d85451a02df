package moments

import (
	"encoding/hex"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol/declare"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Plan implements [method.Federated]: the parties agree on columns and a scaling,
// declare their numbers of training rows, and add up the moments of these rows; the
// coordinator chooses and solves by the sums, and tells all the one solution; the
// parties add up its errors on held-out rows.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	plan, err := rows.OldSteps(c)
	if err != nil {
		return nil, err
	}
	j := c.Job
	for _, groups := range [][]secagg.Group{sumGroups(j, known{rows: math.MaxInt64}.features(j)), errorGroups(j)} {
		if err := sums.Check(len(c.Parties), groups); err != nil {
			return nil, err
		}
	}
	return append(plan,
		method.Step{Name: "count", Session: &method.Session{
			Protocol: declare.Name, Version: declare.Version, Members: c.Crowd(), Purpose: "train",
		}},
		method.Step{Name: "sums", Session: sums.Session(c, "sums", func(k method.Known) (sums.Sum, error) {
			heard := k.(known)
			return sums.Sum{Epoch: "sums/" + hex.EncodeToString(heard.counted[:]), Groups: sumGroups(j, heard.features(j))}, nil
		})},
		method.Step{Name: "learn"},
		method.Step{Name: "tell", Session: sums.Broadcast(c, func(k method.Known) int { return fittedBytes(j, k.(known).features(j)) })},
		method.Step{Name: "errors", Session: sums.Session(c, "errors", func(k method.Known) (sums.Sum, error) {
			heard := k.(known)
			return sums.Sum{Epoch: hex.EncodeToString(heard.solution[:]), Groups: errorGroups(j)}, nil
		})},
		method.Step{Name: "evaluate"}), nil
}

// fittedBytes is the length of the message that tells the solution.
func fittedBytes(j *job.Job, features int) int {
	l := objectiveOf(j)
	return 4 + 8*(l.outputs()*(features+1)+l.extra(features))
}

// known holds the values that the steps so far have made public.
type known struct {
	rows     int64    // of training, of all parties; 0 before they are counted
	counted  [32]byte // SHA-256 of each party's number of these; zero before
	solution [32]byte // SHA-256 of the solution that was told; zero before
}

// unknown is a step that the method does not have.
func unknown(step string) error { return fmt.Errorf("moments: no step %s", step) }

// sumGroups describes the entries that a party adds to the sums: the upper triangle of its A,
// its B, its number of training rows, and for a regression the sums of the numbers and of
// their squares.
func sumGroups(j *job.Job, features int) []secagg.Group {
	l := objectiveOf(j)
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

// errorGroups describes the entries that a party adds to the errors: its number of held-out
// rows, the figures by which the solution is judged, and its membership figure with a 1 if it
// has one; where the job counts decisions in bins, also the rows of both classes by bin.
func errorGroups(j *job.Job) []secagg.Group {
	groups := []secagg.Group{
		{Entries: 1, Bound: moments.MaxRows},
		{Entries: objectiveOf(j).figures(), Bound: moments.SquaredBound, Signed: true},
		{Entries: 2, Bound: membershipOne},
	}
	if counted(j) {
		groups = append(groups, secagg.Group{Entries: 2 * moments.Bins, Bound: moments.MaxRows * moments.Thousand})
	}
	return groups
}

// membershipOne is the whole number that stands for a membership figure of 1.
const membershipOne = 1 << 20

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
