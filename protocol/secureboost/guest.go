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

// Learner computes gradients and chooses splits for the guest. Its results must depend only on its
// earlier calls, so that a replay makes the same choices. The root of a tree is node 1, and the
// children of node k are 2k and 2k+1.
type Learner interface {
	// Gradients returns the gradient and second derivative of each training row for the next
	// tree. It returns false if there are no more trees. A gradient is from -MostGradient to
	// MostGradient, and a second derivative from 1 to MostGradient.
	Gradients() ([][2]int64, bool)
	// Split returns the column and the bin at which a node is split, or false if the node is a
	// leaf. For each column, the histogram holds the sums over each bin. The guest's columns come
	// first, then the hosts' columns in the session's order of hosts.
	Split(node int, histogram [][][2]int64) (column, bin int, ok bool)
	// Leaf receives the sums over a leaf's training rows, and the indices of all rows in the leaf.
	// The indices include those of held-out rows.
	Leaf(node int, sum [2]int64, rows []int32)
	// Done tells the learner that the tree is complete.
	Done()
}

// TimerHosts limits the time in which the hosts must answer the guest. In this time they also
// compute their sums.
const TimerHosts protocol.Timer = "secureboost/hosts"

// Guest is the machine of the party that has the labels and chooses the splits.
type Guest struct {
	setup   protocol.Setup
	life    protocol.Life
	params  Params
	input   Input
	learner Learner
	cipher  opener
	layout  layout
	hosts   []string
	shapes  [][]int // number of bins of each column, for each host; nil before they arrive

	stage     stage
	tree      int        // index of the current tree
	gradients [][2]int64 // gradient and second derivative of each training row, for this tree
	sealed    int        // number of rows whose gradients are sent
	depth     int
	level     []openNode
	asked     []int       // indices of the level's nodes whose sums the hosts send
	arrivals  [][]arrival // for each host, the sums of each of these nodes
	answered  []bool      // for each host, whether the bits of its splits have arrived
}

// stage is the kind of work that the guest does or waits for.
type stage uint8

const (
	greeting  stage = iota // waits for the hosts' numbers of bins
	beginning              // starts the next tree
	sealing                // sends gradients
	gathering              // waits for sums
	choosing               // chooses splits
	dividing               // waits for the bits that divide rows
	growing                // divides the nodes of the level
)

// openNode holds the guest's state of one node of the current level.
type openNode struct {
	node
	sum       [2]int64
	histogram [][][2]int64 // sums for each column and bin; before they are known nil, the guest's part, or the parent's
	split     bool
	column    int // index among the columns of all members
	bin       int
	bits      []byte // bitmap of the node's rows that go left; nil before it is known
}

// arrival collects the chunks of a host's sums for one node.
type arrival struct {
	sums    [][2]int64
	have    []bool // whether each chunk has arrived
	missing int
}

// NewGuest returns the machine of the guest, whose splits the learner l chooses.
func NewGuest(s protocol.Setup, in Input, l Learner) (*Guest, error) {
	p, err := checkMember(s, in, protocol.RoleLeader)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, errors.New("secureboost: the learner is nil; a guest requires one")
	}
	g := &Guest{setup: s, params: p, input: in, learner: l, hosts: s.Session.With(protocol.RoleParty), cipher: &plain{}, layout: plainLayout()}
	g.shapes = make([][]int, len(g.hosts))
	if p.spec.Encryption == Paillier {
		g.layout = sealedLayout(p.keyBits())
		g.cipher, err = newOwner(s.Seed, p.keyBits())
	}
	return g, err
}

// checkMember returns the session's parameters, or an error if the member's role or input does not
// fit the session.
func checkMember(s protocol.Setup, in Input, role protocol.Role) (Params, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return Params{}, err
	}
	p, err := ValidateSession(s.Session)
	if err != nil {
		return Params{}, err
	}
	return p, in.validate(p)
}

// InputHash returns the hash of the input for [protocol.Start].
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

var errInput = errors.New("secureboost: the rows have changed since the session started; restore them or start a new job")

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
	return protocol.Effects{}, errors.New("secureboost: the guest has no work to resume")
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

// awaits reports whether the guest waits for a message from the given host.
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

// awaitsAny reports whether the guest waits for a message from any host.
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
	g.level = []openNode{{node: root(g.params), sum: total}}
	g.stage = sealing
	return protocol.Effects{Progress: g.progress()}, nil
}

func (g *Guest) progress() protocol.Progress {
	return protocol.Progress{Stage: "trees", Done: int64(g.tree), Total: int64(g.params.spec.Rounds)}
}

func (g *Guest) checkGradients(list [][2]int64) error {
	if len(list) != g.params.spec.Training {
		return fmt.Errorf("secureboost: the learner returned gradients of %d rows; the session has %d training rows", len(list), g.params.spec.Training)
	}
	if g.tree >= g.params.spec.Rounds {
		return fmt.Errorf("secureboost: the learner returned gradients for tree %d (from 0), but the session has at most %d trees", g.tree, g.params.spec.Rounds)
	}
	for _, v := range list {
		if err := checkGradient(v); err != nil {
			return fmt.Errorf("secureboost: a gradient of the learner is invalid: %w", err)
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

// seal sends the encoded gradients of the next chunk of rows to all hosts.
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

// levelNumber returns a number that identifies a level of a tree in the session.
func levelNumber(tree, depth int) uint32 { return uint32(tree*MaxDepth + depth) }

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
