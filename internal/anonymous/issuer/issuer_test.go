package issuer

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

func deviceKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func public(n byte) ed25519.PublicKey { return deviceKey(n).Public().(ed25519.PublicKey) }

func open(t *testing.T, home string, kind privacypass.Type) *Issuer {
	t.Helper()
	id, err := identity.FromSeed([32]byte{9})
	if err != nil {
		t.Fatal(err)
	}
	i, err := Open(Config{
		Name: "issuer.example", Home: home, Identity: id, Type: kind, Iterations: 2, Quota: 3,
		Devices: []ed25519.PublicKey{public(1), public(2)}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// request asks for tokens as a device, and returns what verifies the answer.
func request(t *testing.T, i *Issuer, device byte, iteration uint32) secvm.TokenRequest {
	t.Helper()
	c, err := privacypass.NewClient(i.Type, i.Public().Keys[iteration])
	if err != nil {
		t.Fatal(err)
	}
	q := secvm.TokenRequest{Device: public(device), Iteration: iteration}
	for range i.Quota {
		b, _, err := c.Request(privacypass.Challenge{Type: i.Type, Issuer: i.Name})
		if err != nil {
			t.Fatal(err)
		}
		q.Blinded = append(q.Blinded, b)
	}
	return q
}

// Attack: unlimited packages. A device gets its tokens once for each iteration,
// in this life of the issuer or in the next; the same request is answered
// alike, so that a crash costs nobody a token.
func TestAttackQuota(t *testing.T) {
	for _, kind := range []privacypass.Type{privacypass.BlindRSA, privacypass.VOPRF} {
		t.Run(kind.String(), func(t *testing.T) {
			home := t.TempDir()
			i := open(t, home, kind)
			q := request(t, i, 1, 0)
			first, err := i.Give(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for life := range 2 {
				if _, err := i.Give(t.Context(), request(t, i, 1, 0)); !errors.Is(err, errSpent) {
					t.Errorf("life %d: more tokens: %v", life, err)
				}
				again, err := i.Give(t.Context(), q)
				if err != nil || kind == privacypass.BlindRSA && !bytes.Equal(again, first) {
					t.Errorf("life %d: the same request again: %v", life, err)
				}
				if err := i.Close(); err != nil {
					t.Fatal(err)
				}
				i = open(t, home, kind)
			}
			for _, other := range []secvm.TokenRequest{request(t, i, 1, 1), request(t, i, 2, 0)} {
				if _, err := i.Give(t.Context(), other); err != nil {
					t.Errorf("another iteration or device: %v", err)
				}
			}
			if err := i.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// An issuer counts the devices that have their tokens for an iteration, each once, in
// this life and in the next, and countersigns configurations that name its keys only.
func TestCountsDevices(t *testing.T) {
	home := t.TempDir()
	i := open(t, home, privacypass.BlindRSA)
	for _, device := range []byte{1, 2} {
		if _, err := i.Give(t.Context(), request(t, i, device, 0)); err != nil {
			t.Fatal(err)
		}
	}
	q := request(t, i, 1, 1)
	for range 2 {
		if _, err := i.Give(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if a, b := i.quota.devices(0), i.quota.devices(1); a != 2 || b != 1 {
			t.Errorf("%d and %d devices, want 2 and 1", a, b)
		}
		if err := i.Close(); err != nil {
			t.Fatal(err)
		}
		i = open(t, home, privacypass.BlindRSA)
	}
	p, err := secvm.NewParams(secvm.Spec{Name: "toy", Bins: 4, Packages: 3, Cohort: 10})
	if err != nil {
		t.Fatal(err)
	}
	own := &secvm.Configuration{Params: p, Issuer: i.Name, TokenType: uint16(i.Type), TokenKeys: i.Public().Keys}
	if i.own(own) == nil {
		t.Error("a configuration for four tokens, where three are given, was countersigned")
	}
	i.Quota = p.Tokens()
	if err := i.own(own); err != nil {
		t.Error(err)
	}
	own.TokenKeys = [][]byte{own.TokenKeys[1], own.TokenKeys[0]}
	if i.own(own) == nil {
		t.Error("a configuration with other keys was countersigned")
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

// However many requests come at a time, one of a device is answered.
func TestQuotaAtOnce(t *testing.T) {
	i := open(t, t.TempDir(), privacypass.VOPRF)
	given := make([]bool, 8)
	requests := make([]secvm.TokenRequest, len(given))
	for n := range requests {
		requests[n] = request(t, i, 1, 0)
	}
	var asking sync.WaitGroup
	for n, q := range requests {
		asking.Go(func() {
			_, err := i.Give(context.Background(), q)
			given[n] = err == nil
			if err != nil && !errors.Is(err, errSpent) {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	total := 0
	for _, ok := range given {
		if ok {
			total++
		}
	}
	if total != 1 {
		t.Errorf("%d of %d requests were answered", total, len(given))
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every request is answered in its own way, and counted: once, and as nothing
// else.
func TestServe(t *testing.T) {
	i := open(t, t.TempDir(), privacypass.VOPRF)
	signed := func(q secvm.TokenRequest, by byte) []byte {
		return q.Sign(func(m []byte) []byte { return ed25519.Sign(deviceKey(by), m) })
	}
	stranger := request(t, i, 3, 0)
	beyond := request(t, i, 1, 1)
	beyond.Iteration = 2
	for _, c := range []struct {
		name    string
		body    []byte
		status  int
		outcome string
	}{
		{"a device", signed(request(t, i, 1, 0), 1), http.StatusOK, "given"},
		{"a second request", signed(request(t, i, 1, 0), 1), http.StatusConflict, "over quota"},
		{"a stranger", signed(stranger, 3), http.StatusForbidden, "stranger"},
		{"in another's name", signed(request(t, i, 2, 0), 1), http.StatusForbidden, "stranger"},
		{"no such iteration", signed(beyond, 1), http.StatusBadRequest, "malformed"},
		{"no request", []byte("tokens, please"), http.StatusBadRequest, "malformed"},
		{"more than are given", make([]byte, 1<<20), http.StatusBadRequest, "malformed"},
	} {
		want := outcomes(t, i)
		answer := httptest.NewRecorder()
		i.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(c.body)))
		if answer.Code != c.status {
			t.Errorf("%s: status %d, want %d", c.name, answer.Code, c.status)
		}
		want[c.outcome]++
		if got := outcomes(t, i); !cmp.Equal(got, want) {
			t.Errorf("%s: the counters say %v, want %v", c.name, got, want)
		}
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

// outcomes returns the number of requests that have had each outcome.
func outcomes(t *testing.T, i *Issuer) map[string]int {
	t.Helper()
	r := prometheus.NewRegistry()
	if err := i.Collect(r); err != nil {
		t.Fatal(err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			counts[m.GetLabel()[0].GetValue()] = int(m.GetCounter().GetValue())
		}
	}
	return counts
}

func TestPublic(t *testing.T) {
	i := open(t, t.TempDir(), privacypass.VOPRF)
	want := i.Public()
	got, err := DecodePublic(want.Encode())
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzDecodePublic(f *testing.F) {
	f.Add(Public{Name: "i", Type: privacypass.VOPRF, Keys: [][]byte{{1}}}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := DecodePublic(b); err == nil && !bytes.Equal(p.Encode(), b) {
			t.Error("two encodings")
		}
	})
}
