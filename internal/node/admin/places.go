package admin

import (
	"log/slog"
	"net"
	"sync"
)

// Limits of a socket.
const (
	maxOpen   = 512 // greatest number of connections of all users
	maxOfUser = 64  // greatest number of connections of one user; mercer job wait keeps one open
)

// places accepts the connections of a socket, as many as the socket has places for one user and for all. It closes
// further ones at once, so that no single user takes the places of all others.
type places struct {
	net.Listener
	peer func(net.Conn) int // tells the user at the other end
	log  *slog.Logger

	mu   sync.Mutex
	of   map[int]int // open connections of each user who has any
	open int
	full map[int]bool // users with open connections who were refused a further one and have closed none since
}

func newPlaces(l net.Listener, peer func(net.Conn) int, log *slog.Logger) *places {
	return &places{Listener: l, peer: peer, log: log, of: make(map[int]int), full: make(map[int]bool)}
}

// Accept implements [net.Listener].
func (p *places) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid := p.peer(c)
		if p.take(uid) {
			return &counted{Conn: c, uid: uid, places: p}, nil
		}
		_ = c.Close() // nobody has read from it
	}
}

// take takes a place for a user, if there is one.
func (p *places) take(uid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open >= maxOpen || p.of[uid] >= maxOfUser {
		if !p.full[uid] {
			p.log.Warn("a user has as many connections to the control socket as allowed, or all users together; further ones are closed", "user", uid, "connections", p.of[uid], "all", p.open)
		}
		if p.of[uid] > 0 {
			p.full[uid] = true
		}
		return false
	}
	p.open++
	p.of[uid]++
	return true
}

// leave gives a place back.
func (p *places) leave(uid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	delete(p.full, uid)
	if p.of[uid]--; p.of[uid] == 0 {
		delete(p.of, uid)
	}
}

// counted is a connection that has a place.
type counted struct {
	net.Conn
	uid    int
	places *places
	left   sync.Once
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	c.left.Do(func() { c.places.leave(c.uid) })
	return c.Conn.Close()
}
