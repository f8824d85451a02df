package secureboost

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// layout describes how rows and sums are divided into messages.
type layout struct {
	row       int // bytes of one row's encoded gradients
	rows      int // rows in one chunk of gradients
	block     int // bytes of a block, the encoding of several sums
	slots     int // number of sums in one block
	blocks    int // number of blocks in one chunk
	additions int // number of times that one step may add a row to a sum; a step adds at least one row
	packs     int // largest number of blocks that one step encodes
}

func (l layout) chunksOf(items, each int) int { return max(1, (items+each-1)/each) }

// blocksOf returns the number of blocks that encode the given number of sums.
func (l layout) blocksOf(cells int) int { return (cells + l.slots - 1) / l.slots }

// opener encodes gradients and decodes sums for the guest.
type opener interface {
	// hello returns the body of the guest's message Key to the hosts, or nil if the guest sends no
	// such message.
	hello() []byte
	// seal encodes the gradients g of a tree's training rows, beginning with row first.
	seal(tree, first int, g [][2]int64) ([]byte, error)
	// open decodes the sums in a body, which consists of whole blocks.
	open(body []byte) ([][2]int64, error)
}

// adder decodes gradients and adds them up for a host, possibly under encryption.
type adder interface {
	// meet reads the body of the guest's message Key.
	meet(body []byte) error
	// take decodes the gradients of training rows, beginning with row first.
	take(first int, body []byte) error
	// begin allocates memory for the given number of sums.
	begin(cells int)
	// add adds a row's gradients to the sum of a cell. Calls for different cells may run at
	// once.
	add(cell, row int)
	// pack encodes the sums of count consecutive blocks, beginning with block first. A block must not
	// be encoded twice under the same number in a session.
	pack(number uint32, first, count int) ([]byte, error)
}

// plain implements opener and adder without encryption.
type plain struct {
	rows  [][2]int64
	cells [][2]int64
}

func plainLayout() layout {
	return layout{row: 16, rows: 1 << 13, block: 16, slots: 1, blocks: 1 << 13, additions: 1 << 22, packs: 1 << 13}
}

func (*plain) hello() []byte { return nil }

func (*plain) seal(_, _ int, g [][2]int64) ([]byte, error) { return appendPairs(nil, g), nil }

func appendPairs(b []byte, list [][2]int64) []byte {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(v[0]))
		b = binary.LittleEndian.AppendUint64(b, uint64(v[1]))
	}
	return b
}

func pairs(b []byte) [][2]int64 {
	list := make([][2]int64, len(b)/16)
	for i := range list {
		at := b[16*i:]
		list[i] = [2]int64{int64(binary.LittleEndian.Uint64(at)), int64(binary.LittleEndian.Uint64(at[8:]))}
	}
	return list
}

func (*plain) open(body []byte) ([][2]int64, error) { return pairs(body), nil }

func (*plain) meet([]byte) error {
	return errors.New("the guest sent a key, but the session has no encryption")
}

func (p *plain) take(first int, body []byte) error {
	list := pairs(body)
	for _, v := range list {
		if err := checkGradient(v); err != nil {
			return err
		}
	}
	copy(p.rows[first:], list)
	return nil
}

func checkGradient(v [2]int64) error {
	if v[0] < -MostGradient || v[0] > MostGradient || v[1] < 1 || v[1] > MostGradient {
		return fmt.Errorf("a row has gradient %d and second derivative %d; a gradient must be from %d to %d, and a second derivative from 1 to %d", v[0], v[1], -MostGradient, MostGradient, MostGradient)
	}
	return nil
}

func (p *plain) begin(cells int) { p.cells = make([][2]int64, cells) }

func (p *plain) add(cell, row int) {
	c, g := &p.cells[cell], p.rows[row]
	c[0], c[1] = c[0]+g[0], c[1]+g[1]
}

func (p *plain) pack(_ uint32, first, count int) ([]byte, error) {
	return appendPairs(nil, p.cells[first:first+count]), nil
}

// stream returns a random stream from a member's seed for one purpose and two indices.
func stream(seed [sha256.Size]byte, what string, a, b int) *prg.Stream {
	return prg.New(seed, "secureboost/"+what, binary.LittleEndian.AppendUint64(nil, uint64(a)), binary.LittleEndian.AppendUint64(nil, uint64(b)))
}
