package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// Login lets people log in at an OpenID provider, by the authorization code flow with PKCE. Package go-oidc checks the
// provider's tokens.
type Login struct {
	Issuer string   // URL of the provider
	Client string   // name of the page at the provider
	Secret string   // "" for a client without a secret
	Back   string   // address to which the provider sends browsers back: https://HOST/login/back
	Scopes []string // further scopes than openid
	Claim  string   // claim of the ID token that lists a person's groups
	Roles  map[access.Role][]string
	// Daemon is the daemon that people use, as a person without a name: its member and its machine.
	Daemon access.Person
	// HTTP sends the requests to the provider.
	HTTP *http.Client

	mu       sync.Mutex
	provider *oidc.Provider // nil until the provider has described itself
}

const (
	// loginCookie is the name of the cookie that binds a login to a browser. Browsers take a cookie with the
	// prefix __Host- only from the host itself, by HTTPS.
	loginCookie = "__Host-mercer_login"
	// loginTime is the time within which a person logs in at the provider.
	loginTime = 10 * time.Minute
	// loggedInTime is the time after which a person logs in again, and then has the groups of that time.
	loggedInTime = time.Hour
	// maxSubject is the longest subject, as OpenID Connect bounds it.
	maxSubject = 255
)

// settings returns the provider, and how the page asks it. It asks the provider to describe itself until it has done
// so once. A daemon thus starts while the provider is away.
func (l *Login) settings(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.provider == nil {
		p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), l.HTTP), l.Issuer)
		if err != nil {
			return nil, nil, fmt.Errorf("page: the OpenID provider cannot be used: %w", err)
		}
		l.provider = p
	}
	return l.provider, &oauth2.Config{
		ClientID: l.Client, ClientSecret: l.Secret, RedirectURL: l.Back, Endpoint: l.provider.Endpoint(),
		Scopes: append([]string{oidc.ScopeOpenID}, l.Scopes...),
	}, nil
}

// login sends a browser to the provider. The cookie holds what the answer must match: a value that names this login
// (state), one that the provider puts into its token (nonce), and the secret of PKCE (verifier).
func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	_, settings, err := p.site.Login.settings(r.Context())
	if err != nil {
		p.log.Error("nobody can log in", "error", err)
		p.refuse(w, http.StatusBadGateway, "The OpenID provider does not answer. The daemon's log says why.")
		return
	}
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	p.setLogin(w, strings.Join([]string{state, nonce, verifier}, "."), int(loginTime/time.Second))
	http.Redirect(w, r, settings.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
}

// setLogin sets the cookie of a login, or removes it if age is negative. The provider is another site, so the cookie
// cannot be strict.
func (p *Page) setLogin(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: loginCookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode})
}

// loggedIn begins the session of a person whom the provider has sent back.
func (p *Page) loggedIn(w http.ResponseWriter, r *http.Request) {
	who, err := p.site.Login.person(r)
	p.setLogin(w, "", -1)
	if err != nil {
		p.log.Warn("a login was refused", "error", err)
		p.refuse(w, http.StatusForbidden, "The login has failed, or took too long. The daemon's log says why.")
		return
	}
	if who.May(access.Viewer) != nil {
		p.log.Warn("a person without a role has logged in", "who", who.String())
		p.refuse(w, http.StatusForbidden, "You have logged in, and none of your groups has a role here. Ask the administrator of this daemon.")
		return
	}
	p.welcome(w, who, loggedInTime)
}

// person checks the provider's answer, and returns the person with the roles of the person's groups.
func (l *Login) person(r *http.Request) (Visitor, error) {
	c, err := r.Cookie(loginCookie)
	if err != nil {
		return Visitor{}, errors.New("page: the browser has no cookie of a login")
	}
	kept := strings.Split(c.Value, ".")
	q := r.URL.Query()
	if len(kept) != 3 || kept[0] == "" || subtle.ConstantTimeCompare([]byte(kept[0]), []byte(q.Get("state"))) != 1 {
		return Visitor{}, errors.New("page: the answer belongs to another login")
	}
	if code := q.Get("error"); code != "" {
		return Visitor{}, fmt.Errorf("page: the provider refuses the login: %s", fault.Printable(code[:min(len(code), 64)]))
	}
	token, err := l.redeem(r.Context(), q.Get("code"), kept[2])
	if err != nil {
		return Visitor{}, err
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(kept[1])) != 1 {
		return Visitor{}, errors.New("page: the provider's token is for another login")
	}
	return l.visitor(token)
}

// redeem exchanges a code for a token, and verifies it: signature, issuer, audience and time.
func (l *Login) redeem(ctx context.Context, code, verifier string) (*oidc.IDToken, error) {
	ctx = oidc.ClientContext(ctx, l.HTTP)
	provider, settings, err := l.settings(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := settings.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) { // the text of the error may hold the provider's whole answer
		return nil, fmt.Errorf("page: the provider takes no code, with status %d", refused.Response.StatusCode)
	}
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	raw, is := answer.Extra("id_token").(string)
	if !is {
		return nil, errors.New("page: the provider's answer has no ID token")
	}
	token, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: l.Client}).Verify(ctx, raw)
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
		return fault.Forbiddenf("this needs the role %s", need)
	}
}
