package secagg

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The server cannot replace a client's keys by its own.
func TestPitfall04KeysAreSigned(t *testing.T) {
	c := newCohort(t, spec(Active), 12)
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
				blames(t, r, name, "the signature of the client's keys is not valid")
			}
		})
	}
}

// A signature of keys holds for one client of one session. The server leaves out a client whose keys
// have another's signature.
func TestPitfall04SignaturesNameClientAndSession(t *testing.T) {
	var k keys
	statements := make(map[string]bool)
	for _, id := range []protocol.SessionID{{1}, {2}} {
		for client := range 2 {
			statements[string(k.statement(id, client))] = true
		}
	}
	if len(statements) != 4 {
		t.Errorf("four advertisements have %d statements", len(statements))
	}
	c := newCohort(t, spec(Active), 30)
	r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundAdvertise && m.Sender == c.names[7] {
			m.Body = bytes.Clone(m.Body)
			m.Body[2*keyBytes] ^= 1
		}
		return []protocol.Message{m}
	})
	c.checkSum(t, r, 29)
	if len(r.Refusals) != 1 || !strings.HasPrefix(r.Refusals[0].Err.Error(), c.names[7]+" (inconsistent)") {
		t.Errorf("refusals %v", r.Refusals)
	}
}

// resign makes a client advertise other keys, under its own signature.
func (c *cohort) resign(who int, change func(*keys)) func(protocol.Message) []protocol.Message {
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

// A client whose keys would make others give up is left out, and no other client is.
func TestUnusableKeysAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := newCohort(t, spec(Active), 30)
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

// One seed in two sessions gives two of every secret, and one secret in two
// sessions gives two masks: either would do.
func TestPitfall06SessionsShareNoSecret(t *testing.T) {
	one, two := protocol.SessionID{1}, protocol.SessionID{2}
	a, b := must(newSecrets([32]byte{9}, one))(t), must(newSecrets([32]byte{9}, two))(t)
	if a.self == b.self || a.maskSeed == b.maskSeed || a.encryption.Equal(b.encryption) || a.mask.Equal(b.mask) || a.shares == b.shares {
		t.Error("two sessions share a secret")
	}
	if selfMask(one, a.self) == selfMask(two, a.self) {
		t.Error("two sessions share a self mask")
	}
	other := [keyBytes]byte(b.mask.PublicKey().Bytes())
	if must(pairMask(one, a.mask, 0, 1, other))(t) == must(pairMask(two, a.mask, 0, 1, other))(t) {
		t.Error("two sessions share the mask of a pair")
	}
}

// usedMasks is a Masker that writes down which keys it was given.
type usedMasks struct {
	AESCTR
	signs map[[32]byte][]bool
}

func (u usedMasks) Add(dst []uint64, first int, masks []Mask) {
	for _, m := range masks {
		u.signs[m.Key] = append(u.signs[m.Key], m.Subtract)
	}
	u.AESCTR.Add(dst, first, masks)
}

// Over two sessions among the same clients, who bring even the same seeds, every
// key that masks is used once by a pair of clients, with both signs, or once by a
// single one; no vector has more than one piece.
func TestPitfall06NoKeyMasksTwice(t *testing.T) {
	c := newCohort(t, insecureSparse(Active), 9)
	clients, server := usedMasks{signs: make(map[[32]byte][]bool)}, usedMasks{signs: make(map[[32]byte][]bool)}
	c.masker = func(member int) Masker {
		if member < 0 {
			return server
		}
		return clients
	}
	for nonce := range byte(2) {
		again := c.again(t, nonce)
		again.checkSum(t, again.run(t, sim.Schedule{Gone: map[string]int{"c004": afterShares}}, nil), 8)
	}
	single, pairs, dropped := 0, 0, 0
	for key, signs := range clients.signs {
		undone := server.signs[key]
		switch {
		case len(signs) == 2 && signs[0] != signs[1] && undone == nil:
			pairs++
		case len(signs) == 1 && slices.Equal(undone, []bool{true}) && !signs[0]:
			single++
		case len(signs) == 1 && slices.Equal(undone, []bool{!signs[0]}): // as the one who vanished would have
			dropped++
		default:
			t.Errorf("a key masks with signs %v, and the server with %v", signs, undone)
		}
	}
	if len(server.signs) != single+dropped || single < 16 || pairs == 0 || single+dropped == 16 {
		t.Errorf("%d keys of single clients, %d of pairs, %d of pairs with one who vanished; the server uses %d", single, pairs, dropped, len(server.signs))
	}
}

// No secret of a client follows from another one that the server may reconstruct: the seed of the self
// mask of a client that stays, and the seed of the mask key of one that vanished, are independent of
// each other and of the client's other secrets.
func TestPitfall06SecretsOfAClientAreIndependent(t *testing.T) {
	c := newCohort(t, insecureSparse(Active), 9)
	id := c.session.ID()
	s := must(newSecrets(c.setup(c.names[0]).Seed, id))(t)
	all := map[string][32]byte{
		"the seed of the self mask": s.self, "the seed of the mask key": s.maskSeed, "the seed of the shares": s.shares,
		"the mask key": [32]byte(s.mask.Bytes()), "the encryption key": [32]byte(s.encryption.Bytes()),
	}
	for name, a := range all {
		for other, b := range all {
			derived := name == "the seed of the mask key" && other == "the mask key" || name == "the mask key" && other == "the seed of the mask key"
			if name < other && a == b && !derived {
				t.Errorf("%s is %s", name, other)
			}
		}
		for other, public := range map[string][]byte{"the mask key": s.mask.PublicKey().Bytes(), "the encryption key": s.encryption.PublicKey().Bytes()} {
			own := other == "the mask key" && name == "the seed of the mask key" || name == other
			if key := must(privateKey(a))(t); bytes.Equal(key.PublicKey().Bytes(), public) && !own {
				t.Errorf("%s gives %s", name, other)
			}
		}
	}
}

// In the same two sessions every key that encrypts shares encrypts one message:
// the keys are derived again, shown to be those that were used, and counted.
func TestPitfall06NoKeySealsTwice(t *testing.T) {
	seen := make(map[[32]byte]string)
	sealings := 0
	for nonce := range byte(2) {
		c := newCohort(t, insecureSparse(Active), 9).again(t, nonce)
		id := c.session.ID()
		secret := func(i int) *secrets { return must(newSecrets(c.setup(c.names[i]).Seed, id))(t) }
		c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
			if m.Round != roundShare {
				return []protocol.Message{m}
			}
			from := c.index(m.Sender)
			holders := c.params.holders(id, from, everybody(9), c.setup(m.Sender).Seed)
			for i, s := range must(decodeShares(m.Body, len(holders)))(t) {
				to := holders[i]
				own, other := secret(from).encryption, [keyBytes]byte(secret(to).encryption.PublicKey().Bytes())
				aead := must(sealer(id, own, from, to, other))(t)
				if _, err := aead.Open(nil, make([]byte, aead.NonceSize()), s[:], shareData(id, from, to)); err != nil {
					t.Fatalf("shares of %d for %d are under another key: %v", from, to, err)
				}
				key := must(sealingKey(id, own, from, to, other))(t)
				what := fmt.Sprintf("session %d, %d to %d", nonce, from, to)
				if before, used := seen[key]; used {
					t.Errorf("%s is under the key of %s", what, before)
				}
				seen[key] = what
				sealings++
			}
			return []protocol.Message{m}
		})
	}
	if want := 2 * 9 * newCohort(t, insecureSparse(Active), 9).params.Degree().Holders; sealings != want || len(seen) != want {
		t.Errorf("%d messages under %d keys, want %d", sealings, len(seen), want)
	}
}

// A session's name binds everything that was agreed: a message of a session
// with other parameters is refused.
func TestPitfall11TheSessionBindsWhatWasAgreed(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	s := spec(Active)
	s.Groups = []Group{{Entries: 41, Bound: 7}}
	other := newCohort(t, s, 5)
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
