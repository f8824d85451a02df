package method

import (
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol"
)

// Sizes holds the public counts of a job's tables, from which the cost of the job follows.
type Sizes struct {
	Tables map[string]TableSize // counts of each party's table, by party
	Common int                  // number of rows that all parties have, if they hold different columns of the same rows
}

// TableSize holds the public counts of one party's table.
type TableSize struct {
	Rows    int // all rows, including held-out rows
	HeldOut int // held-out rows, if each party selects its own
	Columns int // columns with features, after the preparation
	// Named says that columns have names.
	Named bool
	// Labels says that the table has labels. Classes lists the distinct labels, also labels that are
	// numbers; it can be nil for numbers in a job by rows. LabelBytes counts the bytes of the labels of
	// all rows together.
	Labels     bool
	Classes    []string
	LabelBytes int
	// Stored counts the bytes of the table in memory.
	Stored int64
	// Exponent is the least number e with |x| <= 2^e for all values x that the job uses, and Whole says
	// that all of them are whole numbers. Both depend on the job's scaling. Only costs of jobs by columns depend on
	// them.
	Exponent int
	Whole    bool
}

// Training returns the number of training rows, if each party selects its own held-out rows.
func (t TableSize) Training() int { return t.Rows - t.HeldOut }

// All returns the sum of a count over all tables.
func (s Sizes) All(count func(TableSize) int) int {
	n := 0
	for _, t := range s.Tables {
		n += count(t)
	}
	return n
}

// Classes returns the number of distinct labels in all tables, and at least 2. If the labels are
// numbers to predict, no cost depends on it.
func (s Sizes) Classes() int {
	distinct := make(map[string]bool)
	for _, t := range s.Tables {
		for _, class := range t.Classes {
			distinct[class] = true
		}
	}
	return max(2, len(distinct))
}

// Most returns the largest of a count over all tables.
func (s Sizes) Most(count func(TableSize) int) int {
	n := 0
	for _, t := range s.Tables {
		n = max(n, count(t))
	}
	return n
}

// StepCost is the cost of one step of a job's plan.
type StepCost struct {
	Step     string
	Protocol string // the protocol of the step's session; "" if the coordinator computes alone
	protocol.Cost
}

// Forecast returns the cost of each step of a job, without running any. It builds each step's session
// as the members do, from the public values that Binding.Foresee returns. It refuses a job if its
// protocol has no Foresee, or if a step has no formula for its cost.
func (m *Protocol) Forecast(c Instance, s Sizes) ([]StepCost, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return m.forecast(c, s)
}

// forecast implements [Protocol.Forecast].
func (b Binding[P, S, K]) forecast(c Instance, sizes Sizes) ([]StepCost, error) {
	if b.Foresee == nil {
		return nil, fault.BadInputf("protocol %s has no formula for its costs, so mercer plan cannot plan it; measure a run instead: mercer simulate or mercer demo", b.Name)
	}
	public, err := b.Foresee(c, sizes)
	if err != nil {
		return nil, err
	}
	steps, err := b.Steps(c)
	if err != nil {
		return nil, err
	}
	var list []StepCost
	for i, s := range steps {
		one, err := s.forecast(c, i, public, sizes)
		if err != nil {
			return nil, fault.BadInputf("protocol %s: %w", b.Name, err)
		}
		list = append(list, one)
	}
	return list, nil
}

// forecast returns the cost of the i-th step of a plan.
func (s StepOf[P, S, K]) forecast(c Instance, i int, public K, sizes Sizes) (StepCost, error) {
	if s.Cost == nil {
		return StepCost{}, fault.BadInputf("the step %q has no formula for its costs, so mercer plan cannot plan this job; measure a run instead: mercer simulate or mercer demo", s.Name)
	}
	if s.Session == nil {
		cost, err := s.Cost(sizes, nil)
		return StepCost{Step: s.Name, Cost: cost}, err
	}
	complete := s.Session
	if s.Follow != nil {
		var err error
		if complete, err = s.Follow(*s.Session, public, nil); err != nil {
			return StepCost{}, err
		}
	}
	session, err := protocol.NewSession(complete.Descriptor(c.ID, i, [sha256.Size]byte{}, 0))
	if err != nil {
		return StepCost{}, err
	}
	cost, err := s.Cost(sizes, session)
	return StepCost{Step: s.Name, Protocol: session.Protocol, Cost: cost}, err
}

// FromSession converts a formula that needs the session alone to the form of StepOf.Cost.
func FromSession(cost func(*protocol.Session) (protocol.Cost, error)) func(Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(_ Sizes, s *protocol.Session) (protocol.Cost, error) { return cost(s) }
}

// NoCost is the formula of a computation that takes next to nothing.
func NoCost(Sizes, *protocol.Session) (protocol.Cost, error) { return protocol.Cost{}, nil }

// LearningCost returns the cost of a stage in which the coordinator learns from the inner products of
// all rows: tune, learn or evaluate.
func (c Instance) LearningCost(stage string, training, heldOut, classes int) protocol.Cost {
	n := learner.NeedOf(c.Job, stage, training, heldOut, classes)
	cost := protocol.Cost{Assumed: n.Assumed}
	cost.Load(c.Coordinator, protocol.Load{Effort: protocol.Effort{Products: n.Products, Functions: n.Values, Moved: n.Moved}, Held: n.Memory})
	return cost
}

// SizeOf returns the counts of a table in memory. It does not set HeldOut, Exponent and Whole, because
// these depend on the job.
func SizeOf(set *dataset.Set) TableSize {
	s := TableSize{Rows: set.X.Rows(), Columns: set.X.Cols(), Named: set.Columns != nil, Labels: set.Labels != nil, Stored: storedBytes(set.X)}
	distinct := make(map[string]bool)
	for _, label := range set.Labels {
		s.LabelBytes += len(label)
		distinct[label] = true
	}
	s.Classes = slices.Sorted(maps.Keys(distinct))
	return s
}

// storedBytes returns the bytes that a table's cells take in memory.
func storedBytes(x dataset.Table) int64 {
	switch x := x.(type) {
	case *dataset.CSR:
		entries := 0
		for i := range x.Rows() {
			x.Each(i, func(int, float64) { entries++ })
		}
		return 12*int64(entries) + 8*int64(x.Rows())
	case *dataset.Dense32:
		return 4 * int64(x.Rows()) * int64(x.Cols())
	}
	return 8 * int64(x.Rows()) * int64(x.Cols())
}
