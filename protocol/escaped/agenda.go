package escaped

import (
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// The masks' entries and factors are uniform in [maskBottom, maskTop), as in the authors' program.
const (
	maskBottom = 1
	maskTop    = 50
)

// begin draws the factor of the party's mask, and adds to its agenda the tasks that need no message
// of a partner. These tasks draw the mask, send the server the inverse of the factor, the labels
// and the Gram matrix of the party's own rows, and do what greet adds for the first partner.
func (p *Party) begin() {
	id := p.setup.Session.ID()
	stream := prg.New(p.setup.Seed, "escaped/mask", id[:])
	draw := func() float64 { return maskBottom + (maskTop-maskBottom)*stream.Float64() }
	p.scale = draw()
	p.mask = linalg.New[float64](p.rows.Rows, p.rows.Cols)
	p.inPieces(len(p.mask.Data), 1<<21, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p.mask.Data[i] = draw()
		}
	})
	own := linalg.New[float64](p.rows.Rows, p.rows.Rows)
	p.multiply(own, p.rows, p.rows)
	p.add(func() []protocol.Message {
		return []protocol.Message{p.setup.Message(p.server(), roundProducts, kindScale, encodeScale(1/p.scale))}
	})
	n := labelChunks(p.rows.Rows)
	p.inPiecesOf(n, func(chunk int) protocol.Message {
		return p.setup.Message(p.server(), roundProducts, kindLabels, p.input.encodeLabels(chunk)).Piece(chunk, n)
	})
	p.sendMatrix(p.setup.Message(p.server(), roundProducts, kindOwn, nil), own)
	p.greet()
}

// greet adds tasks that send the masked rows to the next partner. A partner that comes later in the
// session's order also gets the multiplied mask.
func (p *Party) greet() {
	if len(p.partners) == 0 {
		return
	}
	partner := p.partners[0]
	name, words := p.parties[partner], len(p.rows.Data)
	p.send(p.setup.Message(name, roundMasked, kindMasked, nil), words, func(lo, hi int) []float64 { return p.combined(1, -1, lo, hi) })
	if partner > p.self {
		p.send(p.setup.Message(name, roundMasked, kindMask, nil), words, func(lo, hi int) []float64 { return p.combined(0, p.scale, lo, hi) })
	}
}

// combined returns entries lo to hi-1 of the matrix x X + a A. X holds the party's rows, and A is
// the party's mask.
func (p *Party) combined(x, a float64, lo, hi int) []float64 {
	numbers := make([]float64, hi-lo)
	for i := range numbers {
		numbers[i] = x*p.rows.Data[lo+i] + a*p.mask.Data[lo+i]
	}
	return numbers
}

// meet adds tasks that compute the products with a partner, whose matrices have all arrived, and
// send the products to the server.
func (p *Party) meet(partner int) {
	g := p.incoming[partner]
	to := func(kind string) protocol.Message {
		m := p.setup.Message(p.server(), roundProducts, kind, nil)
		m.Sequence = uint32(partner)
		return m
	}
	product := func(a, b linalg.Matrix[float64]) linalg.Matrix[float64] {
		c := linalg.New[float64](a.Rows, b.Rows)
		p.multiply(c, a, b)
		return c
	}
	if partner > p.self {
		component := product(p.mask, g.masked.m)
		p.add(g.forget)
		p.sendMatrix(to(kindComponent), component)
		return
	}
	component, unmasker := product(g.masked.m, p.rows), product(g.mask.m, p.mask)
	p.add(g.forget)
	p.sendMatrix(to(kindComponent), component)
	p.sendMatrix(to(kindUnmasker), unmasker)
}

func (p *Party) add(t task) { p.agenda = append(p.agenda, t) }

// inPieces divides n items into ranges of at most size items and adds one task for each range. The
// task calls the function do with the range's bounds.
func (p *Party) inPieces(n, size int, do func(lo, hi int)) {
	for lo := 0; lo < n; lo += size {
		p.add(func() []protocol.Message { do(lo, min(n, lo+size)); return nil })
	}
}

// stepChunks is the largest number of chunks that one step sends.
const stepChunks = protocol.MaxStepBytes / protocol.MaxChunkBytes

// inPiecesOf adds tasks that send n chunks, which the function chunk makes.
func (p *Party) inPiecesOf(n int, chunk func(i int) protocol.Message) {
	for lo := 0; lo < n; lo += stepChunks {
		p.add(func() (list []protocol.Message) {
			for i := lo; i < min(n, lo+stepChunks); i++ {
				list = append(list, chunk(i))
			}
			return list
		})
	}
}

// multiply adds tasks that compute c = a b^T in parts.
func (p *Party) multiply(c, a, b linalg.Matrix[float64]) {
	const work = 4e8 // largest number of multiply-adds in one task
	each := max(1, int(work/(float64(b.Rows)*float64(b.Cols))))
	p.inPieces(a.Rows, each, func(lo, hi int) { linalg.MulTransB(c.Panel(lo, hi), a.Panel(lo, hi), b) })
}

// send adds tasks that send the given number of float64 words. The numbers of a chunk are computed
// when the chunk is sent.
func (p *Party) send(m protocol.Message, words int, numbers func(lo, hi int) []float64) {
	n := chunks(words)
	p.inPiecesOf(n, func(chunk int) protocol.Message {
		var w wire.Writer
		w.Float64s(numbers(span(words, chunk)))
		one := m.Piece(chunk, n)
		one.Body = w.Bytes()
		return one
	})
}

// sendMatrix adds tasks that send the entries of a matrix.
func (p *Party) sendMatrix(m protocol.Message, matrix linalg.Matrix[float64]) {
	p.send(m, len(matrix.Data), func(lo, hi int) []float64 { return matrix.Data[lo:hi] })
}

func encodeScale(v float64) []byte {
	var w wire.Writer
	w.Float64(v)
	return w.Bytes()
}
