package privacypass

import (
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"slices"
)

// encodePSS returns EMSA-PSS-ENCODE with SHA-384 (RFC 8017, section 9.1.1) of an
// input: a number of at most bits bits, big-endian, in as many bytes as they fill.
// They must hold hash, salt and two bytes.
func encodePSS(input, salt []byte, bits int) []byte {
	digest := sha512.Sum384(input)
	h := sha512.New384()
	h.Write(make([]byte, 8))
	h.Write(digest[:])
	h.Write(salt)
	hash := h.Sum(nil)

	size := (bits + 7) / 8
	encoded := make([]byte, size)
	data := encoded[:size-len(hash)-1]
	data[len(data)-len(salt)-1] = 1
	copy(data[len(data)-len(salt):], salt)
	subtle.XORBytes(data, data, mgf1(hash, len(data)))
	data[0] &= 0xff >> (8*size - bits)
	copy(encoded[len(data):], hash)
	encoded[size-1] = 0xbc
	return encoded
}

// mgf1 is MGF1 with SHA-384: RFC 8017, appendix B.2.1.
func mgf1(seed []byte, size int) []byte {
	var out []byte
	for counter := uint32(0); len(out) < size; counter++ {
		block := sha512.Sum384(binary.BigEndian.AppendUint32(slices.Clone(seed), counter))
		out = append(out, block[:]...)
	}
	return out[:size]
}
