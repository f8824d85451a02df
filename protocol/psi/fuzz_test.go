package psi

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
)

func FuzzParams(f *testing.F) {
	f.Add(params(f, Spec{}).Encode())
	f.Add(params(f, Spec{MaxIDs: 1}).Encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodeParams(b)
		if err == nil && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x is read as %v, which is written %x", b, p, p.Encode())
		}
	})
}

func FuzzPlaces(f *testing.F) {
	f.Add(encodePlaces(3, []uint32{4, 0}), uint32(0), uint32(2), uint16(5))
	f.Add(encodePlaces(3, []uint32{1}), uint32(1), uint32(2), uint16(5))
	f.Add([]byte{}, uint32(0), uint32(0), uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, chunk, n uint32, held uint16) {
		size := int(held)
		total, places, err := decodePlaces(b, chunk, n, size, 2)
		if err != nil {
			return
		}
		if !bytes.Equal(encodePlaces(total, places), b) || total > size {
			t.Errorf("%x is read as %v of %d", b, places, total)
		}
		for _, place := range places {
			if int(place) >= size {
				t.Errorf("place %d in a set of %d", place, size)
			}
		}
	})
}

// A party in the middle of a session accepts any message, refuses it with blame, or defers
// it.
func FuzzMessages(f *testing.F) {
	good := elements(f, generator, twice)
	kinds := []struct {
		round uint16
		kind  string
	}{{roundAnnounce, kindAnnounce}, {roundBlind, kindBlinded}, {roundTokens, kindTokens}, {roundCommon, kindCommon}, {roundCommon, kindNone}, {roundConfirm, kindConfirm}, {roundProof, kindProof}}
	for i := range kinds {
		f.Add(uint8(i), uint32(1), uint32(0), uint32(1), good)
	}
	f.Add(uint8(5), uint32(0), uint32(0), uint32(1), good[:ristretto.Size])
	f.Add(uint8(1), uint32(1), uint32(0), uint32(1), make([]byte, 64))
	f.Fuzz(func(t *testing.T, kind uint8, sequence, chunk, n uint32, body []byte) {
		north, s := begun(t)
		k := kinds[int(kind)%len(kinds)]
		m := setup(s, "south").Message("north", k.round, k.kind, body)
		m.Sequence, m.Chunk, m.Chunks = sequence, chunk, n
		_, err := north.Step(protocol.Received{Message: m})
		var blame *protocol.BlameError
		if err != nil && !errors.Is(err, protocol.ErrLater) && (!errors.As(err, &blame) || blame.Party != "south") {
			t.Errorf("refused without blame: %v", err)
		}
		if _, err := north.Step(protocol.Received{Message: blinded(s, good)}); err != nil && k.kind != kindBlinded {
			t.Errorf("the genuine set after it: %v", err)
		}
	})
}
