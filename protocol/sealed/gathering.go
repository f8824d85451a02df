package sealed

import (
	"encoding/binary"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// kindContribution is the kind of the message with a keeper's part of the seed that it has in common with the receiver.
const kindContribution = "Contribution"

// pairOf returns the pair of two keepers.
func pairOf(r, s role) pair { return pair(r + s - 1) }

// gathering takes what a keeper needs before it computes: all uploads, and a part of the seed of each pair from the
// pair's other keeper.
type gathering struct {
	computation
	self          role
	uploads       *collection
	contributions [3][2][32]byte // contributions by pair; the keeper with the lower role comes first
	heard         [3]bool        // whether each keeper has contributed
	to            role           // receiver of the next contribution
}

// newGathering returns the first stage of a keeper, whose contributions derive from the machine's seed.
func newGathering(c computation, self role, seed [32]byte, uploads *collection) *gathering {
	g := &gathering{computation: c, self: self, uploads: uploads}
	g.heard[self] = true
	for other := range g.heard {
		if r := role(other); r != self {
			of := pairOf(self, r)
			g.contributions[of][place(self, r)] = prg.Derive(seed, "sealed/contribution", c.session[:], binary.LittleEndian.AppendUint32(nil, c.generation), []byte{byte(of)})
		}
	}
	return g
}

// place returns the place of a keeper in its pair with another.
func place(r, other role) int {
	if r < other {
		return 0
	}
	return 1
}

// covers returns the source of the keeper's pair with another, when both have contributed.
func (g *gathering) covers(other role) *covers {
	of := pairOf(g.self, other)
	return newCovers(g.computation, of, g.contributions[of])
}

func (g *gathering) send() (protocol.Message, bool) {
	if g.to == g.self {
		g.to++
	}
	if g.to > dealerC {
		return protocol.Message{}, false
	}
	own := g.contributions[pairOf(g.self, g.to)][place(g.self, g.to)]
	m := protocol.Message{Header: g.header(g.self, g.to, 0, kindContribution), Body: own[:]}
	g.to++
	return m, true
}

func (g *gathering) receive(m protocol.Message) error {
	if m.Kind == kindContribution {
		return g.takeContribution(m)
	}
	d := g.uploads.of(m.Sender)
	if d == nil {
		return m.Unexpected()
	}
	return d.receive(m)
}

func (g *gathering) takeContribution(m protocol.Message) error {
	from, err := g.admitKeeper(m.Header, g.self)
	if err != nil {
		return err
	}
	to := &g.contributions[pairOf(from, g.self)][place(from, g.self)]
	switch {
	case g.heard[from] || m.Round != 0 || m.Chunks != 1:
		return m.Unexpected()
	case len(m.Body) != len(to):
		return m.Malformed(fmt.Errorf("the contribution has %d bytes; it must have %d", len(m.Body), len(to)))
	}
	copy(to[:], m.Body)
	g.heard[from] = true
	return nil
}

func (g *gathering) work() (bool, error) { return g.uploads.work() }

func (g *gathering) done() bool {
	return g.to > dealerC && g.heard == [3]bool{true, true, true} && g.uploads.done()
}

func (g *gathering) waits() wait {
	if w := g.uploads.waits(); w != (wait{}) || !g.uploads.done() {
		return w
	}
	for r, heard := range g.heard {
		if !heard {
			return wait{TimerKeeper, g.keepers[r], "the contribution to a common seed"}
		}
	}
	return wait{}
}
