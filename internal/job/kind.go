package job

import (
	"cmp"
	"strings"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Checker is a Kind's values that check the whole job, once it is read.
type Checker interface {
	// Check refuses settings that do not go with the values, and fills the defaults that
	// depend on the rest of the job.
	Check(*Job, *section.Place) error
}

// Cutter is a protocol whose parties hold something other than rows.
type Cutter interface{ Cuts() Direction }

// Rated is a protocol on ratings of items by people, in the place of rows.
type Rated interface{ Rated() }

// Chooser is a protocol that chooses a cell of a grid without folds, or none.
type Chooser interface {
	// NoGrid returns why a job has no grid; "" where it may have one.
	NoGrid() string
}

// Compared is a protocol with comparisons beside Pooled and Alone.
type Compared interface{ Comparisons() []Comparison }

// Undeployable is a protocol that runs some jobs, or all, in one process only.
type Undeployable interface {
	// Undeployable returns why real parties cannot run the job; "" where they can.
	Undeployable(*Job) string
}

// Unshared is a protocol that one process runs on a table of its own: a job need not share the
// table out among parties, and may hold no row out.
type Unshared interface{ Unshared() }

// Grouped is a protocol whose folds keep the rows of a group together.
type Grouped interface{ Grouped() }

// Limited is a protocol's values that an operator's policy bounds. Parties refuse a job by a
// protocol that is not.
type Limited interface {
	// Limits returns numbers by their keys in the job file; none where nothing is bounded.
	Limits() map[string]int
}

// Outliving is a protocol's values by which encoded rows of a job, or secrets of an earlier
// one, serve a later job.
type Outliving interface{ Outlives() bool }

// Bounded reports whether the protocol states the numbers that an operator's policy bounds.
func (n Named) Bounded() bool {
	_, states := n.Values.(Limited)
	return states
}

// Limit returns a number that an operator's policy bounds; 0 where there is none.
func (n Named) Limit(key string) int {
	if l, ok := n.Values.(Limited); ok {
		return l.Limits()[key]
	}
	return 0
}

// Labelled is the values of a protocol between holders of columns, of whom several
// may have labels.
type Labelled interface {
	// Labelled returns how many, from the first on.
	Labelled() int
}

// Counting is the values of a protocol in whose jobs the coordinator may learn how many held-out
// rows have which decision.
type Counting interface{ Counts() bool }

// Rating is the values of a protocol in whose jobs the coordinator may learn sums of squared ratings.
type Rating interface{ Rates() bool }

// Spreading is the values of a protocol whose parties may each have a part of the labels.
type Spreading interface{ Spreads() bool }

// cuts returns the partition between the parties of a protocol.
func cuts(k Kind) Direction {
	return cmp.Or(TraitsOf(k).Cuts, Rows)
}

// finishPartition refuses a protocol and a partition that do not cut the same way.
func (r *Reader) finishPartition(j *Job) func(*section.Place) error {
	return func(in *section.Place) error {
		name, want, by := j.Protocol.Name(), cuts(j.Protocol.Kind), cmp.Or(j.Data.Partition.By, Rows)
		switch {
		case want == by && by == Columns && j.Data.Test.Source != "":
			return in.Refuse("data", "a test source is not in this version of protocol %s; use test: {fraction: 0.25} or {every: 10}", name)
		case want == by:
			return nil
		case by == Devices:
			return in.Refuse("data", "protocol %s has no devices; partition: {by: rows, parties: [north, south]}", name)
		case want == Devices:
			return in.Refuse("data", "protocol %s and this partition do not go together; %s takes partition: {by: devices}", name, name)
		}
		return in.Refuse("data", "protocol %s and this partition do not go together; %s take partition: {by: columns}, and others do not", name, listed(r.cutting(Columns)))
	}
}

// cutting names the protocols whose parties hold rows, columns or devices.
func (r *Reader) cutting(d Direction) (names []string) {
	for _, k := range r.Protocols {
		if cuts(k) == d {
			names = append(names, k.Name())
		}
	}
	return names
}

// listed writes names as a sentence does: a, b and c.
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
