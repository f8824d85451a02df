package page

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// loggable serves a page at which people log in at a provider of the test.
func loggable(t *testing.T, h *home) (*served, *mockoidc.MockOIDC) {
	t.Helper()
	provider, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := provider.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewUnstartedServer(nil)
	host := server.Listener.Addr().String()
	p := New(h, h, Site{Host: host, Login: &Login{
		Issuer: provider.Issuer(), Client: provider.ClientID, Secret: provider.ClientSecret, Scopes: []string{"groups"}, Claim: "groups",
		Roles: map[access.Role][]string{access.Viewer: {"mercer-viewers"}, access.Approver: {"mercer-approvers"}}, Daemon: access.Person{Member: "north", Machine: "one"}, HTTP: &http.Client{Timeout: 10 * time.Second},
	}}, slog.New(slog.DiscardHandler))
	server.Config.Handler = p.Handler()
	server.StartTLS()
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	client.Jar, client.Timeout = jar, 20*time.Second
	return &served{Page: p, t: t, url: server.URL, client: client}, provider
}

// groups makes a person of groups the next who logs in.
func groups(provider *mockoidc.MockOIDC, subject string, of ...string) {
	provider.QueueUser(&mockoidc.MockUser{Subject: subject, Groups: of})
}

// stopBefore returns the URL to which a redirection leads that the client does not follow.
func (s *served) stopBefore(from, path string) string {
	s.t.Helper()
	client := *s.client
	client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.Contains(r.URL.Path, path) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, from, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.Header.Get("Location")
}

var leadsOn = regexp.MustCompile(`url=(/[A-Z2-7]+)/"`)

// A person who has logged in sees and does what the roles of the person's groups allow.
func TestLogin(t *testing.T) {
	h := partyHome(t)
	s, provider := loggable(t, h)
	if status, body := s.get(s.url + "/"); status != http.StatusUnauthorized || !strings.Contains(body, `href="/login"`) || strings.Contains(body, "north") {
		t.Errorf("before a login: %d %s", status, body)
	}
	for _, c := range []struct {
		subject string
		groups  []string
		enters  bool
		status  int // of an approval
		decided int // approvals so far
	}{
		{"mara", []string{"staff", "mercer-approvers"}, true, 200, 1},
		{"tom", []string{"mercer-viewers"}, true, 403, 1},
		{"eve", []string{"staff", "mercer"}, false, 0, 1},
		{"bob", nil, false, 0, 1},
	} {
		groups(provider, c.subject, c.groups...)
		status, body := s.get(s.url + "/login")
		found := leadsOn.FindStringSubmatch(body)
		if c.enters != (found != nil && status == http.StatusOK) {
			t.Errorf("%s: %d %s", c.subject, status, body)
			continue
		}
		if !c.enters {
			if status != http.StatusForbidden || strings.Contains(body, "tumours") {
				t.Errorf("%s: %d %s", c.subject, status, body)
			}
			continue
		}
		s.base = s.url + found[1]
		if _, body := s.get(s.base + "/"); !strings.Contains(body, c.subject+" of "+provider.Issuer()) {
			t.Errorf("%s: %s", c.subject, body)
		}
		status, _ = s.post("/approvals/"+jobID, url.Values{"token": {s.token()}, "decision": {"approve"}})
		if status != c.status || len(h.decisions()) != c.decided {
			t.Errorf("%s approves: %d %q", c.subject, status, h.decisions())
		}
	}
	if got := h.decisions(); len(got) != 1 || !strings.Contains(got[0], "by mara of "+provider.Issuer()) {
		t.Errorf("%q", got)
	}
	if status, _ := s.get(s.url + "/enter?token=x"); status != http.StatusUnauthorized {
		t.Errorf("an invitation beside the login: %d", status)
	}
}

// An answer of the provider counts once, in the browser that began the login, and with the token of that login.
func TestAnswersOfAnotherLogin(t *testing.T) {
	h := partyHome(t)
	s, provider := loggable(t, h)
	answer := func(who *served) string {
		groups(provider, "mara", "mercer-approvers")
		return who.stopBefore(s.url+"/login", "/login/back")
	}
	refused := func(name, at string) {
		t.Helper()
		if status, body := s.get(at); status != http.StatusForbidden || leadsOn.MatchString(body) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	client := *s.client
	client.Jar, other.client = jar, &client
	refused("another browser's answer, without a login here", answer(&other))
	first := answer(s)
	foreign := answer(&other)
	refused("another browser's answer", foreign)
	refused("a used cookie", first) // the refusal has removed the cookie

	at, err := url.Parse(answer(s))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := url.Parse(answer(&other))
	if err != nil {
		t.Fatal(err)
	}
	q := at.Query()
	q.Set("code", elsewhere.Query().Get("code")) // somebody else's code under the state of this browser
	at.RawQuery = q.Encode()
	refused("another login's code", at.String())

	for name, change := range map[string]func(b begun) string{
		"wrong nonce": func(b begun) string { b.nonce = "AAAA"; return s.logins.write(b, time.Now().Add(time.Minute)) },
		"no nonce":    func(b begun) string { b.nonce = ""; return s.logins.write(b, time.Now().Add(time.Minute)) },
		"wrong verifier": func(b begun) string {
			b.verifier = base64.RawURLEncoding.EncodeToString(make([]byte, 32))
			return s.logins.write(b, time.Now().Add(time.Minute))
		},
		"wrong state": func(b begun) string { b.state = "AAAA"; return s.logins.write(b, time.Now().Add(time.Minute)) },
		"old":         func(b begun) string { return s.logins.write(b, time.Now()) },
		"of another process": func(b begun) string {
			l := newLogins()
			return l.write(b, time.Now().Add(time.Minute))
		},
		"without a mac": func(b begun) string { return b.state + "." + b.nonce + "." + b.verifier },
		"unchanged":     func(b begun) string { return s.logins.write(b, time.Now().Add(time.Minute)) },
	} {
		at := answer(s)
		root, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.client.Jar.Cookies(root) {
			if b, ok := s.logins.parse(c.Value, time.Now()); c.Name == s.loginName() && ok {
				s.client.Jar.SetCookies(root, []*http.Cookie{{Name: c.Name, Value: change(b), Path: "/", Secure: true}})
			}
		}
		status, body := s.get(at)
		if entered := leadsOn.MatchString(body); entered != (name == "unchanged") || entered != (status == http.StatusOK) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for name, path := range map[string]string{"no state": "/login/back?code=x", "an empty state": "/login/back?state=&code=x"} {
		answer(s)
		refused(name, s.url+path)
	}
	refused("the provider's refusal", s.url+"/login/back?error=access_denied&state=x")
}

// Cookies of a page with a login are for HTTPS only, and a request has to name the page's host.
func TestLoginCookies(t *testing.T) {
	h := partyHome(t)
	s, provider := loggable(t, h)
	groups(provider, "mara", "mercer-approvers")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/login", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := *s.client
	var set []*http.Cookie
	client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		set = append(set, r.Response.Cookies()...)
		return nil
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	set = append(set, res.Cookies()...)
	if len(set) != 3 { // the login's cookie, its removal, and the session's
		t.Fatalf("%v", set)
	}
	for _, c := range set {
		if !c.Secure || !c.HttpOnly || c.Domain != "" || c.Name == cookieName && c.SameSite != http.SameSiteStrictMode {
			t.Errorf("%v", c)
		}
	}
	r, err = http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "localhost"
	if status, _ := s.do(r); status != http.StatusMisdirectedRequest {
		t.Errorf("another host: %d", status)
	}
}

// A daemon starts while the provider is away, and people log in when it is back.
func TestTheProviderIsAway(t *testing.T) {
	h := partyHome(t)
	s, provider := loggable(t, h)
	at := s.site.Login.Issuer
	s.site.Login.Issuer = "http://127.0.0.1:1/none"
	if status, body := s.get(s.url + "/login"); status != http.StatusBadGateway || strings.Contains(body, "127.0.0.1:1") {
		t.Errorf("%d %s", status, body)
	}
	s.site.Login.Issuer = at
	if status, _ := s.get(s.url + "/login"); status != http.StatusBadGateway {
		t.Errorf("a provider that has failed is asked again at once: %d", status)
	}
	s.site.Login.last.ended = time.Now().Add(-discoverAgain)
	groups(provider, "mara", "mercer-approvers")
	if status, body := s.get(s.url + "/login"); status != http.StatusOK || !leadsOn.MatchString(body) {
		t.Errorf("%d %s", status, body)
	}
}
