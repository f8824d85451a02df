package gateway_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/gateway"
	"github.com/mercer-fl/mercer/internal/token"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// outsider talks to the gateway through the relay, and to the issuer, as it
// likes.
type outsider struct {
	*world
	configuration *secvm.Configuration
	client        *ohttp.Client
}

func (w *world) outsider() *outsider {
	w.t.Helper()
	signed, err := os.ReadFile(filepath.Join(w.config.Home, "configuration"))
	check(w.t, err)
	c, err := secvm.DecodeConfiguration(signed)
	check(w.t, err)
	keys, err := ohttp.ParseKeys(c.Keys)
	check(w.t, err)
	return &outsider{w, c, &ohttp.Client{Relay: w.relayURL, Config: keys[0], Size: secvm.RequestSize}}
}

// tokens asks the issuer directly, as the device of a row.
func (o *outsider) tokens(row int, iteration uint32) [][]byte {
	o.t.Helper()
	c, err := privacypass.NewClient(privacypass.Type(o.configuration.TokenType), o.configuration.TokenKeys[iteration])
	check(o.t, err)
	key := credential(row)
	q := secvm.TokenRequest{Device: key.Public().(ed25519.PublicKey), Iteration: iteration}
	var pending []*privacypass.Pending
	for range o.job.Protocol.Packages {
		blinded, p, err := c.Request(token.Challenge(o.configuration, iteration))
		check(o.t, err)
		q.Blinded, pending = append(q.Blinded, blinded), append(pending, p)
	}
	answer, err := o.issuer.Give(context.Background(), q)
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

// cover is a package that says nothing.
func (o *outsider) cover(iteration uint32) secvm.Package {
	return secvm.Package{Tag: o.configuration.Params.Tag(), Iteration: iteration, Kind: secvm.Cover}
}

func (o *outsider) post(content []byte) int {
	o.t.Helper()
	r, err := o.client.Do(context.Background(), &bhttp.Request{Method: "POST", Scheme: "https", Authority: "gateway", Path: secvm.PackagePath, Content: content})
	check(o.t, err)
	return r.Status
}

// Whatever is no package of the open iteration with a token of its own is
// refused, each kind in its own way, and counted.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, privacypass.BlindRSA, 10, func(c *gateway.Config) {
		c.Window, c.Grace, c.Lead, c.Least = time.Minute, 0, 0, 1
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := w.gateway.Run(ctx)
		ended <- err
	}()
	o := w.outsider()
	for o.get(secvm.AnnouncementPath) != http.StatusOK {
		time.Sleep(5 * time.Millisecond)
	}
	now, next := o.tokens(0, 0), o.tokens(0, 1)
	change := func(b []byte, at int) []byte {
		b = append([]byte(nil), b...)
		b[at] ^= 1
		return b
	}
	spend := func(token []byte, p secvm.Package) []byte { return secvm.Spent{Token: token, Package: p}.Encode() }
	wrong := o.cover(0)
	wrong.Value = 1
	stranger := o.cover(0)
	stranger.Tag++
	for _, c := range []struct {
		name    string
		content []byte
		status  int
		outcome string
	}{
		{"a package", spend(now[0], o.cover(0)), 200, ""},
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
	} {
		before := w.metric(c.outcome)
		if got := o.post(c.content); got != c.status {
			t.Errorf("%s: status %d, want %d", c.name, got, c.status)
		}
		if c.outcome != "" && w.metric(c.outcome) == before {
			t.Errorf("%s: not counted as %s", c.name, c.outcome)
		}
	}
	if got := metricOf(t, w.gateway, "mercer_gateway_packages_total "); got != "1" {
		t.Errorf("%s packages were counted, of one", got)
	}
	for path, want := range map[string]int{"/other": 404, secvm.ConfigurationPath: 200} {
		if got := o.get(path); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the gateway has ended by itself")
	}
}

func (o *outsider) get(path string) int {
	o.t.Helper()
	r, err := o.client.Do(context.Background(), &bhttp.Request{Method: "GET", Scheme: "https", Authority: "gateway", Path: path})
	check(o.t, err)
	return r.Status
}

// forged is a token that nobody has signed.
func (o *outsider) forged(iteration uint32) []byte {
	kind := privacypass.Type(o.configuration.TokenType)
	head := privacypass.Token{Type: kind, Challenge: token.Challenge(o.configuration, iteration).Digest()}
	return append(head.Input(), make([]byte, kind.Size()-len(head.Input()))...)
}

// With too few participants the same iteration goes on in another window, in
// which spent tokens stay spent.
func TestTooFew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, privacypass.BlindRSA, 10, func(c *gateway.Config) {
		c.Window, c.Grace, c.Pause, c.Lead, c.Least = 300*time.Millisecond, 200*time.Millisecond, 50*time.Millisecond, 0, 1
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := w.gateway.Run(ctx)
		ended <- err
	}()
	o := w.outsider()
	for o.get(secvm.AnnouncementPath) != http.StatusOK {
		time.Sleep(5 * time.Millisecond)
	}
	spent := secvm.Spent{Token: o.tokens(0, 0)[0], Package: o.cover(0)}.Encode()
	if got := o.post(spent); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	few := `mercer_gateway_windows_total{outcome="too few"} `
	for n := metricOf(t, w.gateway, few); n == "" || n == "1"; n = metricOf(t, w.gateway, few) {
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := o.post(spent); got != http.StatusAlreadyReported {
		t.Errorf("in another window of the iteration the token was taken: %d", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
