package parquet

import (
	"encoding/binary"
	"slices"
)

// unpacker decodes packed integers into memory that it reuses. Its results are valid until it is
// used again.
type unpacker struct {
	numbers []uint32
	deltas  []int64
}

// runs reads run-length encoded booleans. The encoded bytes follow their length.
func (p *pages) runs(b []byte, n int) (values, error) {
	runs, _, ok := prefixed(b)
	if !ok {
		return nil, errPage
	}
	number, err := p.unpack.hybrid(runs, 1, n)
	return &bits{number: number}, err
}

// hybrid reads n numbers of the given width in bits, in parquet's mix of run-length encoding and
// bit packing. The numbers are stored as runs of one number and as packed groups of 8 numbers.
func (u *unpacker) hybrid(b []byte, width, n int) ([]uint32, error) {
	if width > maxBits {
		return nil, errPage
	}
	u.numbers = u.numbers[:0]
	for len(u.numbers) < n {
		head, used := binary.Uvarint(b)
		if used <= 0 || head>>1 == 0 {
			return nil, errPage
		}
		b = b[used:]
		var ok bool
		if head&1 == 0 {
			b, ok = u.repeat(b, width, min(head>>1, uint64(n-len(u.numbers))))
		} else {
			b, ok = u.packed(b, width, head>>1, n-len(u.numbers))
		}
		if !ok {
			return nil, errPage
		}
	}
	return u.numbers, nil
}

// repeat reads one number and appends it count times.
func (u *unpacker) repeat(b []byte, width int, count uint64) ([]byte, bool) {
	size := (width + 7) / 8
	if size > len(b) {
		return nil, false
	}
	var number [4]byte
	copy(number[:], b[:size])
	v := binary.LittleEndian.Uint32(number[:])
	u.numbers = slices.Grow(u.numbers, int(count))
	for range count {
		u.numbers = append(u.numbers, v)
	}
	return b[size:], true
}

// packed reads groups of 8 packed numbers and appends at most the given number of them.
func (u *unpacker) packed(b []byte, width int, groups uint64, most int) ([]byte, bool) {
	if width > 0 && groups > uint64(len(b)/width) {
		return nil, false
	}
	size := groups * uint64(width)
	count := most // writers can store more groups than the page has values
	if groups <= uint64(most/8) {
		count = int(8 * groups)
	}
	u.numbers = slices.Grow(u.numbers, count)
	in := bitReader{b: b}
	for range count {
		u.numbers = append(u.numbers, uint32(in.take(width)))
	}
	return b[size:], true
}

// bitReader reads numbers from bytes, lowest bits first. The caller has checked that there are
// enough bytes.
type bitReader struct {
	b    []byte
	have int // number of bits in word that were not taken
	word uint64
}

func (r *bitReader) take(width int) uint64 {
	if width > maxBits {
		low := r.take(maxBits)
		return low | r.take(width-maxBits)<<maxBits
	}
	for r.have < width {
		r.word |= uint64(r.b[0]) << r.have
		r.b = r.b[1:]
		r.have += 8
	}
	v := r.word & (1<<width - 1)
	r.word >>= width
	r.have -= width
	return v
}

// delta reads n numbers in the encoding DELTA_BINARY_PACKED, and returns the bytes after them. The
// encoding stores differences in blocks of miniblocks.
func (u *unpacker) delta(b []byte, n int) ([]int64, []byte, error) {
	t := thrift{rest: b} // the encoding has the variable-length integers of Thrift
	block, minis, count := t.varint(), t.varint(), t.varint()
	last := t.zigzag()
	if t.err != nil || count != uint64(n) || block == 0 || block > deltaMaxBlock || minis == 0 || minis > block || block%(32*minis) != 0 {
		return nil, nil, errPage
	}
	u.deltas = append(u.deltas[:0], last)
	for len(u.deltas) < n {
		if !u.block(&t, int(block/minis), minis, n) {
			return nil, nil, errPage
		}
	}
	return u.deltas, t.rest, nil
}

// block reads the miniblocks of one block, and stops at the n-th number. Each miniblock holds the
// same count of numbers.
func (u *unpacker) block(t *thrift, per int, minis uint64, n int) bool {
	least := t.zigzag()
	for _, width := range t.take(minis) {
		if len(u.deltas) == n {
			break
		}
		if width > deltaMaxBits {
			return false
		}
		in := bitReader{b: t.take(uint64(per / 8 * int(width)))}
		if t.err != nil {
			return false
		}
		for range min(per, n-len(u.deltas)) {
			u.deltas = append(u.deltas, u.deltas[len(u.deltas)-1]+least+int64(in.take(int(width))))
		}
	}
	return t.err == nil
}
