package sealed

import (
	"slices"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// Cost returns the cost of a session. It is the same for all rows.
func Cost(s *protocol.Session) (protocol.Cost, error) {
	p, err := accepted(s)
	if err != nil {
		return protocol.Cost{}, err
	}
	c, homes := computation{setting: p.setting(s.ID())}, slices.DeleteFunc(s.With(protocol.RoleParty), func(party string) bool { return slices.Contains(p.Keepers[:], party) })
	var from []string
	for _, u := range p.uploaders(s) {
		from = append(from, u.name)
	}
	var cost protocol.Cost
	cost.Rounds = c.addGathering(&cost, from) + c.addAgreement(&cost, len(from)) + c.addSteps(&cost) + c.addCheck(&cost) + c.addDelivery(&cost, homes)
	c.addLoads(&cost, from)
	return cost, nil
}

// addWords adds a message of n words in chunks.
func (c computation) addWords(cost *protocol.Cost, h protocol.Header, n int) {
	cost.Add(protocol.Flow{From: h.Sender, To: h.Receiver, Round: h.Round, Kind: h.Kind, Messages: chunks(n), Bytes: int64(n) * ring128.Bytes})
}

// addGathering adds the uploads and contributions. No other message has to come before them.
func (c computation) addGathering(cost *protocol.Cost, members []string) int {
	for to, keeper := range c.keepers {
		for _, member := range members {
			if member == keeper {
				continue
			}
			u := upload{setting: c.setting, document: document{keepers: c.keepers, party: member}}
			h := u.header(role(to), kindUpload)
			cost.Send(h.Sender, h.Receiver, h.Round, h.Kind, len(u.encode(role(to))))
			if role(to) != dealerC {
				c.addWords(cost, u.header(role(to), kindMasked), c.inputWords())
			}
		}
		for from := range c.keepers {
			if from != to {
				h := c.header(role(from), role(to), 0, kindContribution)
				cost.Send(h.Sender, h.Receiver, h.Round, h.Kind, len(gathering{}.contributions[0][0]))
			}
		}
	}
	return 1
}

func (c computation) addAgreement(cost *protocol.Cost, uploads int) int {
	for from := serverA; from <= dealerC; from++ {
		a := newAgreement(c, from, make([]seen, uploads))
		for m, ok := a.send(); ok; m, ok = a.send() {
			cost.Send(m.Sender, m.Receiver, m.Round, m.Kind, len(m.Body))
		}
	}
	return 1
}

// addSteps adds the openings, the dealings, and b's messages to the dealer. The dealer is ahead of b, so each step adds
// one message to the chain. If the first step is a square, b opens it after the dealer's words, which add one more.
func (c computation) addSteps(cost *protocol.Cost) int {
	for step := range c.steps() {
		c.addWords(cost, c.header(serverA, serverB, step, kindOpening), c.words(step))
		c.addWords(cost, c.header(serverB, serverA, step, kindOpening), c.words(step))
		c.addWords(cost, c.header(dealerC, serverB, step, kindDealing), c.words(step))
		if c.tells(step) {
			h := c.header(serverB, dealerC, step, kindTaken)
			cost.Send(h.Sender, h.Receiver, h.Round, h.Kind, 0)
		}
	}
	if c.steps() > 0 && c.squaring(0) {
		return c.steps() + 1
	}
	return c.steps()
}

// addDelivery adds the messages with the weights, from each keeper to each data party that is no keeper.
func (c computation) addDelivery(cost *protocol.Cost, homes []string) int {
	for from := serverA; from <= dealerC; from++ {
		for _, party := range homes {
			h := c.header(from, from, 0, kindWeights)
			h.Receiver = party
			c.addWords(cost, h, c.vectors())
		}
	}
	return min(len(homes), 1)
}

// addLoads adds what members compute and hold, without the check.
func (c computation) addLoads(cost *protocol.Cost, members []string) {
	upload := float64(c.inputWords() * ring128.Bytes)
	for _, member := range members {
		cost.Load(member, protocol.Load{
			Effort: protocol.Effort{Keystream: 2 * upload, Hashed: upload, Moved: 3 * upload},
			Held:   int64(upload),
		})
	}
	if c.problem.noise != nil {
		for _, keeper := range c.keepers {
			cost.Load(keeper, protocol.Load{Effort: protocol.Effort{Functions: drawFunctions * float64(c.inputWords())}})
		}
	}
	m, targets := float64(c.problem.Features), float64(c.problem.Targets)
	squarings, products := float64(c.problem.Plan.Squarings()), float64(c.problem.Plan.Products())
	words := squarings*float64(c.triangle()) + products*float64(c.vectors())
	dealer := protocol.Effort{Products: squarings*m*m*m/2 + products*m*m*targets, Keystream: 2*float64(len(members))*upload + 3*words*ring128.Bytes}
	server := protocol.Effort{Products: 2 * dealer.Products, Keystream: float64(len(members))*upload + 3*words*ring128.Bytes, Hashed: float64(len(members)) * upload}
	triangle := int64(c.triangle()) * ring128.Bytes
	for _, s := range []role{serverA, serverB} {
		cost.Load(c.keepers[s], protocol.Load{Effort: server, Held: serverTriangles * triangle})
	}
	cost.Load(c.keepers[dealerC], protocol.Load{Effort: dealer, Held: dealerTriangles * triangle})
}

// drawFunctions is the number of elementary functions that take as long as one number of the noise, some 2
// microseconds.
const drawFunctions = 100

// These are the triangles of words that a keeper holds at most. A server in a squaring has the sums of masked words and
// of its mask (2), the latest square (4), its own words and their cover (2), the other server's words of this square
// and the next (2), and at b the dealer's of two more squares (2). The dealer has two sums (2), the mask of the latest
// square (2), and a step's words and covers (4).
const (
	serverTriangles = 12
	dealerTriangles = 8
)
