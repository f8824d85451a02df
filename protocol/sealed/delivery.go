package sealed

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// kindWeights is the kind of the messages with the opened weights, from the keepers to the data parties that are none.
const kindWeights = "Weights"

// delivery sends the opened weights to the data parties that are no keepers. The check takes the messages of its
// opening that the other keepers still send.
type delivery struct {
	opening *check
	waiting queue
}

func newDelivery(opening *check, homes []string, words []ring128.Word) *delivery {
	d := &delivery{opening: opening}
	for _, party := range homes {
		h := opening.header(opening.self, opening.self, 0, kindWeights)
		h.Receiver = party
		d.waiting.add(newOutflow(h, words))
	}
	return d
}

func (d *delivery) send() (protocol.Message, bool) { return d.waiting.take() }

// receive takes the late token and part of a keeper, which this keeper did not need for its own opening.
func (d *delivery) receive(m protocol.Message) error { return d.opening.receive(m) }

func (d *delivery) work() (bool, error) { return false, nil }

func (d *delivery) done() bool { return len(d.waiting) == 0 }

func (d *delivery) waits() wait { return wait{} }

// receiving takes the weights at a data party that is no keeper. It believes what two keepers say of one generation: at
// most one lies.
type receiving struct {
	computation
	own    *upload
	asked  [3]bool                 // whether each keeper has asked for the upload again
	said   [generations][3]*inflow // weights that keepers have sent, by generation and the keeper's role
	opened []ring128.Word
}

func newReceiving(c computation, own *upload) *receiving {
	r := &receiving{computation: c, own: own}
	for g := range r.said {
		for k := range r.said[g] {
			r.said[g][k] = newInflow(c.vectors())
		}
	}
	return r
}

func (r *receiving) send() (protocol.Message, bool) { return protocol.Message{}, false }

// receive takes the weights that a keeper sends, or its request for the upload. The third keeper's weights do not
// matter once two keepers have sent the same.
func (r *receiving) receive(m protocol.Message) error {
	from := slices.Index(r.keepers[:], m.Sender)
	switch {
	case from < 0 || m.Round != 0 || m.Sequence >= generations:
		return m.Unexpected()
	case m.Kind == kindAnew:
		return r.takeAnew(role(from), m)
	case m.Kind != kindWeights:
		return m.Unexpected()
	}
	in := r.said[m.Sequence][from]
	if err := in.accept(m); err != nil || !in.complete() {
		return err
	}
	for k, other := range r.said[m.Sequence] {
		if k != from && other.complete() && slices.Equal(other.words, in.words) {
			r.opened = in.words
		}
	}
	return nil
}

// work returns an error if all keepers have sent weights and no two have sent the same of one generation.
func (r *receiving) work() (bool, error) {
	if !r.done() && r.waits() == (wait{}) {
		return false, errors.New("sealed: the three keepers sent three different weights; no two of them are honest, or a message was changed")
	}
	return false, nil
}

func (r *receiving) done() bool { return r.opened != nil }

func (r *receiving) waits() wait {
	for k, keeper := range r.keepers {
		if !r.done() && !r.heard(role(k)) {
			return wait{TimerWeights, keeper, "the weights"}
		}
	}
	return wait{}
}

// heard reports whether a keeper has sent the weights of any generation.
func (r *receiving) heard(from role) bool {
	return slices.ContainsFunc(r.said[:], func(said [3]*inflow) bool { return said[from].complete() })
}

func (r *receiving) weights() []ring128.Word { return r.opened }

func (r *receiving) progress() protocol.Progress { return protocol.Progress{} }
