// Package proxytest runs an HTTP proxy for tests. The proxy knows only the method CONNECT.
package proxytest

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Proxy is a proxy on this machine. Change it only before Start.
type Proxy struct {
	Login string            // user:password that the proxy requires; "" for none
	Names map[string]string // address to dial for each host:port that only the proxy knows

	server  http.Server
	address string
	running sync.WaitGroup

	mu   sync.Mutex
	seen []string
	open []net.Conn
}

// Start listens on host:port. The port 0 means any free port.
func (p *Proxy) Start(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	p.address = l.Addr().String()
	p.server.Handler = http.HandlerFunc(p.connect)
	p.running.Go(func() { _ = p.server.Serve(l) })
	return nil
}

// Addr returns the host:port at which the proxy listens.
func (p *Proxy) Addr() string { return p.address }

// Seen returns the host:port of each connection that the proxy has opened.
func (p *Proxy) Seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// Close ends the proxy and all its connections.
func (p *Proxy) Close() error {
	err := p.server.Close()
	p.mu.Lock()
	for _, c := range p.open {
		_ = c.Close() // its other end may have closed it
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodConnect:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case p.Login != "" && r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(p.Login)):
		w.Header().Set("Proxy-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	default:
		if err := p.tunnel(w, r.Host); err != nil {
			w.WriteHeader(http.StatusBadGateway)
		}
	}
}

// tunnel connects the sender of a request to host:port.
func (p *Proxy) tunnel(w http.ResponseWriter, target string) error {
	address, known := p.Names[target]
	if !known {
		address = target
	}
	to, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	from, rest, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return errors.Join(err, to.Close())
	}
	p.mu.Lock()
	p.seen, p.open = append(p.seen, target), append(p.open, from, to)
	p.mu.Unlock()
	_, err = io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	p.running.Go(func() { pass(to, rest) })
	p.running.Go(func() { pass(from, to) })
	return err
}

// pass passes bytes on until one end closes, and then closes the receiver.
func pass(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}
