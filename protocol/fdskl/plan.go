package fdskl

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Edge holds the traffic from one worker to another in a session. Bytes counts only the bodies of
// the messages.
type Edge struct {
	From, To string
	Messages int
	Bytes    int64
}

// RequestBytes returns the number of bytes that the answer to a request takes along each edge of
// each tree: rows x directions x Bits/8. Mode paper has two trees.
func (p Params) RequestBytes(q Request) int64 {
	return int64(q.rowCount()) * int64(q.Directions.Count) * int64(p.ring().bytes())
}

// HeldBytes returns the largest number of bytes that a worker needs to add up words for one active
// worker: 8 chunks for each tree, whatever the number of children. In addition, the worker's queue
// can hold as many bytes from each child.
func (p Params) HeldBytes(workers int) int64 {
	return int64(len(p.trees(workers))) * window * protocol.MaxChunkBytes
}

// Plan returns the traffic of a session in which a single active worker makes the given requests.
// It has an edge for each pair of workers with traffic, in the order of the members.
func Plan(s *protocol.Session, requests ...Request) ([]Edge, error) {
	return plan(s, protocol.MaxChunkBytes, requests)
}

func plan(s *protocol.Session, chunk int, requests []Request) ([]Edge, error) {
	p, err := ValidateSession(s)
	if err != nil {
		return nil, err
	}
	if n := len(s.With(protocol.RoleLeader)); n > 1 {
		return nil, fmt.Errorf("fdskl: the session has %d active workers; only the traffic of a single active worker can be planned", n)
	}
	names := workerNames(s, 0)
	t := newTraffic(len(names))
	if p.spec.Mode == Hardened {
		t.keys()
	}
	for _, q := range requests {
		t.request(len(q.Rows))
		for _, tree := range p.trees(len(names)) {
			t.goUp(tree, newLayout(q, p.ring(), chunk), p.RequestBytes(q))
		}
	}
	t.finish()
	var list []Edge
	for _, from := range s.Members {
		for _, to := range s.Members {
			if e := t.at(slices.Index(names, from.Name), slices.Index(names, to.Name)); e.Messages > 0 {
				list = append(list, Edge{from.Name, to.Name, e.Messages, e.Bytes})
			}
		}
	}
	return list, nil
}

// traffic counts the messages and bytes that each of q workers sends to every other worker.
type traffic struct {
	q     int
	pairs []Edge
}

func newTraffic(q int) *traffic { return &traffic{q, make([]Edge, q*q)} }

func (t *traffic) at(from, to int) *Edge { return &t.pairs[from*t.q+to] }

func (t *traffic) add(from, to, messages int, bytes int64) {
	e := t.at(from, to)
	e.Messages += messages
	e.Bytes += bytes
}

func (t *traffic) keys() {
	for from := range t.q {
		for to := range t.q {
			if from != to {
				t.add(from, to, 1, keyBytes)
			}
		}
	}
}

func (t *traffic) request(spans int) {
	for w := 1; w < t.q; w++ {
		t.add(0, w, 1, int64(signedBytes+spanBytes*spans))
		if w+1 < t.q {
			t.add(w, w+1, 1, witnessBytes)
		}
	}
}

// goUp counts the words that go up a tree, and the empty messages that grant flow-control credit
// for them.
func (t *traffic) goUp(tree Tree, l layout, bytes int64) {
	for w := 1; w < t.q; w++ {
		t.add(w, tree[w], l.chunks(), bytes)
		t.add(tree[w], w, max(0, (l.chunks()-1)/grant-1), 0)
	}
}

func (t *traffic) finish() {
	for w := 1; w < t.q; w++ {
		t.add(0, w, 1, 0)
	}
}
