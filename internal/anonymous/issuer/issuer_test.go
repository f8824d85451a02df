package issuer

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/request"
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
		Devices: []ed25519.PublicKey{public(1), public(2)}, Gateway: public(8), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// ask requests tokens as a device, and returns the verifier of the answer.
func ask(t *testing.T, i *Issuer, device byte, iteration uint32) secvm.TokenRequest {
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

// Attack: unlimited packages. A device gets its tokens once for each iteration, even if the
// issuer restarts; the same request has the same answer, so that a crash costs no device a
// token.
func TestAttackQuota(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, kind := range []privacypass.Type{privacypass.BlindRSA, privacypass.VOPRF} {
		t.Run(kind.String(), func(t *testing.T) {
			home := t.TempDir()
			i := open(t, home, kind)
			keys := make(map[string]bool)
			for _, k := range i.Public().Keys {
				keys[string(k)] = true
			}
			if len(keys) != i.Iterations {
				t.Errorf("%d keys for %d iterations", len(keys), i.Iterations)
			}
			q := ask(t, i, 1, 0)
			first, err := i.Give(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for life := range 2 {
				if _, err := i.Give(t.Context(), ask(t, i, 1, 0)); !errors.Is(err, errSpent) {
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
			for _, other := range []secvm.TokenRequest{ask(t, i, 1, 1), ask(t, i, 2, 0)} {
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

// An issuer counts the devices that have their tokens for an iteration, each once, even if
// it restarts, and countersigns configurations that name its keys only.
func TestCountsDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	home := t.TempDir()
	i := open(t, home, privacypass.BlindRSA)
	for _, device := range []byte{1, 2} {
		if _, err := i.Give(t.Context(), ask(t, i, device, 0)); err != nil {
			t.Fatal(err)
		}
	}
	q := ask(t, i, 1, 1)
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
	if i.checkOwn(own) == nil {
		t.Error("a configuration for four tokens, where three are given, was countersigned")
	}
	i.Quota = p.Tokens()
	if err := i.checkOwn(own); err != nil {
		t.Error(err)
	}
	own.TokenKeys = [][]byte{own.TokenKeys[1], own.TokenKeys[0]}
	if i.checkOwn(own) == nil {
		t.Error("a configuration with other keys was countersigned")
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

// However many requests arrive at a time, one of a device is answered.
func TestQuotaAtOnce(t *testing.T) {
	i := open(t, t.TempDir(), privacypass.VOPRF)
	given := make([]bool, 8)
	requests := make([]secvm.TokenRequest, len(given))
	for n := range requests {
		requests[n] = ask(t, i, 1, 0)
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

// post returns a request whose header a device has signed, in its own name or another's.
func post(t *testing.T, i *Issuer, q secvm.TokenRequest, by byte) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/?"+q.Query(), bytes.NewReader(q.Body()))
	signer(i, q.Iteration).Sign(r, request.NameOf(q.Device), deviceKey(by), q.Body())
	return r
}

// signer signs requests for the tokens of an iteration.
func signer(i *Issuer, iteration uint32) request.Signer {
	return request.Signer{Purpose: secvm.TokenPurpose, Of: i.Public().Keys[iteration]}
}

// serve lets the issuer answer a request.
func serve(i *Issuer, r *http.Request) (status int) {
	answer := endpointtest.NewRecorder()
	i.ServeHTTP(answer, r)
	return answer.Code
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("a byte of the body was read")
	return 0, io.EOF
}

func (unread) Close() error { return nil }

// with changes a request.
func with(r *http.Request, change func(*http.Request)) *http.Request {
	change(r)
	return r
}

// Every request is answered in its own way, and counted once. The body of a stranger, and
// one that no device sends, is not read.
func TestServe(t *testing.T) {
	i := open(t, t.TempDir(), privacypass.VOPRF)
	nobody := func(r *http.Request) { r.Body = unread{t} }
	other := post(t, i, ask(t, i, 2, 1), 2)
	for _, c := range []struct {
		name    string
		request *http.Request
		status  int
		outcome string
	}{
		{"a device", post(t, i, ask(t, i, 1, 0), 1), http.StatusOK, "given"},
		{"a second request", post(t, i, ask(t, i, 1, 0), 1), http.StatusConflict, "over quota"},
		{"a stranger", with(post(t, i, ask(t, i, 3, 0), 3), nobody), http.StatusForbidden, "stranger"},
		{"in another's name", with(post(t, i, ask(t, i, 2, 0), 1), nobody), http.StatusForbidden, "stranger"},
		{"another body", with(post(t, i, ask(t, i, 2, 0), 2), func(r *http.Request) { r.Body = other.Body }), http.StatusForbidden, "stranger"},
		{"for another iteration", with(post(t, i, ask(t, i, 1, 1), 1), func(r *http.Request) {
			r.URL.RawQuery = secvm.TokenRequest{}.Query()
			nobody(r)
		}), http.StatusForbidden, "stranger"},
		{"no such iteration", with(post(t, i, ask(t, i, 1, 1), 1), func(r *http.Request) {
			r.URL.RawQuery = secvm.TokenRequest{Iteration: 2}.Query()
			nobody(r)
		}), http.StatusBadRequest, "malformed"},
		{"no signature", httptest.NewRequest(http.MethodPost, "/?iteration=0", unread{t}), http.StatusForbidden, "stranger"},
		{"no iteration", httptest.NewRequest(http.MethodPost, "/", unread{t}), http.StatusBadRequest, "malformed"},
		{"another method", httptest.NewRequest(http.MethodPut, "/", unread{t}), http.StatusBadRequest, "malformed"},
		{"more than are given", with(httptest.NewRequest(http.MethodPost, "/?iteration=0", unread{t}), func(r *http.Request) {
			r.ContentLength = 1 << 20
			signer(i, 0).Sign(r, request.NameOf(public(1)), deviceKey(1), make([]byte, r.ContentLength))
		}), http.StatusBadRequest, "malformed"},
		{"cut off", with(post(t, i, ask(t, i, 2, 0), 2), func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)) }), http.StatusBadRequest, "malformed"},
		{"slow", with(post(t, i, ask(t, i, 2, 0), 2), func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(os.ErrDeadlineExceeded)) }), http.StatusRequestTimeout, "slow"},
		{"a device that was slow", post(t, i, ask(t, i, 2, 0), 2), http.StatusOK, "given"},
	} {
		want := outcomes(t, i)
		if status := serve(i, c.request); status != c.status {
			t.Errorf("%s: status %d, want %d", c.name, status, c.status)
		}
		want[c.outcome]++
		if got := outcomes(t, i); !cmp.Equal(got, want) {
			t.Errorf("%s: the counters say %v, want %v", c.name, got, want)
		}
	}
	if len(i.desk.busy) != 0 {
		t.Errorf("devices keep places: %v", i.desk.busy)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

// held is a body that arrives when its sender allows it.
type held struct {
	io.Reader
	reading, come chan struct{}
}

func (h *held) Read(b []byte) (int, error) {
	select {
	case <-h.reading:
	default:
		close(h.reading)
	}
	<-h.come
	return h.Reader.Read(b)
}

// Attack: a device of the roster sends its body slowly, again and again. It has one place,
// and takes no other's.
func TestAttackSlowDevice(t *testing.T) {
	i := open(t, t.TempDir(), privacypass.VOPRF)
	slow := post(t, i, ask(t, i, 1, 0), 1)
	body := &held{slow.Body, make(chan struct{}), make(chan struct{})}
	slow.Body = io.NopCloser(body)
	answered := make(chan int, 1)
	go func() { answered <- serve(i, slow) }()
	<-body.reading
	again := with(post(t, i, ask(t, i, 1, 1), 1), func(r *http.Request) { r.Body = unread{t} })
	if status := serve(i, again); status != http.StatusServiceUnavailable {
		t.Errorf("a second request of the device: %d", status)
	}
	if status := serve(i, post(t, i, ask(t, i, 2, 0), 2)); status != http.StatusOK {
		t.Errorf("another device beside a slow one: %d", status)
	}
	close(body.come)
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the slow device: %d", status)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
}

// A request that a device has signed for one issuer is invalid at any other.
func TestRequestForAnotherIssuer(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	i, other := open(t, t.TempDir(), privacypass.BlindRSA), open(t, t.TempDir(), privacypass.BlindRSA)
	if status := serve(i, post(t, other, ask(t, other, 1, 0), 1)); status != http.StatusForbidden {
		t.Errorf("%d", status)
	}
	if n := i.quota.devices(0); n != 0 {
		t.Errorf("%d devices have their tokens", n)
	}
	if err := errors.Join(i.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
}

// outcomes returns the number of requests with each outcome.
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
