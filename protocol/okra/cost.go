package okra

import (
	"math"

	"github.com/mercer-fl/mercer/protocol"
)

// Shape holds the sizes of the rows that a party sends.
type Shape struct {
	Rows       int
	Features   int // number of features, before the encoding
	LabelBytes int // bytes of the labels of all rows together; 0 if rows have no labels
}

// Width returns the number of coordinates of an encoded row.
func (s Shape) Width() int { return s.Features + Padding(s.Features) }

// Cost returns the cost of a session in which all parties send rows. It is not for a session that
// continues an earlier one.
func Cost(s *protocol.Session, shapes func(party string) Shape) (protocol.Cost, error) {
	p, err := DecodeParams(s.Params)
	if err != nil {
		return protocol.Cost{}, err
	}
	c := protocol.Cost{Rounds: 5} // the seed, the announcement, the grant, the rows, the receipt
	for _, leader := range s.With(protocol.RoleLeader) {
		for _, party := range s.With(protocol.RoleParty) {
			c.Send(leader, party, roundSeed, kindSeed, len(seedBody{}.encode()))
		}
	}
	for _, server := range s.With(protocol.RoleServer) {
		var all Shape
		for _, party := range s.With(protocol.RoleLeader, protocol.RoleParty) {
			one := shapes(party)
			if err := p.fits(one.Features, Padding(one.Features)); err != nil {
				return protocol.Cost{}, err
			}
			p.addUpload(&c, party, server, one)
			c.Load(party, p.encoding(one))
			all = Shape{all.Rows + one.Rows, one.Features, all.LabelBytes + one.LabelBytes}
		}
		c.Load(server, p.collecting(all))
	}
	return c, nil
}

// addUpload adds the messages between a party and the server.
func (p Params) addUpload(c *protocol.Cost, party, server string, s Shape) {
	l := layout{s.Rows, s.Width(), p.wordBytes()}
	c.Send(party, server, roundAnnounce, kindAnnounce, len(announce{}.encode()))
	c.Send(server, party, roundAnnounce, kindGrant, 0)
	c.Add(protocol.Flow{From: party, To: server, Round: roundRows, Kind: kindLabels, Messages: labelChunks(s.Rows), Bytes: int64(s.Rows*labelOverhead + s.LabelBytes)})
	c.Add(protocol.Flow{From: party, To: server, Round: roundRows, Kind: kindRows, Messages: l.chunks(), Bytes: p.encodedBytes(s)})
	c.Send(server, party, roundReceipt, kindReceipt, len(encodeReceipt(0)))
}

// encodedBytes returns the bytes of encoded rows.
func (p Params) encodedBytes(s Shape) int64 {
	return int64(s.Rows) * int64(s.Width()) * int64(p.wordBytes())
}

// collecting returns the server's load: it keeps all encoded rows, and the Gram matrix, which is
// symmetric.
func (p Params) collecting(all Shape) protocol.Load {
	n := float64(all.Rows)
	return protocol.Load{
		Effort: protocol.Effort{Products: n * n / 2 * float64(all.Width()), Moved: float64(p.encodedBytes(all))},
		Kept:   p.encodedBytes(all) + 8*int64(all.Rows)*int64(all.Rows),
	}
}

// encoding returns a party's load: it hashes its rows and encodes them panel by panel.
func (p Params) encoding(s Shape) protocol.Load {
	u := upload{encoder: p.blank(s), layout: layout{s.Rows, s.Width(), p.wordBytes()}}
	panel, rows, width := min(s.Rows, u.rowsAtOnce()), float64(s.Rows), float64(s.Width())
	l := protocol.Load{Held: 8 * int64(panel) * int64(s.Features+s.Width())}
	panels := math.Ceil(rows / float64(panel))
	switch p.spec.Encoder {
	case Haar:
		l.Products, l.Functions = 2*rows*width*width, panels*width*width/2
	case HBH:
		l.Products, l.Functions = rows*rotated*width, panels*rotated/2*width
		l.Butterflies = rows * transformed(2, s.Width())
	case Flake:
		l.Products = (35*float64(s.Features) + rows) * float64(s.Features) * width
	case Block:
		block := float64(p.spec.BlockWidth)
		l.Products, l.Functions = rows*block*width, panels*block*width
	default:
		l.Butterflies = rows * transformed(p.spec.Rounds, s.Width())
	}
	l.Moved, l.Hashed = float64(p.encodedBytes(s)), 8*rows*float64(s.Features)
	return l
}

// transformed returns the number of additions and subtractions in the transforms of a row. Each
// round transforms one window of coordinates, or two windows that overlap.
func transformed(rounds, width int) float64 {
	window, windows := float64(windowOf(width)), 1.0
	if windowOf(width) < width {
		windows = 2
	}
	return float64(rounds) * windows * window * math.Log2(window)
}

// blank returns an encoder without its random numbers, which can tell how many rows it encodes
// together and nothing else.
func (p Params) blank(s Shape) Encoder {
	switch width := s.Width(); {
	case p.spec.Encoder == Haar:
		return &haar{width: width}
	case p.spec.Encoder == HBH:
		return &hbh{width: width}
	case p.spec.Encoder == Flake:
		return &flake{width: width}
	case p.spec.Encoder == Block:
		return &block{width: width}
	case isWide(width, windowOf(width)):
		return &wide{width: width}
	default:
		return &hadamard{width: width, layers: make([]layer, p.spec.Rounds+1)}
	}
}
