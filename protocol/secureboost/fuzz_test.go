package secureboost

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func FuzzDecodeParams(f *testing.F) {
	for _, s := range []Spec{{Rows: 1, Training: 1, Rounds: 1, Depth: 1}, {Encryption: None, Rows: MaxRows, Training: 5, Rounds: MaxRounds, Depth: MaxDepth, InsecureKeyBits: 512}} {
		p, err := NewParams(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Encode())
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := DecodeParams(b); err == nil && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, p.Spec())
		}
	})
}

func FuzzDecodeShape(f *testing.F) {
	f.Add(encodeShape([]int{1, 256, 32}))
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if bins, err := decodeShape(b); err == nil && !bytes.Equal(encodeShape(bins), b) {
			t.Errorf("%x is a second encoding of %v", b, bins)
		}
	})
}

func FuzzDecodeChoices(f *testing.F) {
	bins := []int{1, 2, 256}
	f.Add(encodeChoices([]choice{{0, 1, 0}, {3, 2, 254}}))
	f.Add(encodeChoices([]choice{{1, 0, 0}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := decodeChoices(b, 4, bins)
		if err != nil {
			return
		}
		if !bytes.Equal(encodeChoices(list), b) {
			t.Errorf("%x is a second encoding of %v", b, list)
		}
		for _, c := range list {
			if c.node >= 4 || c.bin+1 >= bins[c.column] {
				t.Errorf("%+v is taken", c)
			}
		}
	})
}

func FuzzDecodeDivision(f *testing.F) {
	level := []node{{rows: make([]int32, 3)}, {rows: make([]int32, 16)}}
	f.Add(encodeDivision([][]byte{{5}, nil}))
	f.Add(encodeDivision([][]byte{nil, {1, 2}}))
	f.Add([]byte{1, 8, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if bits, err := decodeDivision(b, level); err == nil && !bytes.Equal(encodeDivision(bits), b) {
			t.Errorf("%x is a second encoding of %v", b, bits)
		}
	})
}

// Every message of a guest to a host that has begun is accepted, refused with blame, or postponed;
// after a refusal valid gradients are accepted.
func FuzzMessages(f *testing.F) {
	fed := newFederation(f, Spec{Encryption: None, Rows: 10, Training: 8, Rounds: 2, Depth: 2}, 1, 2)
	true8, err := (&plain{}).seal(0, 0, make8())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(roundGradients, uint32(0), uint32(0), uint32(1), true8)
	f.Add(roundGradients, uint32(0), uint32(0), uint32(1), make([]byte, 128))
	f.Add(roundChoose, uint32(0), uint32(0), uint32(1), encodeChoices(nil))
	f.Add(roundDivide, uint32(0), uint32(0), uint32(1), []byte{0})
	f.Add(roundFinish, uint32(0), uint32(0), uint32(1), []byte{})
	f.Fuzz(func(t *testing.T, round uint16, sequence, chunk, chunks uint32, body []byte) {
		if round < roundGradients || round > roundFinish || chunks == 0 || chunk >= chunks {
			return
		}
		h, err := NewHost(fed.setup(1), fed.inputs[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Step(protocol.Start{InputHash: h.InputHash()}); err != nil {
			t.Fatal(err)
		}
		m := fed.setup(0).Message(fed.names[1], round, kindOf(round), body)
		m.Sequence, m.Chunk, m.Chunks = sequence, chunk, chunks
		_, err = h.Step(protocol.Received{Message: m})
		if err == nil || errors.Is(err, protocol.ErrLater) {
			return
		}
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != fed.names[0] {
			t.Fatalf("refused without blame: %v", err)
		}
		m = fed.setup(0).Message(fed.names[1], roundGradients, kindOf(roundGradients), true8)
		if _, err := h.Step(protocol.Received{Message: m}); err != nil {
			t.Errorf("true gradients after it: %v", err)
		}
	})
}

func make8() [][2]int64 {
	list := make([][2]int64, 8)
	for i := range list {
		list[i] = [2]int64{int64(i - 4), 1}
	}
	return list
}
