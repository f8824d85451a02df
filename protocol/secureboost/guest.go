package secureboost

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Learner decides at the guest. It must depend on its own past only, so that a replay decides the
// same. The root of a tree is node 1, and the children of node k are 2k and 2k+1.
type Learner interface {
	// Gradients returns gradient and second derivative of each training row for the next tree, or
	// false if there are no more trees. Their sizes are at most MostGradient, and second
	// derivatives are 1 or more.
	Gradients() ([][2]int64, bool)
	// Split returns the column and the bin that split a node, or false if it is a leaf. The
	// histogram has, for each column of the guest and then of the hosts in the session's order, the
	// sums over each bin.
	Split(node int, histogram [][][2]int64) (column, bin int, ok bool)
	// Leaf receives a leaf's sums over training rows, and all its rows, including held-out ones.
	Leaf(node int, sum [2]int64, rows []int32)
	// Done ends a tree.
	Done()
}

// TimerHosts limits the guest's wait for hosts, including their sums.
const TimerHosts protocol.Timer = "secureboost/hosts"

// Guest is the party with the labels, which decides.
type Guest struct {
	setup   protocol.Setup
	life    protocol.Life
	params  Params
	input   Input
	learner Learner
	cipher  opener
	layout  layout
	hosts   []string
	shapes  [][]int // bins of each host's columns; nil before they arrive

	stage     stage
	tree      int        // that grows
	gradients [][2]int64 // of the tree
	sealed    int        // rows whose gradients are sent
	depth     int
	level     []open
	asked     []int       // of the level, whose sums are asked for
	arrivals  [][]arrival // of the nodes asked for, by each host
	answered  []bool      // hosts that have said which rows go left
}

// stage names the guest's current work.
type stage uint8

const (
	greeting  stage = iota // waits for shapes
	beginning              // begins a tree
	sealing                // sends gradients
	gathering              // waits for sums
	choosing               // chooses splits
	dividing               // waits for bits
	growing                // divides nodes
)

// open is a node of the level, with the guest's private state of it.
type open struct {
	node
	sum       [2]int64
	histogram [][][2]int64 // nil before it is known
	split     bool
	column    int // of all columns
	bin       int
	bits      []byte // nil before they are known
}

// arrival collects a host's sums for a node.
type arrival struct {
	sums    [][2]int64
	have    []bool // chunks
	missing int
}

// NewGuest returns the machine of the guest.
func NewGuest(s protocol.Setup, in Input, l Learner) (*Guest, error) {
	p, err := member(s, in, protocol.RoleLeader)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, errors.New("secureboost: a guest has a learner")
	}
	g := &Guest{setup: s, params: p, input: in, learner: l, hosts: s.Session.With(protocol.RoleParty), cipher: &plain{}, layout: plainLayout()}
	g.shapes = make([][]int, len(g.hosts))
	if p.spec.Encryption == Paillier {
		g.layout = sealedLayout(p.keyBits())
		g.cipher, err = newOwner(s.Seed, p.keyBits())
	}
	return g, err
}

// member checks the input of a member of the session.
func member(s protocol.Setup, in Input, role protocol.Role) (Params, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return Params{}, err
	}
	p, err := ValidateSession(s.Session)
	if err != nil {
		return Params{}, err
	}
	return p, in.validate(p)
}

// InputHash returns the hash for the start event.
func (g *Guest) InputHash() [sha256.Size]byte { return g.input.Hash }

// Step implements [protocol.Machine].
func (g *Guest) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := g.life.Step(g.setup, e, protocol.Handlers{Start: g.start, Receive: g.receive, Resume: g.resume, Expire: g.expire})
	if err != nil || effects.End != nil {
		return effects, err
	}
	if effects.Resume = g.ready(); !effects.Resume {
		effects.Arm = []protocol.Timer{TimerHosts}
	}
	return effects, nil
}

var errInput = errors.New("secureboost: the rows differ from those the session was started with; restore them or start a new job")

func (g *Guest) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != g.input.Hash {
		return protocol.Effects{}, errInput
	}
	effects := protocol.Effects{Sync: true}
	if hello := g.cipher.hello(); hello != nil {
		for _, host := range g.hosts {
			effects.Send = append(effects.Send, g.setup.Message(host, roundHello, kindKey, bytes.Clone(hello)))
		}
	}
	return effects, nil
}

func (g *Guest) ready() bool {
	return g.stage == beginning || g.stage == sealing || g.stage == choosing || g.stage == growing
}

func (g *Guest) resume() (protocol.Effects, error) {
	switch g.stage {
	case beginning:
		return g.begin()
	case sealing:
		return g.seal()
	case choosing:
		return g.choose()
	case growing:
		return g.grow()
	}
	return protocol.Effects{}, errors.New("secureboost: there is nothing to resume")
}

func (g *Guest) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerHosts {
		return protocol.Effects{}, fmt.Errorf("secureboost: a guest has no timer %q", t)
	}
	for h, name := range g.hosts {
		if !g.ready() && g.awaits(h) {
			return protocol.Finish(protocol.Effects{}, protocol.Blame(name, protocol.KindSilent, fmt.Errorf("secureboost: %s did not answer in time", name)))
		}
	}
	return protocol.Effects{}, nil
}

// awaits reports whether the guest waits for the given host.
func (g *Guest) awaits(host int) bool {
	switch g.stage {
	case greeting:
		return g.shapes[host] == nil
	case gathering:
		return slices.ContainsFunc(g.arrivals[host], func(a arrival) bool { return a.missing > 0 })
	case dividing:
		return !g.answered[host]
	}
	return false
}

// awaitsAny reports whether the guest waits for any host.
func (g *Guest) awaitsAny() bool {
	for h := range g.hosts {
		if g.awaits(h) {
			return true
		}
	}
	return false
}

func (g *Guest) receive(m protocol.Message) (protocol.Effects, error) {
	host := slices.Index(g.hosts, m.Sender)
	if host < 0 || !g.awaits(host) {
		return protocol.Effects{}, m.Unexpected()
	}
	var err error
	switch {
	case m.Round == roundHello && m.Kind == kindShape && g.stage == greeting:
		err = g.receiveShape(host, m)
	case m.Round == roundSums && m.Kind == kindOf(roundSums) && g.stage == gathering:
		err = g.receiveSums(host, m)
	case m.Round == roundBits && m.Kind == kindOf(roundBits) && g.stage == dividing:
		err = g.receiveBits(host, m)
	default:
		err = m.Unexpected()
	}
	if err == nil && !g.awaitsAny() {
		g.stage = map[stage]stage{greeting: beginning, gathering: choosing, dividing: growing}[g.stage]
	}
	return protocol.Effects{}, err
}

func (g *Guest) receiveShape(host int, m protocol.Message) error {
	if m.Sequence != 0 || m.Chunks != 1 {
		return m.Unexpected()
	}
	bins, err := decodeShape(m.Body)
	if err != nil {
		return m.Malformed(err)
	}
	g.shapes[host] = bins
	return nil
}

// begin starts the next tree, or ends the session.
func (g *Guest) begin() (protocol.Effects, error) {
	list, more := g.learner.Gradients()
	if !more {
		return protocol.Finish(protocol.Effects{Send: g.toAll(roundFinish, 0, func(int) []byte { return nil })}, nil)
	}
	if err := g.checkGradients(list); err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	total := [2]int64{}
	for _, v := range list {
		total[0], total[1] = total[0]+v[0], total[1]+v[1]
	}
	g.gradients, g.sealed, g.depth = list, 0, 0
	g.level = []open{{node: root(g.params), sum: total}}
	g.stage = sealing
	return protocol.Effects{Progress: g.progress()}, nil
}

func (g *Guest) progress() protocol.Progress {
	return protocol.Progress{Stage: "trees", Done: int64(g.tree), Total: int64(g.params.spec.Rounds)}
}

func (g *Guest) checkGradients(list [][2]int64) error {
	if len(list) != g.params.spec.Training || g.tree >= g.params.spec.Rounds {
		return fmt.Errorf("secureboost: the learner gives gradients of %d rows for tree %d", len(list), g.tree)
	}
	for _, v := range list {
		if err := checkGradient(v); err != nil {
			return fmt.Errorf("secureboost: the learner: %w", err)
		}
	}
	return nil
}

// toAll returns a message to each host.
func (g *Guest) toAll(round uint16, sequence uint32, body func(host int) []byte) []protocol.Message {
	var list []protocol.Message
	for h, name := range g.hosts {
		m := g.setup.Message(name, round, kindOf(round), body(h))
		m.Sequence = sequence
		list = append(list, m)
	}
	return list
}

// seal sends the gradients of the next rows.
func (g *Guest) seal() (protocol.Effects, error) {
	end := min(g.sealed+g.layout.rows, len(g.gradients))
	body, err := g.cipher.seal(g.tree, g.sealed, g.gradients[g.sealed:end])
	if err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	chunk, chunks := g.sealed/g.layout.rows, g.layout.chunksOf(len(g.gradients), g.layout.rows)
	e := protocol.Effects{Progress: g.progress()}
	for _, m := range g.toAll(roundGradients, uint32(g.tree), func(int) []byte { return bytes.Clone(body) }) {
		e.Send = append(e.Send, m.Piece(chunk, chunks))
	}
	if g.sealed = end; end == len(g.gradients) {
		g.ask()
	}
	return e, nil
}

// request numbers the level within the session.
func request(tree, depth int) uint32 { return uint32(tree*MaxDepth + depth) }

func decodeShape(b []byte) ([]int, error) {
	r := wire.NewReader(b)
	bins := make([]int, r.Count(MaxColumns, 1))
	for i := range bins {
		bins[i] = int(r.Uint8()) + 1
	}
	if err := r.Close("secureboost: shape"); err != nil {
		return nil, err
	}
	return bins, checkShape(bins)
}
