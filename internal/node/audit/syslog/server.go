package syslog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Server is the address of a syslog server.
type Server struct {
	network string // unixgram, udp or tls
	address string // path of a socket, or host:port
}

// ParseServer reads an address: unix:///dev/log, udp://host:514 or tcp+tls://host:6514. The ports are the defaults.
func ParseServer(text string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Server{}, errServer(text)
	}
	switch u.Scheme {
	case "unix":
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") || u.Path == "/" {
			return Server{}, errServer(text)
		}
		return Server{"unixgram", u.Path}, nil
	case "udp":
		return atPort("udp", u, "514", text)
	case "tcp+tls":
		return atPort("tls", u, "6514", text)
	}
	return Server{}, errServer(text)
}

func errServer(text string) error {
	return fmt.Errorf("syslog in audit is %q; write unix:///dev/log, udp://HOST:514 or tcp+tls://HOST:6514", text)
}

func atPort(network string, u *url.URL, port, text string) (Server, error) {
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.ParseUint(port, 10, 16); u.Hostname() == "" || u.Path != "" || err != nil || n == 0 {
		return Server{}, errServer(text)
	}
	return Server{network, net.JoinHostPort(u.Hostname(), port)}, nil
}

// String returns the address in words.
func (s Server) String() string { return s.network + " " + s.address }

// Line is a connection to a syslog server. It connects when it is needed, and anew after an error. It is not safe for
// concurrent use.
type Line struct {
	Server Server
	// Authorities are those who may sign the server's certificate; nil means those of the system.
	Authorities *x509.CertPool

	conn net.Conn
}

// Send hands a message over, within some seconds. A server does not acknowledge messages: those that it has not read
// when it stops are lost.
func (l *Line) Send(ctx context.Context, message []byte) error {
	if l.conn == nil {
		conn, err := l.dial(ctx)
		if err != nil {
			return fmt.Errorf("syslog: %w", err)
		}
		l.conn = conn
	}
	if l.Server.network == "tls" { // RFC 5425
		message = append([]byte(strconv.Itoa(len(message))+" "), message...)
	}
	err := l.conn.SetWriteDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = l.conn.Write(message)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("syslog: %w", err), l.Close())
	}
	return nil
}

func (l *Line) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if l.Server.network == "tls" {
		d := tls.Dialer{Config: &tls.Config{RootCAs: l.Authorities, MinVersion: tls.VersionTLS12}}
		return d.DialContext(ctx, "tcp", l.Server.address)
	}
	return new(net.Dialer).DialContext(ctx, l.Server.network, l.Server.address)
}

// Close ends the connection. A later Send connects again.
func (l *Line) Close() error {
	if l.conn == nil {
		return nil
	}
	err := l.conn.Close()
	l.conn = nil
	return err
}
