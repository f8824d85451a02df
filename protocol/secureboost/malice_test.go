package secureboost

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// refused runs a session in which messages are changed, and returns the first refusal, or
// the error with which a member ended.
func refused(t *testing.T, f *federation, change func(*protocol.Message)) error {
	t.Helper()
	r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(), Intercept: func(m protocol.Message) []protocol.Message {
		m.Body = bytes.Clone(m.Body)
		change(&m)
		return []protocol.Message{m}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, refusal := range r.Refusals {
		return refusal.Err
	}
	return r.Err()
}

// blamed demands that err blames the party.
func blamed(t *testing.T, err error, party string, kind protocol.Kind, text string) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != party || blame.Kind != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %s blamed as %s with %q", err, party, kind, text)
	}
}

// A member that lies where a lie can be noticed is named.
func TestLies(t *testing.T) {
	s := Spec{Encryption: None, Rows: 90, Training: 80, Rounds: 1, Depth: 3}
	for _, c := range []struct {
		name, party string
		kind        protocol.Kind
		text        string
		change      func(m *protocol.Message)
	}{
		{"other rows go left than were summed", "shop1", protocol.KindInconsistent, "do not have the sums", func(m *protocol.Message) {
			if m.Round == roundBits && m.Sender == "shop1" && len(m.Body) > 0 {
				m.Body[0] ^= 1
			}
		}},
		{"a sum of second derivatives below 0", "shop1", protocol.KindInconsistent, "of second derivatives are out of range", func(m *protocol.Message) {
			if m.Round == roundSums && m.Sender == "shop1" {
				binary.LittleEndian.PutUint64(m.Body[8:], 1<<63)
			}
		}},
		{"sums that are larger than the node", "shop1", protocol.KindInconsistent, "exceed the node's total", func(m *protocol.Message) {
			if m.Round == roundSums && m.Sender == "shop1" {
				for at := 8; at < len(m.Body); at += 16 { // each as large as one may be
					binary.LittleEndian.PutUint64(m.Body[at:], 80<<19)
				}
			}
		}},
		{"rows after the last one", "shop1", protocol.KindMalformed, "rows that are not in the node", func(m *protocol.Message) {
			if m.Round == roundBits && m.Sender == "shop1" && len(m.Body) > 0 {
				m.Body[len(m.Body)-1] |= 0x80
			}
		}},
		{"a column of no bin", "shop1", protocol.KindMalformed, "shape", func(m *protocol.Message) {
			if m.Round == roundHello && m.Sender == "shop1" {
				m.Body = m.Body[:3]
			}
		}},
		{"a second derivative of 0", "bank", protocol.KindMalformed, "second derivative 0", func(m *protocol.Message) {
			if m.Round == roundGradients {
				binary.LittleEndian.PutUint64(m.Body[8:], 0)
			}
		}},
		{"a host's own bits are not kept", "bank", protocol.KindInconsistent, "differ from the bits that this host sent", func(m *protocol.Message) {
			if m.Round == roundDivide && m.Receiver == "shop1" && m.Body[0] == 1 {
				m.Body[1] ^= 1
			}
		}},
		{"a division of nothing", "bank", protocol.KindInconsistent, "", func(m *protocol.Message) {
			if m.Round == roundDivide && m.Receiver == "shop1" {
				m.Body = []byte{0}
			}
		}},
		{"a split after the last bin", "bank", protocol.KindMalformed, "by bin 255", func(m *protocol.Message) {
			if m.Round == roundChoose && m.Receiver == "shop1" && len(m.Body) > 4 {
				m.Body[8] = 255
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFederation(t, s, 0, 4) // every split is the host's
			blamed(t, refused(t, f, c.change), c.party, c.kind, c.text)
		})
	}
}

// Invalid keys, and numbers that are not ciphertexts, are refused.
func TestLiesUnderEncryption(t *testing.T) {
	s := Spec{Encryption: Paillier, Rows: 20, Training: 18, Rounds: 1, Depth: 1}
	for name, c := range map[string]struct {
		party  string
		change func(m *protocol.Message)
	}{
		"an even key": {"bank", func(m *protocol.Message) {
			if m.Kind == kindKey {
				m.Body[toyKey/8-1] &^= 1
			}
		}},
		"a key without a proof": {"bank", func(m *protocol.Message) {
			if m.Kind == kindKey {
				m.Body = m.Body[:toyKey/8]
			}
		}},
		"a wrong proof about a key": {"bank", func(m *protocol.Message) {
			if m.Kind == kindKey {
				m.Body[len(m.Body)-1] ^= 1
			}
		}},
		"half a key": {"bank", func(m *protocol.Message) {
			if m.Kind == kindKey {
				m.Body = m.Body[:toyKey/16]
			}
		}},
		"a ciphertext of 0": {"bank", func(m *protocol.Message) {
			if m.Round == roundGradients {
				clear(m.Body[:toyKey/4])
			}
		}},
		"a sum of 0": {"shop1", func(m *protocol.Message) {
			if m.Round == roundSums {
				clear(m.Body[:toyKey/4])
			}
		}},
		"noise for sums": {"shop1", func(m *protocol.Message) {
			if m.Round == roundSums {
				for i := range m.Body[1:] {
					m.Body[i+1] ^= byte(37 * i)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := refused(t, newFederation(t, s, 1, 2), c.change)
			var blame *protocol.BlameError
			if !errors.As(err, &blame) || blame.Party != c.party || !blame.Misbehaved() {
				t.Errorf("%v, want %s blamed", err, c.party)
			}
		})
	}
}
