package secagg

import (
	"crypto/ed25519"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Cost returns the cost of a session in which no client vanishes. The server has the given limits.
// How many clients name one client as the holder of their shares is random in a sparse graph against
// active servers; the cost has the mean of these numbers, so that the sums over all clients are exact.
// The vector of a client belongs to its caller and does not count.
func Cost(s *protocol.Session, room Limits) (protocol.Cost, error) {
	p, err := DecodeParams(s.Params)
	if err != nil {
		return protocol.Cost{}, err
	}
	c := protocol.Cost{}
	clients := s.With(protocol.RoleParty)
	for _, server := range s.With(protocol.RoleServer) {
		for _, m := range p.messages() {
			for _, client := range clients {
				from, to := client, server
				if m.down {
					from, to = server, client
				}
				c.Add(protocol.Flow{From: from, To: to, Round: m.round, Kind: kindOf(m.round), Messages: m.chunks, Bytes: int64(m.bytes)})
			}
			c.Rounds++
		}
		c.Load(server, p.adding(room.orDefault()))
	}
	for _, client := range clients {
		c.Load(client, p.masking())
	}
	return c, nil
}

// neighbours returns the number of clients that hold shares of one client's secrets if none has
// vanished. In a complete graph, that includes the client itself.
func (p Params) neighbours() int {
	if p.degree.Complete {
		return p.clients
	}
	return min(p.degree.Holders, p.clients-1)
}

// masking returns the load of a client: its own mask, one mask with each neighbour, and the key
// agreements for masks and for encrypting and decrypting shares. In a sparse graph a client has up to
// twice as many neighbours as holders, because other clients name it too.
func (p Params) masking() protocol.Load {
	k := float64(p.neighbours())
	if !p.degree.Complete {
		k = min(2*k, float64(p.clients-1))
	}
	bytes := 8 * float64(p.layout.words)
	return protocol.Load{
		Effort: protocol.Effort{Keystream: (k + 1) * bytes, Agreements: 3 * k, Moved: 2 * bytes, Hashed: bytes}, // packed twice: for the hash and for the messages
		Held:   min(protocol.MaxStepBytes, int64(bytes)),
	}
}

// adding returns the load of the server. The server holds the sum, the vectors that are arriving, and
// the unpacked sums. It removes every client's own mask from the sum.
func (p Params) adding(room Limits) protocol.Load {
	bytes := int64(8 * p.layout.words)
	return protocol.Load{
		Effort: protocol.Effort{Keystream: float64(p.clients) * float64(bytes), Agreements: 2 * float64(p.clients), Moved: 2 * float64(p.clients) * float64(bytes)},
		Held:   bytes*int64(1+min(room.Uploads, p.clients)) + 8*int64(p.layout.Entries()),
	}
}

// planned is the message of one round to or from each client.
type planned struct {
	round         uint16
	down          bool // the message goes from the server to the client
	chunks, bytes int
}

// messages lists the message of each round. Each client has as many holders as neighbours returns and,
// on average, holds shares of as many clients. The encoders of the messages give their lengths.
func (p Params) messages() []planned {
	k := p.neighbours()
	var advertised wire.Writer
	keys{}.encode(&advertised)
	clients := newSet(p.clients)
	list := []planned{
		{roundAdvertise, false, 1, len(advertised.Bytes())},
		{roundCohort, true, 1, len(encodeSets(clients))},
		{roundHolders, false, 1, len(encodeClients(make([]int, k)))},
		{roundHolderKeys, true, 1, len(encodeMembers(make([]member, k)))},
		{roundShare, false, 1, len(encodeShares(make([]sealed, k)))},
		{roundShares, true, 1, len(deliveries{clients, make([]delivery, k)}.encode())},
		{roundMasked, false, p.layout.chunks(), 8 * p.layout.words},
		{roundSurvivors, true, 1, len(encodeSets(clients))},
	}
	if p.spec.Adversary == Active {
		list = append(list,
			planned{roundConsistency, false, 1, ed25519.SignatureSize},
			planned{roundSignatures, true, 1, len(encodeSignatures(make([]signature, k)))})
	}
	return append(list, planned{roundUnmask, false, 1, len(encodeReleases(make([]release, k)))})
}
