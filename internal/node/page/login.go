package page

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// Login lets people log in at an OpenID provider, by the authorization code flow with PKCE. Package go-oidc checks the
// provider's tokens.
type Login struct {
	Issuer string   // URL of the provider
	Client string   // name of the page at the provider
	Secret string   // "" for a client without a secret
	Scopes []string // scopes besides openid
	Claim  string   // claim of the ID token that lists a person's groups
	Roles  map[access.Role][]string
	// Daemon is the daemon that people use, as a person without a name: its member and its machine.
	Daemon access.Person
	// HTTP sends the requests to the provider.
	HTTP *http.Client

	mu   sync.Mutex
	last *discovery // nil until somebody logs in
}

const (
	// loginCookie begins the name of the cookie that binds a login to a browser. Browsers take a cookie with the
	// prefix __Host- only from the host itself, by HTTPS. They send it to every port of the host, so the name goes on
	// with the port.
	loginCookie = "__Host-mercer_login"
	// loginTime is the time within which a person logs in at the provider.
	loginTime = 10 * time.Minute
	// loggedInTime is the time after which a person logs in again, and then has the groups of that time.
	loggedInTime = time.Hour
	// maxSubject is the longest subject, as OpenID Connect bounds it.
	maxSubject = 255
)

// discovery is one attempt to let the provider describe itself.
type discovery struct {
	done     chan struct{} // closed when the attempt has ended; the rest is set then
	provider *oidc.Provider
	err      error
	ended    time.Time
}

// discoverAgain is the time after a failure until the provider is asked again.
const discoverAgain = 5 * time.Second

// failed reports whether an attempt has failed so long ago that another one is due.
func (d *discovery) failed(now time.Time) bool {
	select {
	case <-d.done:
		return d.err != nil && now.Sub(d.ended) >= discoverAgain
	default:
		return false
	}
}

// discover lets the provider describe itself.
func (l *Login) discover(d *discovery) {
	defer close(d.done)
	d.provider, d.err = oidc.NewProvider(oidc.ClientContext(context.Background(), l.HTTP), l.Issuer)
	d.ended = time.Now()
}

// settings returns the provider, and how the page asks it. The provider describes itself when somebody first logs in,
// and again after a failure. A daemon thus starts while the provider is away. All who log in wait for the same attempt.
func (s Site) settings(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	l := s.Login
	l.mu.Lock()
	if l.last == nil || l.last.failed(time.Now()) {
		l.last = &discovery{done: make(chan struct{})}
		go l.discover(l.last)
	}
	d := l.last
	l.mu.Unlock()
	select {
	case <-d.done:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("page: %w", ctx.Err())
	}
	if d.err != nil {
		return nil, nil, fmt.Errorf("page: the OpenID provider cannot be used: %w", d.err)
	}
	return d.provider, &oauth2.Config{
		ClientID: l.Client, ClientSecret: l.Secret, RedirectURL: s.back(), Endpoint: d.provider.Endpoint(),
		Scopes: append([]string{oidc.ScopeOpenID}, l.Scopes...),
	}, nil
}

// logins bounds what strangers can cause by logging in.
type logins struct {
	key        [32]byte      // this process's key, which authenticates the cookies of logins
	redeemed   *rate.Limiter // limits the requests to the provider for a token
	complaints *tally.Tally  // counts failures
}

const (
	redeemEvery = 200 * time.Millisecond // time between two requests for a token, in the long run
	redeemBurst = 20                     // requests for a token that are allowed at once
)

func newLogins() logins {
	l := logins{redeemed: rate.NewLimiter(rate.Every(redeemEvery), redeemBurst), complaints: new(tally.Tally)}
	_, _ = rand.Read(l.key[:]) // never fails
	return l
}

// begun is a login that a browser has begun. What the provider answers must match all of it.
type begun struct {
	state    string // names the login
	nonce    string // the provider puts it into its token
	verifier string // the secret of PKCE
}

// write returns a cookie's value for a login that must end before the time until.
func (l *logins) write(b begun, until time.Time) string {
	text := strings.Join([]string{b.state, b.nonce, b.verifier, strconv.FormatInt(until.Unix(), 10)}, ".")
	return text + "." + l.mac(text)
}

func (l *logins) mac(text string) string {
	h := hmac.New(sha256.New, l.key[:])
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// parse reads the value of a cookie. It returns false unless this process has written it, and its time is not over.
func (l *logins) parse(value string, now time.Time) (begun, bool) {
	at := strings.LastIndexByte(value, '.')
	if at < 0 || !hmac.Equal([]byte(value[at+1:]), []byte(l.mac(value[:at]))) {
		return begun{}, false
	}
	parts := strings.Split(value[:at], ".")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return begun{}, false
	}
	until, err := strconv.ParseInt(parts[3], 10, 64)
	return begun{parts[0], parts[1], parts[2]}, err == nil && now.Unix() < until
}

// login sends a browser to the provider. The cookie holds what the answer must match.
func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	_, settings, err := p.site.settings(r.Context())
	if err != nil {
		p.complain("nobody can log in", err)
		p.refuse(w, http.StatusBadGateway, "The OpenID provider does not answer. The daemon's log says why.")
		return
	}
	b := begun{rand.Text(), rand.Text(), oauth2.GenerateVerifier()}
	p.setLogin(w, p.logins.write(b, time.Now().Add(loginTime)), int(loginTime/time.Second))
	http.Redirect(w, r, settings.AuthCodeURL(b.state, oidc.Nonce(b.nonce), oauth2.S256ChallengeOption(b.verifier)), http.StatusSeeOther)
}

// complain logs a failure of a kind, unless there were many of this kind. Strangers can cause them.
func (p *Page) complain(kind string, err error) {
	if n, tell := p.logins.complaints.Count(kind, ""); tell {
		p.log.Warn(kind, "so_far", n, "error", err)
	}
}

// loginName returns the name of the cookie of a login.
func (p *Page) loginName() string {
	if _, port, err := net.SplitHostPort(p.site.Host); err == nil {
		return loginCookie + "_" + port
	}
	return loginCookie
}

// setLogin sets the cookie of a login, or removes it if age is negative. The provider is another site, so the cookie
// cannot be strict.
func (p *Page) setLogin(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: p.loginName(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode})
}

// errNoLogin reports an answer to a login that this browser has not begun here.
var errNoLogin = errors.New("page: the browser has no cookie of this login")

// loggedIn begins the session of a person whom the provider has sent back. It asks the provider only about a login
// that the browser has begun.
func (p *Page) loggedIn(w http.ResponseWriter, r *http.Request) {
	b, ok := p.begun(r)
	if !ok {
		p.setLogin(w, "", -1)
		p.complain("an answer to no login was refused", errNoLogin)
		p.refuse(w, http.StatusForbidden, "The login has failed, or took too long. Log in again.")
		return
	}
	if !p.logins.redeemed.Allow() {
		p.complain("too many people log in", nil)
		p.refuse(w, http.StatusTooManyRequests, "Too many people log in at this moment. Load this page again in some seconds.")
		return
	}
	who, err := p.site.person(r, b)
	p.setLogin(w, "", -1)
	if err != nil {
		p.complain("a login was refused", err)
		p.refuse(w, http.StatusForbidden, "The login has failed, or took too long. The daemon's log says why.")
		return
	}
	if who.May(access.Viewer) != nil {
		p.complain("a person without a role has logged in", errors.New(who.String()))
		p.refuse(w, http.StatusForbidden, "You have logged in, and none of your groups has a role here. Ask the administrator of this daemon.")
		return
	}
	p.welcome(w, who, loggedInTime)
}

// begun returns the login that the browser has begun and that the provider's answer names.
func (p *Page) begun(r *http.Request) (begun, bool) {
	c, err := r.Cookie(p.loginName())
	if err != nil {
		return begun{}, false
	}
	b, ok := p.logins.parse(c.Value, time.Now())
	return b, ok && subtle.ConstantTimeCompare([]byte(b.state), []byte(r.URL.Query().Get("state"))) == 1
}

// person checks the provider's answer to a login, and returns the person with the roles of the person's groups.
func (s Site) person(r *http.Request, b begun) (Visitor, error) {
	q := r.URL.Query()
	if code := q.Get("error"); code != "" {
		return Visitor{}, fmt.Errorf("page: the provider refuses the login: %s", fault.Printable(code[:min(len(code), 64)]))
	}
	token, err := s.redeem(r.Context(), q.Get("code"), b.verifier)
	if err != nil {
		return Visitor{}, err
	}
	if b.nonce == "" || subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(b.nonce)) != 1 {
		return Visitor{}, errors.New("page: the provider's token is for another login")
	}
	return s.Login.visitor(token)
}

// redeem exchanges a code for a token, and verifies it: signature, issuer, audience and time.
func (s Site) redeem(ctx context.Context, code, verifier string) (*oidc.IDToken, error) {
	ctx = oidc.ClientContext(ctx, s.Login.HTTP)
	provider, settings, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := settings.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) { // the text of the error may hold the provider's whole answer
		return nil, fmt.Errorf("page: the provider does not accept the code of the login (HTTP status %d)", refused.Response.StatusCode)
	}
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	raw, is := answer.Extra("id_token").(string)
	if !is {
		return nil, errors.New("page: the provider's answer has no ID token")
	}
	token, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: s.Login.Client}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return token, nil
}

// visitor returns the person of a token, with the roles of the person's groups.
func (l *Login) visitor(token *oidc.IDToken) (Visitor, error) {
	if token.Subject == "" || len(token.Subject) > maxSubject || token.Subject != fault.Printable(token.Subject) {
		return Visitor{}, errors.New("page: the provider's token has no usable subject")
	}
	claims := make(map[string]any)
	if err := token.Claims(&claims); err != nil {
		return Visitor{}, fmt.Errorf("page: %w", err)
	}
	if party, given := claims["azp"]; party != l.Client && (given || len(token.Audience) > 1) {
		return Visitor{}, errors.New("page: the provider has given the token to another client")
	}
	var roles []access.Role
	for _, role := range access.Roles() {
		if slices.ContainsFunc(groupsOf(claims[l.Claim]), func(g string) bool { return slices.Contains(l.Roles[role], g) }) {
			roles = append(roles, role)
		}
	}
	who := l.Daemon
	who.Subject = token.Subject + " of " + l.Issuer
	return Visitor{who, granted(roles)}, nil
}

// groupsOf reads a claim of groups, which is a list of texts or one text. Anything else is no group.
func groupsOf(claim any) (groups []string) {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if text, is := one.(string); is {
				groups = append(groups, text)
			}
		}
	}
	return groups
}

// granted returns a function that reports whether roles include one. An administrator may do everything, and
// everybody with a role may see what a viewer sees.
func granted(roles []access.Role) func(access.Role) error {
	return func(need access.Role) error {
		if slices.Contains(roles, need) || slices.Contains(roles, access.Administrator) || need == access.Viewer && len(roles) > 0 {
			return nil
		}
		return fault.Forbiddenf("this request needs the role %s", need)
	}
}
