package envelope

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/protocol"
	"pgregory.net/rapid"
)

// testbed is three members with an identity and a session key each.
type testbed struct {
	ids  map[string]*identity.Identity
	keys map[string]identity.SessionKeys
}

func newTestbed(t testing.TB) testbed {
	t.Helper()
	w := testbed{map[string]*identity.Identity{}, map[string]identity.SessionKeys{}}
	for i, name := range []string{"north", "south", "hub"} {
		id, err := identity.FromSeed([32]byte{1, byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := identity.DeriveSession([32]byte{2, byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		w.ids[name], w.keys[name] = id, keys
	}
	return w
}

func (w testbed) lookup(name string) (ed25519.PublicKey, bool) {
	id, ok := w.ids[name]
	if !ok {
		return nil, false
	}
	return id.Public().Sign, true
}

func (w testbed) seal(t testing.TB, h protocol.Header, body []byte) []byte {
	t.Helper()
	wire, err := Seal(h, body, w.keys[h.Receiver].Public(), w.ids[h.Sender].SigningKey())
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

func (w testbed) open(wire []byte, self string) (protocol.Message, error) {
	return Open(wire, w.lookup, w.keys[self].KEMKey(), self)
}

func header() protocol.Header {
	return protocol.Header{Session: protocol.SessionID{7}, Protocol: "okra", Round: 3, Kind: "Rows",
		Sender: "north", Receiver: "hub", Sequence: 5, Chunk: 1, Chunks: 4}
}

// sign builds an envelope by hand from parts that Seal would not put together.
func sign(header, sealed []byte, from ed25519.PrivateKey) []byte {
	digest := sha256.Sum256(sealed)
	signature := ed25519.Sign(from, slices.Concat([]byte("mercer/v1/msg"), header, digest[:]))
	return slices.Concat(binary.LittleEndian.AppendUint16(nil, uint16(len(header))), header, sealed, signature)
}

func wantBlame(t *testing.T, err error, party string, kind protocol.Kind) {
	t.Helper()
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != party || blame.Kind != kind {
		t.Errorf("got %v, want blame on %s (%s)", err, party, kind)
	}
}

func TestRoundTrip(t *testing.T) {
	w := newTestbed(t)
	short := rapid.StringN(-1, -1, protocol.MaxNameBytes)
	rapid.Check(t, func(t *rapid.T) {
		h := header()
		h.Session = protocol.SessionID(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "session"))
		h.Protocol, h.Kind = short.Draw(t, "protocol"), short.Draw(t, "kind")
		h.Round, h.Sequence = rapid.Uint16().Draw(t, "round"), rapid.Uint32().Draw(t, "sequence")
		h.Chunks = rapid.Uint32Min(1).Draw(t, "chunks")
		h.Chunk = rapid.Uint32Max(h.Chunks-1).Draw(t, "chunk")
		body := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")
		kept := bytes.Clone(body)
		wire, err := Seal(h, body, w.keys["hub"].Public(), w.ids["north"].SigningKey())
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.open(wire, "hub")
		if err != nil {
			t.Fatal(err)
		}
		if m.Header != h || !bytes.Equal(m.Body, kept) || !bytes.Equal(body, kept) {
			t.Fatalf("got %v %x, sent %v %x", m.Header, m.Body, h, kept)
		}
		if p, err := Peek(wire); err != nil || p != h {
			t.Fatalf("Peek: %v, %v", p, err)
		}
	})
}

func TestLargestBodyFits(t *testing.T) {
	w := newTestbed(t)
	h := header()
	h.Protocol, h.Kind = strings.Repeat("p", protocol.MaxNameBytes), strings.Repeat("k", protocol.MaxNameBytes)
	body := bytes.Repeat([]byte("row "), protocol.MaxChunkBytes/4)
	wire := w.seal(t, h, body)
	if len(wire) > MaxBytes {
		t.Fatalf("%d bytes, MaxBytes is %d", len(wire), MaxBytes)
	}
	m, err := w.open(wire, "hub")
	if err != nil || !bytes.Equal(m.Body, body) {
		t.Fatalf("%d bytes came back, %v", len(m.Body), err)
	}
	if bytes.Contains(wire, []byte("row row ")) {
		t.Error("the body is in clear on the wire")
	}
}

// The format equals the package's description of it, built here from the parts.
func TestWireFormat(t *testing.T) {
	w := newTestbed(t)
	h := header()
	sealed, err := hpke.Seal(w.keys["hub"].Public(), hpke.HKDFSHA256(), hpke.AES256GCM(), h.Encode(), []byte("rows"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.open(sign(h.Encode(), sealed, w.ids["north"].SigningKey()), "hub")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(protocol.Message{Header: h, Body: []byte("rows")}, m); diff != "" {
		t.Error(diff)
	}
}

func TestEverySealIsFresh(t *testing.T) {
	w := newTestbed(t)
	a, b := w.seal(t, header(), []byte("rows")), w.seal(t, header(), []byte("rows"))
	start := prefixBytes + len(header().Encode())
	for i := start; i+16 <= len(a); i += 16 {
		if bytes.Equal(a[i:i+16], b[i:i+16]) {
			t.Fatalf("two envelopes of one message agree at byte %d", i)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	w := newTestbed(t)
	to, from := w.keys["hub"].Public(), w.ids["north"].SigningKey()
	other, err := hpke.MLKEM768().GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	edit := func(f func(*protocol.Header)) protocol.Header {
		h := header()
		f(&h)
		return h
	}
	for _, c := range []struct {
		name string
		h    protocol.Header
		body []byte
		to   hpke.PublicKey
		from ed25519.PrivateKey
		want string
	}{
		{"body too large", header(), make([]byte, protocol.MaxChunkBytes+1), to, from, "the body has 524289 bytes"},
		{"chunk out of range", edit(func(h *protocol.Header) { h.Chunk = 4 }), nil, to, from, "chunk index 4, but the message has only 4 chunks"},
		{"no chunks", edit(func(h *protocol.Header) { h.Chunk, h.Chunks = 0, 0 }), nil, to, from, "chunk index 0, but the message has only 0 chunks"},
		{"long name", edit(func(h *protocol.Header) { h.Kind = strings.Repeat("k", 65) }), nil, to, from, "a name in a header has 65 bytes"},
		{"very long name", edit(func(h *protocol.Header) { h.Kind = strings.Repeat("k", 70000) }), nil, to, from, "a name in a header has 70000 bytes"},
		{"no receiver key", header(), nil, nil, from, "receiver's key"},
		{"another KEM", header(), nil, other.PublicKey(), from, "receiver's key"},
		{"no signing key", header(), nil, to, nil, "wrong length of 0 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire, err := Seal(c.h, c.body, c.to, c.from)
			if err == nil || wire != nil || !strings.HasPrefix(err.Error(), "envelope: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
