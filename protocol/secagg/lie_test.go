package secagg

import (
	"crypto/ed25519"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// lie is one message of the server's, changed so that a client can detect it.
type lie struct {
	name  string
	round uint16
	bend  func(t *testing.T, c *cohort, m protocol.Message) []byte
	words string // of the client's refusal
}

// ofSet bends a message that is a set of clients.
func ofSet(change func(s set, receiver int)) func(*testing.T, *cohort, protocol.Message) []byte {
	return func(t *testing.T, c *cohort, m protocol.Message) []byte {
		s := must(decodeSet(m.Body, len(c.names)))(t)
		change(s, c.index(m.Receiver))
		return encodeSets(s)
	}
}

// ofMembers bends the keys of holders.
func ofMembers(change func(list []member) []member) func(*testing.T, *cohort, protocol.Message) []byte {
	return func(t *testing.T, c *cohort, m protocol.Message) []byte {
		return encodeMembers(change(must(decodeMembers(m.Body, len(c.names)))(t)))
	}
}

// ofDeliveries bends the shares of others.
func ofDeliveries(change func(d *deliveries, receiver int)) func(*testing.T, *cohort, protocol.Message) []byte {
	return func(t *testing.T, c *cohort, m protocol.Message) []byte {
		d := must(decodeDeliveries(m.Body, len(c.names)))(t)
		change(&d, c.index(m.Receiver))
		return d.encode()
	}
}

// ofSignatures bends the word of others.
func ofSignatures(change func(list []signature) []signature) func(*testing.T, *cohort, protocol.Message) []byte {
	return func(t *testing.T, c *cohort, m protocol.Message) []byte {
		return encodeSignatures(change(must(decodeSignatures(m.Body, len(c.names)))(t)))
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// shrink leaves a set with that many clients, the receiver among them.
func shrink(to int) func(set, int) {
	return func(s set, receiver int) {
		for _, i := range s.list() {
			if s.count() > to && i != receiver {
				remove(s, i)
			}
		}
	}
}

func lies() []lie {
	return []lie{
		{"a cohort without its receiver", roundCohort, ofSet(func(s set, receiver int) { remove(s, receiver) }), "the cohort leaves out the client"},
		{"a cohort of those that the server likes", roundCohort, ofSet(shrink(26)), "the cohort has 26 clients; the agreed parameters require at least 27"},
		{"a set beyond the clients", roundCohort, func(_ *testing.T, _ *cohort, m protocol.Message) []byte { return append(m.Body[:4:4], 0xff) }, "left over"},
		{"other holders", roundHolderKeys, ofMembers(func(l []member) []member { return l[1:] }), "the server sent keys of clients that are not the holders this client named"},
		{"one key for all", roundHolderKeys, ofMembers(func(l []member) []member {
			for i := range l {
				l[i].keys = l[0].keys
			}
			return l
		}), "the signature of the client's keys is not valid"},
		{"sharers without the receiver", roundShares, ofDeliveries(func(d *deliveries, receiver int) { remove(d.sharers, receiver) }), "or leaves out the client that receives it"},
		{"few sharers", roundShares, ofDeliveries(func(d *deliveries, receiver int) { shrink(26)(d.sharers, receiver) }), "26 clients have shared; the agreed minimum is 27"},
		{"shares of one who has not shared", roundShares, ofDeliveries(func(d *deliveries, _ int) { remove(d.sharers, d.list[0].owner.client) }), "which is not on the list of clients that have shared"},
		{"other keys than before", roundShares, ofDeliveries(func(d *deliveries, _ int) {
			for i := range d.list {
				d.list[i].owner.keys.mask[0] ^= 1
			}
		}), "server"},
		{"survivors without the receiver", roundSurvivors, ofSet(func(s set, receiver int) { remove(s, receiver) }), "or leaves out the client that receives it"},
		{"few survivors", roundSurvivors, ofSet(shrink(26)), "the sum has 26 vectors; the agreed minimum is 27"},
		{"a signature of other sets", roundSignatures, ofSignatures(func(l []signature) []signature {
			l[3].value[7] ^= 1
			return l
		}), "is not valid for the sets of clients that this client received"},
		{"a signature for another client", roundSignatures, ofSignatures(func(l []signature) []signature {
			l[0].value = l[1].value
			return l
		}), "is not valid for the sets of clients that this client received"},
		{"signatures of another session", roundSignatures, func(t *testing.T, c *cohort, m protocol.Message) []byte {
			all := everybody(len(c.names))
			told := statement(c.again(t, 1).session.ID(), all, all, all)
			return ofSignatures(func(l []signature) []signature {
				for i := range l {
					copy(l[i].value[:], ed25519.Sign(c.keys[l[i].client], told))
				}
				return l
			})(t, c, m)
		}, "is not valid for the sets of clients that this client received"},
		{"a stranger's signature", roundSignatures, ofSignatures(func(l []signature) []signature {
			l = append(l, signature{slices.Min(outside(l)), l[0].value})
			slices.SortFunc(l, func(a, b signature) int { return a.client - b.client })
			return l
		}), "which is not a holder of this client's shares"},
		{"few signatures", roundSignatures, ofSignatures(func(l []signature) []signature { return l[:4] }), "have signed the sets of clients; the threshold is"},
		{"one signature many times", roundSignatures, ofSignatures(func(l []signature) []signature { return slices.Repeat(l[:1], 20) }), "after client"},
	}
}

// outside lists clients without a signature in the list.
func outside(l []signature) []int {
	var out []int
	for i := range 30 {
		if !slices.ContainsFunc(l, func(s signature) bool { return s.client == i }) {
			out = append(out, i)
		}
	}
	return out
}

// Each lie is refused with the server's name, and changes no state: when the truth follows,
// the session continues as if the lie had not been sent.
func TestLiesAreRefusedAndForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := newCohort(t, spec(Active), 30)
	honest := c.run(t, sim.Schedule{}, nil)
	for _, l := range lies() {
		t.Run(l.name, func(t *testing.T) {
			told := 0
			r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
				if m.Round != l.round || told > 0 {
					return []protocol.Message{m}
				}
				told++
				bent := m
				bent.Body = l.bend(t, c, m)
				return []protocol.Message{bent, m}
			})
			if told != 1 || len(r.Refusals) != 1 {
				t.Fatalf("%d lies, %d refusals", told, len(r.Refusals))
			}
			err := r.Refusals[0].Err
			blame, ok := errors.AsType[*protocol.BlameError](err)
			if !ok || blame.Party != "server" || !strings.Contains(err.Error(), l.words) {
				t.Errorf("refused with %v", err)
			}
			c.checkSum(t, r, 30)
			if !maps.Equal(r.Sent, honest.Sent) {
				t.Error("a refused lie changes what is sent later")
			}
		})
	}
}
