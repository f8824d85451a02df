package page

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Limits of sessions.
const (
	inviteTime  = time.Minute   // within which a person opens an invitation
	sessionTime = 8 * time.Hour // of a person who came by an invitation
	maxInvites  = 16            // unopened invitations
	maxSessions = 64            // open sessions; the oldest gives way
	maxStreams  = 8             // views of one session that are kept up to date at a time
)

// cookieName is the name of the cookie of a session. Its path is the session's folder.
const cookieName = "mercer_page"

// session is a person's use of the page. A cookie is sent to every port of its host, so a server of another
// user of this machine could receive it. Therefore the paths of a session begin with a folder that only this
// person's browser knows, and the cookie is for that folder.
type session struct {
	place   string   // the folder
	cookie  [32]byte // hash of the cookie
	token   string   // which the session's forms carry
	who     Visitor
	until   time.Time
	streams int
}

// invitation lets a person begin a session, once.
type invitation struct {
	token [32]byte // hash
	who   Visitor
	until time.Time
}

// sessions holds the sessions and the invitations. They end with the daemon.
type sessions struct {
	mu      sync.Mutex
	invited []invitation
	open    []*session // the oldest first
}

// errManyInvites reports that too many invitations are unopened.
var errManyInvites = errors.New("page: as many invitations as allowed are unopened; wait a minute and ask again")

// Invite returns the path and the query by which a person begins a session within a minute, once.
func (p *Page) Invite(who Visitor) (string, error) {
	token := rand.Text()
	return "/enter?token=" + token, p.sessions.invite(token, who, time.Now())
}

func (s *sessions) invite(token string, who Visitor, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	if len(s.invited) >= maxInvites {
		return errManyInvites
	}
	s.invited = append(s.invited, invitation{sha256.Sum256([]byte(token)), who, now.Add(inviteTime)})
	return nil
}

// accept ends an invitation. It returns the person, or false if there is no such invitation.
func (s *sessions) accept(token string, now time.Time) (who Visitor, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	hash := sha256.Sum256([]byte(token))
	for i, one := range s.invited {
		if subtle.ConstantTimeCompare(hash[:], one.token[:]) == 1 {
			s.invited = append(s.invited[:i:i], s.invited[i+1:]...)
			return one.who, true
		}
	}
	return Visitor{}, false
}

// begin opens a session that ends at a time, and returns it with its cookie's value.
func (s *sessions) begin(who Visitor, until time.Time) (*session, string) {
	cookie := rand.Text()
	one := &session{place: rand.Text(), cookie: sha256.Sum256([]byte(cookie)), token: rand.Text(), who: who, until: until}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	if len(s.open) >= maxSessions {
		s.open = s.open[1:]
	}
	s.open = append(s.open, one)
	return one, cookie
}

// forget removes what has expired.
func (s *sessions) forget(now time.Time) {
	var invited []invitation
	for _, one := range s.invited {
		if now.Before(one.until) {
			invited = append(invited, one)
		}
	}
	var open []*session
	for _, one := range s.open {
		if now.Before(one.until) {
			open = append(open, one)
		}
	}
	s.invited, s.open = invited, open
}

// find returns the session of a folder if the request has its cookie, and nil otherwise.
func (s *sessions) find(r *http.Request, place string, now time.Time) *session {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	hash := sha256.Sum256([]byte(c.Value))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	for _, one := range s.open {
		if subtle.ConstantTimeCompare([]byte(place), []byte(one.place)) == 1 && subtle.ConstantTimeCompare(hash[:], one.cookie[:]) == 1 {
			return one
		}
	}
	return nil
}

// end closes a session.
func (s *sessions) end(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.until = time.Time{}
	s.forget(time.Now())
}

// lasts reports whether a session is open.
func (s *sessions) lasts(of *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(of.until)
}

// stream takes one of a session's places for streams, and reports whether there was one. The caller gives it back
// by a call of done.
func (s *sessions) stream(of *session) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.streams >= maxStreams {
		return nil, false
	}
	of.streams++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		of.streams--
	}, true
}
