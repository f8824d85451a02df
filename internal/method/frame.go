package method

import (
	"context"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol"
)

// StepOf is one step of a job's plan, typed by the binding's party P, server S and public values K.
// Exactly one of Session and Compute is set. No code looks a step up by its name.
type StepOf[P, S, K any] struct {
	Name string // the step's key in the result's timings

	// Session holds the settings that the job alone determines, such as possible members and
	// message kinds. Follow, if not nil, completes it from the public values so far. Both are the
	// same at every member.
	Session *Session
	Follow  func(s Session, public K, announced []byte) (*Session, error)

	Party    func(*P, Setup) (*Run, error)
	Server   func(*S, Setup) (*Run, error) // nil if the coordinator is not a member
	Releases func(*P) ([]Release, error)   // required in a session: returns this party's releases, as far as they are known

	Announce func(*S) ([]byte, error) // nil: the server announces nothing
	Ended    func(*S, End)            // runs after the step's session has ended without error; may be nil
	Compute  func(*S, context.Context, Reporter) error

	// Cost returns the cost of the step, for [Protocol.Forecast]. The session is nil in a computation of
	// the coordinator. Forecast refuses a job with a step without Cost.
	Cost func(Sizes, *protocol.Session) (protocol.Cost, error)
}

// ReleasesNothing returns no releases. It serves as Releases of a session in which a party releases
// nothing that its ledger counts.
func ReleasesNothing[P any](*P) ([]Release, error) { return nil, nil }

// Lift converts steps over a part of a binding's state to steps of the binding. party, server and
// public extract the part's state from the binding's state.
func Lift[P, S, K, Q, T, L any](party func(*P) *Q, server func(*S) *T, public func(K) L, steps []StepOf[Q, T, L]) []StepOf[P, S, K] {
	out := make([]StepOf[P, S, K], len(steps))
	for i, s := range steps {
		o := StepOf[P, S, K]{Name: s.Name, Session: s.Session, Cost: s.Cost}
		if s.Follow != nil {
			o.Follow = func(b Session, k K, a []byte) (*Session, error) { return s.Follow(b, public(k), a) }
		}
		if s.Party != nil {
			o.Party = func(p *P, in Setup) (*Run, error) { return s.Party(party(p), in) }
		}
		if s.Server != nil {
			o.Server = func(of *S, in Setup) (*Run, error) { return s.Server(server(of), in) }
		}
		if s.Releases != nil {
			o.Releases = func(p *P) ([]Release, error) { return s.Releases(party(p)) }
		}
		if s.Announce != nil {
			o.Announce = func(of *S) ([]byte, error) { return s.Announce(server(of)) }
		}
		if s.Ended != nil {
			o.Ended = func(of *S, e End) { s.Ended(server(of), e) }
		}
		if s.Compute != nil {
			o.Compute = func(of *S, ctx context.Context, r Reporter) error { return s.Compute(server(of), ctx, r) }
		}
		out[i] = o
	}
	return out
}

// Before returns a copy of the step in which each party first calls the function do, and then
// builds its machine.
func (s StepOf[P, S, K]) Before(do func(*P) error) StepOf[P, S, K] {
	build := s.Party
	s.Party = func(p *P, in Setup) (*Run, error) {
		if err := do(p); err != nil {
			return nil, err
		}
		return build(p, in)
	}
	return s
}

// check refuses a step that lacks its name or a required function, and a step whose Session, Compute
// and Server contradict each other.
func (s StepOf[P, S, K]) check(coordinator string) error {
	lacks := func(what string) error { return fmt.Errorf("method: step %q has no %s", s.Name, what) }
	switch {
	case s.Name == "":
		return lacks("name")
	case (s.Session == nil) == (s.Compute == nil):
		return fmt.Errorf("method: step %q must be either a session or a computation", s.Name)
	case s.Session == nil:
		return nil
	case s.Party == nil:
		return lacks("Party")
	case s.Releases == nil:
		return lacks("Releases; write method.ReleasesNothing if it releases nothing")
	case (s.Server != nil) != s.Session.Has(coordinator):
		return fmt.Errorf("method: step %q: Server must be set if and only if the coordinator is a member; member: %t, Server set: %t", s.Name, s.Session.Has(coordinator), s.Server != nil)
	}
	return nil
}

// untyped returns the untyped step that the runtime uses.
func (s StepOf[P, S, K]) untyped() Step {
	if s.Session == nil || s.Follow == nil {
		return Step{Name: s.Name, Session: s.Session}
	}
	base := *s.Session
	out := base
	out.Follow = func(k Public, announced []byte) (*Session, error) {
		public, _ := k.(K) // public is the zero value if no state exists yet
		return s.Follow(base, public, announced)
	}
	return Step{Name: s.Name, Session: &out}
}

// From returns a function Follow that derives a session's parameters from public values. Follow
// refuses an announcement.
func From[K any](params func(K) ([]byte, error)) func(Session, K, []byte) (*Session, error) {
	return func(s Session, public K, announced []byte) (*Session, error) {
		if len(announced) > 0 {
			return nil, errAnnounced
		}
		var err error
		s.Params, err = params(public)
		return &s, err
	}
}

// Binding connects a protocol to learners. Its functions work on the protocol's party P, server S
// and public values K.
type Binding[P, S, K any] struct {
	Name   string
	Traits job.Traits
	Keys   func() job.Settings
	Steps  func(Instance) ([]StepOf[P, S, K], error) // every member computes the same steps from public values

	NewParty     func(Instance, string, Table) (*P, error)
	NewServer    func(Instance) (*S, error)
	Public       func(*P) K // values that the steps so far have made public; PublicServer returns the same values
	PublicServer func(*S) K
	Facts        func(*P) Facts // set to NoFacts if there are no facts
	Minimums     func(Limits, *job.Job) error
	Result       func(*S) (*Result, error)
	Ended        func(*S, End) // runs after every session that has ended without error; set to IgnoresEnds to do nothing

	// Optional parts; nil if the binding does not have them.
	Foresee    func(Instance, Sizes) (K, error) // returns the public values that a job over tables of these sizes will have, for [Protocol.Forecast]
	Model      *ModelOf[S]
	Outcome    func(*S) *Outcome
	OwnFigures func(*P) error // refuses metrics over the party's own held-out rows if these rows are too few
	Later      *LaterOf[P, S] // lets a later job continue this job
	Questions  *QuestionsOf[P, S]
	Prepares   *PreparesOf[P, S]
	Hands      *HandsOf[P] // returns results for the party's own operator alone
	Devices    *DevicesOf[P, S]
	Present    func(*job.Job, *Result) (*Presentation, error)
	NoFile     func(*job.Job) string // says where the model is if no file holds it
}

// The optional parts of a binding.
type (
	// ModelOf writes a model file.
	ModelOf[S any] struct {
		Write   func(*S, io.Writer) error
		Private bool // the model file holds encoded rows and never leaves the coordinator
	}
	// LaterOf saves and restores the state that a later job continues from.
	LaterOf[P, S any] struct {
		Continues    func(*job.Job) (job.ID, bool)
		Lasts        func(*P) bool
		LastsServer  func(*S) bool
		Write        func(*P, io.Writer) error
		WriteServer  func(*S, io.Writer) error
		Resume       func(*P, []byte) error // continues from the party's saved state, which is nil if nothing was saved
		ResumeServer func(*S, []byte) error
	}
	// QuestionsOf retains the state that answers queries about new rows. The members of a query
	// have types of their own.
	QuestionsOf[P, S any] struct {
		Keep       func(*P, Closing) (RetainedState, error)
		KeepServer func(*S, Closing) (RetainedState, error)
		OpenParty  func(RetainedState, *job.Reader) (Erasable, error)
		OpenServer func(Instance, RetainedState, func() ([]byte, error)) (Erasable, error)
		Left       func([]byte) bool
	}
	// PreparesOf returns the preparation of tables with a schema, and notices to a party's operator about any table.
	PreparesOf[P, S any] struct {
		Made    func(*P) *prepare.Preparation
		Heard   func(*S) (*learner.Prepared, error)
		Notices func(*P) []string
	}
	// DevicesOf holds the functions of a protocol whose members are devices instead of parties.
	DevicesOf[P, S any] struct {
		Serves func(*job.Job) error // returns nil if devices can run the job
		// Passing states that each session can run without the sessions before it. A device that
		// misses a session takes part in the next one. All members erase a session once the next
		// has begun.
		Passing bool
		// Draw derives a device's random values for the job from labelled secrets. After a restart
		// the device derives the same values.
		Draw func(*P, func(label string) [32]byte) error
		// Model writes the values that the device has received.
		Model func(*P, io.Writer) error
		// Snapshot and Restore move a server's state to another process between two steps. That
		// process continues without the sessions of earlier steps.
		Snapshot func(*S) ([]byte, error)
		Restore  func(*S, []byte) error
	}
	// HandsOf returns what stays at a party: results for its own operator, and the alignment for later jobs.
	HandsOf[P any] struct {
		Order       func(*P) []string
		Alignment   func(*P) []byte // the alignment for later jobs that name it; nil for none
		Judged      func(*P) (*Judged, error)
		Recommended func(*P) []Recommendation
	}
)

// NoFacts returns no facts. It serves as Facts of a binding without them.
func NoFacts[P any](*P) Facts { return Facts{} }

// IgnoresEnds does nothing. It serves as Ended of a server that ignores how sessions end.
func IgnoresEnds[S any](*S, End) {}

// NoMinimums accepts every job. It serves as Minimums of a binding that sets none.
func NoMinimums(Limits, *job.Job) error { return nil }

// missingField returns the name of a required field that the binding does not set, or "".
func (b Binding[P, S, K]) missingField() string {
	l, q, d := b.Later, b.Questions, b.Devices
	switch {
	case b.Name == "":
		return "Name"
	case b.Keys == nil:
		return "Keys"
	case b.Steps == nil:
		return "Steps"
	case b.NewParty == nil || b.NewServer == nil:
		return "NewParty or NewServer"
	case b.Public == nil || b.PublicServer == nil:
		return "Public or PublicServer"
	case b.Facts == nil:
		return "Facts (method.NoFacts says that there are none)"
	case b.Minimums == nil:
		return "Minimums (method.NoMinimums says that there are none)"
	case b.Result == nil:
		return "Result"
	case b.Ended == nil:
		return "Ended (method.IgnoresEnds says that nothing is done)"
	case b.Model != nil && b.Model.Write == nil:
		return "Model.Write"
	case l != nil && (l.Continues == nil || l.Lasts == nil || l.LastsServer == nil || l.Write == nil || l.WriteServer == nil || l.Resume == nil || l.ResumeServer == nil):
		return "a function of Later"
	case q != nil && (q.Keep == nil || q.OpenParty == nil || q.Left == nil || (q.KeepServer == nil) != (q.OpenServer == nil)):
		return "a function of Questions"
	case d != nil && (d.Serves == nil || d.Draw == nil || d.Model == nil || d.Snapshot == nil || d.Restore == nil):
		return "a function of Devices"
	}
	return ""
}

// New checks a binding and returns it as an untyped Protocol. It panics if a required function is
// missing, so that every start of the program finds the mistake.
func New[P, S, K any](b Binding[P, S, K]) *Protocol {
	if what := b.missingField(); what != "" {
		panic("method: binding " + b.Name + " lacks " + what)
	}
	m := &Protocol{name: b.Name, traits: b.Traits, keys: b.Keys, minimums: b.Minimums, present: b.Present, noFile: b.NoFile}
	m.plan = func(c Instance) ([]Step, error) {
		steps, err := b.Steps(c)
		if err != nil {
			return nil, err
		}
		return PlanOf(c, steps)
	}
	m.forecast = b.forecast
	m.party = func(c Instance, self string, t Table) (*PartySide, error) {
		p, err := b.NewParty(c, self, t)
		if err != nil {
			return nil, err
		}
		steps, err := b.Steps(c)
		return b.holder(p, c, steps), err
	}
	m.server = func(c Instance) (*CoordinatorSide, error) {
		s, err := b.NewServer(c)
		if err != nil {
			return nil, err
		}
		steps, err := b.Steps(c)
		return b.hub(s, c, steps), err
	}
	if q := b.Questions; q != nil {
		m.answers = &opener{q.OpenParty, q.OpenServer, q.Left}
	}
	if d := b.Devices; d != nil {
		m.devices = &served{d.Serves, d.Passing}
	}
	return m
}

// PlanOf converts typed steps to the steps that the runtime uses. It refuses a step that is incomplete
// or contradicts itself.
func PlanOf[P, S, K any](c Instance, steps []StepOf[P, S, K]) ([]Step, error) {
	plan := make([]Step, len(steps))
	for i, s := range steps {
		if err := s.check(c.Coordinator); err != nil {
			return nil, err
		}
		plan[i] = s.untyped()
	}
	return plan, nil
}

// bindState binds a function to its state and returns nil for a nil function.
func bindState[P, R any](state *P, f func(*P) R) func() R {
	if f == nil {
		return nil
	}
	return func() R { return f(state) }
}

func with1[P, A, R any](state *P, f func(*P, A) R) func(A) R {
	if f == nil {
		return nil
	}
	return func(a A) R { return f(state, a) }
}

func with2[P, R any](state *P, f func(*P) (R, error)) func() (R, error) {
	if f == nil {
		return nil
	}
	return func() (R, error) { return f(state) }
}

func with3[P, A, R any](state *P, f func(*P, A) (R, error)) func(A) (R, error) {
	if f == nil {
		return nil
	}
	return func(a A) (R, error) { return f(state, a) }
}

func (b Binding[P, S, K]) holder(p *P, c Instance, steps []StepOf[P, S, K]) *PartySide {
	h := &PartySide{
		State: p, Facts: bindState(p, b.Facts), OwnFigures: bindState(p, b.OwnFigures),
		known:    func() Public { return b.Public(p) },
		machine:  func(i int, in Setup) (*Run, error) { return steps[i].Party(p, in) },
		releases: func(i int) ([]Release, error) { return steps[i].Releases(p) },
	}
	for _, s := range steps {
		h.steps = append(h.steps, Step{Name: s.Name, Session: s.Session})
	}
	if q := b.Questions; q != nil {
		h.Keep = with3(p, q.Keep)
	}
	if l := b.Later; l != nil {
		h.Later = &Later{Lasts: bindState(p, l.Lasts), Write: with1(p, l.Write), Resume: with1(p, l.Resume)}
		h.Later.Earlier, h.Later.Continues = l.Continues(c.Job)
	}
	if r := b.Prepares; r != nil {
		h.Preparation, h.Notices = bindState(p, r.Made), bindState(p, r.Notices)
	}
	if o := b.Hands; o != nil {
		h.Order, h.Alignment, h.Recommended, h.Judged = bindState(p, o.Order), bindState(p, o.Alignment), bindState(p, o.Recommended), with2(p, o.Judged)
	}
	if d := b.Devices; d != nil {
		h.Draw, h.Model = with1(p, d.Draw), with1(p, d.Model)
	}
	return h
}

func (b Binding[P, S, K]) hub(s *S, c Instance, steps []StepOf[P, S, K]) *CoordinatorSide {
	h := &CoordinatorSide{
		State: s, Result: with2(s, b.Result), Outcome: bindState(s, b.Outcome),
		known:   func() Public { return b.PublicServer(s) },
		machine: func(i int, in Setup) (*Run, error) { return steps[i].Server(s, in) },
		compute: func(i int, ctx context.Context, r Reporter) error { return steps[i].Compute(s, ctx, r) },
		announce: func(i int) ([]byte, error) {
			if steps[i].Announce == nil {
				return nil, nil
			}
			return steps[i].Announce(s)
		},
		ended: func(i int, e End) {
			b.Ended(s, e)
			if steps[i].Ended != nil {
				steps[i].Ended(s, e)
			}
		},
	}
	for _, one := range steps {
		h.steps = append(h.steps, Step{Name: one.Name, Session: one.Session})
	}
	if b.Model != nil {
		h.Model = &ModelWriter{Write: with1(s, b.Model.Write), Private: b.Model.Private}
	}
	if q := b.Questions; q != nil {
		h.Keep = with3(s, q.KeepServer)
	}
	if l := b.Later; l != nil {
		h.Later = &Later{Lasts: bindState(s, l.LastsServer), Write: with1(s, l.WriteServer), Resume: with1(s, l.ResumeServer)}
		h.Later.Earlier, h.Later.Continues = l.Continues(c.Job)
	}
	if r := b.Prepares; r != nil {
		h.Prepared = with2(s, r.Heard)
	}
	if d := b.Devices; d != nil {
		h.Snapshot, h.Restore = with2(s, d.Snapshot), with1(s, d.Restore)
	}
	return h
}

// AnswersOf holds the functions with which members answer a query in sessions. L is the type of the
// retained state. P and S are the types of a party and of the coordinator during a query, and K is the
// type of the query's public values.
type AnswersOf[L, P, S, K any] struct {
	Kept         *L
	Erase        func(*L)
	Among        func(*L, Question) []string
	Fits         func(*L, Question, *dataset.Set) error
	Steps        func(*L, Question) ([]StepOf[P, S, K], error)
	NewParty     func(*L, Question, string, Table) (*P, error)
	NewServer    func(*L, Question) (*S, error)
	Public       func(*P) K
	PublicServer func(*S) K
	Answer       func(*P) (*Prediction, error)
}
