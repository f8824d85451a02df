package secagg

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// holders returns who holds shares of a client's secrets, in ascending order,
// among the clients that have advertised keys. In a complete graph these are
// all of them and the client itself.
func (p Params) holders(id protocol.SessionID, self int, cohort set, seed [32]byte) []int {
	others := slices.DeleteFunc(cohort.list(), func(i int) bool { return i == self })
	switch {
	case p.degree.Complete:
		return cohort.list()
	case len(others) <= p.degree.Holders:
		return others
	case p.spec.Adversary == SemiHonest:
		return ring(id, self, cohort.list(), p.degree.Holders)
	}
	return drawn(seed, others, p.degree.Holders)
}

// drawn picks k others with the client's own randomness, after the server has
// said who is there: a server that chose, or could foresee, a client's holders
// would fill them with its own.
func drawn(seed [32]byte, others []int, k int) []int {
	order := prg.New(seed, "secagg/holders").Perm(len(others))
	list := make([]int, k)
	for i := range list {
		list[i] = others[order[i]]
	}
	slices.Sort(list)
	return list
}

// ring puts all clients on a ring, in an order that depends on the session, and
// returns the k/2 neighbours on each side (Harary's graph). A server that draws
// many sessions can choose the order, so it serves against onlookers only.
func ring(id protocol.SessionID, self int, cohort []int, k int) []int {
	order := slices.Clone(cohort)
	slices.SortFunc(order, func(a, b int) int {
		x, y := place(id, a), place(id, b)
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
	})
	at := slices.Index(order, self)
	var list []int
	for d := 1; d <= k/2; d++ {
		list = append(list, order[(at+d)%len(order)], order[(at-d+len(order))%len(order)])
	}
	slices.Sort(list)
	return list
}

// place returns a client's place on the ring.
func place(id protocol.SessionID, client int) [sha256.Size]byte {
	return sha256.Sum256(binary.LittleEndian.AppendUint32(id[:len(id):len(id)], uint32(client)))
}
