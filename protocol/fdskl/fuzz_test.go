package fdskl

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func FuzzDecodeParams(f *testing.F) {
	for _, s := range []Spec{{Rows: 1, Directions: 1}, {Mode: Paper, Topology: Chain, Bits: 32, Rows: MaxRows, Directions: MaxDirections}} {
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

func FuzzDecodeRequest(f *testing.F) {
	f.Add(signedRequest{request: Request{Rows: Spans(1, 2, 5), Directions: Span{3, 4}}}.encode(), uint8(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, workers uint8) {
		s, err := decodeRequest(b, 2+int(workers)%(MaxWorkers-1))
		if err != nil {
			return
		}
		if !bytes.Equal(s.encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, s.request)
		}
		m := make(marks, 100)
		if m.check(s.request, Span{0, 10}, 10) != nil {
			return
		}
		if m.markAnswered(s.request); s.request.rowCount() > 100 || m.check(s.request, Span{0, 10}, 10) == nil {
			t.Errorf("%+v can be asked for twice, or for more rows than there are", s.request)
		}
	})
}

func FuzzDecodeWitness(f *testing.F) {
	f.Add(witness{hash: [32]byte{1}, signature: [64]byte{2}}.encode())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := decodeWitness(b); err == nil && !bytes.Equal(v.encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, v)
		}
	})
}

func FuzzDecodeShares(f *testing.F) {
	f.Add(encodeShares([]float64{1, -0.5}))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := len(b) / 8 // no other number is taken
		if _, err := decodeShares(b, n+1); err == nil {
			t.Errorf("%x is taken for %d parts", b, n+1)
		}
		if v, err := decodeShares(b, n); err == nil && !bytes.Equal(encodeShares(v), b) {
			t.Errorf("%x is a second encoding of %v", b, v)
		}
	})
}

func FuzzDecodeDone(f *testing.F) {
	signature := make(retirement, ed25519.SignatureSize)
	for n := 1; n <= 8; n++ {
		done := make([]retirement, n)
		f.Add(encodeDone(done), uint8(n-1))
		done[n-1] = signature
		f.Add(encodeDone(done), uint8(n-1))
	}
	f.Add([]byte{2}, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, workers uint8) {
		if v, err := decodeDone(b, 1+int(workers)%MaxWorkers); err == nil && !bytes.Equal(encodeDone(v), b) {
			t.Errorf("%x is a second encoding of %v", b, v)
		}
	})
}

// Every message of another active worker to one that has begun is accepted, refused with blame, or
// postponed; after a refusal a valid turn is accepted.
func FuzzMessages(f *testing.F) {
	c := newCouncil(f, Spec{Mode: Paper, Bits: 32, Rows: 4, Directions: 9}, 4, 2, 2, 2)
	hash := retirementHash(c.session.ID(), 0)
	retired := encodeDone([]retirement{ed25519.Sign(c.keys[0], hash[:]), nil, nil})
	f.Add(roundTurn, uint32(1), uint32(0), uint32(1), retired)
	f.Add(roundTurn, uint32(4), uint32(0), uint32(1), encodeDone(make([]retirement, 3)))
	f.Add(roundKeys, uint32(0), uint32(0), uint32(1), make([]byte, 32))
	f.Add(roundRequest, uint32(3), uint32(0), uint32(1), signedRequest{request: Request{Rows: Spans(1), Directions: Span{0, 9}}}.encode())
	f.Add(roundWitness, uint32(3), uint32(0), uint32(1), witness{}.encode())
	f.Add(roundPhases, uint32(3), uint32(0), uint32(1), make([]byte, 36))
	f.Add(roundFinish, uint32(0), uint32(0), uint32(1), []byte{})
	f.Add(roundShares, uint32(3), uint32(0), uint32(1), encodeShares([]float64{1}))
	f.Fuzz(func(t *testing.T, round uint16, sequence, chunk, chunks uint32, body []byte) {
		a, err := newActive(c.setup(1), c.inputs[1], c.identity(1), c.partner(1), c.chunk)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Step(protocol.Start{InputHash: a.InputHash()}); err != nil {
			t.Fatal(err)
		}
		m := c.setup(0).Message(c.names[1], round, kindOf(round), body)
		m.Sequence, m.Chunk, m.Chunks = sequence, chunk, chunks
		_, err = a.Step(protocol.Received{Message: m})
		if err == nil || errors.Is(err, protocol.ErrLater) {
			return
		}
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != c.names[0] {
			t.Fatalf("refused without blame: %v", err)
		}
		m = c.setup(0).Message(c.names[1], roundTurn, kindOf(roundTurn), retired)
		m.Sequence = 1
		if _, err := a.Step(protocol.Received{Message: m}); err != nil {
			t.Errorf("a true turn after it: %v", err)
		}
	})
}
