package fdsvrg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

func (m *Member) receive(msg protocol.Message) (protocol.Effects, error) {
	in, err := m.expected(msg)
	if err != nil {
		return protocol.Effects{}, err
	}
	lo, hi := m.pieceSize.span(int(msg.Chunk), len(m.margins))
	if len(msg.Body) != wordBytes*(hi-lo) {
		return protocol.Effects{}, msg.Malformed(fmt.Errorf("fdsvrg: the piece has %d bytes; %d are required", len(msg.Body), wordBytes*(hi-lo)))
	}
	if msg.Round == roundMargins {
		addWords(m.margins[lo:hi], msg.Body)
	} else if err := decodeSlopes(m.slopes[lo:hi], msg.Body); err != nil {
		return protocol.Effects{}, msg.Malformed(err)
	}
	in.have[msg.Chunk] = true
	if in.missing--; in.missing == 0 {
		m.complete(msg.Round)
	}
	return m.flush(), nil
}

// expected returns the vector to which a message belongs. A child can be one step ahead.
func (m *Member) expected(msg protocol.Message) (*incoming, error) {
	if msg.Kind != kindOf(msg.Round) || msg.Round != roundMargins && msg.Round != roundSlopes {
		return nil, msg.Unexpected()
	}
	at := slices.IndexFunc(m.children, func(in incoming) bool { return in.from == msg.Sender })
	var in *incoming
	switch {
	case msg.Round == roundMargins && at >= 0 && m.early(msg):
		return nil, protocol.ErrLater
	case msg.Round == roundMargins && at >= 0:
		in = &m.children[at]
	case msg.Round == roundSlopes && m.self > 0 && msg.Sender == m.leader.from && m.awaited() == &m.leader && m.now.Kind != Last:
		in = &m.leader
	default:
		return nil, msg.Unexpected()
	}
	if int(msg.Sequence) != m.now.Index || int(msg.Chunks) != len(in.have) || msg.Chunk >= msg.Chunks || in.have[msg.Chunk] {
		return nil, msg.Unexpected()
	}
	return in, nil
}

// early reports whether a message belongs to the next step. A child sends such a message if it
// receives the slopes of this step before this member does.
func (m *Member) early(msg protocol.Message) bool {
	return m.self > 0 && m.now.Kind != Last && int(msg.Sequence) == m.now.Index+1
}

// complete continues the step after a whole vector has arrived.
func (m *Member) complete(round uint16) {
	switch {
	case round == roundSlopes:
		m.learn()
	case m.awaited() != &m.leader: // the member still waits for the vector of another child
	case m.self > 0:
		m.pass()
	case m.now.Kind == Last:
		m.judge.Decide(m.margins)
		m.over = true
	default:
		m.slopes = m.judge.Slopes(m.now, m.margins)
		body := encodeSlopes(m.slopes)
		for _, to := range m.names[1:] {
			m.put(to, roundSlopes, body)
		}
		m.learn()
	}
}

// learn updates the weights by the slopes and begins the next step.
func (m *Member) learn() {
	m.worker.Learn(m.now, m.slopes)
	m.begin(m.now.Index + 1)
}

// addWords decodes words from b and adds them to numbers.
func addWords(numbers []int64, b []byte) {
	for i := range numbers {
		numbers[i] += int64(binary.LittleEndian.Uint64(b[wordBytes*i:]))
	}
}

// encodeSlopes encodes slopes as 8-byte words.
func encodeSlopes(slopes []float64) []byte {
	b := make([]byte, 0, wordBytes*len(slopes))
	for _, v := range slopes {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// decodeSlopes fills slopes from b. It returns an error if a slope is not finite.
func decodeSlopes(slopes []float64, b []byte) error {
	for i := range slopes {
		v := math.Float64frombits(binary.LittleEndian.Uint64(b[wordBytes*i:]))
		if v-v != 0 {
			return errors.New("fdsvrg: a slope is not finite")
		}
		slopes[i] = v
	}
	return nil
}
