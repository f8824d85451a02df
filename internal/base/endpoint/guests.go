package endpoint

import (
	"container/list"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// Bounds on open connections. An endpoint never refuses a new connection: where there are too
// many of strangers, an old one of theirs goes.
const (
	// maxStrangers bounds the connections on which nobody has shown who it is.
	maxStrangers = 2048
	// maxOfName bounds the connections of somebody who has. An older one is a stranger's again.
	maxOfName = 4
)

// guests holds the open connections of one endpoint.
type guests struct {
	most    int            // strangers
	trusted []netip.Prefix // whose connections the operator vouches for
	log     *slog.Logger

	mu        sync.Mutex
	open      map[net.Conn]*guest
	strangers map[netip.Prefix]*list.List // by address, the oldest first
	known     map[string]*list.List       // by name, the oldest first
	strange   int                         // strangers
	closed    int                         // strangers' connections that had to go
}

// guest is one connection.
type guest struct {
	of   *guests
	conn net.Conn
	from netip.Prefix
	name string // "" of a stranger
	at   *list.Element
}

// guestKey finds the guest of a request in its context.
type guestKey struct{}

func newGuests(most int, log *slog.Logger) *guests {
	return &guests{
		most: most, log: log, open: make(map[net.Conn]*guest),
		strangers: make(map[netip.Prefix]*list.List), known: make(map[string]*list.List),
	}
}

// Admit notes that the sender of a request has proven its name, which keeps the connection
// open when strangers open many. A handler calls it for each request that it has verified.
// A request that came by another way than Serve changes nothing.
func Admit(q *http.Request, name string) {
	if g, is := q.Context().Value(guestKey{}).(*guest); is {
		g.of.admit(g, name)
	}
}

// enter takes a new connection in as a stranger's. It is [http.Server.ConnContext].
func (s *guests) enter(ctx context.Context, c net.Conn) context.Context {
	if s.trusts(c) {
		return ctx
	}
	g := &guest{of: s, conn: c, from: addressOf(c)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = g
	s.estrange(g)
	return context.WithValue(ctx, guestKey{}, g)
}

// trusts reports whether a connection comes from a trusted address.
func (s *guests) trusts(c net.Conn) bool {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	return err == nil && slices.ContainsFunc(s.trusted, func(p netip.Prefix) bool { return p.Contains(at.Addr().Unmap().WithZone("")) })
}

// state forgets a connection that is closed. It is [http.Server.ConnState].
func (s *guests) state(c net.Conn, now http.ConnState) {
	if now != http.StateClosed && now != http.StateHijacked {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.open[c]; g != nil {
		s.forget(g)
	}
}

func (s *guests) admit(g *guest, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[g.conn] != g || g.name == name {
		return
	}
	s.leave(g)
	g.name = name
	g.at = push(s.known, name, g)
	if own := s.known[name]; own.Len() > maxOfName {
		oldest := own.Front().Value.(*guest)
		s.leave(oldest)
		s.estrange(oldest)
	}
}

// estrange makes a connection a stranger's, and closes another stranger's if there are too
// many.
func (s *guests) estrange(g *guest) {
	g.name, g.at = "", push(s.strangers, g.from, g)
	if s.strange++; s.strange <= s.most {
		return
	}
	oldest := s.largest().Front().Value.(*guest)
	s.forget(oldest)
	cut(oldest.conn)
	if s.closed++; s.closed&(s.closed-1) == 0 { // addresses are not for an ordinary log
		s.log.Warn("strangers open too many connections; their oldest are closed", "most", s.most, "closed", s.closed)
	}
}

// largest returns the connections of the address that has most of the strangers': many devices
// behind one address stands in for itself, and not for others.
func (s *guests) largest() (most *list.List) {
	for _, one := range s.strangers {
		if most == nil || one.Len() > most.Len() {
			most = one
		}
	}
	return most
}

func (s *guests) forget(g *guest) {
	delete(s.open, g.conn)
	s.leave(g)
}

// leave takes a connection out of its list.
func (s *guests) leave(g *guest) {
	if g.name != "" {
		remove(s.known, g.name, g.at)
		return
	}
	s.strange--
	remove(s.strangers, g.from, g.at)
}

func push[K comparable](lists map[K]*list.List, key K, g *guest) *list.Element {
	if lists[key] == nil {
		lists[key] = list.New()
	}
	return lists[key].PushBack(g)
}

func remove[K comparable](lists map[K]*list.List, key K, at *list.Element) {
	lists[key].Remove(at)
	if lists[key].Len() == 0 {
		delete(lists, key)
	}
}

// addressOf returns where a connection comes from: an address of version 4, or the network
// that somebody with version 6 has for himself.
func addressOf(c net.Conn) netip.Prefix {
	const network = 64
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil { // no TCP: all in one list
		return netip.Prefix{}
	}
	address := at.Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = network
	}
	from, _ := address.Prefix(bits) // which an address has
	return from
}

// cut closes a connection at once: without TLS's farewell, for which a slow peer would be
// waited for, and without what is still on its way.
func cut(c net.Conn) {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	if plain, is := c.(*net.TCPConn); is {
		_ = plain.SetLinger(0) // it is closed either way
	}
	_ = c.Close() // a connection that its peer has closed is gone too
}
