package page

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// Limits of sessions. If a person has too many invitations or sessions, a new one ends that person's own oldest one. If
// all persons together have too many, a new one is refused, so that nobody ends what others have.
const (
	inviteTime  = time.Minute   // time within which a person opens an invitation
	sessionTime = 8 * time.Hour // time until the session of a person who came by an invitation ends
	ownInvites  = 2             // greatest number of unopened invitations of one person
	ownSessions = 4             // greatest number of open sessions of one person
	maxInvites  = 64            // greatest number of unopened invitations of all persons
	maxSessions = 256           // greatest number of open sessions of all persons
	maxStreams  = 8             // greatest number of views of one session that are kept up to date at a time
)

// cookieName is the name of the cookie of a session. Its path is the session's folder.
const cookieName = "mercer_page"

// Visitor is a person who can open the page: the person of an invitation or of a session.
type Visitor struct {
	access.Person
	// May returns an error unless the person has the role need. It is called at each request, because roles change.
	May func(need access.Role) error
}

// same reports whether two visitors are one person, by what the daemon knows of them.
func (v Visitor) same(o Visitor) bool {
	if v.Member != o.Member || v.Machine != o.Machine || v.Subject != o.Subject || (v.UID == nil) != (o.UID == nil) {
		return false
	}
	return v.UID == nil || *v.UID == *o.UID
}

// roles lists the roles of the visitor.
func (v Visitor) roles() (list []string) {
	for _, r := range access.Roles() {
		if v.May(r) == nil {
			list = append(list, string(r))
		}
	}
	return list
}

// session is a person's use of the page. A cookie is sent to every port of its host, so a server of another
// user of this machine could receive it. Therefore the paths of a session begin with a folder that only this
// person's browser knows, and the cookie is for that folder.
type session struct {
	place   string   // the folder
	cookie  [32]byte // SHA-256 of the cookie's value
	token   string   // secret that the session's forms carry
	who     Visitor
	until   time.Time
	over    chan struct{} // closed when the session has ended
	streams int
}

// invitation lets a person begin a session, once.
type invitation struct {
	token [32]byte // SHA-256 of the token
	who   Visitor
	until time.Time
}

// sessions holds the sessions and the invitations. They end with the daemon.
type sessions struct {
	mu      sync.Mutex
	invited []invitation
	open    []*session // the oldest first
}

var (
	// errManyInvites reports that too many invitations are unopened.
	errManyInvites = errors.New("page: as many invitations as allowed are unopened; wait a minute and ask again")
	// errManySessions reports that too many sessions are open.
	errManySessions = errors.New("page: as many sessions as allowed are open")
)

// Invite returns the path and the query by which a person begins a session within a minute, once.
func (p *Page) Invite(who Visitor) (string, error) {
	token := rand.Text()
	return "/enter?token=" + token, p.sessions.invite(token, who, time.Now())
}

func (s *sessions) invite(token string, who Visitor, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	mine := func(one invitation) bool { return one.who.same(who) }
	if counted(s.invited, mine) >= ownInvites {
		i := slices.IndexFunc(s.invited, mine)
		s.invited = slices.Delete(s.invited, i, i+1)
	}
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
	i := slices.IndexFunc(s.invited, func(one invitation) bool { return subtle.ConstantTimeCompare(hash[:], one.token[:]) == 1 })
	if i < 0 {
		return Visitor{}, false
	}
	who = s.invited[i].who
	s.invited = slices.Delete(s.invited, i, i+1)
	return who, true
}

// begin opens a session that ends at a time, and returns it with its cookie's value.
func (s *sessions) begin(who Visitor, until time.Time) (*session, string, error) {
	cookie := rand.Text()
	one := &session{place: rand.Text(), cookie: sha256.Sum256([]byte(cookie)), token: rand.Text(), who: who, until: until, over: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.forget(now)
	mine := func(one *session) bool { return one.who.same(who) }
	if counted(s.open, mine) >= ownSessions {
		s.open[slices.IndexFunc(s.open, mine)].until = now
		s.forget(now)
	}
	if len(s.open) >= maxSessions {
		return nil, "", errManySessions
	}
	s.open = append(s.open, one)
	return one, cookie, nil
}

// forget removes what has expired.
func (s *sessions) forget(now time.Time) {
	s.invited = slices.DeleteFunc(s.invited, func(one invitation) bool { return !now.Before(one.until) })
	s.open = slices.DeleteFunc(s.open, func(one *session) bool {
		expired := !now.Before(one.until)
		if expired {
			close(one.over)
		}
		return expired
	})
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
	s.forget(time.Now()) // closes the channel over, unless the session has ended already
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
