package okra

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// A continued session names the previous session as its parent and uses the same seed. Rounds 3 and
// 4 are those of a first session. In round 1, parties of the epoch consent to newcomers, and the
// leader sends each newcomer the seed after the last consent. In round 2, every party confirms the
// rows that it has sent before and announces the rows to come.
const (
	kindConsent = "Consent"
	kindWelcome = "Welcome"
	kindConfirm = "Confirm"
)

// EpochState holds the data that a party needs to take part in a later session of the epoch. It is
// secret: it holds the epoch's seed.
type EpochState struct {
	Origin   protocol.SessionID // the session with which the epoch began
	Session  protocol.SessionID // the last session of the epoch
	Seed     Seed
	Holders  []string // the members that have the seed, including former parties
	Features int
	Rows     int    // number of this party's rows that the server keeps
	Sent     Digest // hash of the kept rows and their labels
	Labels   bool   // whether the rows of the epoch have labels
	// Preparation describes how rows are prepared before they are encoded. The leader sends it to
	// newcomers with the seed. Its format is the caller's.
	Preparation []byte
}

// MaxPreparation limits the bytes of [EpochState].Preparation, so that one message can hold it and
// the seed.
const MaxPreparation = 384 << 10

// Emptied returns the state of a party whose rows the server has deleted; see [Base.Emptied].
func (s EpochState) Emptied() EpochState {
	s.Rows, s.Sent = 0, Digest{}
	return s
}

// EpochState returns the data that the party needs to take part in a later session of the epoch. It
// is valid once this session has ended without error. The input of a first session must have Kept
// set.
func (p *Party) EpochState() EpochState {
	s := EpochState{
		Origin: p.origin, Session: p.setup.Session.ID(), Seed: p.epoch, Holders: p.holders,
		Features: p.features, Rows: p.allRows(), Labels: p.labelled(), Preparation: p.preparation,
	}
	switch {
	case p.digest != nil:
		s.Sent = Digest(p.digest.Sum(nil))
	case p.before != nil:
		s.Sent = p.before.Sent
	}
	return s
}

// continues tells whether this session continues an earlier session.
func (p *Party) continues() bool { return p.before != nil || p.late }

// allRows returns the number of the party's rows, including those of earlier sessions.
func (p *Party) allRows() int {
	if p.before != nil {
		return p.before.Rows + p.rows
	}
	return p.rows
}

func (p *Party) labelled() bool {
	if p.before != nil && p.rows == 0 {
		return p.before.Labels
	}
	return p.input.Labels != nil
}

// segment starts the hash of this session's data, and returns the first bytes to be hashed. It
// returns nil if this session's data are not hashed.
func (p *Party) segment() []byte {
	if p.rows == 0 || !p.input.Kept && !p.continues() {
		return nil
	}
	var before Digest
	if p.before != nil {
		before = p.before.Sent
	}
	p.digest = sha256.New()
	return before.segment(p.rows, p.upload.layout.width)
}

// hashSent adds sent data to the party's digest, if this session's data are hashed.
func (p *Party) hashSent(sent []byte) {
	if p.digest != nil {
		p.digest.Write(sent)
	}
}

// NewContinuingParty returns the machine of a party that took part in the previous session. The
// argument input holds the new rows of the party. Without new rows, the party confirms its old rows
// and sends no rows. The leader of a continued session must have taken part in the previous one.
func NewContinuingParty(s protocol.Setup, p Params, before EpochState, input Input) (*Party, error) {
	if s.Session.Parent != before.Session {
		return nil, errors.New("okra: the session's parent is not the session that this party has kept; name the kept session as the parent")
	}
	party := &Party{}
	if rows, _ := input.shape(); rows > 0 {
		var err error
		if party, err = NewParty(s, p, input); err != nil {
			return nil, err
		}
		if party.features != before.Features {
			return nil, fmt.Errorf("okra: the new rows have %d features and the earlier rows %d; use the same columns", party.features, before.Features)
		}
	} else {
		d, err := newCore(s, p, protocol.RoleParty, protocol.RoleLeader)
		if err != nil {
			return nil, err
		}
		if n := len(s.Session.With(protocol.RoleLeader)); n != 1 {
			return nil, fmt.Errorf("okra: the session has %d leaders; a training session has exactly one", n)
		}
		party = &Party{core: d, params: p, input: input, hash: input.Hash(), features: before.Features}
	}
	if len(before.Preparation) > MaxPreparation {
		return nil, fmt.Errorf("okra: the preparation of rows has %d bytes; at most %d can be sent to a newcomer; start a new session", len(before.Preparation), MaxPreparation)
	}
	party.before, party.origin, party.preparation = &before, before.Origin, before.Preparation
	party.holders = union(before.Holders, party.parties())
	return party, nil
}

// Prepare returns a newcomer's rows, prepared in the same way as the other parties' rows. It also
// reports whether the prepared rows lie on a grid. The argument is [EpochState].Preparation.
// Prepare is a pure function. An error marked as bad input is about the newcomer's own rows; any
// other error is about the preparation.
type Prepare func(preparation []byte) (rows linalg.Rows, grid bool, err error)

// NewLateParty returns the machine of a party that joins an epoch late. The leader sends it the
// seed after every party with the seed has consented. When the preparation arrives, the party calls
// the function prepare, which returns the rows to encode. The argument input holds the same number
// of rows before the preparation; their hash serves to detect changed rows. If prepare is nil, the
// party encodes the rows of input as they are.
func NewLateParty(s protocol.Setup, p Params, input Input, prepare Prepare) (*Party, error) {
	if s.Session.Parent == (protocol.SessionID{}) {
		return nil, errors.New("okra: the session has no parent; a newcomer's session must name the session that it continues")
	}
	if s.Session.RoleOf(s.Self) == protocol.RoleLeader {
		return nil, errors.New("okra: the newcomer is the session's leader, but the leader must have the epoch's seed; put another party first")
	}
	party, err := newParty(s, p, input)
	if err == nil && prepare == nil {
		err = party.fits()
	}
	if err != nil {
		return nil, err
	}
	party.late, party.prepare = true, prepare
	return party, nil
}

// union returns the names of both lists without duplicates.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// newcomers returns the members that do not have the seed.
func (p *Party) newcomers() (names []string) {
	for _, name := range p.parties() {
		if !slices.Contains(p.before.Holders, name) {
			names = append(names, name)
		}
	}
	return names
}

// sendWelcomes sends every newcomer the seed.
func (p *Party) sendWelcomes() (protocol.Effects, error) {
	body := welcome{seedBody{p.before.Seed, p.features}, p.origin, p.before.Holders, p.preparation}.encode()
	var sends []protocol.Message
	for _, name := range p.newcomers() {
		sends = append(sends, p.setup.Message(name, roundSeed, kindWelcome, body))
	}
	return p.begin(p.before.Seed, sends)
}

// mismatch returns the error for a party if its rows and the leader's rows have different numbers
// of features.
func (p *Party) mismatch(leader string, features int) error {
	return &MismatchError{
		Parties: []string{p.setup.Self},
		Detail:  fmt.Sprintf("%s (the leader) has rows of %d features, %s has rows of %d; agree on the columns", leader, features, p.setup.Self, p.features),
		public:  fmt.Sprintf("%s and %s (the leader) have different numbers of features; see %s's log for the numbers, and agree on the columns", p.setup.Self, leader, p.setup.Self),
	}
}

// consent is a party's agreement that the session's newcomers receive the seed.
type consent struct{ tag Tag }

func (c consent) encode() []byte {
	var w wire.Writer
	w.Fixed(c.tag[:])
	return w.Bytes()
}

func decodeConsent(body []byte) (c consent, err error) {
	r := wire.NewReader(body)
	r.Fixed(c.tag[:])
	return c, r.Close("okra: consent")
}

// welcome is the message that gives a newcomer the epoch's seed.
type welcome struct {
	seedBody
	origin      protocol.SessionID
	holders     []string
	preparation []byte
}

func (b welcome) encode() []byte {
	var w wire.Writer
	w.Fixed(b.seedBody.encode())
	w.Fixed(b.origin[:])
	w.Strings(b.holders)
	w.Bytes32(b.preparation)
	return w.Bytes()
}

func decodeWelcome(body []byte) (b welcome, err error) {
	r := wire.NewReader(body)
	r.Fixed(b.seed[:])
	b.features = int(r.Uint32())
	r.Fixed(b.origin[:])
	b.holders = r.Strings(protocol.MaxMembers, protocol.MaxNameBytes)
	b.preparation = r.Bytes32(MaxPreparation)
	if r.Err() == nil && (b.features < 1 || b.features > MaxFeatures) {
		r.Fail(fmt.Errorf("the leader's rows have %d features; 1 to %d are allowed", b.features, MaxFeatures))
	}
	return b, r.Close("okra: welcome")
}

// confirm is an announcement in a continued session. It can announce 0 rows.
type confirm struct {
	announce
	kept int    // number of the party's rows in earlier sessions
	sent Digest // hash of the data sent in earlier sessions
}

func (p *Party) confirm(a announce) confirm {
	a.labelled = p.labelled()
	c := confirm{announce: a}
	if p.before != nil {
		c.kept, c.sent = p.before.Rows, p.before.Sent
	}
	return c
}

func (c confirm) encode() []byte {
	var w wire.Writer
	w.Fixed(c.announce.encode())
	w.Uint32(uint32(c.kept))
	w.Fixed(c.sent[:])
	return w.Bytes()
}
