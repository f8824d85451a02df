package fdskl

import "encoding/binary"

// ring is Z modulo 2^bits, bits being 8, 16 or 32. Words are packed
// little-endian into bytes; eight bytes are worked on at a time, with the top
// bit of each word kept apart so that no carry leaves it.
type ring int

func (r ring) bytes() int { return int(r) / 8 }

// tops has the highest bit of every word set.
func (r ring) tops() uint64 {
	switch r {
	case 8:
		return 0x8080808080808080
	case 16:
		return 0x8000800080008000
	default:
		return 0x8000000080000000
	}
}

// add adds the words of src to the words of dst. src is at least as long.
func (r ring) add(dst, src []byte) {
	h, order := r.tops(), binary.LittleEndian
	for len(dst) >= 8 && len(src) >= 8 {
		a, b := order.Uint64(dst), order.Uint64(src)
		order.PutUint64(dst, (a&^h+b&^h)^(a^b)&h)
		dst, src = dst[8:], src[8:]
	}
	for i := range len(dst) / r.bytes() {
		r.put(dst, i, r.word(dst, i)+r.word(src, i))
	}
}

// sub takes the words of src off the words of dst.
func (r ring) sub(dst, src []byte) {
	h, order := r.tops(), binary.LittleEndian
	for len(dst) >= 8 && len(src) >= 8 {
		a, b := order.Uint64(dst), order.Uint64(src)
		order.PutUint64(dst, ((a|h)-b&^h)^(a^^b)&h)
		dst, src = dst[8:], src[8:]
	}
	for i := range len(dst) / r.bytes() {
		r.put(dst, i, r.word(dst, i)-r.word(src, i))
	}
}

// word returns word i.
func (r ring) word(b []byte, i int) uint32 {
	switch r {
	case 8:
		return uint32(b[i])
	case 16:
		return uint32(binary.LittleEndian.Uint16(b[2*i:]))
	default:
		return binary.LittleEndian.Uint32(b[4*i:])
	}
}

// put sets word i to the lowest bits of v.
func (r ring) put(b []byte, i int, v uint32) {
	switch r {
	case 8:
		b[i] = byte(v)
	case 16:
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	default:
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
}
