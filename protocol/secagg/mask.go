package secagg

// Mask is a long vector of words made from a key that serves one mask in one
// session.
type Mask struct {
	Key      [32]byte
	Subtract bool // taken off, not added
}

// negated returns the mask that cancels m.
func (m Mask) negated() Mask { return Mask{m.Key, !m.Subtract} }

// A Masker makes masks from their keys and adds them up. Clients and server
// know masks through it alone, so that other machinery can stand in: faster,
// slower, or one that counts. All members of a session need the same masks, word
// for word; the masks of [Version] are [AESCTR]'s. It is for concurrent use.
type Masker interface {
	// Add adds to dst, modulo 2^64, the words of all masks from word first on,
	// which is even, and takes off those with Subtract.
	Add(dst []uint64, first int, masks []Mask)
}

// WithMasker returns p with other machinery to make masks; it is no part of what
// is agreed and encoded.
func (p Params) WithMasker(m Masker) Params {
	p.masker = m
	return p
}
