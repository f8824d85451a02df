package secureboost

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// TimerGuest limits a host's wait for the guest. It must outlast the slowest other host's sums, and
// the guest's encryption of all rows.
const TimerGuest protocol.Timer = "secureboost/guest"

// Host is the machine of a party that adds up the guest's gradients over the bins of its
// columns.
type Host struct {
	setup  protocol.Setup
	life   protocol.Life
	params Params
	input  Input
	cipher adder
	layout layout
	guest  string
	told   int  // number of sums that the host reports for each node
	met    bool // whether the guest's key has arrived; true in a session without encryption

	stage   hostStage
	tree    int    // index of the current tree
	have    []bool // whether each chunk of gradients has arrived
	missing int
	depth   int
	level   []node
	asked   []int  // indices of the level's nodes whose sums the host sends
	at      int    // position of the current node in asked
	added   int    // number of rows of the current node already added to the sums
	packed  int    // number of blocks of the current node already encoded
	body    []byte // encoded sums for the next chunk
	chosen  []choice
	bits    []byte // bits of this host's splits in the level
	splits  []Split
}

// hostStage is the kind of work that a host does or waits for.
type hostStage uint8

const (
	resting          hostStage = iota // waits for a tree's first gradients, or for the end
	taking                            // waits for the tree's remaining gradients
	summing                           // computes sums
	awaitingSplits                    // waits for the guest to choose the splits
	awaitingDivision                  // waits for the division of the nodes, the next tree or the end
)

// NewHost returns the machine of a host with the given columns.
func NewHost(s protocol.Setup, in Input) (*Host, error) {
	p, err := checkMember(s, in, protocol.RoleParty)
	if err != nil {
		return nil, err
	}
	h := &Host{
		setup: s, params: p, input: in, guest: s.Session.With(protocol.RoleLeader)[0], told: reportedSums(in.Bins),
		layout: plainLayout(), cipher: &plain{rows: make([][2]int64, p.spec.Training)}, met: true,
	}
	if p.spec.Encryption == Paillier {
		h.layout, h.met = sealedLayout(p.keyBits()), false
		h.cipher = &blind{bits: p.keyBits(), seed: s.Seed, rows: make([]*big.Int, p.spec.Training)}
	}
	h.await()
	return h, nil
}

// Splits returns the nodes that the host's own columns split so far.
func (h *Host) Splits() []Split { return h.splits }

// InputHash returns the hash of the input for [protocol.Start].
func (h *Host) InputHash() [sha256.Size]byte { return h.input.Hash }

// Step implements [protocol.Machine].
func (h *Host) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := h.life.Step(h.setup, e, protocol.Handlers{Start: h.start, Receive: h.receive, Resume: h.resume, Expire: h.expire})
	if err != nil || effects.End != nil {
		return effects, err
	}
	if effects.Resume = h.stage == summing; !effects.Resume {
		effects.Arm = []protocol.Timer{TimerGuest}
	}
	return effects, nil
}

func (h *Host) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != h.input.Hash {
		return protocol.Effects{}, errInput
	}
	return protocol.Effects{Sync: true, Send: []protocol.Message{h.setup.Message(h.guest, roundHello, kindShape, encodeShape(h.input.Bins))}}, nil
}

func (h *Host) expire(t protocol.Timer) (protocol.Effects, error) {
	switch {
	case t != TimerGuest:
		return protocol.Effects{}, fmt.Errorf("secureboost: a host has no timer %q", t)
	case h.stage == summing:
		return protocol.Effects{}, nil
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(h.guest, protocol.KindSilent, fmt.Errorf("secureboost: no message from %s arrived in time", h.guest)))
}

func (h *Host) receive(m protocol.Message) (protocol.Effects, error) {
	whole := m.Chunks == 1 && m.Sender == h.guest
	between := h.stage == resting || h.stage == awaitingDivision
	switch {
	case whole && m.Round == roundHello && m.Kind == kindKey && m.Sequence == 0 && !h.met:
		return h.receiveKey(m)
	case m.Sender == h.guest && m.Round == roundGradients && m.Kind == kindOf(roundGradients) && (between || h.stage == taking):
		return h.receiveGradients(m)
	case whole && m.Round == roundChoose && m.Kind == kindOf(roundChoose) && h.stage == awaitingSplits && m.Sequence == levelNumber(h.tree, h.depth):
		return h.receiveChoose(m)
	case whole && m.Round == roundDivide && m.Kind == kindOf(roundDivide) && h.stage == awaitingDivision && h.depth+1 < h.params.spec.Depth && m.Sequence == levelNumber(h.tree, h.depth):
		return h.receiveDivide(m)
	case whole && m.Round == roundFinish && m.Kind == kindOf(roundFinish) && between && m.Sequence == 0:
		if len(m.Body) > 0 {
			return protocol.Effects{}, m.Malformed(fmt.Errorf("secureboost: the last message has %d bytes; it must be empty", len(m.Body)))
		}
		return protocol.Finish(protocol.Effects{}, nil)
	}
	return protocol.Effects{}, m.Unexpected()
}

func (h *Host) receiveKey(m protocol.Message) (protocol.Effects, error) {
	if err := h.cipher.meet(m.Body); err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	h.met = true
	return protocol.Effects{}, nil
}

// await prepares the host to receive the gradients of a tree.
func (h *Host) await() {
	h.have = make([]bool, h.layout.chunksOf(h.params.spec.Training, h.layout.rows))
	h.missing = len(h.have)
}

func (h *Host) receiveGradients(m protocol.Message) (protocol.Effects, error) {
	want := h.tree
	if h.stage == awaitingDivision {
		want++
	}
	if int(m.Sequence) != want || want >= h.params.spec.Rounds || int(m.Chunks) != len(h.have) || h.stage == taking && h.have[m.Chunk] {
		return protocol.Effects{}, m.Unexpected()
	}
	first := int(m.Chunk) * h.layout.rows
	if n := min(h.layout.rows, h.params.spec.Training-first) * h.layout.row; len(m.Body) != n {
		return protocol.Effects{}, m.Malformed(fmt.Errorf("secureboost: the gradients have %d bytes; %d are required", len(m.Body), n))
	}
	if !h.met {
		return protocol.Effects{}, protocol.ErrLater
	}
	if err := h.cipher.take(first, m.Body); err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if h.stage != taking {
		h.await()
		h.tree, h.stage = want, taking
	}
	h.have[m.Chunk] = true
	if h.missing--; h.missing == 0 {
		h.depth = 0
		h.sum([]node{root(h.params)})
	}
	return protocol.Effects{Progress: protocol.Progress{Stage: "trees", Done: int64(h.tree), Total: int64(h.params.spec.Rounds)}}, nil
}

// sum starts to compute the sums of a level's nodes.
func (h *Host) sum(level []node) {
	h.level, h.asked, h.at, h.stage = level, nodesToSum(level), 0, summing
	h.beginNode()
}

func (h *Host) beginNode() {
	h.added, h.packed, h.body = 0, 0, nil
	h.cipher.begin(h.told)
}

// resume does one step of the summation. It adds some rows, or encodes some sums.
func (h *Host) resume() (protocol.Effects, error) {
	if h.stage != summing {
		return protocol.Effects{}, errors.New("secureboost: the host has no work to resume")
	}
	if n := h.level[h.asked[h.at]]; h.added < n.training && h.told > 0 {
		end := min(n.training, h.added+max(1, h.layout.additions/len(h.input.Bins)))
		h.add(n.rows[h.added:end])
		h.added = end
		return protocol.Effects{}, nil
	}
	return h.pack()
}

// add adds the gradients of rows to the sums of their bins. The first bin of a column has no sum,
// because the guest computes this sum from the other sums.
func (h *Host) add(rows []int32) {
	firsts, next := make([]int, len(h.input.Bins)), 0
	for f, bins := range h.input.Bins {
		firsts[f] = next - 1
		next += bins - 1
	}
	linalg.Each(len(firsts), 1, func(f int) {
		codes := h.input.Codes[f]
		for _, r := range rows {
			if c := int(codes[r]); c > 0 {
				h.cipher.add(firsts[f]+c, int(r))
			}
		}
	})
}

// pack encodes the next sums. It sends the guest a chunk as soon as the chunk is complete.
func (h *Host) pack() (protocol.Effects, error) {
	blocks, sequence := h.layout.blocksOf(h.told), levelNumber(h.tree, h.depth)<<8|uint32(h.asked[h.at])
	body, err := h.cipher.pack(sequence, h.packed, min(h.layout.packs, blocks-h.packed))
	if err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	h.body = append(h.body, body...)
	h.packed = min(blocks, h.packed+h.layout.packs)
	if h.packed < blocks && len(h.body) < h.layout.blocks*h.layout.block {
		return protocol.Effects{}, nil
	}
	m := h.setup.Message(h.guest, roundSums, kindOf(roundSums), h.body)
	m.Sequence = sequence
	e := protocol.Effects{Send: []protocol.Message{m.Piece(max(0, h.packed-1)/h.layout.blocks, h.layout.chunksOf(blocks, h.layout.blocks))}}
	h.body = nil
	if h.packed == blocks {
		h.nextNode()
	}
	return e, nil
}

func (h *Host) nextNode() {
	if h.at++; h.at == len(h.asked) {
		h.stage = awaitingSplits
		return
	}
	h.beginNode()
}

// receiveChoose stores the splits that the guest has chosen among this host's columns. It sends the
// guest the bits that mark which rows go left.
func (h *Host) receiveChoose(m protocol.Message) (protocol.Effects, error) {
	list, err := decodeChoices(m.Body, len(h.level), h.input.Bins)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	var bits []byte
	for _, c := range list {
		n := h.level[c.node]
		bits = append(bits, n.bitsOf(h.input.Codes[c.column], c.bin)...)
		h.splits = append(h.splits, Split{Tree: h.tree, Node: n.place, Column: c.column, Bin: c.bin})
	}
	h.chosen, h.bits, h.stage = list, bits, awaitingDivision
	answer := h.setup.Message(h.guest, roundBits, kindOf(roundBits), bytes.Clone(bits))
	answer.Sequence = m.Sequence
	return protocol.Effects{Send: []protocol.Message{answer}}, nil
}

// receiveDivide divides the nodes of the level. For the nodes that this host splits, the bits must
// equal the bits that this host sent.
func (h *Host) receiveDivide(m protocol.Message) (protocol.Effects, error) {
	bits, err := decodeDivision(m.Body, h.level)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	own := h.bits
	for _, c := range h.chosen {
		size := h.level[c.node].bytes()
		if !bytes.Equal(bits[c.node], own[:size]) {
			return protocol.Effects{}, m.Inconsistent("the bits of node %d differ from the bits that this host sent", c.node)
		}
		own = own[size:]
	}
	var next []node
	for k, b := range bits {
		if b != nil {
			left, right := h.level[k].divide(b)
			next = append(next, left, right)
		}
	}
	if len(next) == 0 {
		return protocol.Effects{}, m.Inconsistent("the message divides no node")
	}
	h.depth++
	h.sum(next)
	return protocol.Effects{}, nil
}

func encodeShape(bins []int) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(bins)))
	for _, b := range bins {
		w.Uint8(uint8(b - 1))
	}
	return w.Bytes()
}

// decodeChoices decodes the splits that the guest chose for a level. The level has the given number
// of nodes, and the host's columns have the given numbers of bins. The nodes must be in ascending
// order. No column is split after its last bin.
func decodeChoices(b []byte, nodes int, bins []int) ([]choice, error) {
	r := wire.NewReader(b)
	list := make([]choice, r.Count(nodes, 5))
	last := -1
	for i := range list {
		c := choice{int(r.Uint16()), int(r.Uint16()), int(r.Uint8())}
		if r.Err() == nil && (c.node <= last || c.node >= nodes || c.column >= len(bins) || c.bin+1 >= bins[c.column]) {
			r.Fail(fmt.Errorf("the split of node %d by bin %d of column %d is not possible", c.node, c.bin, c.column))
		}
		list[i], last = c, c.node
	}
	return list, r.Close("secureboost: choices")
}

func decodeDivision(b []byte, level []node) ([][]byte, error) {
	bits := make([][]byte, len(level))
	for k, n := range level {
		if len(b) == 0 || b[0] > 1 {
			return nil, fmt.Errorf("secureboost: message Divide does not mark node %d as leaf or split", k)
		}
		split := b[0] == 1
		if b = b[1:]; !split {
			continue
		}
		var err error
		if bits[k], b, err = n.cutBits(b); err != nil {
			return nil, fmt.Errorf("secureboost: message Divide, node %d: %w", k, err)
		}
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("secureboost: message Divide has %d bytes too many", len(b))
	}
	return bits, nil
}

// Every message belongs to one of these rounds.
const (
	roundHello uint16 = iota + 1
	roundGradients
	roundSums
	roundChoose
	roundBits
	roundDivide
	roundFinish
)

const (
	kindKey   = "Key"
	kindShape = "Shape"
)

// kindOf returns the kind of the messages of a round after the first.
func kindOf(round uint16) string {
	return [...]string{"", "", "Gradients", "Sums", "Choose", "Bits", "Divide", "Finish"}[round]
}

// choice is a split of one node of the level by a column of the host.
type choice struct{ node, column, bin int }
