package page

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// Site holds the address under which browsers reach the page, and the login there.
type Site struct {
	// Host is the host, with its port if it is not that of HTTPS, which a request must name. It is "" on
	// loopback, where a request must name loopback, with whatever port.
	Host string
	// Login lets people in. It is nil on loopback, where they come by an invitation.
	Login *Login
}

// Loopback is the site of a page that only this machine can reach.
var Loopback = Site{}

// secure reports whether browsers reach the page by HTTPS.
func (s Site) secure() bool { return s.Host != "" }

// Address returns the address of the site, if it has a host.
func (s Site) Address() string { return "https://" + s.Host + "/" }

// backPath is the path to which the provider sends browsers back after a login.
const backPath = "/login/back"

// back returns the address to which the provider sends browsers back. The provider knows it in advance.
func (s Site) back() string { return "https://" + s.Host + backPath }

// serves reports whether the Host header of a request names the site. A web page of another origin whose name leads
// here has another Host.
func (s Site) serves(host string) bool {
	if s.Host == "" {
		return endpoint.Loopback(host)
	}
	return strings.EqualFold(host, s.Host)
}

const (
	policyOfPage = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	// policyOfReport is for a report, which has its style and its drawings in itself and runs no script.
	policyOfReport = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"
)

// answerTime is the time within which a browser must take an answer. A stream has times of its own.
const answerTime = 30 * time.Second

// guarded sets the headers of every answer, and refuses requests that name another host.
func (p *Page) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policyOfPage, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			w.Header().Set(name, value)
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) // it does not fail at a server of net/http
		if !p.site.serves(r.Host) {
			endpoint.Refuse(w, http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// sessionKey is the key of the session in a request's context.
type sessionKey struct{}

func sessionOf(r *http.Request) *session { return r.Context().Value(sessionKey{}).(*session) }

// inSession passes the requests of a session on, without the session's folder.
func (p *Page) inSession(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place := r.PathValue("place")
		s := p.sessions.find(r, place, time.Now())
		if s == nil || s.who.May(access.Viewer) != nil {
			p.strange(w, r)
			return
		}
		endpoint.Admit(r, place) // strangers who open many connections do not close this one
		r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, s))
		http.StripPrefix("/"+place, h).ServeHTTP(w, r)
	})
}

// strange answers somebody who has no session, with the way to get one.
func (p *Page) strange(w http.ResponseWriter, _ *http.Request) {
	said := "You have no session here, or it has ended."
	if p.site.Login == nil {
		p.refuse(w, http.StatusUnauthorized, said+" On the daemon's machine, run mercer page --home HOME and open the address that it prints.")
		return
	}
	p.show(w, http.StatusUnauthorized, "login", frame{shownView: shownView{Title: "Mercer", Said: said}})
}

// onlyGet passes on only GET requests, which a person makes by opening an address. A mux takes HEAD for GET, and a
// program that only looks whether an address answers must not use up an invitation.
func onlyGet(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			endpoint.Refuse(w, http.StatusMethodNotAllowed)
			return
		}
		f(w, r)
	}
}

// enter begins the session of an invitation. It answers with a page that leads on, in place of a redirection: after a
// redirection that another site has caused, a browser would not send the cookie.
func (p *Page) enter(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Sec-Purpose") != "" { // a browser that only prepares a visit must not use up the invitation
		endpoint.Refuse(w, http.StatusServiceUnavailable)
		return
	}
	who, ok := p.sessions.accept(r.URL.Query().Get("token"), time.Now())
	if !ok {
		p.refuse(w, http.StatusUnauthorized, "This address was opened before, or it is older than a minute. Run mercer page --home HOME again.")
		return
	}
	p.welcome(w, who, sessionTime)
}

// welcome begins a session of a person.
func (p *Page) welcome(w http.ResponseWriter, who Visitor, lasts time.Duration) {
	s, cookie, err := p.sessions.begin(who, time.Now().Add(lasts))
	if err != nil {
		p.log.Warn("a person cannot open the page", "who", who.String(), "error", err)
		p.refuse(w, http.StatusServiceUnavailable, "As many people as allowed have this page open. Try again later.")
		return
	}
	p.log.Info("a person has opened the page", "who", who.String())
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: cookie, Path: "/" + s.place + "/", MaxAge: int(lasts / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: p.site.secure(),
	})
	p.show(w, http.StatusOK, "welcome", frame{shownView: shownView{Title: "Mercer", Said: "Your session has begun."}, Base: "/" + s.place, Refresh: true})
}

// maxForm bounds the size of a form in bytes.
const maxForm = 16 << 10

// changing passes a request on that changes something, if a form of the session has sent it. The browser has to say
// that the form is of this origin, and the form has to have the session's token.
func (p *Page) changing(f http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		token := []byte(r.PostFormValue("token"))
		silent := r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == ""
		if silent || http.NewCrossOriginProtection().Check(r) != nil || subtle.ConstantTimeCompare(token, []byte(sessionOf(r).token)) != 1 {
			p.fail(w, r, http.StatusForbidden, "This request did not come from a form of this page, so nothing was changed. Go back, load the page again, and repeat what you did.")
			return
		}
		f(w, r)
	})
}

// leave ends the session. A provider at which the person has logged in knows nothing of it.
func (p *Page) leave(w http.ResponseWriter, r *http.Request) {
	p.sessions.end(sessionOf(r))
	said := "You have left the page."
	if l := p.site.Login; l != nil {
		said += " Your login at " + l.Issuer + " goes on. Log out there, too, or the next user of this browser can come back as you."
	}
	p.refuse(w, http.StatusOK, said)
}
