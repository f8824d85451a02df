package journal

import (
	"bytes"
	"testing"
)

func newTestSealer(t *testing.T, seed byte, header string) sealer {
	t.Helper()
	s, err := newSealer(seedOf(seed), []byte(header))
	must(t, err)
	return s
}

// A sealed piece opens in its own place, of its own session, and nowhere else.
func TestSealedPiecesKeepTheirPlace(t *testing.T) {
	s := newTestSealer(t, 1, "header")
	at := place{placeRecord, 7}
	sealed := s.seal(nil, at, []byte("secret"))
	if plain, err := s.open(nil, at, sealed); err != nil || string(plain) != "secret" {
		t.Fatalf("%q, %v", plain, err)
	}
	for name, c := range map[string]struct {
		s  sealer
		at place
	}{
		"another record":  {s, place{placeRecord, 8}},
		"far away":        {s, place{placeRecord, 7 + 1<<32}},
		"a side file":     {s, place{placeBody, 7}},
		"another header":  {newTestSealer(t, 1, "Header"), at},
		"another session": {newTestSealer(t, 2, "header"), at},
	} {
		if _, err := c.s.open(nil, c.at, sealed); err == nil {
			t.Errorf("opens as %s", name)
		}
	}
}

// The same record written again, as after a torn end, must not reuse a nonce.
func TestSealingIsFresh(t *testing.T) {
	s := newTestSealer(t, 1, "header")
	at := place{placeRecord, 7}
	a, b := s.seal(nil, at, make([]byte, 64)), s.seal(nil, at, make([]byte, 64))
	if bytes.Equal(a[:12], b[:12]) || bytes.Equal(a[12:28], b[12:28]) {
		t.Error("one nonce sealed two records")
	}
}
