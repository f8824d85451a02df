package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Limits bounds the memory that a server uses for one session. Zero means the default.
type Limits struct {
	Words   int // largest number of words in a vector; default 2^27, which take 1 GiB
	Uploads int // largest number of incomplete vectors at a time; default 8
}

func (l Limits) orDefault() Limits {
	if l.Words == 0 {
		l.Words = 1 << 27
	}
	if l.Uploads == 0 {
		l.Uploads = 8
	}
	return l
}

// Server adds the vectors of its clients without seeing any of them. It holds the sum, the
// incomplete vectors (at most Limits.Uploads) and about 200 bytes for each client and each
// of its holders.
type Server struct {
	core
	limits     Limits
	identities []ed25519.PublicKey
	round      uint16 // the round whose messages the server collects from the clients
	peers      []*peer
	pending    []func() protocol.Message // messages to send; each is encoded when it is sent

	all       set // all clients of the session
	cohort    set // U1: the clients that have sent their keys
	sharers   set // U2: the clients that have shared their secrets
	survivors set // U3: the clients whose vectors are in the sum
	agreed    set // U4: the clients that have signed the sets U1 to U3. It equals U3 against semi-honest servers
	released  set // U5: the clients that have released shares

	seen    map[[keyBytes]byte]bool // all public keys that clients have advertised
	stalled int                     // number of clients dropped because their vectors stayed incomplete

	owners   [][]int // for each client, the owners of the shares that the client holds
	sum      []uint64
	uploads  int
	spare    [][]uint64 // memory of vectors that were added to the sum or dropped, for reuse
	recovery *recovery  // nil until the server has collected released shares
	result   [][]int64
}

// peer holds what the server knows about one client.
type peer struct {
	keys      keys
	holders   []int // nil until the client has sent its list of holders
	held      int   // number of clients that have named this client as a holder
	shares    []sealed
	upload    *upload // nil if the client has no incomplete vector
	stalled   bool    // whether the client was dropped because its vector stayed incomplete
	signature signature
	releases  []release // one share for each owner whose shares the client could decrypt, in the order of the owners
}

// upload is a masked vector that has not yet arrived completely.
type upload struct {
	words   []uint64
	have    []bool
	missing int
}

// NewServer returns the machine of the server. It verifies signatures with the clients' identity
// keys, in the descriptor's order. It returns an error if the number of keys is wrong, if the
// session has another protocol or other parameters, or if a vector exceeds the limits.
func NewServer(s protocol.Setup, p Params, identities []ed25519.PublicKey, l Limits) (*Server, error) {
	d, err := newCore(s, p, protocol.RoleServer)
	if err != nil {
		return nil, err
	}
	l = l.orDefault()
	if n := p.layout.Words(); n > l.Words {
		return nil, fmt.Errorf("secagg: a vector has %d words, but this server allows %d; raise Limits.Words", n, l.Words)
	}
	n := p.clients
	if err := checkIdentities(identities, n); err != nil {
		return nil, err
	}
	srv := &Server{
		core: d, limits: l, identities: identities, all: newSet(n), peers: make([]*peer, n), sum: make([]uint64, p.layout.Words()),
		seen: make(map[[keyBytes]byte]bool), cohort: newSet(n), sharers: newSet(n), survivors: newSet(n), agreed: newSet(n), released: newSet(n),
	}
	for i := range srv.peers {
		srv.peers[i] = &peer{}
		srv.all.add(i)
	}
	return srv, nil
}

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Receive: s.receive, Resume: s.resume, Expire: s.expire})
	if effects.End != nil { // erase the clients' shares and secrets at the end of the session
		s.peers, s.recovery, s.sum, s.spare, s.pending = nil, nil, nil, nil, nil
	}
	return effects, err
}

// Sums returns the sums of the survivors' entries, group by group, once the session has ended
// without error.
func (s *Server) Sums() [][]int64 { return s.result }

// Survivors returns the clients whose vectors are in the sum.
func (s *Server) Survivors() []string {
	var names []string
	for _, i := range s.survivors.list() {
		names = append(names, s.name(i))
	}
	return names
}

// Stayed returns the clients that have completed the session: the server has received their
// released shares.
func (s *Server) Stayed() []string {
	var names []string
	for _, i := range s.released.list() {
		names = append(names, s.name(i))
	}
	return names
}

func (s *Server) start(protocol.Start) (protocol.Effects, error) {
	s.round = roundAdvertise
	return protocol.Effects{Arm: []protocol.Timer{TimerAdvertise}}, nil
}

func (s *Server) receive(m protocol.Message) (protocol.Effects, error) {
	if err := s.checkHeader(m); err != nil {
		return protocol.Effects{}, err
	}
	from, known := s.clientOf(m.Sender)
	round := m.Round
	if round == roundHolders {
		round = roundShare // the server collects lists of holders together with shares, because a client without holders cannot share its secrets
	}
	switch {
	case !known || round%2 == 1 || round > s.round: // messages of odd rounds come only from the server
		return protocol.Effects{}, m.Unexpected()
	case round < s.round || s.recovery != nil || s.peers[from].stalled:
		return s.unmoved(), nil // ignore late messages, and all messages of dropped clients
	case !s.expected().has(from) || s.heard().has(from):
		return protocol.Effects{}, m.Unexpected()
	}
	if err := s.dispatch(m, from); err != nil {
		return protocol.Effects{}, err
	}
	e := protocol.Effects{Progress: s.progress(), Arm: []protocol.Timer{s.timer()}, Resume: len(s.pending) > 0}
	if s.awaited() > 0 {
		return e, nil
	}
	return s.advance()
}

// dispatch passes a message to the method for the message's round.
func (s *Server) dispatch(m protocol.Message, from int) error {
	switch m.Round {
	case roundAdvertise:
		return s.takeKeys(m, from)
	case roundHolders:
		return s.takeHolders(m, from)
	case roundShare:
		return s.takeShares(m, from)
	case roundMasked:
		return s.takeMasked(m, from)
	case roundConsistency:
		return s.takeSignature(m, from)
	case roundUnmask:
		return s.takeReleases(m, from)
	}
	return m.Unexpected()
}

// collection describes the messages that the server collects in one round: their kind, the clients
// that must send one, and the clients that have sent one.
type collection struct {
	what     string
	timer    protocol.Timer
	expected set
	heard    set
}

func (s *Server) collection() collection {
	switch s.round {
	case roundAdvertise:
		return collection{"keys", TimerAdvertise, s.all, s.cohort}
	case roundShare:
		return collection{"shares", TimerShare, s.cohort, s.sharers}
	case roundMasked:
		return collection{"masked vectors", TimerMasked, s.sharers, s.survivors}
	case roundConsistency:
		return collection{"signatures", TimerConsistency, s.survivors, s.agreed}
	}
	return collection{"released shares", TimerUnmask, s.agreed, s.released}
}

func (s *Server) expected() set         { return s.collection().expected }
func (s *Server) heard() set            { return s.collection().heard }
func (s *Server) timer() protocol.Timer { return s.collection().timer }

func (s *Server) progress() protocol.Progress {
	c := s.collection()
	return protocol.Progress{Stage: c.what, Done: int64(c.heard.count()), Total: int64(c.expected.count())}
}

// awaited returns the number of clients whose messages the server still waits for.
func (s *Server) awaited() int {
	n := s.expected().count() - s.heard().count()
	if s.round == roundMasked {
		n -= s.stalled
	}
	return n
}

// expire continues the session without the silent clients. If the memory for incomplete vectors is
// full, other clients may be waiting for memory. In this case expire drops only the clients that
// occupy the memory.
func (s *Server) expire(t protocol.Timer) (protocol.Effects, error) {
	switch {
	case t == TimerMasked && s.round == roundMasked && s.uploads == s.limits.Uploads:
		s.dropIncomplete()
		if s.awaited() > 0 {
			return protocol.Effects{Arm: []protocol.Timer{TimerMasked}}, nil
		}
		return s.advance()
	case t == s.timer() && s.recovery == nil:
		return s.advance()
	case t == TimerAdvertise || t == TimerShare || t == TimerMasked || t == TimerConsistency || t == TimerUnmask:
		return s.unmoved(), nil
	}
	return protocol.Effects{}, fmt.Errorf("secagg: a server has no timer %q", t)
}

// unmoved returns the effects of a step that changes nothing. They only resume unfinished work of
// an earlier step.
func (s *Server) unmoved() protocol.Effects {
	return protocol.Effects{Resume: len(s.pending) > 0 || s.recovery != nil}
}

// advance ends the collection of the current round and starts the next round.
func (s *Server) advance() (protocol.Effects, error) {
	c := s.collection()
	if err := s.checkEnough(c); err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	switch s.round {
	case roundAdvertise:
		s.queueForEach(c.heard, roundCohort, func(int) []byte { return encodeSets(s.cohort) })
		s.round = roundShare
	case roundShare:
		s.assignOwners()
		s.queueForEach(c.heard, roundShares, func(client int) []byte { return s.deliveries(client).encode() })
		s.round = roundMasked
	case roundMasked:
		s.dropUploads()
		s.queueForEach(c.heard, roundSurvivors, func(int) []byte { return encodeSets(s.survivors) })
		s.round = roundConsistency
		if s.params.spec.Adversary == SemiHonest {
			s.round, s.agreed = roundUnmask, s.survivors
		}
	case roundConsistency:
		s.queueForEach(c.heard, roundSignatures, func(client int) []byte { return encodeSignatures(s.signatures(client)) })
		s.round = roundUnmask
	case roundUnmask:
		s.recovery = s.newRecovery()
		return protocol.Effects{Sync: true, Resume: true}, nil
	}
	return protocol.Effects{Sync: true, Resume: true, Arm: []protocol.Timer{s.timer()}}, nil
}

// checkEnough returns an error if fewer clients have answered than the round needs. Up to the masked
// vectors, a round needs the agreed minimum of clients and the threshold number; the first round also
// needs the least number with which a session may start. Later rounds need only the threshold number.
func (s *Server) checkEnough(c collection) error {
	need := max(s.params.spec.Minimum, s.params.degree.Threshold)
	switch {
	case s.round == roundAdvertise:
		need = max(need, s.params.cohort)
	case s.round > roundMasked:
		need = s.params.degree.Threshold
	}
	if n := c.heard.count(); n < need {
		for _, i := range c.expected.list() {
			if !c.heard.has(i) {
				return silent(s.name(i), fmt.Sprintf("%s of %d clients arrived, but %d are needed; this client's message", c.what, n, need))
			}
		}
	}
	return nil
}

// queueForEach queues one message for each of the clients.
func (s *Server) queueForEach(clients set, round uint16, body func(client int) []byte) {
	for _, i := range clients.list() {
		s.pending = append(s.pending, func() protocol.Message { return s.message(s.name(i), round, body(i)) })
	}
}

// resume sends queued messages or, if there are none, removes masks from the sum.
func (s *Server) resume() (protocol.Effects, error) {
	switch {
	case len(s.pending) > 0:
		return s.flush(), nil
	case s.recovery != nil:
		return s.unmask()
	}
	return protocol.Effects{}, errors.New("secagg: the server was resumed, but it has nothing to do")
}

// flush sends as many queued messages as one step allows.
func (s *Server) flush() protocol.Effects {
	var e protocol.Effects
	for bytes := 0; len(s.pending) > 0 && bytes <= protocol.MaxStepBytes-protocol.MaxChunkBytes; s.pending = s.pending[1:] {
		m := s.pending[0]()
		bytes += len(m.Body)
		e.Send = append(e.Send, m)
	}
	e.Resume = len(s.pending) > 0
	return e
}

// The timers of a session. The caller configures their durations. A waiting member restarts its
// timer with every message that it accepts.
const (
	TimerServer      protocol.Timer = "secagg/server"      // a client waits for the server
	TimerAdvertise   protocol.Timer = "secagg/advertise"   // the server waits for keys
	TimerShare       protocol.Timer = "secagg/share"       // the server waits for shares
	TimerMasked      protocol.Timer = "secagg/masked"      // the server waits for vectors
	TimerConsistency protocol.Timer = "secagg/consistency" // the server waits for signatures
	TimerUnmask      protocol.Timer = "secagg/unmask"      // the server waits for released shares
)

// core holds the state that the client's and the server's machines have in common.
type core struct {
	setup  protocol.Setup
	life   protocol.Life
	params Params
	at     int // the server's index among the members
}

// newCore checks the session and its members, and returns the state that all machines have in
// common.
func newCore(s protocol.Setup, p Params, role protocol.Role) (core, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return core{}, err
	}
	d := s.Session
	switch {
	case p.layout == nil || !bytes.Equal(d.Params, p.Encode()):
		return core{}, errors.New("secagg: the parameters differ from the session's descriptor")
	case len(d.With(protocol.RoleServer)) != 1 || len(d.With(protocol.RoleParty)) != len(d.Members)-1:
		return core{}, errors.New("secagg: the session's members do not have the required roles; one must be the server and all others parties")
	case len(d.Members)-1 != p.clients:
		return core{}, fmt.Errorf("secagg: the parameters are for %d clients, but the session has %d", p.clients, len(d.Members)-1)
	}
	return core{setup: s, params: p, at: d.Index(d.With(protocol.RoleServer)[0])}, nil
}

func (d *core) server() string { return d.setup.Session.Members[d.at].Name }

// name returns the name of a client. Clients are numbered in the order of the members, without the
// server. There is no table of names, because a process that plays all clients would hold one table
// for each client.
func (d *core) name(client int) string {
	if client >= d.at {
		client++
	}
	return d.setup.Session.Members[client].Name
}

// clientOf returns the number of the client with the given name, and whether that client exists.
func (d *core) clientOf(name string) (int, bool) {
	i := d.setup.Session.Index(name)
	if i > d.at {
		return i - 1, true
	}
	return i, i >= 0 && i != d.at
}

// checkHeader refuses messages with a sequence number, with a kind that does not match the round,
// or with a wrong number of chunks.
func (d *core) checkHeader(m protocol.Message) error {
	pieces := 1
	if m.Round == roundMasked {
		pieces = d.params.layout.chunks()
	}
	if m.Sequence != 0 || m.Round > roundUnmask || m.Kind != kindOf(m.Round) || int(m.Chunks) != pieces {
		return m.Unexpected()
	}
	return nil
}

func inconsistent(party, format string, args ...any) error {
	return protocol.Blame(party, protocol.KindInconsistent, fmt.Errorf("secagg: "+format, args...))
}

func silent(party, what string) error {
	return protocol.Blame(party, protocol.KindSilent, fmt.Errorf("secagg: %s did not arrive in time", what))
}

func (d *core) message(to string, round uint16, body []byte) protocol.Message {
	return d.setup.Message(to, round, kindOf(round), body)
}
