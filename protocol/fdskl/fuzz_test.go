package fdskl

import (
	"bytes"
	"crypto/ed25519"
	"testing"
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
	f.Add(signedRequest{request: Request{Rows: Spans(1, 2, 5), Directions: Span{3, 4}}}.encode(), 3)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, 2)
	f.Fuzz(func(t *testing.T, b []byte, workers int) {
		if workers < 2 || workers > MaxWorkers {
			return
		}
		s, err := decodeRequest(b, workers)
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
		if m.set(s.request); s.request.count() > 100 || m.check(s.request, Span{0, 10}, 10) == nil {
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
	f.Add(encodeShares([]float64{1, -0.5}), 2)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > maxShared {
			return
		}
		if v, err := decodeShares(b, n); err == nil && !bytes.Equal(encodeShares(v), b) {
			t.Errorf("%x is a second encoding of %v", b, v)
		}
	})
}

func FuzzDecodeDone(f *testing.F) {
	f.Add(encodeDone([]retirement{make(retirement, ed25519.SignatureSize), nil}), 2)
	f.Add([]byte{2}, 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > MaxWorkers {
			return
		}
		if v, err := decodeDone(b, n); err == nil && !bytes.Equal(encodeDone(v), b) {
			t.Errorf("%x is a second encoding of %v", b, v)
		}
	})
}
