package invitation

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

const guestKey = "UWEST"

func claimOf(t testing.TB, m roster.Member, seed byte, key string) []byte {
	t.Helper()
	b, err := Sign(identityOf(t, seed), m, key)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > MaxClaim {
		t.Fatalf("a claim has %d bytes", len(b))
	}
	return b
}

// A claim opens for the invitation that it was made for, if its signer has the keys that it sends.
func TestClaim(t *testing.T) {
	west := party(t, "west", 3)
	good := claimOf(t, west, 3, guestKey)
	if m, err := OpenClaim(good, guestKey); err != nil || m.Name != "west" || m.Fingerprint() != west.Fingerprint() {
		t.Errorf("%v, %v", m, err)
	}
	for what, c := range map[string]struct {
		claim []byte
		key   string
	}{
		"another invitation":    {good, "UEAST"},
		"keys of another":       {claimOf(t, west, 4, guestKey), guestKey},
		"another name":          {bytes.Replace(good, []byte("west"), []byte("east"), 1), guestKey},
		"cut":                   {good[:len(good)-1], guestKey},
		"with more":             {append(bytes.Clone(good), 0), guestKey},
		"another kind of bytes": {append([]byte{1}, good...), guestKey},
		"nothing":               {nil, guestKey},
	} {
		if m, err := OpenClaim(c.claim, c.key); err == nil {
			t.Errorf("%s: opened as %v", what, m)
		}
	}
}

func TestAnswer(t *testing.T) {
	for _, want := range []Answer{{}, {State: Refused, Reason: "no"}, {State: Pending}, {State: Approved, Roster: []byte("kind: Roster")}} {
		got, err := DecodeAnswer(want.Encode())
		if err != nil || got.State != want.State || got.Reason != want.Reason || !bytes.Equal(got.Roster, want.Roster) {
			t.Errorf("%v: %v, %v", want, got, err)
		}
	}
	long := Answer{Reason: strings.Repeat("x", 5000)}
	if got, err := DecodeAnswer(long.Encode()); err != nil || len(got.Reason) != maxReason {
		t.Errorf("a long reason: %d bytes, %v", len(got.Reason), err)
	}
	var w wire.Writer
	w.String(answerMagic)
	w.Uint8(3)
	w.String("")
	w.Bytes32(nil)
	for what, b := range map[string][]byte{"an unknown state": w.Bytes(), "nothing": nil, "cut": Answer{}.Encode()[:20], "a long roster": Answer{Roster: make([]byte, MaxRoster+1)}.Encode()} {
		if _, err := DecodeAnswer(b); err == nil {
			t.Errorf("%s: decoded", what)
		}
	}
}

func FuzzOpenClaim(f *testing.F) {
	f.Add(claimOf(f, party(f, "west", 3), 3, guestKey))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := OpenClaim(b, guestKey); err == nil {
			if _, err := roster.MarshalMember(m); err != nil {
				t.Fatalf("a claim opens as a member that cannot be: %v", err)
			}
		}
	})
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add(Answer{State: Approved, Roster: []byte("x")}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := DecodeAnswer(b); err == nil && !bytes.Equal(a.Encode(), b) {
			t.Fatal("a second round changes the answer")
		}
	})
}
