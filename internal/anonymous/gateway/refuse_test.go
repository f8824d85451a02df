package gateway_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// outsider sends arbitrary requests to the gateway through the relay, and to the issuer.
type outsider struct {
	*testbed
	configuration *secvm.Configuration
	http          *http.Client
}

func (w *testbed) outsider() *outsider {
	w.t.Helper()
	signed, err := os.ReadFile(filepath.Join(w.config.Home, "configuration"))
	check(w.t, err)
	c, err := secvm.DecodeConfiguration(signed)
	check(w.t, err)
	return &outsider{w, c, w.client("outsider")}
}

// tokens requests tokens from the issuer directly, as the device of a row.
func (o *outsider) tokens(row int, iteration uint32) [][]byte {
	o.t.Helper()
	return o.give(row, iteration, o.configuration.PackageToken(iteration))
}

// give returns all tokens of a device, all for one challenge.
func (o *outsider) give(row int, iteration uint32, challenge privacypass.Challenge) [][]byte {
	o.t.Helper()
	c, err := privacypass.NewClient(privacypass.Type(o.configuration.TokenType), o.configuration.TokenKeys[iteration])
	check(o.t, err)
	key := credential(row)
	q := secvm.TokenRequest{Device: key.Public().(ed25519.PublicKey), Iteration: iteration}
	var pending []*privacypass.Pending
	for range o.configuration.Params.Tokens() {
		blinded, p, err := c.Request(challenge)
		check(o.t, err)
		q.Blinded, pending = append(q.Blinded, blinded), append(pending, p)
	}
	answer, err := o.issuer.Give(o.t.Context(), q)
	check(o.t, err)
	size := len(answer) / len(pending)
	var tokens [][]byte
	for i, p := range pending {
		t, err := p.Finish(answer[i*size:][:size])
		check(o.t, err)
		tokens = append(tokens, t.Encode())
	}
	return tokens
}

// cover returns a cover package.
func (o *outsider) cover(iteration uint32) secvm.Package {
	return secvm.Package{Tag: o.configuration.Params.Tag(), Iteration: iteration, Kind: secvm.Cover}
}

func (o *outsider) post(content []byte) int {
	o.t.Helper()
	return o.ask(&bhttp.Request{Method: "POST", Scheme: "https", Authority: "gateway", Path: secvm.PackagePath, Content: content})
}

// ask seals a request to the last window's key.
func (o *outsider) ask(q *bhttp.Request) int {
	o.t.Helper()
	a, _ := o.announcement()
	key, err := ohttp.ParseKeyConfig(a.Chain[len(a.Chain)-1].Key[:])
	check(o.t, err)
	c := ohttp.Client{Relay: "http://" + atRelay, Config: key, Size: secvm.RequestSize, HTTP: o.http}
	r, err := c.Do(o.t.Context(), q)
	check(o.t, err)
	return r.Status
}

// announcement requests the announcement from the relay.
func (o *outsider) announcement() (a secvm.Announcement, status int) {
	o.t.Helper()
	r, err := o.http.Get("http://" + atRelay + secvm.AnnouncementPath)
	check(o.t, err)
	b, err := io.ReadAll(r.Body)
	check(o.t, errors.Join(err, r.Body.Close()))
	if r.StatusCode == http.StatusOK {
		a, err = secvm.DecodeAnnouncement(o.configuration.Params, b)
		check(o.t, err)
	}
	return a, r.StatusCode
}

// begin runs the gateway until the end of the test, and returns when it has announced a
// window.
func (o *outsider) begin() {
	ctx, cancel := context.WithCancel(o.t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := o.gateway.Run(ctx)
		ended <- err
	}()
	o.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			o.t.Errorf("the gateway has ended by itself: %v", err)
		}
	})
	for _, status := o.announcement(); status != http.StatusOK; _, status = o.announcement() {
		time.Sleep(time.Second)
	}
}

// Everything except a package of the open iteration with its own token is refused, each
// kind with its own outcome, and counted once.
func TestPackagesThatAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 10, func(c *gateway.Config) { c.Least = 1 })
		o := w.outsider()
		o.begin()
		for _, c := range o.impostors() {
			before := w.outcomes()
			if got := o.post(c.content); got != c.status {
				t.Errorf("%s: status %d, want %d", c.name, got, c.status)
			}
			before[c.outcome]++
			if got := w.outcomes(); !maps.Equal(got, before) {
				t.Errorf("%s: the counters say %v, want %v", c.name, got, before)
			}
		}
		if got := metricOf(t, w.gateway, "mercer_gateway_packages_total "); got != 1 {
			t.Errorf("%d packages were counted, of one", got)
		}
		for path, want := range map[string]int{"/other": 404, secvm.PackagePath: 405} {
			if got := o.ask(&bhttp.Request{Method: "GET", Scheme: "https", Authority: "gateway", Path: path}); got != want {
				t.Errorf("%s: %d", path, got)
			}
		}
	})
}

// attempt is a request with its expected outcome.
type attempt struct {
	name    string
	content []byte
	status  int
	outcome string
}

// impostors returns a package and many invalid ones.
func (o *outsider) impostors() []attempt {
	now, next := o.tokens(0, 0), o.tokens(0, 1)
	change := func(b []byte, at int) []byte {
		b = append([]byte(nil), b...)
		b[at] ^= 1
		return b
	}
	spend := func(token []byte, p secvm.Package) []byte { return secvm.Spent{Token: token, Package: p}.Encode() }
	wrong, stranger := o.cover(0), o.cover(0)
	wrong.Value = 1
	stranger.Tag++
	return []attempt{
		{"a package", spend(now[0], o.cover(0)), 200, "counted"},
		{"again", spend(now[0], o.cover(0)), 208, "duplicate"},
		{"another one with its token", spend(now[0], secvm.Package{Tag: o.cover(0).Tag, Kind: secvm.Participation}), 208, "duplicate"},
		{"without a token", o.cover(0).Encode(), 401, "tokenless"},
		{"a token of zeros", spend(make([]byte, len(now[0])), o.cover(0)), 401, "tokenless"},
		{"too long", append(spend(now[1], o.cover(0)), 0), 400, "malformed"},
		{"empty", nil, 400, "malformed"},
		{"no package of a device", spend(now[1], wrong), 400, "malformed"},
		{"a forged signature", spend(change(now[1], len(now[1])-1), o.cover(0)), 403, "forged"},
		{"another nonce", spend(change(now[1], 2), o.cover(0)), 403, "forged"},
		{"another challenge", spend(change(now[1], 34), o.cover(0)), 403, "forged"},
		{"another key", spend(change(now[1], 66), o.cover(0)), 403, "forged"},
		{"a token of the next iteration", spend(next[0], o.cover(0)), 409, "other iteration"},
		{"a package of the next iteration", spend(now[1], o.cover(1)), 409, "other iteration"},
		{"a package of another model", spend(now[1], stranger), 409, "other iteration"},
	}
}

// forged returns a token that no issuer has signed.
func (o *outsider) forged(iteration uint32) []byte {
	kind := privacypass.Type(o.configuration.TokenType)
	head := privacypass.Token{Type: kind, Challenge: o.configuration.PackageToken(iteration).Digest()}
	return append(head.Input(), make([]byte, kind.Size()-len(head.Input()))...)
}

// With too few participants the same iteration continues in another window, in which spent
// tokens stay spent.
func TestTooFew(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestbed(t, privacypass.BlindRSA, 10, func(c *gateway.Config) { c.Least = 1 })
		o := w.outsider()
		o.begin()
		tokens := o.tokens(0, 0)
		spent := secvm.Spent{Token: tokens[0], Package: o.cover(0)}.Encode()
		if got := o.post(spent); got != http.StatusOK {
			t.Errorf("status %d", got)
		}
		time.Sleep(2 * (w.config.Pause + w.config.Window + w.config.Grace + time.Minute))
		if got := metricOf(t, w.gateway, `mercer_gateway_windows_total{outcome="too few"} `); got < 2 {
			t.Errorf("%d windows had too few participants", got)
		}
		if got := o.post(spent); got != http.StatusAlreadyReported {
			t.Errorf("in another window of the iteration the token was taken: %d", got)
		}
		if got := o.post(secvm.Spent{Token: tokens[1], Package: o.cover(0)}.Encode()); got != http.StatusOK {
			t.Errorf("in another window of the iteration no package is counted: %d", got)
		}
	})
}
