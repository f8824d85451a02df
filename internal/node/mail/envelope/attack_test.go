package envelope

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// A change to any byte of an envelope makes the signature fail to verify, and
// nobody is blamed.
func TestTamperingAnywhereBlamesTheTransport(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	w := newTestbed(t)
	wire := w.seal(t, header(), []byte("rows of a hospital"))
	for i := range wire {
		for _, mask := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(wire)
			bad[i] ^= mask
			_, err := w.open(bad, "hub")
			if wantBlame(t, err, protocol.Transport, protocol.KindTransport); t.Failed() {
				t.Fatalf("byte %d of %d, mask %x", i, len(wire), mask)
			}
		}
	}
}

func TestTruncatedAndExtended(t *testing.T) {
	w := newTestbed(t)
	wire := w.seal(t, header(), []byte("rows"))
	for n := range wire {
		if _, err := w.open(wire[:n], "hub"); err == nil {
			t.Fatalf("the first %d of %d bytes were accepted", n, len(wire))
		}
	}
	_, err := w.open(append(bytes.Clone(wire), 0), "hub")
	wantBlame(t, err, protocol.Transport, protocol.KindTransport)
}

func TestForgeries(t *testing.T) {
	w := newTestbed(t)
	north, south := w.ids["north"].SigningKey(), w.ids["south"].SigningKey()
	genuine := w.seal(t, header(), []byte("rows"))
	v, err := Verify(genuine, w.lookup, "hub")
	if err != nil {
		t.Fatal(err)
	}
	edited := func(f func(*protocol.Header)) []byte {
		h := header()
		f(&h)
		return h.Encode()
	}
	next := header()
	next.Sequence++ // its encoding is as long
	swapped := slices.Concat(genuine[:prefixBytes+len(v.header)], w.seal(t, next, []byte("rows"))[prefixBytes+len(v.header):])
	for _, c := range []struct {
		name string
		wire []byte
		want string
	}{
		{"south signs as north", sign(v.header, v.sealed, south), `in the name of "north"`},
		{"a stranger signs", sign(edited(func(h *protocol.Header) { h.Sender = "west" }), v.sealed, south), `"west" is not in the roster`},
		{"no sender", sign(edited(func(h *protocol.Header) { h.Sender = "" }), v.sealed, south), `"" is not in the roster`},
		{"another session's header", slices.Concat(prefixOf(v.header), edited(func(h *protocol.Header) { h.Session[0]++ }), genuine[prefixBytes+len(v.header):]), "does not verify"},
		{"another message's header", swapped, "does not verify"},
		{"unknown version", sign(append([]byte{9, 0}, v.header[2:]...), v.sealed, north), "the message has format 9"},
		{"header with a tail", sign(append(bytes.Clone(v.header), 0), v.sealed, north), "1 bytes are left over"},
		{"chunk out of range", sign(edited(func(h *protocol.Header) { h.Chunk = 9 }), v.sealed, north), "chunk index 9, but the message has only 4 chunks"},
		{"header too long", sign(make([]byte, maxHeaderBytes+1), v.sealed, north), "the header has 1025 bytes"},
		{"nothing sealed", sign(v.header, v.sealed[:encapsulationBytes+tagBytes-1], north), "the header has"},
		{"body too long", sign(v.header, make([]byte, encapsulationBytes+tagBytes+protocol.MaxChunkBytes+1), north), "the body has more than"},
		{"far too long", make([]byte, MaxBytes+1), "at most"},
		{"empty", nil, "too few"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.open(c.wire, "hub")
			wantBlame(t, err, protocol.Transport, protocol.KindTransport)
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func prefixOf(header []byte) []byte { return sign(header, nil, make([]byte, 64))[:prefixBytes] }

// A broker that brings a genuine message to the wrong member must not get the
// sender blamed.
func TestMisdeliveryBlamesTheTransport(t *testing.T) {
	w := newTestbed(t)
	_, err := w.open(w.seal(t, header(), []byte("rows")), "south")
	wantBlame(t, err, protocol.Transport, protocol.KindTransport)
}

// A signed message that cannot be opened is its sender's fault.
func TestSignedButMalformedBlamesTheParty(t *testing.T) {
	w := newTestbed(t)
	h := header()
	north := w.ids["north"].SigningKey()
	good, err := Verify(w.seal(t, h, []byte("rows")), w.lookup, "hub")
	if err != nil {
		t.Fatal(err)
	}
	flip := func(i int) []byte {
		b := bytes.Clone(good.sealed)
		b[i] ^= 1
		return b
	}
	seal := func(to hpke.PublicKey, info []byte) []byte {
		b, err := hpke.Seal(to, kdf(), aead(), info, []byte("rows"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	otherSession := h
	otherSession.Session[0]++
	for name, sealed := range map[string][]byte{
		"zeros":                  make([]byte, encapsulationBytes+tagBytes),
		"bad ML-KEM ciphertext":  flip(0),
		"bad X25519 key":         flip(1088),
		"bad ciphertext":         flip(encapsulationBytes),
		"bad tag":                flip(len(good.sealed) - 1),
		"for another member":     seal(w.keys["south"].Public(), h.Encode()),
		"under another header":   seal(w.keys["hub"].Public(), otherSession.Encode()),
		"to the identity's key":  seal(w.ids["hub"].KEMKey().PublicKey(), h.Encode()),
		"with another algorithm": sealWith(t, w.keys["hub"].Public(), hpke.ChaCha20Poly1305(), h),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.open(sign(h.Encode(), sealed, north), "hub")
			wantBlame(t, err, "north", protocol.KindMalformed)
		})
	}
}

func sealWith(t *testing.T, to hpke.PublicKey, a hpke.AEAD, h protocol.Header) []byte {
	t.Helper()
	b, err := hpke.Seal(to, kdf(), a, h.Encode(), []byte("rows"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A recorded message of an old session stays valid without limit, and names that
// session: it is told apart before any key is tried.
func TestReplayNamesItsOwnSession(t *testing.T) {
	w := newTestbed(t)
	v, err := Verify(w.seal(t, header(), []byte("rows")), w.lookup, "hub")
	if err != nil || v.Header.Session != header().Session {
		t.Fatalf("got session %v, %v", v.Header.Session, err)
	}
	// The key of any later session does not open it.
	if _, err := v.Open(w.keys["south"].KEMKey()); err == nil {
		t.Error("another session's key opens the message")
	}
}

func TestOpenWithoutAKeyBlamesNobody(t *testing.T) {
	w := newTestbed(t)
	v, err := Verify(w.seal(t, header(), []byte("rows")), w.lookup, "hub")
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Open(nil)
	var blame *protocol.BlameError
	if err == nil || errors.As(err, &blame) {
		t.Errorf("got %v, want an error that blames nobody", err)
	}
}

func TestRosterWithABrokenKey(t *testing.T) {
	w := newTestbed(t)
	short := func(string) (ed25519.PublicKey, bool) { return make([]byte, 31), true }
	_, err := Verify(w.seal(t, header(), nil), short, "hub")
	wantBlame(t, err, protocol.Transport, protocol.KindTransport)
}

// However the bytes are mutated, only the one message that north sent comes
// out. (Not compared by bytes: every fuzzing process seals afresh.)
func FuzzOpen(f *testing.F) {
	w := newTestbed(f)
	genuine := w.seal(f, header(), []byte("rows"))
	f.Add(genuine)
	f.Add([]byte{})
	f.Add(genuine[:prefixBytes+len(header().Encode())])
	f.Add(sign(header().Encode(), make([]byte, encapsulationBytes+tagBytes), w.ids["north"].SigningKey()))
	f.Fuzz(func(t *testing.T, wire []byte) {
		h, peekErr := Peek(wire)
		m, err := w.open(wire, "hub")
		if err != nil {
			var blame *protocol.BlameError
			if !errors.As(err, &blame) {
				t.Fatalf("an error without blame: %v", err)
			}
			return
		}
		if peekErr != nil || h != m.Header || m.Header != header() || string(m.Body) != "rows" {
			t.Fatalf("a forgery was accepted: %v", m.Header)
		}
	})
}
