package secagg

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The server cannot put keys of its own in the place of a client's.
func TestPitfall04KeysAreSigned(t *testing.T) {
	c := newCrowd(t, spec(Active), 12)
	own, err := newSecrets([32]byte{66}, c.session.ID())
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(*keys){
		"encryption": func(k *keys) { copy(k.encryption[:], own.encryption.PublicKey().Bytes()) },
		"mask":       func(k *keys) { copy(k.mask[:], own.mask.PublicKey().Bytes()) },
	} {
		t.Run(name, func(t *testing.T) {
			r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
				if m.Round != roundHolderKeys {
					return m
				}
				list, err := decodeMembers(m.Body, 12)
				if err != nil {
					t.Fatal(err)
				}
				for i := range list {
					if c.names[list[i].client] != m.Receiver {
						forge(&list[i].keys)
					}
				}
				m.Body = encodeMembers(list)
				return m
			})
			nobodyReleases(t, l)
			for _, name := range c.names {
				blames(t, r, name, "keys that the client has not signed")
			}
		})
	}
}

// resign makes a client advertise other keys, under its own signature.
func (c *crowd) resign(who int, change func(*keys)) func(protocol.Message) []protocol.Message {
	return func(m protocol.Message) []protocol.Message {
		if m.Round == roundAdvertise && m.Sender == c.names[who] {
			var k keys
			copy(k.encryption[:], m.Body)
			copy(k.mask[:], m.Body[keyBytes:])
			change(&k)
			own, err := c.client(who)
			if err != nil {
				return nil
			}
			copy(k.signature[:], own.identity.Sign(k.statement(c.session.ID(), who)))
			m.Body = slices.Concat(k.encryption[:], k.mask[:], k.signature[:])
		}
		return []protocol.Message{m}
	}
}

// A client whose keys would make others give up is left out, and nobody else is.
func TestUnusableKeysAreRefused(t *testing.T) {
	c := newCrowd(t, spec(Active), 30)
	first, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	known := [keyBytes]byte(first.secrets.mask.PublicKey().Bytes())
	for name, change := range map[string]func(*keys){
		"mask of low order":       func(k *keys) { k.mask = [keyBytes]byte{} },
		"encryption of low order": func(k *keys) { k.encryption = [keyBytes]byte{1} },
		"mask of another":         func(k *keys) { k.mask = known },
		"encryption of another":   func(k *keys) { k.encryption = known },
		"one key for both":        func(k *keys) { k.encryption = k.mask },
	} {
		t.Run(name, func(t *testing.T) {
			r := c.run(t, sim.Schedule{}, c.resign(7, change))
			c.checkSum(t, r, 29)
			if len(r.Refusals) != 1 || !strings.HasPrefix(r.Refusals[0].Err.Error(), c.names[7]+" (inconsistent)") {
				t.Errorf("refusals %v", r.Refusals)
			}
		})
	}
}

// The same seed in another session gives other keys and other masks; two
// directions, two keys to encrypt under. No key is used for two messages.
func TestPitfall06NothingIsUsedTwice(t *testing.T) {
	one, two := protocol.SessionID{1}, protocol.SessionID{2}
	a, _ := newSecrets([32]byte{9}, one)
	b, _ := newSecrets([32]byte{9}, two)
	if a.self == b.self || a.maskSeed == b.maskSeed || a.encryption.Equal(b.encryption) || a.shares == b.shares {
		t.Error("two sessions share a secret")
	}
	other, _ := newSecrets([32]byte{8}, one)
	seen := make(map[string]string)
	for name, id := range map[string]protocol.SessionID{"one": one, "two": two} {
		for _, pair := range [][2]int{{1, 2}, {2, 1}, {1, 3}} {
			aead, err := sealer(id, a.encryption, pair[0], pair[1], [32]byte(other.encryption.PublicKey().Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			text := string(aead.Seal(nil, make([]byte, aead.NonceSize()), make([]byte, 64), nil))
			if before, ok := seen[text]; ok {
				t.Errorf("session %s encrypts %v under the key of %s", name, pair, before)
			}
			seen[text] = name
		}
	}
}

// A session's name binds everything that was agreed: a message of a session
// with other parameters is refused.
func TestPitfall11TheSessionBindsWhatWasAgreed(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	s := spec(Active)
	s.Groups = []Group{{Entries: 41, Bound: 7}}
	other := newCrowd(t, s, 5)
	client, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Step(protocol.Start{InputHash: client.InputHash()}); err != nil {
		t.Fatal(err)
	}
	all := everybody(5)
	m := protocol.Message{Header: other.session.Header("server", c.names[0], roundCohort, kindCohort), Body: encodeSets(all)}
	if _, err := client.Step(protocol.Received{Message: m}); err == nil {
		t.Error("a message of another session is accepted")
	}
	if _, err := NewClient(c.setup(c.names[0]), other.params, other.vectors[0], Identity{func([]byte) []byte { return nil }, c.public()}); err == nil {
		t.Error("other parameters than the session's are accepted")
	}
}
