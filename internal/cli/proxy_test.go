package cli

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mercer-fl/mercer/internal/base/proxytest"
)

// proxyCommands are for scripts whose processes go through a proxy.
//
//	proxy PORT NAME=ADDRESS...  a SOCKS5 proxy, which alone knows the names
//	httpproxy ADDRESS LOGIN NAME=ADDRESS...  an HTTP proxy that requires USER:PASSWORD, and alone knows the names
func proxyCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"proxy": plain(2, startProxy), "httpproxy": plain(3, startHTTPProxy)}
}

func startHTTPProxy(ts *testscript.TestScript, args []string) {
	p := &proxytest.Proxy{Login: args[1], Names: proxyNames(ts, args[2:])}
	ts.Check(p.Start(args[0]))
	ts.Defer(func() { ts.Check(p.Close()) })
}

// proxyNames reads arguments NAME=ADDRESS.
func proxyNames(ts *testscript.TestScript, args []string) map[string]string {
	names := map[string]string{}
	for _, pair := range args {
		name, address, ok := strings.Cut(pair, "=")
		if !ok {
			ts.Fatalf("%s is no NAME=ADDRESS", pair)
		}
		names[name] = address
	}
	return names
}

func startProxy(ts *testscript.TestScript, args []string) {
	p := &proxy{names: proxyNames(ts, args[1:]), open: map[net.Conn]bool{}}
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	ts.Check(err)
	p.serving.Go(func() { p.serve(l) })
	ts.Defer(func() {
		ts.Check(l.Close())
		p.end()
	})
}

// proxy implements the part of SOCKS5 (RFC 1928) that a client with names needs: no
// authentication, CONNECT, domain names.
type proxy struct {
	names   map[string]string // address by host:port
	serving sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]bool
}

func (p *proxy) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.hold(c)
		p.serving.Go(func() {
			defer p.drop(c)
			if target, err := p.connect(c); err == nil {
				p.hold(target)
				defer p.drop(target)
				join(c, target)
			}
		})
	}
}

func (p *proxy) hold(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = true
}

func (p *proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	_ = c.Close() // the other side may have closed it
}

// end closes what is open, and waits.
func (p *proxy) end() {
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.serving.Wait()
}

var errSOCKS = errors.New("no CONNECT to a known name without authentication")

// connect reads a greeting and a request, and dials what is asked for.
func (p *proxy) connect(c net.Conn) (net.Conn, error) {
	greeting := make([]byte, 2)
	if _, err := io.ReadFull(c, greeting); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, c, int64(greeting[1])); err != nil {
		return nil, err
	}
	if _, err := c.Write([]byte{5, 0}); err != nil {
		return nil, err
	}
	head := make([]byte, 5) // version, CONNECT, reserved, domain name, its length
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	name := make([]byte, int(head[4])+2)
	if _, err := io.ReadFull(c, name); err != nil {
		return nil, err
	}
	host, port := string(name[:head[4]]), binary.BigEndian.Uint16(name[head[4]:])
	address, known := p.names[net.JoinHostPort(host, strconv.Itoa(int(port)))]
	if head[1] != 1 || head[3] != 3 || !known {
		_, err := c.Write([]byte{5, 4, 0, 1, 0, 0, 0, 0, 0, 0})
		return nil, errors.Join(errSOCKS, err)
	}
	target, err := net.Dial("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	_, err = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return target, err
}

// join copies both ways until one side ends.
func join(a, b net.Conn) {
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	<-ended
	_, _ = a.Close(), b.Close()
	<-ended
}
