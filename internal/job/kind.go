package job

import (
	"cmp"
	"strings"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Settings are a protocol's values: what it demands comes with them.
type Settings interface {
	section.Values
	Demands() Demands
}

// Demands are what a protocol's settings ask of a job, and of who runs it. A field that is zero asks
// for nothing.
type Demands struct {
	Mode Mode // "" of a protocol that has one version
	// Check refuses the rest of a job, once it is read, that does not go with the settings, and fills
	// the defaults that depend on it.
	Check func(*Job, *section.Place) error
	// Limits are the numbers that an operator's policy bounds, by their keys in the job file.
	Limits map[string]int
	// Labelled counts the parties between holders of columns that have labels, from the first on; 0: one.
	Labelled int
	Spreads  bool // each of them has labels of a part of the rows
	Outlives bool // encoded rows of the job, or secrets of an earlier one, serve a later job
	Counts   bool // the coordinator learns how many held-out rows have which decision
	Rates    bool // the coordinator learns sums of squared ratings
}

// Demands returns what the settings of the job's protocol demand.
func (n Named) Demands() Demands {
	if s, is := n.Values.(Settings); is {
		return s.Demands()
	}
	return Demands{}
}

// Bounded reports whether the protocol states what it demands. Parties refuse a job by one that does not.
func (n Named) Bounded() bool {
	_, states := n.Values.(Settings)
	return states
}

// finishPartition refuses a protocol and a partition that do not cut the same way.
func (r *Reader) finishPartition(j *Job) func(*section.Place) error {
	return func(in *section.Place) error {
		name, want, by := j.Protocol.Name(), j.Traits().Partition(), cmp.Or(j.Data.Partition.By, Rows)
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

// Limit returns a number that an operator's policy bounds; 0 where there is none.
func (n Named) Limit(key string) int { return n.Demands().Limits[key] }

// cutting names the protocols whose parties hold rows, columns or devices.
func (r *Reader) cutting(d Direction) (names []string) {
	for _, k := range r.Protocols {
		if k.Traits().Partition() == d {
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
