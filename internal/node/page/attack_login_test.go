package page

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// provider is a provider of the test, which gives a token of the test's claims.
type provider struct {
	*httptest.Server
	key         *rsa.PrivateKey
	claims      map[string]any
	discoveries atomic.Int32
	tokens      atomic.Int32 // requests for a token
	hold        chan bool    // nil: the provider describes itself at once
}

func provide(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key}
	encoded := base64.RawURLEncoding.EncodeToString
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{}
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			p.discoveries.Add(1)
			if p.hold != nil {
				<-p.hold
			}
			answer = map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/a", "token_endpoint": p.URL + "/t", "jwks_uri": p.URL + "/k", "id_token_signing_alg_values_supported": []string{"RS256"}}
		case "/k":
			answer = map[string]any{"keys": []any{map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": encoded(key.N.Bytes()), "e": encoded(big.NewInt(int64(key.E)).Bytes())}}}
		case "/t":
			p.tokens.Add(1)
			answer = map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.sign()}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(p.Close)
	return p
}

// sign returns a token of the claims.
func (p *provider) sign() string {
	body, _ := json.Marshal(p.claims)
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"1","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// pageAt returns the page of a host at which people log in at the provider.
func (p *provider) pageAt(t *testing.T, host string, log *slog.Logger) *Page {
	t.Helper()
	h := partyHome(t)
	return New(h, h, Site{Host: host, Login: &Login{
		Issuer: p.URL, Client: "c", Claim: "groups", Roles: map[access.Role][]string{access.Approver: {"approvers"}}, Daemon: access.Person{Member: "north"}, HTTP: &http.Client{Timeout: 10 * time.Second},
	}}, log)
}

// back sends the provider's answer to a login, with the cookie of a login.
func back(p *Page, method, state string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://x/login/back?"+url.Values{"state": {state}, "code": {"c"}}.Encode(), nil)
	r.Host = p.site.Host
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	return w
}

// began returns the cookie of a login that a browser has begun here.
func began(p *Page, b begun) *http.Cookie {
	return &http.Cookie{Name: p.loginName(), Value: p.logins.write(b, time.Now().Add(time.Minute))}
}

// Attack: a stranger sends answers to logins that nobody has begun. They cause no request to the provider, and few lines
// in the log.
func TestAttackAnswersToNoLogin(t *testing.T) {
	idp := provide(t)
	var lines bytes.Buffer
	p := idp.pageAt(t, "x", slog.New(slog.NewTextHandler(&lines, nil)))
	for range 1000 {
		for _, cookie := range []string{"s..v", "s.n.v", "", "s.n.v.9999999999." + strings.Repeat("0", 64)} {
			if w := back(p, http.MethodGet, "s", &http.Cookie{Name: p.loginName(), Value: cookie}); w.Code != http.StatusForbidden {
				t.Fatalf("%q: %d", cookie, w.Code)
			}
		}
	}
	if n := strings.Count(lines.String(), "\n"); n == 0 || n > 50 || idp.discoveries.Load()+idp.tokens.Load() != 0 {
		t.Errorf("%d lines in the log, %d and %d requests to the provider", n, idp.discoveries.Load(), idp.tokens.Load())
	}
}

// Attack: a stranger who has begun a login sends answers to it without end. The page asks the provider a few times, then
// says that somebody should come again, and does not take the cookie away.
func TestAttackAnswersToOneLogin(t *testing.T) {
	idp := provide(t)
	var lines bytes.Buffer
	p := idp.pageAt(t, "x", slog.New(slog.NewTextHandler(&lines, nil)))
	p.logins.redeemed = rate.NewLimiter(0, redeemBurst) // which no time refills
	cookie := began(p, begun{"s", "n", "v"})
	for i := range 20 * redeemBurst {
		w := back(p, http.MethodGet, "s", cookie)
		if late := i >= redeemBurst; late != (w.Code == http.StatusTooManyRequests) || late == (len(w.Result().Cookies()) > 0) {
			t.Fatalf("request %d: %d, cookies %v", i, w.Code, w.Result().Cookies())
		}
	}
	if n := idp.tokens.Load(); n != redeemBurst {
		t.Errorf("%d requests for a token", n)
	}
	if n := strings.Count(lines.String(), "\n"); n > 60 {
		t.Errorf("%d lines in the log", n)
	}
}

// A token enters only if all its parts are for this login and this client.
func TestAttackTokensOfOthers(t *testing.T) {
	idp := provide(t)
	for name, c := range map[string]struct {
		change func(claims map[string]any)
		nonce  string
		enters bool
	}{
		"good":                         {nil, "n", true},
		"two audiences, this client":   {func(m map[string]any) { m["aud"], m["azp"] = []any{"other", "c"}, "c" }, "n", true},
		"two audiences, another":       {func(m map[string]any) { m["aud"], m["azp"] = []any{"other", "c"}, "other" }, "n", false},
		"two audiences, for none":      {func(m map[string]any) { m["aud"] = []any{"other", "c"} }, "n", false},
		"one audience, another client": {func(m map[string]any) { m["azp"] = "other" }, "n", false},
		"a client that is no text":     {func(m map[string]any) { m["azp"] = []any{"c"} }, "n", false},
		"another nonce":                {func(m map[string]any) { m["nonce"] = "x" }, "n", false},
		"no nonce":                     {func(m map[string]any) { delete(m, "nonce") }, "n", false},
		"no nonce anywhere":            {func(m map[string]any) { delete(m, "nonce") }, "", false},
	} {
		p := idp.pageAt(t, "x", slog.New(slog.DiscardHandler))
		idp.claims = map[string]any{"iss": idp.URL, "aud": "c", "sub": "mara", "exp": time.Now().Add(time.Minute).Unix(), "nonce": "n", "groups": []any{"approvers"}}
		if c.change != nil {
			c.change(idp.claims)
		}
		w := back(p, http.MethodGet, "s", began(p, begun{"s", c.nonce, "v"}))
		if entered := strings.Contains(w.Body.String(), "Your session has begun"); entered != c.enters {
			t.Errorf("%s: enters %t, want %t", name, entered, c.enters)
		}
	}
	p := idp.pageAt(t, "x", slog.New(slog.DiscardHandler))
	delete(idp.claims, "azp")
	delete(idp.claims, "nonce")
	idp.claims["aud"] = "c"
	if _, err := p.site.person(httptest.NewRequest(http.MethodGet, "/login/back?code=c", nil), begun{"s", "", "v"}); err == nil {
		t.Error("neither login nor token has a nonce")
	}
	for _, b := range []begun{{"", "n", "v"}, {"s", "", "v"}, {"s", "n", ""}} {
		if _, ok := p.logins.parse(p.logins.write(b, time.Now().Add(time.Minute)), time.Now()); ok {
			t.Errorf("%+v is a login", b)
		}
	}
}

// A program that only looks whether the address of an answer is there does not use the answer up.
func TestLookingAtALogin(t *testing.T) {
	idp := provide(t)
	p := idp.pageAt(t, "x", slog.New(slog.DiscardHandler))
	if w := back(p, http.MethodHead, "s", began(p, begun{"s", "n", "v"})); w.Code != http.StatusMethodNotAllowed || len(w.Result().Cookies()) != 0 || idp.tokens.Load() != 0 {
		t.Errorf("%d, %v, %d requests", w.Code, w.Result().Cookies(), idp.tokens.Load())
	}
}

// Pages at several ports of one host have cookies of different names, since a browser sends each to all of them.
func TestLoginsOfTwoPorts(t *testing.T) {
	idp := provide(t)
	idp.claims = map[string]any{"iss": idp.URL, "aud": "c", "sub": "mara", "exp": time.Now().Add(time.Minute).Unix(), "nonce": "n", "groups": []any{"approvers"}}
	one, other := idp.pageAt(t, "x:8443", slog.New(slog.DiscardHandler)), idp.pageAt(t, "x:8444", slog.New(slog.DiscardHandler))
	w := back(one, http.MethodGet, "s", began(one, begun{"s", "n", "v"}), began(other, begun{"t", "m", "w"}))
	if !strings.Contains(w.Body.String(), "Your session has begun") {
		t.Errorf("%d", w.Code)
	}
	for _, c := range w.Result().Cookies() {
		if c.Name == other.loginName() {
			t.Error("the login of another port is removed")
		}
	}
	if !strings.HasPrefix(one.loginName(), "__Host-") || one.loginName() == other.loginName() {
		t.Errorf("%s, %s", one.loginName(), other.loginName())
	}
}

// All who log in while the provider is slow wait for one attempt, and nobody waits who has gone.
func TestOneDiscovery(t *testing.T) {
	idp := provide(t)
	idp.hold = make(chan bool)
	p := idp.pageAt(t, "x", slog.New(slog.DiscardHandler))
	var waiting sync.WaitGroup
	var codes [8]int
	for i := range codes {
		waiting.Go(func() {
			w := httptest.NewRecorder()
			p.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://x/login", nil))
			codes[i] = w.Code
		})
	}
	gone := httptest.NewRequest(http.MethodGet, "https://x/login", nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, gone.WithContext(ctx)) // returns while the others wait
	if w.Code != http.StatusBadGateway {
		t.Errorf("who has gone: %d", w.Code)
	}
	close(idp.hold)
	waiting.Wait()
	if codes != [8]int{303, 303, 303, 303, 303, 303, 303, 303} || idp.discoveries.Load() != 1 {
		t.Errorf("%v, %d attempts", codes, idp.discoveries.Load())
	}
}

// Who leaves reads that the login at the provider goes on.
func TestLeavingAfterALogin(t *testing.T) {
	h := partyHome(t)
	s, idp := loggable(t, h)
	groups(idp, "mara", "mercer-viewers")
	_, body := s.get(s.url + "/login")
	found := leadsOn.FindStringSubmatch(body)
	if found == nil {
		t.Fatal(body)
	}
	s.base = s.url + found[1]
	want := fmt.Sprintf("Your login at %s goes on.", idp.Issuer())
	if status, body := s.post("/leave", url.Values{"token": {s.token()}}); status != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("%d %s", status, body)
	}
	local := open(t, h, h, visitor(access.Viewer))
	if _, body := local.post("/leave", url.Values{"token": {local.token()}}); strings.Contains(body, "Your login at") {
		t.Error(body)
	}
}
