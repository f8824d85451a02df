package nats

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Proxy is an HTTP proxy through which a member connects to the server, by the method CONNECT. TLS passes
// through the proxy, which sees the server's host and port, times and sizes. The text of a Proxy has no
// password.
type Proxy struct {
	address string // host:port
	login   string // user:password; "" if the proxy asks for none
}

// ParseProxy decodes http://host:port or http://user:password@host:port. Its errors do not contain the
// text, because the text can have a password.
func ParseProxy(s string) (*Proxy, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Hostname() == "", u.Port() == "", u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("the address of the proxy is not valid; write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, and in user and password %40 for @, %3A for : and %2F for /")
	case u.Scheme != "http":
		return nil, errors.New("the address of the proxy does not begin with http://; only HTTP proxies can be used, as http://HOST:PORT")
	}
	p := &Proxy{address: u.Host}
	if u.User != nil {
		password, _ := u.User.Password()
		p.login = u.User.Username() + ":" + password
	}
	return p, nil
}

// String returns host and port, without user and password.
func (p Proxy) String() string { return p.address }

// Format writes what String returns, so that no format prints a password.
func (p Proxy) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.address) }

// maxProxyAnswer is the largest size in bytes of a proxy's answer, up to its body.
const maxProxyAnswer = 16 << 10

// connect opens a connection through the proxy to host:port.
func (p *Proxy) connect(ctx context.Context, address string) (net.Conn, error) {
	line, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, p.failure(address, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = line.SetDeadline(time.Unix(1, 0)) }) // ends reads and writes
	tunnel, err := p.tunnel(line, address)
	stop()
	if err != nil {
		return nil, errors.Join(err, line.Close())
	}
	return tunnel, nil
}

// tunnel asks the proxy for a connection to host:port and reads the answer.
func (p *Proxy) tunnel(line net.Conn, address string) (net.Conn, error) {
	request := p.request(address)
	if err := request.Write(line); err != nil {
		return nil, p.failure(address, err)
	}
	bounded := &io.LimitedReader{R: line, N: maxProxyAnswer}
	reader := bufio.NewReader(bounded)
	answer, err := http.ReadResponse(reader, request) //nolint:bodyclose // the body is the connection, and to close it would read it
	var lost net.Error
	switch {
	case errors.As(err, &lost):
		return nil, p.failure(address, err)
	case err != nil:
		return nil, p.failure(address, errNotHTTP)
	case answer.StatusCode/100 != 2:
		return nil, p.refusal(address, answer)
	}
	first, err := reader.Peek(reader.Buffered())
	return &heard{Conn: line, first: bytes.Clone(first)}, err
}

// request returns the request for a connection to host:port. It names no program.
func (p *Proxy) request(address string) *http.Request {
	header := http.Header{"User-Agent": {""}}
	if p.login != "" {
		header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(p.login)))
	}
	return &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: header}
}

func (p *Proxy) failure(address string, err error) *ProxyError {
	return &ProxyError{Proxy: p.address, Address: address, Err: err}
}

// refusal returns the error of an answer that opens no connection. It contains nothing of the answer
// except its status.
func (p *Proxy) refusal(address string, answer *http.Response) *ProxyError {
	e := &ProxyError{Proxy: p.address, Address: address, Status: answer.StatusCode, Login: p.login != ""}
	offers := answer.Header.Values("Proxy-Authenticate")
	if e.Status == http.StatusProxyAuthRequired && len(offers) > 0 && !offersBasic(offers) {
		e.Err = errNoBasic
	}
	return e
}

// offersBasic reports whether one of the ways to log in at the proxy is Basic.
func offersBasic(offers []string) bool {
	for _, offer := range offers {
		for way := range strings.SplitSeq(offer, ",") {
			if word, _, _ := strings.Cut(strings.TrimSpace(way), " "); strings.EqualFold(word, "Basic") {
				return true
			}
		}
	}
	return false
}

var (
	errNotHTTP = errors.New("its answer is not HTTP, or has more than 16 KiB")
	errNoBasic = errors.New("it does not offer Basic authentication")
)

// ProxyError reports that the proxy opens no connection to the server. It contains no text of the proxy
// and no password.
type ProxyError struct {
	Proxy   string // host:port of the proxy
	Address string // host:port of the server
	Status  int    // status of the proxy's answer; 0 without an answer in HTTP
	Login   bool   // whether the member gave a user and a password
	Err     error
}

func (e *ProxyError) Error() string {
	at := "nats: the proxy at " + e.Proxy
	var name *net.DNSError
	var lost net.Error
	switch {
	case errors.Is(e.Err, errNoBasic):
		return at + " asks for a login that Mercer does not have, because it offers no Basic authentication; ask its operator to let this machine connect without a login or by Basic"
	case e.Status == http.StatusProxyAuthRequired && e.Login:
		return at + " refuses the user and password that it was given; correct them in its address"
	case e.Status == http.StatusProxyAuthRequired:
		return at + " asks for a user and a password; write its address as http://USER:PASSWORD@HOST:PORT"
	case e.Status == http.StatusForbidden, e.Status == http.StatusMethodNotAllowed:
		return fmt.Sprintf("%s forbids connections to %s (status %d); ask its operator to allow CONNECT to this address", at, e.Address, e.Status)
	case e.Status >= 500:
		return fmt.Sprintf("%s does not reach %s (status %d); check this address, and that the server runs", at, e.Address, e.Status)
	case e.Status != 0:
		return fmt.Sprintf("%s does not connect to %s (status %d); ask its operator", at, e.Address, e.Status)
	case errors.Is(e.Err, errNotHTTP):
		return fmt.Sprintf("nats: what answers at %s is no HTTP proxy (%v); correct the address of the proxy", e.Proxy, e.Err)
	case errors.As(e.Err, &name):
		return fmt.Sprintf("nats: no address is found for the proxy %s; correct the name of the proxy (%v)", e.Proxy, e.Err)
	case errors.As(e.Err, &lost) && lost.Timeout():
		return fmt.Sprintf("%s does not answer within %v; check its address and that it runs", at, proxiedLimit)
	}
	return fmt.Sprintf("%s cannot be reached (%v); check its address and that it runs", at, e.Err)
}

func (e *ProxyError) Unwrap() error { return e.Err }

// answered reports whether something answered and opened no connection, so that an operator has to act.
func (e *ProxyError) answered() bool { return e.Status != 0 || errors.Is(e.Err, errNotHTTP) }
