package escaped

import (
	"bytes"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

func FuzzDecodeAnnounce(f *testing.F) {
	f.Add(announce{7, true}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := decodeAnnounce(b); err == nil && !bytes.Equal(a.encode(), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzDecodeGrant(f *testing.F) {
	f.Add(encodeGrant([]int{3, 1}), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		if rows, err := decodeGrant(b, int(n)); err == nil && !bytes.Equal(encodeGrant(rows), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzDecodeScale(f *testing.F) {
	f.Add(encodeScale(.25))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := decodeScale(b); err == nil && (!bytes.Equal(encodeScale(v), b) || !(v > 0 && v <= 1)) {
			t.Errorf("%x is %v", b, v)
		}
	})
}

func FuzzDecodeLabels(f *testing.F) {
	in := Input{Rows: linalg.New[float64](3, 1), Labels: []string{"a", "bc", "a"}, Test: []bool{true, false, true}}
	f.Add(in.encodeLabels(0), uint16(2), true)
	f.Fuzz(func(t *testing.T, b []byte, less uint16, labelled bool) {
		n := 1 + int(less)%labelsPerChunk
		labels, test, err := decodeLabels(b, n, labelled)
		if err != nil {
			return
		}
		if back := (Input{Rows: linalg.New[float64](n, 1), Labels: labels, Test: test}); !bytes.Equal(back.encodeLabels(0), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzSheet(f *testing.F) {
	f.Add(make([]byte, 48), uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, rows, cols uint8) {
		s := newSheet(1+int(rows), 1+int(cols))
		m := protocol.Message{Header: protocol.Header{Kind: kindOwn, Chunks: 1}, Body: b}
		if err := s.take(m); (err == nil) != s.complete() || err == nil && len(b) != 8*len(s.m.Data) {
			t.Errorf("%d bytes for %d numbers: %v", len(b), len(s.m.Data), err)
		}
		if s.complete() && s.take(m) == nil {
			t.Error("a chunk is taken twice")
		}
	})
}
