package fdskl

import (
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Cost returns the cost of a session in which a single active worker makes the given requests. The
// function columns returns how many columns a worker has. [Plan] counts the messages by pairs of
// workers, so the flows name no round and no kind.
func Cost(s *protocol.Session, requests []Request, columns func(worker string) int) (protocol.Cost, error) {
	edges, err := Plan(s, requests...)
	if err != nil {
		return protocol.Cost{}, err
	}
	p, err := DecodeParams(s.Params)
	if err != nil {
		return protocol.Cost{}, err
	}
	c := protocol.Cost{Rounds: 1} // the last message, Finish
	for _, e := range edges {
		c.Add(protocol.Flow{From: e.From, To: e.To, Messages: e.Messages, Bytes: e.Bytes})
	}
	if p.spec.Mode == Hardened {
		c.Rounds++ // the keys
	}
	depth := 0
	for _, tree := range p.trees(len(s.Members)) {
		depth = max(depth, tree.depth())
	}
	c.Rounds += len(requests) * (1 + depth)
	for _, m := range s.Members {
		c.Load(m.Name, p.answering(requests, len(s.Members), columns(m.Name)))
	}
	return c, nil
}

// answering returns the load of a worker. The worker computes the phases of its own columns, and the
// words of its masks: one mask for each other worker, or in mode paper its own mask, once for each of
// the two trees. The active worker has no mask in mode paper; answering counts one all the same.
func (p Params) answering(requests []Request, workers, columns int) protocol.Load {
	phases, bytes, masks, agreements := 0.0, 0.0, float64(workers-1), float64(workers-1)
	if p.spec.Mode == Paper {
		masks, agreements = 2, 0
	}
	for _, q := range requests {
		phases += float64(q.rowCount()) * float64(q.Directions.Count)
		bytes += float64(p.RequestBytes(q))
	}
	return protocol.Load{
		Effort: protocol.Effort{Products: phases * float64(columns), Agreements: agreements, Keystream: masks * bytes, Moved: 2 * bytes},
		Held:   p.HeldBytes(workers),
	}
}

// depth returns the greatest number of hops from a worker to the root.
func (t Tree) depth() int {
	hops := make([]int, len(t))
	for w := range t {
		for at := w; t[at] != Root; at = t[at] {
			hops[w]++
		}
	}
	return slices.Max(hops)
}
