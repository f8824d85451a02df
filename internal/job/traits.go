package job

import (
	"cmp"

	"github.com/mercer-fl/mercer/dataset"
)

// Traits holds the fixed properties of a protocol, which do not depend on a job.
type Traits struct {
	Cuts        Direction // direction of the partition between parties; "" for rows
	Rated       bool      // whether the data are ratings of items by people, not rows
	Unshared    bool      // whether a process can run a job on a whole table, without any parties
	Grouped     bool      // whether folds keep the rows of a group together
	Weighted    bool      // whether the protocol passes weights of rows to the learner
	Fits        bool      // whether jobs are of kind Fit: they fit and do not learn
	Streams     bool      // whether a party can read the rows in blocks, without its whole table in memory
	Grid        GridBy    // how the protocol chooses a grid's cell
	NoGrid      string    // the reason why a job cannot have a grid; "" if it can
	Comparisons []Comparison
	Learns      func(*Job) bool // whether the protocol runs the job's learner; nil: it runs all
	// NoStudy is the reason, after the protocol's name, why no job of a study can use the protocol; "" if
	// one can.
	NoStudy string
	// Labels refuses labels that the job does not list. It is nil for a protocol whose parties
	// agree on classes during the job.
	Labels func(*Job, *dataset.Set) error
	// Undeployable returns the reason why real parties cannot run the job, or "" if they can.
	// Undeployable is nil if real parties can run all jobs.
	Undeployable func(*Job) string
}

// Usual reasons of Traits.NoStudy.
const (
	PaperOnly   = "has mode paper only, and jobs of a study have hardened modes"
	DevicesOnly = "has devices and no parties, and a study names parties"
	OneProcess  = "runs in simulate only, where nobody has to approve a study"
)

// GridBy names how a protocol chooses a cell of a grid.
type GridBy uint8

// ByFolds chooses a grid's cell by cross-validation, and is the default. ByItself uses the
// protocol's own rule.
const (
	ByFolds GridBy = iota
	ByItself
)

// Partition returns the direction in which the data are divided between parties.
func (t Traits) Partition() Direction { return cmp.Or(t.Cuts, Rows) }

// Protocol is a protocol of a job file, a Kind with Traits.
type Protocol interface {
	Kind
	Traits() Traits
}

// traitsOf returns the traits of a protocol, or zero traits if k is not a protocol.
func traitsOf(k Kind) Traits {
	if p, is := k.(Protocol); is {
		return p.Traits()
	}
	return Traits{}
}

// Traits returns the traits of the job's protocol.
func (j *Job) Traits() Traits { return traitsOf(j.Protocol.Kind) }
