package secagg

import (
	"bytes"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// canonical demands that what decodes encodes to the same bytes. Inputs are a body
// and the number of clients or entries, less one.
func canonical[T any](f *testing.F, decode func([]byte, int) (T, error), encode func(T) []byte) {
	f.Fuzz(func(t *testing.T, b []byte, less uint16) {
		if v, err := decode(b, 1+int(less)%protocol.MaxMembers); err == nil && !bytes.Equal(encode(v), b) {
			t.Errorf("%x is a second encoding of %+v", b, v)
		}
	})
}

func FuzzDecodeParams(f *testing.F) {
	for _, a := range []Adversary{SemiHonest, Active} {
		for _, n := range []int{4, 100} {
			p, err := NewParams(spec(a), n)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(p.Encode())
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := DecodeParams(b); err == nil && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, p.Spec())
		}
	})
}

func FuzzDecodeSet(f *testing.F) {
	s := newSet(11)
	s.add(0)
	s.add(10)
	f.Add(encodeSets(s), uint16(10))
	f.Add([]byte{0xff}, uint16(6))
	canonical(f, decodeSet, func(s set) []byte { return encodeSets(s) })
}

func FuzzDecodeClients(f *testing.F) {
	f.Add(encodeClients([]int{0, 3, 8}), uint16(8))
	f.Add(encodeClients([]int{3, 3}), uint16(8))
	canonical(f, decodeClients, encodeClients)
}

func FuzzDecodeMembers(f *testing.F) {
	f.Add(encodeMembers([]member{{1, keys{mask: [keyBytes]byte{1}}}, {2, keys{}}}), uint16(2))
	canonical(f, decodeMembers, encodeMembers)
}

func FuzzDecodeShares(f *testing.F) {
	f.Add(encodeShares([]sealed{{1}, {2}}), uint16(1))
	canonical(f, decodeShares, encodeShares)
}

func FuzzDecodeDeliveries(f *testing.F) {
	s := newSet(9)
	s.add(8)
	f.Add(deliveries{s, []delivery{{member{1, keys{}}, sealed{7}}, {member{8, keys{}}, sealed{}}}}.encode(), uint16(8))
	canonical(f, decodeDeliveries, deliveries.encode)
}

func FuzzDecodeSignatures(f *testing.F) {
	f.Add(encodeSignatures([]signature{{2, [64]byte{3}}, {5, [64]byte{}}}), uint16(5))
	canonical(f, decodeSignatures, encodeSignatures)
}

func FuzzDecodeReleases(f *testing.F) {
	f.Add(encodeReleases([]release{{0, [32]byte{1}}, {4, [32]byte{2}}}), uint16(4))
	canonical(f, decodeReleases, encodeReleases)
}
