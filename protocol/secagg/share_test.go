package secagg

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/crypto/shamir"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A holder that releases a wrong share is detected when there are more shares than the
// threshold, and the sum is withheld.
func TestPitfall14WrongSharesAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := newCohort(t, spec(Active), 40)
	changed := 0
	r := c.run(t, sim.Schedule{Gone: map[string]int{c.names[9]: afterShares}}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundUnmask && m.Sender == c.names[3] {
			m.Body = bytes.Clone(m.Body)
			m.Body[len(m.Body)-1] ^= 1
			changed++
		}
		return []protocol.Message{m}
	})
	if changed != 1 {
		t.Fatal("nothing was changed")
	}
	if o := r.Outcome("server"); o.End == nil || !errors.Is(o.End.Err, shamir.ErrInconsistent) || o.Machine.(*Server).Sums() != nil {
		t.Errorf("the server ended with %+v", o.End)
	}
}

// With no more shares than the threshold, a wrong share of a mask key gives another key
// than the advertised one, and the sum is withheld, too.
func TestPitfall14TheKeyMustBeTheOneAdvertised(t *testing.T) {
	s := spec(Active)
	s.Dropped, s.Corrupted = .4, 0
	c := newCohort(t, s, 4)
	changed := 0
	r := c.run(t, sim.Schedule{Gone: map[string]int{c.names[3]: afterShares}}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundUnmask && m.Sender == c.names[0] {
			list := must(decodeReleases(m.Body, 4))(t)
			list[3].share[9] ^= 1 // of the one who vanished; X25519 ignores some bits of the first byte
			m.Body = encodeReleases(list)
			changed++
		}
		return []protocol.Message{m}
	})
	if changed != 1 {
		t.Fatal("nothing was changed")
	}
	o := r.Outcome("server")
	if o.End == nil || !errors.Is(o.End.Err, shamir.ErrInconsistent) || !strings.Contains(o.End.Err.Error(), "a mask key that the client has not advertised") {
		t.Errorf("the server ended with %+v", o.End)
	}
	if o.Machine.(*Server).Sums() != nil {
		t.Error("there is a sum all the same")
	}
}

// Shares that come from another client than the server says, are meant for another holder,
// or were sealed in another session, do not decrypt. The client continues without them: it
// gives the server neither share of those clients.
func TestPitfall15SharesNameSenderReceiverAndSession(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	earlier := deliveriesTo(t, c.again(t, 1))
	here := deliveriesTo(t, c)
	const victim = 2
	for name, bend := range map[string]func(d *deliveries){
		"another sender":   func(d *deliveries) { d.list[0].sealed, d.list[1].sealed = d.list[1].sealed, d.list[0].sealed },
		"another receiver": func(d *deliveries) { d.list[0].sealed = here[victim+1].list[0].sealed },
		"another session":  func(d *deliveries) { d.list[0].sealed = earlier[victim].list[0].sealed },
	} {
		t.Run(name, func(t *testing.T) {
			r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
				if m.Round == roundShares && m.Receiver == c.names[victim] {
					d := must(decodeDeliveries(m.Body, 5))(t)
					bend(&d)
					m.Body = d.encode()
				}
				return m
			})
			bent := deliveries{list: slices.Clone(here[victim].list)}
			bend(&bent)
			var opens []int
			for i, d := range bent.list {
				if d.sealed == here[victim].list[i].sealed {
					opens = append(opens, d.owner.client)
				}
			}
			var got []int
			for _, share := range l.released[c.names[victim]] {
				got = append(got, share.owner)
			}
			if d := cmp.Diff(opens, got); d != "" || len(got) > 4 {
				t.Errorf("shares are given up of other clients than those whose shares open: %s", d)
			}
			if o := r.Outcome(c.names[victim]); o.End == nil || o.End.Err != nil {
				t.Errorf("the client ends with %+v", o.End)
			}
		})
	}
}

// The key that seals a share follows from a private key of its sender or of its holder, and from no
// other client's: the server, which carries the shares, cannot open them.
func TestPitfall15OnlyBothEndsHaveTheKey(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	id := c.session.ID()
	var all []*secrets
	for i := range 3 {
		s, err := newSecrets([32]byte{byte(i + 1)}, id)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	key := func(own, other int) [32]byte {
		return must(sealingKey(id, all[own].encryption, 0, 1, [keyBytes]byte(all[other].encryption.PublicKey().Bytes())))(t)
	}
	sender, holder := key(0, 1), key(1, 0)
	if sender != holder {
		t.Error("sender and holder have different keys")
	}
	if outsider := key(2, 0); outsider == sender || key(2, 1) == sender {
		t.Error("a third client has the key")
	}
}

// The key that seals a share and the data that the seal covers each name the session, the sender and the
// holder. Either would do: the two guard each other.
func TestPitfall15KeyAndSealNameTheSession(t *testing.T) {
	one, two := protocol.SessionID{1}, protocol.SessionID{2}
	own, other := must(newSecrets([32]byte{1}, one))(t), must(newSecrets([32]byte{2}, one))(t)
	public := [keyBytes]byte(other.encryption.PublicKey().Bytes())
	keys, seals := make(map[[32]byte]bool), make(map[string]bool)
	for _, id := range []protocol.SessionID{one, two} {
		for from := range 3 {
			for to := range 3 {
				keys[must(sealingKey(id, own.encryption, from, to, public))(t)] = true
				seals[string(shareData(id, from, to))] = true
			}
		}
	}
	if len(keys) != 18 || len(seals) != 18 {
		t.Errorf("18 messages of two sessions have %d keys and %d seals", len(keys), len(seals))
	}
}

// The shares of a client's two secrets are drawn apart: even of two equal secrets no holder has equal
// shares. Otherwise the two shares of one holder would give the difference of the secrets.
func TestPitfall01SharesOfBothSecretsAreDrawnApart(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	id := c.session.ID()
	var clients []*Client
	var members []member
	for i := range 5 {
		client := must(c.client(i))(t)
		clients = append(clients, client)
		members = append(members, member{i, client.secrets.publicKeys(id, i, client.identity.Sign)})
	}
	owner := clients[0]
	owner.secrets.self = owner.secrets.maskSeed
	for i, sealed := range must(owner.splitSecrets(members))(t) {
		if h := must(clients[i].openShares(delivery{members[0], sealed}))(t); h.mask == h.self {
			t.Errorf("holder %d has the same share of both secrets", i)
		}
	}
}

// deliveriesTo runs a session and returns what each client was handed.
func deliveriesTo(t *testing.T, c *cohort) map[int]deliveries {
	t.Helper()
	all := make(map[int]deliveries)
	c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundShares {
			all[c.index(m.Receiver)] = must(decodeDeliveries(m.Body, len(c.names)))(t)
		}
		return []protocol.Message{m}
	})
	return all
}
