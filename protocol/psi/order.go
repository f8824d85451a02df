package psi

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// result is the outcome of a session.
type result struct {
	order     []int
	key       [32]byte
	alignment [32]byte
}

// Order returns the party's common rows, in the order that all parties share:
// the i-th entry is the row of this party's table that has the i-th common id.
func (p *Party) Order() []int { return p.result.order }

// Key returns the key that the parties have in common and the comparer does not
// know. It is secret.
func (p *Party) Key() [32]byte { return p.result.key }

// Alignment returns the commitment to the ids of the common rows in their order,
// which all parties share and have proved to each other to share. It may be
// told to anybody: it says nothing to who does not know the key.
func (p *Party) Alignment() [32]byte { return p.result.alignment }

// Align returns the commitment to the rows of a table in some order: HMAC-SHA256,
// under the parties' common key, of the number of rows and their ids. A party
// whose rows give another value than the agreed one has them in a wrong order.
func Align(key [32]byte, ids [][]byte, order []int) [32]byte {
	var w wire.Writer
	w.String("mercer/v1/psi/alignment")
	w.Uint64(uint64(len(order)))
	h := hmac.New(sha256.New, key[:])
	h.Write(w.Bytes())
	for _, row := range order {
		writeID(h, ids[row])
	}
	return [32]byte(h.Sum(nil))
}

// commonKey is made of a part from every party, so that somebody who is no party
// does not know it, no matter which parts all parties but one bring.
func (p *Party) commonKey() [32]byte {
	id := p.setup.Session.ID()
	var w wire.Writer
	w.String("mercer/v1/psi/key")
	w.Fixed(id[:])
	for _, peer := range p.peers {
		w.Fixed(peer.part[:])
	}
	return sha256.Sum256(w.Bytes())
}

// arrange shuffles the common rows by the common key, so that the comparer does
// not know which row is which, and begins to prove the order to the others.
func (p *Party) arrange() (protocol.Effects, error) {
	rows, key := p.course.rows(), p.commonKey()
	order := make([]int, len(rows))
	for i, j := range prg.New(key, "psi/order").Perm32(len(rows)) {
		order[i] = rows[j]
	}
	p.result = result{order: order, key: key, alignment: Align(key, p.ids, order)}
	return p.confirm()
}

// conclude ends the session once every other party has shown its proof.
func (p *Party) conclude() (protocol.Effects, error) {
	var odd []string
	for i := range p.peers {
		switch c := &p.peers[i].confirm; {
		case i == p.self:
		case !c.done:
			return protocol.Effects{}, nil
		case !c.agrees:
			odd = append(odd, p.parties[i])
		}
	}
	switch {
	case odd == nil:
		return protocol.Finish(protocol.Effects{}, nil)
	case len(odd) > 1 && len(odd) == len(p.parties)-1:
		return end(&OrderError{p.setup.Self})
	}
	return end(protocol.Blame(odd[0], protocol.KindInconsistent, fmt.Errorf("psi: the rows of %s are not in the common order; see that the table has not changed", strings.Join(odd, " and "))))
}

// repeated blames who passed a set on in which an element is there twice.
func repeated(sender, owner string) error {
	return protocol.Blame(sender, protocol.KindInconsistent, fmt.Errorf("psi: the set of %s: %w", owner, errRepeated))
}

var errRepeated = errors.New("an element is there twice")
