package psi

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Every message has one of these rounds and kinds.
const (
	roundAnnounce = 1
	kindAnnounce  = "Announce" // size of the sender's set and the sender's part of the key; goes to the other parties
	kindCount     = "Count"    // size of the sender's set; goes to the comparer
	roundBlind    = 2
	kindBlinded   = "Blinded"
	roundTokens   = 3
	kindTokens    = "Tokens"
	roundCommon   = 4
	kindCommon    = "Common"
	kindNone      = "None"
	roundConfirm  = 5
	kindConfirm   = "Confirm"
	roundProof    = 6
	kindProof     = "Proof"
)

// TimerNext limits how long a member waits for the next message. Every message that the member
// accepts restarts the timer. The timer must outlast the slowest party's work on the largest set,
// because with three or more parties a set is passed on only when it is complete.
const TimerNext protocol.Timer = "psi/next"

// core holds the state that a Party and a Server both have.
type core struct {
	setup   protocol.Setup
	life    protocol.Life
	params  Params
	parties []string // names in the descriptor's order; their indices identify the sets
	sizing  sizing
}

func newCore(s protocol.Setup, p Params, size sizing, roles ...protocol.Role) (core, error) {
	if err := s.Check(Name, Version, roles...); err != nil {
		return core{}, err
	}
	if err := validate(s.Session, p); err != nil {
		return core{}, err
	}
	return core{setup: s, params: p, parties: partiesOf(s.Session), sizing: size}, nil
}

// validate returns an error if this protocol cannot run the session. A session has two parties
// alone, or more parties with one server, the comparer.
func validate(s *protocol.Session, p Params) error {
	parties, servers := len(partiesOf(s)), len(s.With(protocol.RoleServer))
	switch {
	case string(s.Params) != string(p.Encode()):
		return errors.New("psi: the parameters differ from the session's descriptor")
	case parties < 2 || parties > MaxParties || parties+servers != len(s.Members):
		return fmt.Errorf("psi: a session requires 2 to %d parties and no other member but a server; this session has %d parties among %d members", MaxParties, parties, len(s.Members))
	case parties == 2 && servers != 0:
		return errors.New("psi: two parties compare their sets themselves; leave the server out")
	case parties > 2 && servers != 1:
		return fmt.Errorf("psi: %d parties require one server to compare their sets; this session has %d", parties, servers)
	}
	return nil
}

// index returns the named party's position among the parties, or -1 if no party has the name.
func (d *core) index(name string) int {
	for i, p := range d.parties {
		if p == name {
			return i
		}
	}
	return -1
}

// around returns the index of the party that is step positions after party i in the ring.
func (d *core) around(i, step int) int { return (i + step + len(d.parties)) % len(d.parties) }

// machine holds the methods that differ between a party and the comparer.
type machine interface {
	start(protocol.Start) (protocol.Effects, error)
	receive(protocol.Message) (protocol.Effects, error)
	resume() (protocol.Effects, error)
	// busy reports whether resume has work to do.
	busy() bool
	// debtor names the member whose message is missing, and describes the message. Both are "" if
	// none is missing, or if this member's own work comes first.
	debtor() (name, what string)
}

// step passes the event e to the machine m. It requests another step if m has more work.
func (d *core) step(m machine, e protocol.Event) (protocol.Effects, error) {
	eff, err := d.life.Step(d.setup, e, protocol.Handlers{
		Start: m.start, Receive: m.receive, Resume: m.resume,
		Expire: func(t protocol.Timer) (protocol.Effects, error) { return d.expire(m, t) },
	})
	if err != nil || eff.End != nil {
		return eff, err
	}
	eff.Resume = m.busy()
	if _, resumed := e.(protocol.Resumed); !resumed {
		eff.Arm = []protocol.Timer{TimerNext}
	}
	return eff, nil
}

// expire ends the session if a message from another member is missing. A timer that runs out
// during the member's own work restarts.
func (d *core) expire(m machine, t protocol.Timer) (protocol.Effects, error) {
	if t != TimerNext {
		return protocol.Effects{}, fmt.Errorf("psi: there is no timer %q", t)
	}
	name, what := m.debtor()
	if name == "" {
		return protocol.Effects{}, nil
	}
	return end(protocol.Blame(name, protocol.KindSilent, fmt.Errorf("psi: %s did not arrive in time", what)))
}

// end ends the session with an error.
func end(err error) (protocol.Effects, error) { return protocol.Finish(protocol.Effects{}, err) }

// errIdle refuses a Resumed event that the machine did not request.
var errIdle = errors.New("psi: the machine has no work to resume")

// message returns the message with chunk i of the n chunks of a set. The argument owner is the
// index of the party that owns the set.
func (d *core) message(to string, round uint16, kind string, owner, i, n int, body []byte) protocol.Message {
	m := d.setup.Message(to, round, kind, body).Piece(i, n)
	m.Sequence = uint32(owner)
	return m
}

// single returns an error unless the message has one chunk, no sequence number and a body of the
// given length.
func single(m protocol.Message, bytes int) error {
	if m.Sequence != 0 || m.Chunk != 0 || m.Chunks != 1 {
		return m.Unexpected()
	}
	if len(m.Body) != bytes {
		return m.Malformed(fmt.Errorf("psi: the body has %d bytes; %d are required", len(m.Body), bytes))
	}
	return nil
}

// Name and Version appear in the descriptor of every session.
const (
	Name           = "psi"
	Version uint16 = 1
)

// Every session has these limits.
const (
	MaxIDs     = 1 << 22 // largest "max_ids" that a session may set
	MaxIDBytes = 1 << 10 // largest length of an id
	MaxParties = 64
)

// DefaultMaxIDs is the default of Spec.MaxIDs.
const DefaultMaxIDs = 1 << 20

// Spec holds a job's settings for the alignment of rows.
type Spec struct {
	// MaxIDs bounds the ids that a party may bring. It also bounds the ids that a party can
	// look for in the others' sets. 0 means 1,048,576.
	MaxIDs int `yaml:"max_ids"`
}

// Params is a validated [Spec]. It never changes.
type Params struct{ spec Spec }

// NewParams replaces zero settings of s by their defaults and validates the result.
func NewParams(s Spec) (Params, error) {
	if s.MaxIDs == 0 {
		s.MaxIDs = DefaultMaxIDs
	}
	if s.MaxIDs < 1 || s.MaxIDs > MaxIDs {
		return Params{}, fmt.Errorf("psi: max_ids is %d; choose 1 to %d", s.MaxIDs, MaxIDs)
	}
	return Params{s}, nil
}

// Spec returns the settings, including the defaults.
func (p Params) Spec() Spec { return p.spec }

// Encode returns the canonical encoding, which goes into Descriptor.Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/psi")
	w.Uint32(uint32(p.spec.MaxIDs))
	return w.Bytes()
}

// DecodeParams decodes and validates the bytes that Encode returns.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	if s := r.String(32); r.Err() == nil && s != "mercer/v1/psi" {
		r.Fail(errors.New("the parameters are not for psi"))
	}
	n := r.Uint32()
	if r.Err() == nil && (n < 1 || n > MaxIDs) {
		r.Fail(fmt.Errorf("max_ids is %d; 1 to %d are allowed", n, MaxIDs))
	}
	if err := r.Close("psi: parameters"); err != nil {
		return Params{}, err
	}
	return Params{Spec{MaxIDs: int(n)}}, nil
}

// sizing limits the size of messages and steps. Real sessions use the values of bulk, some tests
// smaller ones.
type sizing struct {
	elements  int // largest number of elements in one message, and that one step multiplies
	positions int // largest number of positions in one message
	messages  int // largest number of messages that one step may send
}

// bulk returns the limits that real sessions use. Some tests use lower limits. A step multiplies at most
// 2,048 elements, which takes one core about 100 ms. A message has at most 64 KiB, so that a
// journal can store the message in the log itself.
func bulk() sizing { return sizing{elements: 2048, positions: 8192, messages: 32} }

// chunks returns the number of messages that carry n items. It is at least 1.
func chunks(n, each int) int { return max(1, (n+each-1)/each) }

// partiesOf returns the names of the parties that hold ids, in the descriptor's order.
func partiesOf(s *protocol.Session) []string {
	return s.With(protocol.RoleLeader, protocol.RoleParty)
}
