package okra

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// The timers of a session, whose durations are configured. Each limits the time between two
// messages, not a round. A waiting member rearms its timer with every message that it accepts, so
// that a slow upload continues while it makes progress.
const (
	TimerSeed     protocol.Timer = "okra/seed"     // a party waits for the seed from the leader
	TimerAnnounce protocol.Timer = "okra/announce" // the server waits for announcements
	TimerRows     protocol.Timer = "okra/rows"     // the server waits for rows
	TimerConsent  protocol.Timer = "okra/consent"  // the leader waits for the consent to newcomers
	TimerReceipt  protocol.Timer = "okra/receipt"  // a party waits for the server's grant or receipt
)

// Party is the leader or another party with rows. It learns nothing about the others' rows except
// their total number and the leader's number of features.
type Party struct {
	core
	params         Params
	input          Input
	rows, features int               // size of input
	hash           [sha256.Size]byte // hash of input; computed in the constructor, because it takes longer than a step
	epoch          Seed
	upload         *upload // nil until the epoch's seed is known
	granted        bool    // the server has allowed the upload of rows
	labels         int     // number of label chunks sent
	total          int

	prepare     Prepare // function that prepares a newcomer's rows; nil if the rows are ready
	preparation []byte
	before      *EpochState // state after the previous session; nil in a first session and for a newcomer
	late        bool        // the party is a newcomer in a continued session
	origin      protocol.SessionID
	holders     []string        // the members that have the epoch's seed
	asked       map[string]bool // at the leader, the parties that must still consent
	digest      hash.Hash       // hash of the data that this party sends; nil if it sends none or no later session can continue this one
}

// NewParty returns the machine of the leader or of another party. It refuses an input that cannot
// be encoded.
func NewParty(s protocol.Setup, p Params, in Input) (*Party, error) {
	party, err := newParty(s, p, in)
	if err == nil {
		err = party.fits()
	}
	if err != nil {
		return nil, err
	}
	return party, nil
}

// fits returns an error if the encoder does not support the rows' number of features.
func (p *Party) fits() error { return p.params.fits(p.features, Padding(p.features)) }

func newParty(s protocol.Setup, p Params, in Input) (*Party, error) {
	d, err := newCore(s, p, protocol.RoleParty, protocol.RoleLeader)
	if err != nil {
		return nil, err
	}
	if n := len(s.Session.With(protocol.RoleLeader)); n != 1 {
		return nil, fmt.Errorf("okra: the session has %d leaders; a training session has exactly one", n)
	}
	if err := in.validate(); err != nil {
		return nil, err
	}
	n, f := in.shape()
	return &Party{core: d, params: p, input: in, rows: n, features: f, hash: in.Hash(), origin: s.Session.ID(), holders: d.parties()}, nil
}

// TotalRows returns the number of all parties' rows, once the session has ended without error.
func (p *Party) TotalRows() int { return p.total }

// EpochSeed returns the secret of the epoch, for a job that allows later predictions. All other
// jobs must not read the seed, so that it is destroyed with the machine.
func (p *Party) EpochSeed() Seed { return p.epoch }

// Padding returns k: the encoded width minus the number of features.
func (p *Party) Padding() int { return Padding(p.features) }

func (p *Party) leader() string { return p.setup.Session.With(protocol.RoleLeader)[0] }

// InputHash returns the hash of the party's input, which [protocol.Start] requires.
func (p *Party) InputHash() [sha256.Size]byte { return p.hash }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.receive, Resume: p.resume, Expire: p.expire})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != p.hash {
		return protocol.Effects{}, errEdited
	}
	switch {
	case p.before != nil:
		return p.reopen()
	case p.setup.Self != p.leader():
		return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerSeed}}, nil
	}
	seed := epochSeed(p.setup)
	var sends []protocol.Message
	for _, name := range p.setup.Session.With(protocol.RoleParty) {
		sends = append(sends, p.setup.Message(name, roundSeed, kindSeed, seedBody{seed, p.features}.encode()))
	}
	effects, err := p.begin(seed, sends)
	return effects, err
}

// reopen starts a continued session for a party that has the seed from the previous session. If
// there are newcomers, the leader waits for the consent of every other party that has the seed.
func (p *Party) reopen() (protocol.Effects, error) {
	newcomers := p.newcomers()
	if len(newcomers) == 0 {
		return p.begin(p.before.Seed, nil)
	}
	if p.setup.Self != p.leader() {
		body := consent{newTag(p.params, p.before.Seed, p.features, p.setup.Session.ID())}.encode()
		return p.begin(p.before.Seed, []protocol.Message{p.setup.Message(p.leader(), roundSeed, kindConsent, body)})
	}
	p.asked = make(map[string]bool)
	for _, name := range p.parties() {
		if name != p.setup.Self && !slices.Contains(newcomers, name) {
			p.asked[name] = true
		}
	}
	if len(p.asked) == 0 {
		return p.sendWelcomes()
	}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerConsent}}, nil
}

// epochSeed derives the epoch's seed from the leader's session seed.
func epochSeed(s protocol.Setup) Seed {
	id := s.Session.ID()
	return prg.Derive(s.Seed, "okra/epoch", id[:])
}

// begin prepares the encoder, and sends the given messages and then the announcement of the rows.
func (p *Party) begin(seed Seed, sends []protocol.Message) (protocol.Effects, error) {
	f := p.features
	p.epoch, p.granted = seed, p.rows == 0
	p.upload = &upload{layout: layout{0, f + Padding(f), p.params.wordBytes()}}
	if p.rows > 0 {
		encoder, err := NewEncoder(p.params, seed, f, Padding(f))
		if err != nil {
			return protocol.Effects{}, err
		}
		p.upload = newUpload(encoder, p.input.Rows, p.params.wordBytes())
	}
	a := announce{
		tag: newTag(p.params, seed, f, p.origin), rows: p.rows, width: f + Padding(f),
		wire: p.params.wordBytes(), grid: p.input.Grid, labelled: p.input.Labels != nil,
	}
	kind, body, claim := kindAnnounce, a.encode(), seed.claim()
	if p.continues() {
		kind, body, claim = kindConfirm, p.confirm(a).encode(), seed.continuationClaim(p.setup.Session.Parent)
	}
	p.hashSent(p.segment())
	return protocol.Effects{
		Sync:  true,
		Claim: []string{claim},
		Send:  append(sends, p.setup.Message(p.server(), roundAnnounce, kind, body)),
		Arm:   []protocol.Timer{TimerReceipt},
	}, nil
}

func (p *Party) receive(m protocol.Message) (protocol.Effects, error) {
	if err := checkSequence(m); err != nil {
		return protocol.Effects{}, err
	}
	switch {
	case p.late && m.Round == roundSeed && m.Kind == kindWelcome && m.Sender == p.leader() && p.upload == nil:
		return p.receiveWelcome(m)
	case m.Round == roundSeed && m.Kind == kindConsent && p.asked[m.Sender]:
		return p.receiveConsent(m)
	case m.Round == roundSeed && m.Kind == kindSeed && m.Sender == p.leader() && p.upload == nil && !p.continues():
		return p.receiveSeed(m)
	case m.Round == roundAnnounce && m.Kind == kindGrant && m.Sender == p.server() && p.upload != nil && !p.granted:
		return p.receiveGrant(m)
	case m.Round == roundReceipt && m.Kind == kindReceipt && m.Sender == p.server() && p.sent():
		return p.receiveReceipt(m)
	}
	return protocol.Effects{}, m.Unexpected()
}

func (p *Party) receiveSeed(m protocol.Message) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	b, err := decodeSeed(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if f := p.features; f != b.features {
		return protocol.Finish(protocol.Effects{}, p.mismatch(m.Sender, b.features))
	}
	return p.begin(b.seed, nil)
}

// receiveConsent records the consent of a party. Only a holder of the epoch's seed can make a valid
// consent.
func (p *Party) receiveConsent(m protocol.Message) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	c, err := decodeConsent(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if want := newTag(p.params, p.before.Seed, p.features, p.setup.Session.ID()); !hmac.Equal(c.tag[:], want[:]) {
		return protocol.Effects{}, m.Inconsistent("the consent does not match the seed of this epoch")
	}
	delete(p.asked, m.Sender)
	if len(p.asked) > 0 {
		return protocol.Effects{Arm: []protocol.Timer{TimerConsent}}, nil
	}
	return p.sendWelcomes()
}

func (p *Party) receiveWelcome(m protocol.Message) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	w, err := decodeWelcome(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	switch err := p.prepareNewcomer(w.preparation); {
	case err != nil && fault.CodeOf(err) == fault.CodeBadInput:
		return protocol.Finish(protocol.Effects{}, err)
	case err != nil:
		return protocol.Effects{}, m.Malformed(err)
	case p.features != w.features:
		return protocol.Finish(protocol.Effects{}, p.mismatch(m.Sender, w.features))
	}
	p.origin, p.holders = w.origin, union(w.holders, p.parties())
	return p.begin(w.seed, nil)
}

// prepareNewcomer prepares a newcomer's rows.
func (p *Party) prepareNewcomer(preparation []byte) error {
	if p.prepare == nil {
		if len(preparation) > 0 {
			return errors.New("the leader sent a preparation of rows, but this party's job has none")
		}
		return nil
	}
	rows, grid, err := p.prepare(preparation)
	if err != nil {
		return err
	}
	n, f := rows.Shape()
	if n != p.rows {
		return fmt.Errorf("the preparation returned %d rows for %d rows of input", n, p.rows)
	}
	if validateRows(rows) != nil { // the error's text is not used, because it quotes a value of the data
		return errors.New("the preparation turns the rows into numbers that cannot be encoded")
	}
	p.input.Rows, p.input.Grid, p.features, p.preparation = rows, grid, f, preparation
	return p.fits()
}

// receiveGrant begins the upload.
func (p *Party) receiveGrant(m protocol.Message) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	if len(m.Body) > 0 {
		return protocol.Effects{}, m.Malformed(fmt.Errorf("okra: grant: the message has %d bytes; it must be empty", len(m.Body)))
	}
	p.granted = true
	return protocol.Effects{Resume: true}, nil
}

func (p *Party) sent() bool {
	return p.upload != nil && p.granted && p.upload.done() && p.labels == labelChunks(p.rows)
}

// resume sends as many labels or rows as one step allows. All labels go before the first row.
func (p *Party) resume() (protocol.Effects, error) {
	if !p.granted || p.sent() {
		return protocol.Effects{}, errors.New("okra: the party was resumed, but it has nothing to send")
	}
	e := protocol.Effects{Send: p.nextLabels()}
	if e.Send == nil {
		first, bodies := p.upload.batch()
		for i, b := range bodies {
			p.hashSent(b)
			e.Send = append(e.Send, p.setup.Message(p.server(), roundRows, kindRows, b).Piece(first+i, p.upload.layout.chunks()))
		}
	}
	e.Progress = protocol.Progress{Stage: "encode", Done: int64(p.upload.end), Total: int64(p.rows)}
	if e.Resume = !p.sent(); !e.Resume {
		e.Arm = []protocol.Timer{TimerReceipt}
	}
	return e, nil
}

// nextLabels returns the next messages with labels, or nil if all labels are sent.
func (p *Party) nextLabels() (sends []protocol.Message) {
	chunks := labelChunks(p.rows)
	for range protocol.MaxStepBytes / protocol.MaxChunkBytes {
		if p.labels == chunks {
			break
		}
		body := encodeLabels(p.input, p.labels)
		p.hashSent(body)
		sends = append(sends, p.setup.Message(p.server(), roundRows, kindLabels, body).Piece(p.labels, chunks))
		p.labels++
	}
	return sends
}

func (p *Party) receiveReceipt(m protocol.Message) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	rows, err := decodeReceipt(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if rows < uint64(p.allRows()) {
		return protocol.Effects{}, m.Inconsistent("the receipt counts %d rows, but this party alone has sent %d", rows, p.allRows())
	}
	if rows > maxRows*protocol.MaxMembers {
		return protocol.Effects{}, m.Inconsistent("the receipt counts %d rows; a session has at most %d", rows, maxRows*protocol.MaxMembers)
	}
	p.total = int(rows)
	return protocol.Finish(protocol.Effects{}, nil)
}

func (p *Party) expire(t protocol.Timer) (protocol.Effects, error) {
	switch {
	case t == TimerConsent && p.upload == nil && p.before != nil:
		return protocol.Finish(protocol.Effects{}, silence(p.withoutConsent(), "the consent to newcomers"))
	case t == TimerSeed && p.upload == nil && p.setup.Self != p.leader():
		return protocol.Finish(protocol.Effects{}, silence([]string{p.leader()}, "the epoch's seed"))
	case t == TimerReceipt && p.upload != nil && !p.granted:
		return protocol.Finish(protocol.Effects{}, silence([]string{p.server()}, "the grant to send rows"))
	case t == TimerReceipt && p.sent():
		return protocol.Finish(protocol.Effects{}, silence([]string{p.server()}, "a receipt"))
	case t == TimerSeed || t == TimerReceipt || t == TimerConsent && p.continues():
		return protocol.Effects{}, nil
	}
	return protocol.Effects{}, fmt.Errorf("okra: a party has no timer %q", t)
}

// withoutConsent returns the parties that have not yet consented, in the descriptor's order.
func (p *Party) withoutConsent() (names []string) {
	for _, name := range p.parties() {
		if p.asked[name] {
			names = append(names, name)
		}
	}
	return names
}

// Round 1, Seed (section 3.2.2 of the paper): the leader draws the epoch's seed and sends every
// other party the seed and the number of features of the leader's rows. The server never receives
// the seed: the runner seals the message end to end.
const (
	roundSeed = 1
	kindSeed  = "Seed"
)

// claim returns the name under which the party's ledger records that the seed has been used. The
// ledger keeps this name forever, so a party begins only one epoch under a seed, even if a leader
// sends the seed again. A session that continues the epoch claims a name of its own.
func (s Seed) claim() string {
	h := sha256.Sum256(append([]byte("mercer/v1/okra/claim"), s[:]...))
	return "okra/epoch/" + hex.EncodeToString(h[:16])
}

// continuationClaim returns the name under which the party's ledger records that it has continued a
// session. The ledger keeps this name forever, so a party continues a session only once. If rows
// changed between two continuations, the server could learn the changes.
func (s Seed) continuationClaim(parent protocol.SessionID) string {
	h := sha256.New()
	h.Write([]byte("mercer/v1/okra/continued"))
	h.Write(s[:])
	h.Write(parent[:])
	return "okra/continued/" + hex.EncodeToString(h.Sum(nil)[:16])
}

type seedBody struct {
	seed     Seed
	features int
}

func (b seedBody) encode() []byte {
	var w wire.Writer
	w.Fixed(b.seed[:])
	w.Uint32(uint32(b.features))
	return w.Bytes()
}

func decodeSeed(body []byte) (seedBody, error) {
	r := wire.NewReader(body)
	var b seedBody
	r.Fixed(b.seed[:])
	b.features = int(r.Uint32())
	if r.Err() == nil && (b.features < 1 || b.features > MaxFeatures) {
		r.Fail(fmt.Errorf("the leader's rows have %d features; 1 to %d are allowed", b.features, MaxFeatures))
	}
	return b, r.Close("okra: seed")
}
