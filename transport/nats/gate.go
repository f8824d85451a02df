package nats

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A NATS server counts a connection to its port for WebSocket only after the HTTP upgrade, so
// strangers could open any number of connections there. Therefore that port is on loopback, and
// members connect to a gate before it. The gate limits the number of connections and reads nothing:
// TLS begins at the member and ends in the NATS server. An HTTP server keeps a connection for as long as
// the caller sends requests, whatever it answers. So the gate ends connections that upgrade to WebSocket
// too late.

// gate passes bytes between callers and the NATS server's port for WebSocket.
type gate struct {
	listener net.Listener
	server   string // address of the NATS server's port
	log      *logger
	// clients returns the addresses that the NATS server sees of its clients.
	clients func() (map[string]bool, error)

	running sync.WaitGroup
	over    chan struct{} // closed when the gate closes

	mu     sync.Mutex
	most   int // greatest number of open connections
	closed bool
	open   map[net.Conn]*passage // passages by the caller's connection
	// callers maps the address that the NATS server sees to the caller's address, also after the
	// connection's end, because log lines come late. It has an entry for each port of this machine at most.
	callers map[string]string
}

// passage is the way of a caller's connection to the NATS server.
type passage struct {
	since  time.Time
	server net.Conn // the continuation to the NATS server; nil at first
	client bool     // true if the NATS server has a client there, and so limits its time itself
}

// openGate listens on the address for WebSocket. It returns nil if the configuration has none.
func openGate(cfg Config) (*gate, error) {
	if cfg.WSS == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", cfg.WSS)
	if errors.Is(err, syscall.EADDRINUSE) {
		host, port, _ := net.SplitHostPort(cfg.WSS)
		number, _ := strconv.Atoi(port)
		return nil, &PortTakenError{Host: host, Port: number, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("nats: cannot listen for WebSocket: %w", err)
	}
	return &gate{listener: l, most: cfg.gateConnections(), over: make(chan struct{}), open: make(map[net.Conn]*passage), callers: make(map[string]string)}, nil
}

// filesAtGate is the number of descriptors of this process that each connection at the gate needs: the
// caller's, and both ends of its continuation.
const filesAtGate = 3

// gateConnections returns the largest number of connections that the gate accepts.
func (c Config) gateConnections() int { return c.connectionsOf(filesAtGate) }

// admit sets the largest number of connections that the gate accepts.
func (g *gate) admit(most int) {
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.most = most
	}
}

// start accepts connections for the NATS server's port, in the background.
func (g *gate) start(server string, clients func() (map[string]bool, error), log *logger) {
	if g != nil {
		g.server, g.clients, g.log = server, clients, log
		g.running.Go(g.serve)
		g.running.Go(g.watch)
	}
}

// serve accepts connections until the gate is closed.
func (g *gate) serve() {
	for {
		caller, err := g.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptor is left for a moment
			time.Sleep(shortestWait)
			continue
		}
		if !g.enter(caller) {
			g.log.tooMany(caller.RemoteAddr())
			refuse(caller)
			continue
		}
		g.running.Go(func() { g.pass(caller) })
	}
}

// refuse tells a caller that there are too many connections, in the words of a NATS server. Callers
// read the words although they expect TLS.
func refuse(caller net.Conn) {
	_ = caller.SetWriteDeadline(time.Now().Add(shortestWait))
	_, _ = caller.Write([]byte(crowded + "'maximum connections exceeded'\r\n"))
	_ = caller.Close()
}

// enter records a caller's connection. It returns false if the gate has as many as it accepts.
func (g *gate) enter(caller net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || len(g.open) >= g.most {
		return false
	}
	g.open[caller] = &passage{since: time.Now()}
	return true
}

// pass connects a caller to the NATS server, and returns when the connection has ended.
func (g *gate) pass(caller net.Conn) {
	defer g.leave(caller)
	server, err := net.Dial("tcp", g.server)
	if err != nil || !g.join(caller, server) {
		return // the gate or the NATS server is about to stop, or no descriptor is left
	}
	var both sync.WaitGroup
	both.Go(func() { passOn(caller, server) })
	both.Go(func() { passOn(server, caller) })
	both.Wait()
}

// join records the connection to the NATS server that a caller's connection continues. It returns false
// if the gate is closed.
func (g *gate) join(caller, server net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open[caller].server = server
	g.callers[server.LocalAddr().String()] = caller.RemoteAddr().String()
	return !g.closed
}

// leave ends a caller's connection and its continuation.
func (g *gate) leave(caller net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(caller)
	delete(g.open, caller)
}

// end closes both ends of a connection. Either end can be closed already.
func (g *gate) end(caller net.Conn) {
	_ = caller.Close()
	if server := g.open[caller].server; server != nil {
		_ = server.Close()
	}
}

// upgradeLimit is the time in which a connection must be a NATS client's: for TLS and for the request to
// upgrade the NATS server allows handshakeLimit each.
const upgradeLimit = 3 * handshakeLimit

// watch ends connections that are too late, until the gate is closed.
func (g *gate) watch() {
	often := time.NewTicker(handshakeLimit)
	defer often.Stop()
	for {
		select {
		case <-g.over:
			return
		case <-often.C:
		}
		if !g.anyLate() {
			continue
		}
		clients, err := g.clients()
		if err != nil {
			g.log.warn(fmt.Sprintf("cannot list the clients by WebSocket: %v", err))
			continue
		}
		g.endLate(clients)
	}
}

// anyLate reports whether a connection is too late unless it has become a client's.
func (g *gate) anyLate() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.open {
		if p.late() {
			return true
		}
	}
	return false
}

func (p *passage) late() bool { return !p.client && time.Since(p.since) > upgradeLimit }

// endLate ends the connections that are too late. clients has the addresses of the NATS server's clients.
func (g *gate) endLate(clients map[string]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for caller, p := range g.open {
		p.client = p.client || p.server != nil && clients[p.server.LocalAddr().String()]
		if p.late() {
			g.end(caller)
		}
	}
}

const (
	passBytes = 16 << 10 // most bytes that a connection can have under way in each direction
	// passPatience limits the time in which the receiver must take these bytes.
	passPatience = time.Minute
	// passRest limits the time in which the other direction ends after the first has ended.
	passRest = time.Second
)

// passOn passes bytes on in one direction until it ends, and then gives the other direction a
// moment to end.
func passOn(to, from net.Conn) {
	b := make([]byte, passBytes)
	for {
		n, err := from.Read(b)
		_ = to.SetWriteDeadline(time.Now().Add(passPatience)) // an error is one of Write, too
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			break
		}
	}
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
	end := time.Now().Add(passRest)
	_, _ = to.SetDeadline(end), from.SetDeadline(end)
}

// seenAddress matches the address that the NATS server sees in place of a caller's, and an address
// before it that the caller claims to have.
var seenAddress = regexp.MustCompile(`(\S+/)?127\.0\.0\.1:[0-9]+`)

// named replaces addresses of the gate in a log line by the callers' addresses.
func (g *gate) named(text string) string {
	if g == nil {
		return text
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return seenAddress.ReplaceAllStringFunc(text, func(seen string) string {
		return cmp.Or(g.callers[seen[strings.LastIndexByte(seen, '/')+1:]], seen)
	})
}

// close ends all connections.
func (g *gate) close() error {
	if g == nil {
		return nil
	}
	err := g.listener.Close()
	g.mu.Lock()
	if !g.closed {
		close(g.over)
	}
	g.closed = true
	for caller := range g.open {
		g.end(caller)
	}
	g.mu.Unlock()
	g.running.Wait()
	return err
}
