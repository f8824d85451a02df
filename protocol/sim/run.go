package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// simulation is the state of one run in progress.
type simulation struct {
	config  Config
	nodes   []*node
	byName  map[string]*node
	crashes map[Crash]bool
	random  *rand.Rand
	ledger  *memory.Ledger
	queue   []item
	alarms  []alarm
	scratch []int
	now     int64
	order   int
	flight  Flight
	edges   map[[2]string]*Edge
	result  *Result
}

// stream is the second seed of the random generator. It makes schedules draw other random numbers
// than other PCG generators with small seeds.
const stream = 0x6d65726365722f73

// Run runs the session until every machine has ended or no event is possible. It returns an error if
// cfg is invalid, or if a machine broke the contract, could not be built, or ran without end. The
// result says for each machine how it ended, or that it never ended; see [Result.Err].
func Run(cfg Config) (*Result, error) {
	s, err := newSimulation(cfg)
	if err != nil {
		return nil, err
	}
	limit := cfg.MaxSteps
	if limit == 0 {
		limit = defaultMaxSteps
	}
	for {
		it, ok := s.takeNext()
		if !ok {
			break
		}
		if s.result.Steps == limit {
			return s.result, fmt.Errorf("sim: the run has not ended after %d steps; raise MaxSteps, or look for a machine that resumes forever", limit)
		}
		s.result.Steps++
		s.now++
		if err := s.handOver(it); err != nil {
			return s.result, err
		}
	}
	s.result.Ticks = s.now
	s.result.finish()
	return s.result, nil
}

func newSimulation(cfg Config) (*simulation, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &simulation{
		config: cfg, byName: make(map[string]*node), crashes: make(map[Crash]bool),
		random: rand.New(rand.NewPCG(cfg.Seed, stream)), ledger: cfg.Ledger,
		edges: make(map[[2]string]*Edge), result: newResult(cfg.Session, len(cfg.Nodes)),
	}
	if s.ledger == nil {
		s.ledger = new(memory.Ledger)
	}
	for _, c := range cfg.Crash {
		s.crashes[c] = true
	}
	for i, spec := range cfg.Nodes {
		if err := s.admit(spec, &s.result.Nodes[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func newResult(session *protocol.Session, nodes int) *Result {
	r := &Result{session: session, Nodes: make([]Outcome, nodes), Sent: make(map[protocol.Header][sha256.Size]byte)}
	r.writef("session of %s version %d, purpose %q", session.Protocol, session.Version, session.Purpose)
	for _, m := range session.Members {
		r.writef("member %s, %s", m.Name, m.Role)
	}
	return r
}

func (s *simulation) admit(spec Node, o *Outcome) error {
	o.Name = spec.Name
	n := &node{Node: spec, outcome: o}
	if err := n.newMachine(); err != nil {
		return err
	}
	s.nodes, s.byName[n.Name] = append(s.nodes, n), n
	if after, ok := s.config.Gone[n.Name]; ok && after == 0 {
		n.gone = true
		return nil
	}
	s.push(item{to: n, event: protocol.Start{InputHash: n.InputHash}})
	return nil
}

func (s *simulation) chance(p float64) bool { return p > 0 && s.random.Float64() < p }

// handOver passes an item's event to the item's node, and handles the answer.
func (s *simulation) handOver(it item) error {
	if _, ok := it.event.(protocol.Resumed); ok {
		it.to.resume = false
	}
	if it.parcel != nil {
		if proceed, err := s.deliver(it); !proceed || err != nil {
			return err
		}
	}
	eff, err := it.to.callStep(it.event)
	if err != nil {
		return s.handleRefused(it, err)
	}
	return s.handleAccepted(it, eff)
}

// deliver decides whether a message reaches its machine. It can lose the message, and it drops
// duplicates. If another message had the same header, it ends the receiver's session, unless the
// receiver must go on.
func (s *simulation) deliver(it item) (bool, error) {
	m := it.event.(protocol.Received).Message
	if m.Digest() != it.parcel.digest {
		return false, &ContractError{Node: m.Sender, Event: len(it.to.journal), Err: fmt.Errorf("message %v: the sender changed the body after it had sent the message", m.Header)}
	}
	if !it.lost && s.chance(s.config.Loss) {
		s.write(it, "lost")
		it.lost = true
		s.push(it)
		return false, nil
	}
	fresh, err := it.to.inbox.Fresh(m)
	if err != nil {
		s.settle(it.parcel)
		s.write(it, "equivocation")
		if protocol.MustGoOn(it.to.machine) {
			return false, nil
		}
		s.endNode(it.to, err)
		return false, nil
	}
	if !fresh {
		s.settle(it.parcel)
		s.write(it, "duplicate")
	}
	return fresh, nil
}

// handleRefused handles an event that Step answered with an error.
func (s *simulation) handleRefused(it item, err error) error {
	var broken *ContractError
	_, received := it.event.(protocol.Received)
	switch {
	case errors.As(err, &broken):
		return err
	case errors.Is(err, protocol.ErrLater) && !received:
		return it.to.violation(fmt.Errorf("the machine answered the event %s with ErrLater, which is allowed for messages only", eventName(it.event)))
	case errors.Is(err, protocol.ErrLater):
		s.write(it, "later")
		it.later = len(it.to.journal) + 1
		s.push(it)
		return nil
	case errors.Is(err, protocol.ErrPast) && received:
		s.write(it, "past")
		s.settle(it.parcel)
		return nil
	}
	s.write(it, "refused: "+err.Error())
	refusal := Refusal{Node: it.to.Name, Event: it.event, Err: err}
	s.result.Refusals = append(s.result.Refusals, refusal)
	if received {
		s.settle(it.parcel)
	}
	if len(it.to.journal) == 0 { // a node that refuses its start takes no part in the session
		s.endNode(it.to, err)
	}
	return nil
}

// handleAccepted journals an event that the machine has accepted, and carries out its effects.
func (s *simulation) handleAccepted(it item, eff protocol.Effects) error {
	n := it.to
	s.write(it, "")
	if err := s.checkEffects(n, eff); err != nil {
		return n.violation(err)
	}
	n.journalEvent(it.event, eff)
	if r, ok := it.event.(protocol.Received); ok {
		n.inbox.Accept(r.Message)
		s.settle(it.parcel)
	}
	if s.crashes[Crash{n.Name, len(n.journal) - 1}] || s.chance(s.config.CrashRate) {
		var err error
		if eff, err = n.replay(); err != nil {
			return err
		}
		s.result.writef("%d %s: crash, %d events replayed", s.result.Steps, n.Name, len(n.journal))
	}
	s.obey(n, eff)
	if after, ok := s.config.Gone[n.Name]; ok && len(n.journal) >= after && !n.ended() {
		n.gone = true
		s.forget(n)
		s.result.writef("%d %s: gone", s.result.Steps, n.Name)
	}
	return nil
}

// obey carries out the effects of a step in the order that package protocol prescribes.
func (s *simulation) obey(n *node, eff protocol.Effects) {
	for _, name := range eff.Claim {
		if err := s.ledger.Claim(n.Name, name, s.config.Session.ID()); err != nil {
			s.endNode(n, err)
			return
		}
	}
	for _, m := range eff.Send {
		s.send(m)
	}
	for _, t := range eff.Arm {
		s.arm(n, t)
	}
	if eff.Resume && !n.resume {
		n.resume = true
		s.push(item{to: n, event: protocol.Resumed{}})
	}
	if eff.End != nil {
		s.endNode(n, eff.End.Err)
	}
}

// endNode records that the session has ended for a node, and drops all events queued for the node.
func (s *simulation) endNode(n *node, err error) {
	n.outcome.End = &protocol.End{Err: err}
	s.forget(n)
	line := fmt.Sprintf("%d %s: end", s.result.Steps, n.Name)
	if err != nil {
		line += ": " + err.Error()
	}
	s.result.writef("%s", line)
}

// send counts a message and passes it through Intercept. It queues the messages that Intercept
// returns for the receiver.
func (s *simulation) send(m protocol.Message) {
	s.result.Sent[m.Header] = sha256.Sum256(m.Body)
	e := s.edge(m.Sender, m.Receiver)
	e.Messages++
	e.Bytes += int64(len(m.Body))
	arrives := []protocol.Message{m}
	if s.config.Intercept != nil {
		arrives = s.config.Intercept(m)
	}
	to := s.byName[m.Receiver]
	if to == nil || to.gone || to.ended() {
		return
	}
	for _, a := range arrives {
		s.post(e, to, a)
	}
}

// post queues a message for the given node. It queues a duplicate with the schedule's probability.
func (s *simulation) post(e *Edge, to *node, m protocol.Message) {
	p := &parcel{edge: e, to: to, size: len(m.Body), digest: m.Digest()}
	e.waiting++
	s.flight.add(1, p.size)
	s.result.Peak.raise(s.flight)
	to.outcome.flight.add(1, p.size)
	to.outcome.Peak.raise(to.outcome.flight)
	it := item{to: to, event: protocol.Received{Message: m}, parcel: p}
	s.push(it)
	if s.chance(s.config.Duplicate) {
		s.push(it)
	}
}

// settle removes a parcel from the counts of undelivered messages.
func (s *simulation) settle(p *parcel) {
	if p.done {
		return
	}
	p.done = true
	p.edge.waiting--
	s.flight.add(-1, -p.size)
	p.to.outcome.flight.add(-1, -p.size)
}

// edge returns the counters for the messages from one node to another. It makes them at the first
// message.
func (s *simulation) edge(from, to string) *Edge {
	key := [2]string{from, to}
	e := s.edges[key]
	if e == nil {
		e = &Edge{From: from, To: to}
		s.edges[key] = e
		s.byName[from].edges = append(s.byName[from].edges, e)
		s.result.edges = append(s.result.edges, e)
	}
	return e
}

// ContractError reports that a machine broke the rules of package protocol, so that the run is
// invalid.
type ContractError struct {
	Node  string
	Event int // index of the event, counted from 0; the receiver's if Node changed a body after sending
	Err   error
}

func (e *ContractError) Error() string {
	return fmt.Sprintf("sim: %s breaks the contract at event %d: %v", e.Node, e.Event, e.Err)
}

func (e *ContractError) Unwrap() error { return e.Err }

// checkEffects returns an error if the effects of one step break a rule of package protocol.
func (s *simulation) checkEffects(n *node, e protocol.Effects) error {
	total := 0
	step := make(map[protocol.Header]bool, len(e.Send))
	for _, m := range e.Send {
		if err := s.checkMessage(n, m); err != nil {
			return err
		}
		if step[m.Header] {
			return fmt.Errorf("message %v: the step uses the header twice; headers must be unique", m.Header)
		}
		step[m.Header] = true
		total += len(m.Body)
	}
	if total > protocol.MaxStepBytes {
		return fmt.Errorf("the step sends %d bytes; at most %d are allowed", total, protocol.MaxStepBytes)
	}
	return nil
}

func (s *simulation) checkMessage(n *node, m protocol.Message) error {
	if err := s.checkHeader(n, m.Header); err != nil {
		return fmt.Errorf("message %v: %w", m.Header, err)
	}
	if len(m.Body) > protocol.MaxChunkBytes {
		return fmt.Errorf("message %v: the body has %d bytes; at most %d are allowed", m.Header, len(m.Body), protocol.MaxChunkBytes)
	}
	if _, twice := s.result.Sent[m.Header]; twice {
		return fmt.Errorf("message %v: the header was used before; headers must be unique", m.Header)
	}
	return nil
}

func (s *simulation) checkHeader(n *node, h protocol.Header) error {
	session := s.config.Session
	switch {
	case h.Session != session.ID() || h.Protocol != session.Protocol:
		return fmt.Errorf("the header names session %v of protocol %q, which is not this session", h.Session, h.Protocol)
	case h.Sender != n.Name:
		return fmt.Errorf("the header's sender is not %q, the node that sends the message", n.Name)
	case h.Receiver == n.Name || session.Index(h.Receiver) < 0:
		return fmt.Errorf("the header's receiver is not another member of the session")
	case h.Kind == "" || len(h.Kind) > protocol.MaxNameBytes:
		return fmt.Errorf("the header's kind has %d bytes; 1 to %d are allowed", len(h.Kind), protocol.MaxNameBytes)
	case h.Chunk >= h.Chunks:
		return fmt.Errorf("the header's chunk is %d of %d; it must be below the number of chunks", h.Chunk, h.Chunks)
	}
	return nil
}
