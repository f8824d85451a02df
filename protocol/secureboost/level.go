package secureboost

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// ask prepares the guest to receive the level's sums from the hosts. It sends no request,
// because hosts know which sums they must send.
func (g *Guest) ask() {
	nodes := make([]node, len(g.level))
	for k, n := range g.level {
		nodes[k] = n.node
	}
	g.asked, g.arrivals = nodesToSum(nodes), make([][]arrival, len(g.hosts))
	for h, bins := range g.shapes {
		blocks := g.layout.blocksOf(reportedSums(bins))
		chunks := g.layout.chunksOf(blocks, g.layout.blocks)
		for range g.asked {
			g.arrivals[h] = append(g.arrivals[h], arrival{sums: make([][2]int64, blocks*g.layout.slots), have: make([]bool, chunks), missing: chunks})
		}
	}
	for _, k := range g.asked {
		g.level[k].histogram = g.ownSums(g.level[k].node)
	}
	g.stage = gathering
}

// ownSums adds up the gradients of a node's training rows for each bin of the guest's own columns.
func (g *Guest) ownSums(n node) [][][2]int64 {
	h := make([][][2]int64, len(g.input.Codes))
	linalg.Each(len(h), 1, func(f int) {
		cells, codes := make([][2]int64, g.input.Bins[f]), g.input.Codes[f]
		for _, r := range n.rows[:n.training] {
			cell := &cells[codes[r]]
			cell[0], cell[1] = cell[0]+g.gradients[r][0], cell[1]+g.gradients[r][1]
		}
		h[f] = cells
	})
	return h
}

func (g *Guest) receiveSums(host int, m protocol.Message) error {
	at, base := -1, levelNumber(g.tree, g.depth)<<8
	for i, k := range g.asked {
		if m.Sequence == base|uint32(k) {
			at = i
		}
	}
	if at < 0 {
		return m.Unexpected()
	}
	a := &g.arrivals[host][at]
	if int(m.Chunks) != len(a.have) || int(m.Chunk) >= len(a.have) || a.have[m.Chunk] {
		return m.Unexpected()
	}
	first := int(m.Chunk) * g.layout.blocks
	blocks := min(g.layout.blocks, len(a.sums)/g.layout.slots-first)
	if len(m.Body) != blocks*g.layout.block {
		return m.Malformed(fmt.Errorf("secureboost: the sums have %d bytes; %d are required", len(m.Body), blocks*g.layout.block))
	}
	sums, err := g.cipher.open(m.Body)
	if err != nil {
		return m.Malformed(err)
	}
	cells := reportedSums(g.shapes[host])
	for i, v := range sums {
		most := int64(g.level[g.asked[at]].training) * MostGradient
		if first*g.layout.slots+i >= cells {
			most = 0
		}
		if v[1] < 0 || v[1] > min(most, g.level[g.asked[at]].sum[1]) || v[0] < -most || v[0] > most {
			return m.Inconsistent("the sums %d of gradients and %d of second derivatives are out of range", v[0], v[1])
		}
	}
	copy(a.sums[first*g.layout.slots:], sums)
	a.have[m.Chunk] = true
	a.missing--
	return nil
}

// choose builds the histograms of the level's nodes and lets the learner choose their splits.
func (g *Guest) choose() (protocol.Effects, error) {
	for i, k := range g.asked {
		n := &g.level[k]
		for h := range g.hosts {
			cells, err := g.cellsOf(h, g.arrivals[h][i].sums, n.sum)
			if err != nil {
				return protocol.Finish(protocol.Effects{}, err)
			}
			n.histogram = append(n.histogram, cells...)
		}
	}
	if err := g.subtract(); err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	choices := make([][]choice, len(g.hosts))
	for k := range g.level {
		n := &g.level[k]
		if n.column, n.bin, n.split = g.learner.Split(n.place, n.histogram); !n.split {
			continue
		}
		switch host, column := g.holder(n.column); {
		case column < 0:
			return protocol.Finish(protocol.Effects{}, fmt.Errorf("secureboost: the learner splits at column %d, which no member has", n.column))
		case host < 0:
			n.bits = n.bitsOf(g.input.Codes[column], n.bin)
		default:
			choices[host] = append(choices[host], choice{k, column, n.bin})
		}
	}
	g.stage, g.answered = dividing, make([]bool, len(g.hosts))
	return protocol.Effects{Send: g.toAll(roundChoose, levelNumber(g.tree, g.depth), func(h int) []byte { return encodeChoices(choices[h]) })}, nil
}

// holder returns the index of the member that has a column, and the column's index at that member.
// The member is a host's index, or -1 for the guest.
func (g *Guest) holder(column int) (host, own int) {
	if column < len(g.input.Bins) {
		return -1, column
	}
	column -= len(g.input.Bins)
	for h, bins := range g.shapes {
		if column < len(bins) {
			return h, column
		}
		column -= len(bins)
	}
	return -1, -1
}

// cellsOf returns a host's part of a node's histogram. The sum of a column's first bin is the
// node's total minus the sums of the column's other bins.
func (g *Guest) cellsOf(host int, sums [][2]int64, total [2]int64) ([][][2]int64, error) {
	var list [][][2]int64
	for f, bins := range g.shapes[host] {
		cells, rest := make([][2]int64, bins), total
		for b := 1; b < bins; b++ {
			v := sums[b-1]
			cells[b], rest = v, [2]int64{rest[0] - v[0], rest[1] - v[1]}
		}
		if sums = sums[bins-1:]; rest[1] < 0 {
			return nil, g.inconsistent(host, f, "the node's total")
		}
		cells[0] = rest
		list = append(list, cells)
	}
	return list, nil
}

func (g *Guest) inconsistent(host, column int, exceeded string) error {
	return protocol.Blame(g.hosts[host], protocol.KindInconsistent, fmt.Errorf("secureboost: the host's sums over column %d exceed %s", column, exceeded))
}

// subtract computes the histograms of the nodes whose sums the hosts do not send. Such a node already
// holds its parent's histogram; subtract subtracts the histogram of the other child from it.
func (g *Guest) subtract() error {
	if g.depth == 0 {
		return nil
	}
	for _, k := range g.asked {
		small, large := g.level[k].histogram, g.level[k^1].histogram
		for f, cells := range small {
			for b, c := range cells {
				v := &large[f][b]
				if v[0], v[1] = v[0]-c[0], v[1]-c[1]; v[1] < 0 {
					host, column := g.holder(f)
					return g.inconsistent(host, column, "the sums of the node's parent")
				}
			}
		}
	}
	return nil
}

// receiveBits stores which rows go left in the nodes that a host splits. The sums over these rows
// must match the sums that the host has reported.
func (g *Guest) receiveBits(host int, m protocol.Message) error {
	if m.Sequence != levelNumber(g.tree, g.depth) || m.Chunks != 1 {
		return m.Unexpected()
	}
	found, rest := make(map[int][]byte), m.Body
	for k := range g.level {
		n := &g.level[k]
		if owner, _ := g.holder(n.column); !n.split || owner != host {
			continue
		}
		bits, after, err := n.cutBits(rest)
		if err != nil {
			return m.Malformed(fmt.Errorf("secureboost: %w", err))
		}
		if want := n.leftSum(); g.sumOf(n.node, bits) != want {
			return m.Inconsistent("the rows that go left do not have the sums of their bins")
		}
		found[k], rest = bits, after
	}
	if len(rest) > 0 {
		return m.Malformed(fmt.Errorf("secureboost: the message has %d bytes too many", len(rest)))
	}
	for k, bits := range found {
		g.level[k].bits = bits
	}
	g.answered[host] = true
	return nil
}

// leftSum adds up the sums of the bins whose rows go to the left child.
func (n *openNode) leftSum() (sum [2]int64) {
	for _, c := range n.histogram[n.column][:n.bin+1] {
		sum[0], sum[1] = sum[0]+c[0], sum[1]+c[1]
	}
	return sum
}

// sumOf adds up the gradients of a node's training rows that go to the left child.
func (g *Guest) sumOf(n node, bits []byte) (sum [2]int64) {
	for i, r := range n.rows[:n.training] {
		if bits[i/8]>>(i%8)&1 == 1 {
			sum[0], sum[1] = sum[0]+g.gradients[r][0], sum[1]+g.gradients[r][1]
		}
	}
	return sum
}

// grow divides the nodes of the level. Their children form the next level or are leaves.
func (g *Guest) grow() (protocol.Effects, error) {
	var next []openNode
	bits := make([][]byte, len(g.level))
	last := g.depth+1 == g.params.spec.Depth
	for k := range g.level {
		n := &g.level[k]
		if !n.split {
			g.learner.Leaf(n.place, n.sum, n.rows)
			continue
		}
		bits[k] = n.bits
		children := g.children(n)
		if last {
			g.learner.Leaf(children[0].place, children[0].sum, children[0].rows)
			g.learner.Leaf(children[1].place, children[1].sum, children[1].rows)
		} else {
			next = append(next, children...)
		}
	}
	if len(next) == 0 {
		g.learner.Done()
		g.tree++
		g.stage = beginning
		return protocol.Effects{Progress: g.progress()}, nil
	}
	e := protocol.Effects{Send: g.toAll(roundDivide, levelNumber(g.tree, g.depth), func(int) []byte { return encodeDivision(bits) })}
	g.level = next
	g.depth++
	g.ask()
	return e, nil
}

// children divides a node into its two children. The child whose sums the hosts do not send keeps
// the parent's histogram until the other child's histogram is known.
func (g *Guest) children(n *openNode) []openNode {
	l, r := n.divide(n.bits)
	left := openNode{node: l, sum: g.sumOf(n.node, n.bits)}
	right := openNode{node: r, sum: [2]int64{n.sum[0] - left.sum[0], n.sum[1] - left.sum[1]}}
	if l.training > r.training {
		left.histogram = n.histogram
	} else {
		right.histogram = n.histogram
	}
	return []openNode{left, right}
}

func encodeChoices(list []choice) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(list)))
	for _, c := range list {
		w.Uint16(uint16(c.node))
		w.Uint16(uint16(c.column))
		w.Uint8(uint8(c.bin))
	}
	return w.Bytes()
}

// encodeDivision encodes the bits of each node of a level. The bits of a leaf are nil.
func encodeDivision(bits [][]byte) []byte {
	var b []byte
	for _, one := range bits {
		if one == nil {
			b = append(b, 0)
		} else {
			b = append(append(b, 1), one...)
		}
	}
	return b
}
