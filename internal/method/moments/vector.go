package moments

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

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
