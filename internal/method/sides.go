package method

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol"
)

// Protocol is a binding without type parameters. Daemons and programs run it. Each protocol is
// created once and used through its pointer, so that two jobs of one protocol compare equal.
type Protocol struct {
	name     string
	traits   job.Traits
	keys     func() job.Settings
	plan     func(Instance) ([]Step, error)
	forecast func(Instance, Sizes) ([]StepCost, error)
	party    func(Instance, string, Table) (*PartySide, error)
	server   func(Instance) (*CoordinatorSide, error)
	minimums func(Limits, *job.Job) error
	present  func(*job.Job, *Result) (*Presentation, error)
	noFile   func(*job.Job) string
	answers  *opener
	devices  *served
}

var _ job.Protocol = (*Protocol)(nil)

type served struct {
	Serves  func(*job.Job) error
	Passing bool
}

type opener struct {
	party  func(RetainedState, *job.Reader) (Erasable, error)
	server func(Instance, RetainedState, func() ([]byte, error)) (Erasable, error)
	left   func([]byte) bool
}

// Name implements [job.Kind].
func (m *Protocol) Name() string { return m.name }

// New implements [job.Kind].
func (m *Protocol) New() section.Values { return m.keys() }

// Traits returns the properties of the protocol for readers of job files.
func (m *Protocol) Traits() job.Traits { return m.traits }

// Plan returns the steps of a job, in order. Every member computes the same plan from the job. Plan
// refuses a job with fewer than two parties or with the coordinator as a party.
func (m *Protocol) Plan(c Instance) ([]Step, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	plan, err := m.plan(c)
	if err != nil {
		return nil, err
	}
	return plan, checkSeats(c, plan)
}

// checkSeats refuses a plan in which some party takes part in no session. A party asks its ledger
// about the whole job in its first session.
func checkSeats(c Instance, plan []Step) error {
	for _, name := range c.Parties {
		if !slices.ContainsFunc(plan, func(s Step) bool { return s.Session != nil && s.Session.Has(name) }) {
			return fmt.Errorf("method: party %s is in no session of the plan; each party must be in at least one", name)
		}
	}
	return nil
}

// Party returns a party's side of a job over its table. Errors describe faults of the data and how
// to correct them. They may quote the data, so they belong in the party's own log only.
func (m *Protocol) Party(c Instance, self string, t Table) (*PartySide, error) {
	return m.party(c, self, t)
}

// Server returns the coordinator's side at the start of a job.
func (m *Protocol) Server(c Instance) (*CoordinatorSide, error) { return m.server(c) }

// Present returns the presentation of a result, or nil for a result of another protocol. The job is
// nil in a program that gets only the result from a coordinator.
func (m *Protocol) Present(j *job.Job, r *Result) (*Presentation, error) {
	if m.present == nil {
		return nil, nil
	}
	return m.present(j, r)
}

// NoFile returns the place of a job's model, or the reason why there is none, such as "lies in parts with ...".
// It returns "" if a file holds the model, and for a job of kind Fit, which has none.
func (m *Protocol) NoFile(j *job.Job) string {
	if m.noFile == nil {
		return ""
	}
	return m.noFile(j)
}

// PartySide lets a daemon run one party of a job without knowing the type of the party's state.
type PartySide struct {
	State    any // the state, typed by the binding; only tests read it
	steps    []Step
	known    func() Public
	machine  func(step int, s Setup) (*Run, error)
	releases func(step int) ([]Release, error)

	Facts func() Facts
	// Optional functions; nil if the party does not have them:
	OwnFigures  func() error
	Keep        func(Closing) (RetainedState, error)
	Later       *Later
	Preparation func() *prepare.Preparation
	Notices     func() []string
	Order       func() []string
	Alignment   func() []byte // the alignment for later jobs that name it
	Judged      func() (*Judged, error)
	Recommended func() []Recommendation
	Answer      func() (*Prediction, error) // called after all sessions of a query have ended without error
	Draw        func(secret func(label string) [32]byte) error
	Model       func(io.Writer) error // writes the model that a device has received
}

// Later saves and restores the state that a later job continues from.
type Later struct {
	Earlier   job.ID
	Continues bool
	Lasts     func() bool
	Write     func(io.Writer) error
	Resume    func([]byte) error
}

// Unread returns a party whose table has not been read. It cannot build any step.
func Unread() *PartySide {
	return &PartySide{known: func() Public { return nil }, Facts: func() Facts { return Facts{} }}
}

// Public returns the values that the steps so far have made public.
func (h *PartySide) Public() Public { return h.known() }

// Build builds the machine of the i-th step of the plan.
func (h *PartySide) Build(i int, s Setup) (*Run, error) { return h.machine(i, s) }

// Releases returns the party's releases in the i-th step of the plan.
func (h *PartySide) Releases(i int) ([]Release, error) { return h.releases(i) }

// All returns the party's releases in the whole job, by step, as far as they are known.
func (h *PartySide) All(self string) ([][]Release, error) {
	all := make([][]Release, len(h.steps))
	for i, s := range h.steps {
		if s.Session == nil || !s.Session.Has(self) {
			continue
		}
		var err error
		if all[i], err = h.releases(i); err != nil {
			return nil, fmt.Errorf("method: releases of step %s: %w", s.Name, err)
		}
	}
	return all, nil
}

// CoordinatorSide lets a daemon run a job's coordinator without knowing the type of its state.
type CoordinatorSide struct {
	State    any // the state, typed by the binding; only tests read it
	steps    []Step
	known    func() Public
	machine  func(step int, s Setup) (*Run, error)
	compute  func(step int, ctx context.Context, r Reporter) error
	announce func(step int) ([]byte, error)
	ended    func(step int, e End)

	Result func() (*Result, error)
	// Optional functions; nil if the coordinator does not have them:
	Outcome  func() *Outcome
	Model    *ModelWriter
	Keep     func(Closing) (RetainedState, error)
	Later    *Later
	Prepared func() (*learner.Prepared, error)
	Snapshot func() ([]byte, error)
	Restore  func(snapshot []byte) error
}

// ModelWriter writes a model file. Private files never leave the coordinator.
type ModelWriter struct {
	Write   func(io.Writer) error
	Private bool
}

// Build builds the machine of the i-th step of the plan.
func (h *CoordinatorSide) Build(i int, s Setup) (*Run, error) { return h.machine(i, s) }

// Compute runs the i-th step of the plan, which is not a session.
func (h *CoordinatorSide) Compute(ctx context.Context, i int, r Reporter) error {
	return h.compute(i, ctx, r)
}

// Announce returns the announcement of the i-th step to the parties.
func (h *CoordinatorSide) Announce(i int) ([]byte, error) { return h.announce(i) }

// Ended tells the coordinator how the i-th step ended.
func (h *CoordinatorSide) Ended(i int, e End) { h.ended(i, e) }

// Public returns the values that the steps so far have made public.
func (h *CoordinatorSide) Public() Public { return h.known() }

// Answers reports whether members can retain the state to answer queries about new rows.
func (m *Protocol) Answers() bool { return m.answers != nil }

// OpenParty opens a party's retained state. The reader parses the job file that the state may hold.
// The result is a [Local] or an [Inquirer]. It is neither if the state answers no queries.
func (m *Protocol) OpenParty(k RetainedState, reader *job.Reader) (Erasable, error) {
	return m.answers.party(k, reader)
}

// OpenServer opens the coordinator's retained state for queries; model reads the model file if one
// was kept. OpenServer returns nil if the coordinator does not take part in queries.
func (m *Protocol) OpenServer(c Instance, k RetainedState, model func() ([]byte, error)) (Erasable, error) {
	if m.answers.server == nil {
		return nil, nil
	}
	return m.answers.server(c, k, model)
}

// typedInquirer implements [Inquirer] with the functions of AnswersOf.
type typedInquirer[L, P, S, K any] struct{ a AnswersOf[L, P, S, K] }

// Opened converts typed functions to an [Inquirer] that has no type parameters.
func Opened[L, P, S, K any](a AnswersOf[L, P, S, K]) Erasable { return typedInquirer[L, P, S, K]{a} }

func (o typedInquirer[L, P, S, K]) Erase()                    { o.a.Erase(o.a.Kept) }
func (o typedInquirer[L, P, S, K]) Among(q Question) []string { return o.a.Among(o.a.Kept, q) }
func (o typedInquirer[L, P, S, K]) Fits(q Question, set *dataset.Set) error {
	return o.a.Fits(o.a.Kept, q, set)
}

func (o typedInquirer[L, P, S, K]) Plan(q Question) ([]Step, error) {
	steps, err := o.a.Steps(o.a.Kept, q)
	if err != nil {
		return nil, err
	}
	return PlanOf(q.Instance, steps)
}

func (o typedInquirer[L, P, S, K]) Party(q Question, self string, t Table) (*PartySide, error) {
	p, err := o.a.NewParty(o.a.Kept, q, self, t)
	if err != nil {
		return nil, err
	}
	steps, err := o.a.Steps(o.a.Kept, q)
	h := queryBinding(o.a).holder(p, q.Instance, steps)
	h.Answer = with2(p, o.a.Answer)
	return h, err
}

func (o typedInquirer[L, P, S, K]) Server(q Question) (*CoordinatorSide, error) {
	s, err := o.a.NewServer(o.a.Kept, q)
	if err != nil {
		return nil, err
	}
	steps, err := o.a.Steps(o.a.Kept, q)
	return queryBinding(o.a).hub(s, q.Instance, steps), err
}

// queryBinding returns the binding of a query. It lacks the functions that only jobs need.
func queryBinding[L, P, S, K any](a AnswersOf[L, P, S, K]) Binding[P, S, K] {
	return Binding[P, S, K]{
		Public: a.Public, PublicServer: a.PublicServer, Facts: NoFacts[P],
		Ended:  IgnoresEnds[S],
		Result: func(*S) (*Result, error) { return nil, errors.New("method: a query has no result; only a job has one") },
	}
}

// Equal reports whether m and o are the same pointer. Tests of job files use it, because functions
// cannot be compared.
func (m *Protocol) Equal(o *Protocol) bool { return m == o }

// Recommendation is an item with its score.
type Recommendation struct {
	Item  string  `json:"item"`
	Score float64 `json:"score"`
}

// End describes how a session went, as its parties reported it.
type End struct {
	Session        protocol.SessionID
	Asked          []string                            // members that were asked to take part in the session, the coordinator included
	Stayed         []string                            // parties that completed the session, in the members' order
	Sent, Received uint64                              // message bytes of all parties that have reported; in jobs of devices, as the server has counted them
	Facts          Facts                               // facts of all parties, joined
	Words          map[string]learner.FigurePermission // each party's decision on metrics over its own rows
}

// Reporter is a function that receives progress reports; it may be nil.
type Reporter func(protocol.Progress)

// Counts returns a function through which a learner reports its progress in one part of a step. It
// returns nil if r is nil.
func (r Reporter) Counts(part string) func(done, total int) error {
	if r == nil {
		return nil
	}
	return func(done, total int) error {
		r(protocol.Progress{Stage: part, Done: int64(done), Total: int64(total)})
		return nil
	}
}
