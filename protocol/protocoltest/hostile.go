package protocoltest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// checkHostile tests that an altered message never leads to a panic, nor, unless [Case].Trusts
// allows it, to a wrong result.
func checkHostile(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	bends := bends()
	for _, i := range sample(len(b.messages)*len(bends), c.Runs) {
		genuine, how := b.messages[i/len(bends)], bends[i%len(bends)]
		bent := how.bend(genuine, rand.New(rand.NewPCG(uint64(i), 2)))
		if bent.Header == genuine.Header && bytes.Equal(bent.Body, genuine.Body) {
			continue
		}
		if err := c.replace(b, genuine.Header, bent); err != nil {
			return fmt.Errorf("the alteration %q (case %d) of message %v: %w", how.what, i, genuine.Header, err)
		}
	}
	return nil
}

// replace runs the case with an altered message in place of the genuine message. If the receiver
// refuses the altered message, a second run delivers both messages. In the second run, the results
// and all other messages must stay the same.
func (c *Case) replace(b *baseline, genuine protocol.Header, bent protocol.Message) error {
	r, err := c.run(sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Header == genuine {
			m = bent
		}
		return []protocol.Message{m}
	})
	if err != nil {
		return err
	}
	if refusal := refusalOf(r, bent.Header); refusal != nil {
		kinds := []protocol.Kind{protocol.KindMalformed, protocol.KindInconsistent, protocol.KindUnexpected}
		if err := checkBlame(refusal, bent.Sender, kinds); err != nil {
			return withTranscript(r, err)
		}
		return c.recovers(b, genuine, bent)
	}
	if bent.Header == genuine && c.Trusts(genuine) {
		return nil
	}
	return c.checkResults(r)
}

func (c *Case) recovers(b *baseline, genuine protocol.Header, bent protocol.Message) error {
	r, err := c.run(sim.Schedule{}, insertBefore(genuine, bent))
	if err != nil {
		return err
	}
	if err := c.checkUnchanged(b, r); err != nil {
		return fmt.Errorf("the run after a refused message: %w", err)
	}
	return nil
}

// bend is a way to alter a message, with a name for error texts.
type bend struct {
	what string
	bend func(protocol.Message, *rand.Rand) protocol.Message
}

func bends() []bend {
	all := []bend{
		body("no body", func(b []byte, _ *rand.Rand) []byte { return nil }),
		body("half the body", func(b []byte, _ *rand.Rand) []byte { return b[:len(b)/2] }),
		body("one byte less", func(b []byte, _ *rand.Rand) []byte { return b[:max(len(b)-1, 0)] }),
		body("one byte more", func(b []byte, _ *rand.Rand) []byte { return append(bytes.Clone(b), 0) }),
		body("zeros", func(b []byte, _ *rand.Rand) []byte { return make([]byte, len(b)) }),
		body("ones", func(b []byte, _ *rand.Rand) []byte { return bytes.Repeat([]byte{0xff}, len(b)) }),
		body("noise", func(b []byte, r *rand.Rand) []byte { return noise(len(b), r) }),
		body("the longest body", func(_ []byte, r *rand.Rand) []byte { return noise(protocol.MaxChunkBytes, r) }),
		header("another sequence number", func(h *protocol.Header) { h.Sequence++ }),
		header("one chunk more", func(h *protocol.Header) { h.Chunks++ }),
		header("billions of chunks", func(h *protocol.Header) { h.Chunks = math.MaxUint32 }),
		header("the last of billions of chunks", func(h *protocol.Header) { h.Chunk, h.Chunks = math.MaxUint32-1, math.MaxUint32 }),
	}
	for range 3 {
		all = append(all, body("noise of random length", func(b []byte, r *rand.Rand) []byte { return noise(r.IntN(2*len(b)+2), r) }))
	}
	for range 8 {
		all = append(all, body("a flipped bit", flip))
	}
	return all
}

func body(what string, change func([]byte, *rand.Rand) []byte) bend {
	return bend{what, func(m protocol.Message, r *rand.Rand) protocol.Message {
		m.Body = change(m.Body, r)
		return m
	}}
}

func header(what string, change func(*protocol.Header)) bend {
	return bend{what, func(m protocol.Message, _ *rand.Rand) protocol.Message {
		change(&m.Header)
		return m
	}}
}

func flip(b []byte, r *rand.Rand) []byte {
	if len(b) == 0 {
		return b
	}
	b = bytes.Clone(b)
	bit := r.IntN(8 * len(b))
	b[bit/8] ^= 1 << (bit % 8)
	return b
}

func noise(n int, r *rand.Rand) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
