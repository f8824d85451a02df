package okra

import (
	"bytes"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

func FuzzDecodeParams(f *testing.F) {
	for _, s := range encoders {
		f.Add(mustParams(f, s).Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := DecodeParams(b); err == nil && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, p.Spec())
		}
	})
}

func FuzzDecodeSeed(f *testing.F) {
	f.Add(seedBody{Seed{1}, 64}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := decodeSeed(b); err == nil && !bytes.Equal(s.encode(), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzDecodeAnnounce(f *testing.F) {
	f.Add(announce{Tag{2}, 10, 72, 4, true, false}.encode())
	f.Add(announce{Tag{2}, maxRows, 2 * MaxFeatures, 8, false, true}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeAnnounce(b)
		if err != nil {
			return
		}
		if !bytes.Equal(a.encode(), b) {
			t.Errorf("%x is a second encoding", b)
		}
		if l := (layout{a.rows, a.width, a.wire}); l.chunks() < 1 || l.bytes(l.span(l.chunks()-1)) < 1 {
			t.Errorf("%+v has an empty last chunk", a)
		}
	})
}

func FuzzDecodeReceipt(f *testing.F) {
	f.Add(encodeReceipt(1797))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := decodeReceipt(b); err == nil && !bytes.Equal(encodeReceipt(int(n)), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzDecodeLabels(f *testing.F) {
	in := Input{Rows: linalg.New[float64](3, 1), Labels: []string{"a", "bc", "a"}, Test: []bool{true, false, true}}
	f.Add(encodeLabels(in, 0), uint16(2), true)
	in.Labels = nil
	f.Add(encodeLabels(in, 0), uint16(2), false)
	f.Fuzz(func(t *testing.T, b []byte, less uint16, labelled bool) {
		n := 1 + int(less)%labelsPerChunk
		labels, test, err := decodeLabels(b, n, labelled)
		if err != nil {
			return
		}
		back := Input{Rows: linalg.New[float64](n, 1), Labels: labels, Test: test}
		if !bytes.Equal(encodeLabels(back, 0), b) {
			t.Errorf("%x is a second encoding of %q %v", b, labels, test)
		}
	})
}

func FuzzRows(f *testing.F) {
	f.Add(make([]byte, 24), uint8(0o12), false) // the shape: rows and columns, less one each
	f.Add(bytes.Repeat([]byte{0x7f}, 48), uint8(0o12), true)
	f.Fuzz(func(t *testing.T, b []byte, shape uint8, wide bool) {
		rows, cols := 1+int(shape>>3&7), 1+int(shape&7)
		word := 4
		if wide {
			word = 8
		}
		s := newStore(rows+2, cols+1, word)
		err := s.put(span{1, rows, 1, cols}, 1, b)
		if (err == nil) && len(b) != rows*cols*word {
			t.Errorf("%d bytes taken for %d x %d numbers", len(b), rows, cols)
		}
		got := make([]float64, cols+1)
		for i := range rows + 2 {
			s.rows().ReadRow(i, got)
			for j, v := range got {
				if inside := i >= 2 && j >= 1; !finite(v) || v != 0 && (err != nil || !inside) {
					t.Errorf("row %d, coordinate %d holds %v, error %v", i, j, v, err)
				}
			}
		}
	})
}

func FuzzDecodeDecisions(f *testing.F) {
	m := linalg.New[float64](2, 3)
	f.Add(encodeDecisions(m))
	f.Fuzz(func(t *testing.T, b []byte) {
		cols, numbers, err := decodeDecisions(b)
		if err != nil {
			return
		}
		if len(b) != 4+8*len(numbers) || cols < 1 {
			t.Errorf("%d columns, %d numbers from %d bytes", cols, len(numbers), len(b))
		}
		if len(numbers)%cols == 0 && !bytes.Equal(encodeDecisions(shaped(numbers, len(numbers)/cols, cols)), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzDecodeConsent(f *testing.F) {
	f.Add(consent{Tag{3}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := decodeConsent(b); err == nil && !bytes.Equal(c.encode(), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzDecodeWelcome(f *testing.F) {
	f.Add(welcome{seedBody{Seed{1}, 64}, [32]byte{2}, []string{"north", "south"}, []byte{7}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if w, err := decodeWelcome(b); err == nil && !bytes.Equal(w.encode(), b) {
			t.Errorf("%x is a second encoding", b)
		}
	})
}

func FuzzDecodeConfirm(f *testing.F) {
	f.Add(confirm{announce{Tag{2}, 0, 72, 4, true, false}, 9, Digest{4}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeConfirm(b)
		if err != nil {
			return
		}
		if !bytes.Equal(c.encode(), b) {
			t.Errorf("%x is a second encoding", b)
		}
		if l := (layout{c.rows, c.width, c.wire}); (l.chunks() == 0) != (c.rows == 0) {
			t.Errorf("%d chunks of %d rows", l.chunks(), c.rows)
		}
	})
}
