package syslog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
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
	return fmt.Errorf("\"syslog\" in \"audit\" is %q; write unix:///dev/log, udp://HOST:514 or tcp+tls://HOST:6514", text)
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

// Line is a connection to a syslog server. It connects when it is needed. It is not safe for concurrent use.
//
// Nobody acknowledges a message. A server that closes a connection over TLS, as many do after some idle time, or that
// stops, may not have read what was written last, although writing it has succeeded. So a Line uses no TLS connection
// that was idle, looks whether the server has closed the connection, and on the next connection sends again the
// messages that the server may not have read: a server may get a message twice.
type Line struct {
	Server Server
	// Authorities are the authorities whose signature under the server's certificate counts; nil means the system's
	// authorities.
	Authorities *x509.CertPool

	conn   net.Conn
	closed chan struct{} // closed when a connection over TLS ends
	unsure []sent        // over TLS, the latest messages; the last one that was sent is always among them
	owes   bool          // there is no connection, and the server may not have read the unsure messages
}

// sent is a message that was written.
type sent struct {
	frame []byte
	when  time.Time
}

const (
	patience  = 5 * time.Second  // time within which a message must be handed over
	idleTime  = 5 * time.Second  // idle time after which a connection over TLS is made anew
	doubtTime = 10 * time.Second // a message that is younger when the server closes the connection counts as unsure
	maxUnsure = 256              // greatest number of messages that are kept to be sent again
)

// Send hands a message over, within some seconds. If it has to connect over TLS, it first sends the unsure messages
// again. After an error the message counts as not sent.
func (l *Line) Send(ctx context.Context, message []byte) error {
	if l.Server.network != "tls" {
		return l.pass(ctx, message)
	}
	if l.conn != nil && (l.isClosed() || time.Since(l.latest()) > idleTime) {
		l.drop()
	}
	if l.conn == nil {
		if err := l.again(ctx); err != nil {
			return err
		}
	}
	frame := append([]byte(strconv.Itoa(len(message))+" "), message...) // RFC 5425
	if err := l.pass(ctx, frame); err != nil {
		return err
	}
	l.forget()
	l.unsure = append(l.unsure, sent{frame, time.Now()})
	l.unsure = l.unsure[max(0, len(l.unsure)-maxUnsure):]
	return nil
}

// Settle sends messages again that were written shortly before the server closed the connection. It does nothing if
// there are none.
func (l *Line) Settle(ctx context.Context) error {
	if l.conn != nil && l.isClosed() {
		l.drop()
	}
	if !l.owes {
		return nil
	}
	return l.again(ctx)
}

// latest returns when the latest message was written, or the present time if no message is kept.
func (l *Line) latest() time.Time {
	if len(l.unsure) == 0 {
		return time.Now()
	}
	return l.unsure[len(l.unsure)-1].when
}

// isClosed reports whether a connection over TLS has ended.
func (l *Line) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// drop gives a connection up, and keeps of its messages those that the server may not have read, and the last one.
func (l *Line) drop() {
	l.owes = len(l.unsure) > 0 && time.Since(l.latest()) <= doubtTime
	last := l.unsure[max(0, len(l.unsure)-1):]
	if l.forget(); len(l.unsure) == 0 {
		l.unsure = last
	}
	_ = l.Close() // the server has closed it, or what it has not read is sent again
}

// forget forgets the messages that the server has had time to read.
func (l *Line) forget() {
	l.unsure = slices.Clone(l.unsure)
	l.unsure = slices.DeleteFunc(l.unsure, func(m sent) bool { return time.Since(m.when) > doubtTime })
}

// again sends the unsure messages on a new connection. It keeps the time at which each message was first written, so
// that a server that closes every connection does not get the messages without end.
func (l *Line) again(ctx context.Context) error {
	for _, m := range l.unsure {
		if err := l.pass(ctx, m.frame); err != nil {
			return err
		}
	}
	l.owes = false
	return nil
}

// pass writes bytes into the connection. It connects if there is none, and closes the connection after an error.
func (l *Line) pass(ctx context.Context, b []byte) error {
	if l.conn == nil {
		if err := l.connect(ctx); err != nil {
			return fmt.Errorf("syslog: %w", err)
		}
	}
	err := l.conn.SetWriteDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = l.conn.Write(b)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("syslog: %w", err), l.Close())
	}
	return nil
}

// connect opens a connection. Over TLS it reads what the server sends, which is nothing, to hear when the server
// closes it.
func (l *Line) connect(ctx context.Context) (err error) {
	if l.conn, err = l.dial(ctx); err != nil {
		l.conn = nil
		return err
	}
	l.closed = nil
	if l.Server.network == "tls" {
		conn, closed := l.conn, make(chan struct{})
		l.closed = closed
		go func() {
			defer close(closed)
			_, _ = io.Copy(io.Discard, conn) // the reason for the end does not matter
		}()
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
