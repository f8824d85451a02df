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

// These constants bound the number of open connections. An endpoint accepts every new connection. If
// strangers then have too many, it closes the oldest one of an address that has the most.
const (
	// maxStrangers is the greatest number of connections whose senders have not proven a name.
	maxStrangers = 2048
	// maxOfName is the largest number of open connections of a sender that has proven its name. If the
	// sender opens more, its older connections count as a stranger's again.
	maxOfName = 4
)

// guests holds the open connections of one endpoint.
type guests struct {
	most    int            // greatest number of strangers' connections
	trusted []netip.Prefix // addresses whose connections are not counted
	log     *slog.Logger

	mu        sync.Mutex
	open      map[net.Conn]*guest
	strangers map[netip.Prefix]*list.List // strangers' connections by address, the oldest first
	known     map[string]*list.List       // connections of proven names by name, the oldest first
	strange   int                         // number of strangers' connections
	closed    int                         // number of strangers' connections that were closed because there were too many
}

// guest is one open connection of an endpoint.
type guest struct {
	of   *guests
	conn net.Conn
	from netip.Prefix
	name string // proven name, or "" for a stranger
	at   *list.Element
}

// guestKey is the key of the guest in a request's context.
type guestKey struct{}

func newGuests(most int, log *slog.Logger) *guests {
	return &guests{
		most: most, log: log, open: make(map[net.Conn]*guest),
		strangers: make(map[netip.Prefix]*list.List), known: make(map[string]*list.List),
	}
}

// Admit records that the sender of a request has proven its name. The connection then stays open
// when strangers open many. A handler calls Admit for each request whose sender the handler has
// verified. Admit ignores a request that did not come through Serve.
func Admit(q *http.Request, name string) {
	if g, is := q.Context().Value(guestKey{}).(*guest); is {
		g.of.admit(g, name)
	}
}

// enter adds a new connection as a stranger's connection. It is [http.Server.ConnContext].
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

// stateChanged forgets a connection as soon as the connection is closed or hijacked. It is
// [http.Server.ConnState].
func (s *guests) stateChanged(c net.Conn, now http.ConnState) {
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

// estrange counts a connection as a stranger's. If strangers then have too many connections, it closes
// one of them.
func (s *guests) estrange(g *guest) {
	g.name, g.at = "", push(s.strangers, g.from, g)
	if s.strange++; s.strange <= s.most {
		return
	}
	oldest := s.largest().Front().Value.(*guest)
	s.forget(oldest)
	cut(oldest.conn)
	// The number of closed connections is logged only when it has doubled, so that strangers cannot
	// fill the log. Addresses do not belong in an ordinary log.
	if s.closed++; s.closed&(s.closed-1) == 0 {
		s.log.Warn("strangers open too many connections; their oldest are closed", "most", s.most, "closed", s.closed)
	}
}

// largest returns the list of connections of the address with the most strangers' connections.
// Devices behind such an address therefore compete with each other first.
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

// leave removes a connection from its list.
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

// addressOf returns the IPv4 address or the IPv6 network from which a connection comes. The network
// is the /64 network that a subscriber has.
func addressOf(c net.Conn) netip.Prefix {
	const network = 64
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil { // not TCP: all such connections are in one list
		return netip.Prefix{}
	}
	address := at.Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = network
	}
	from, _ := address.Prefix(bits) // cannot fail: bits fits every address
	return from
}

// cut closes a connection at once. It discards unsent bytes, and sends no TLS alert, because a slow
// peer would delay the alert.
func cut(c net.Conn) {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	if plain, is := c.(*net.TCPConn); is {
		_ = plain.SetLinger(0) // ignore an error, because Close follows
	}
	_ = c.Close() // the peer may have closed the connection already
}
