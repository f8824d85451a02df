package paper

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/report"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/link"
	"github.com/mercer-fl/mercer/transport/mem"
)

// topology is a pattern of messages that sums the matrices of all nodes at node 0.
type topology struct {
	name string
	hops func(nodes int) []hop // messages in order; a node sends one after it has received all earlier messages addressed to it
}

// hop is a message from one node to another.
type hop struct{ from, to int }

// topologies lists the patterns of Figure 4.
var topologies = []topology{
	{"tree", treeHops}, {"ring", ringHops}, {"star", starHops},
}

// ringHops returns the messages of a ring: the sum passes from node to node, and back to node 0.
func ringHops(nodes int) (list []hop) {
	for i := range nodes {
		list = append(list, hop{i, (i + 1) % nodes})
	}
	return list
}

// starHops returns the messages of a star: each node sends its matrix to node 0.
func starHops(nodes int) (list []hop) {
	for i := 1; i < nodes; i++ {
		list = append(list, hop{i, 0})
	}
	return list
}

// treeHops returns the messages of a tree: pairs of neighbours are summed, then pairs of sums,
// until one sum is left.
func treeHops(nodes int) (list []hop) {
	for step := range bits.Len(uint(nodes - 1)) {
		for i := 1 << step; i < nodes; i += 2 << step {
			list = append(list, hop{i, i - 1<<step})
		}
	}
	return list
}

// guFigure4 reproduces Figure 4: the time to sum the kernel matrices of all nodes. The nodes
// send whole matrices, as in the paper, over modelled lines.
func guFigure4(ctx context.Context, l *Runner) (*Measurement, error) {
	const rows = 512 // number of rows of each matrix; the ranking of the topologies does not depend on it
	line := link.Line{Rate: 125e6, Latency: 100 * time.Microsecond}
	f := &Measurement{Data: fmt.Sprintf("a kernel matrix of %d rows at each node, on lines of 1 Gbit/s with 0.1 ms", rows)}
	nodes := []int{2, 4, 8, 12, 16}
	c := report.Curve{Title: "seconds of messages", X: "nodes"}
	for _, n := range nodes {
		c.Steps = append(c.Steps, strconv.Itoa(n))
	}
	for _, t := range topologies {
		one := report.Line{Name: t.name}
		for _, n := range nodes {
			took, sent, err := summed(ctx, line, t.hops(n), n, rows)
			if err != nil {
				return nil, err
			}
			one.Values = append(one.Values, took.Seconds())
			cell := fmt.Sprintf("%s, %d nodes", t.name, n)
			f.Rows = append(f.Rows, Row{cell, "s of messages", once(took.Seconds()), nil}, Row{cell, "MB sent", once(float64(sent) / 1e6), nil})
		}
		c.Lines = append(c.Lines, one)
	}
	c.Scale = report.LinearScale(c.Lines)
	f.Curves = []report.Curve{c}
	tree, ring, star := c.Lines[0].Values, c.Lines[1].Values, c.Lines[2].Values
	last := len(nodes) - 1
	f.Claims = []Claim{judge("With more nodes the tree has the lowest cost.", tree[last] < ring[last] && tree[last] < star[last],
		"with %d nodes the ring takes %.1f times, the star %.1f times the tree's time", nodes[last], ring[last]/tree[last], star[last]/tree[last])}
	return f, nil
}

// summed measures the cost of sending the matrices along the hops. It returns the modelled time
// and the number of bytes sent.
func summed(ctx context.Context, on link.Line, hops []hop, nodes, rows int) (time.Duration, uint64, error) {
	clock, err := link.NewClock(on)
	if err != nil {
		return 0, 0, err
	}
	net, conns := mem.NewNetwork(), make([]transport.Conn, nodes)
	for i := range conns {
		conn, err := net.Join(strconv.Itoa(i))
		if err != nil {
			return 0, 0, err
		}
		conns[i] = clock.Conn(strconv.Itoa(i), conn)
	}
	pieces := matrixPieces(rows)
	for _, h := range hops {
		for _, piece := range pieces {
			if err := pass(ctx, conns[h.from], conns[h.to], strconv.Itoa(h.to), piece); err != nil {
				return 0, 0, err
			}
		}
	}
	sent, _ := clock.Sent()
	return clock.Elapsed(), sent, nil
}

// matrixPieces returns messages with the size of the upper triangle of a matrix of float64
// values.
func matrixPieces(rows int) (pieces [][]byte) {
	const most = 512 << 10
	for left := rows * (rows + 1) / 2 * 8; left > 0; left -= most {
		pieces = append(pieces, make([]byte, min(left, most)))
	}
	return pieces
}

// pass sends a message from one node and receives it at another.
func pass(ctx context.Context, from, to transport.Conn, name string, data []byte) error {
	if err := from.Send(ctx, name, transport.Bulk, data); err != nil {
		return err
	}
	d, err := to.Receive(ctx, transport.Bulk)
	if err != nil {
		return err
	}
	return d.Ack()
}
