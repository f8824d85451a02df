package syslog

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leodido/go-syslog/v4/rfc5424"

	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
)

var (
	uid    = 1004
	origin = Origin{"clinic.example", "north", 4711}
	mark   = audit.Mark{Number: 17, Hash: strings.Repeat("a", 64)}
	event  = audit.Event{
		Number: 17, Time: time.Date(2026, 11, 30, 9, 50, 1, 123456789, time.UTC), Previous: strings.Repeat("b", 64), Kind: audit.Rejected,
		Job: "0123456789abcdef0123456789abcdef", Name: "kidney", Outcome: "no ethics vote", By: &access.Person{Member: "north", UID: &uid},
	}
)

// An independent parser reads each message, and finds in it what the record says.
func TestMessagesAreRFC5424(t *testing.T) {
	read := func(e audit.Event, o Origin) *rfc5424.SyslogMessage {
		t.Helper()
		b := Message(o, mark, e)
		if len(b) > 2048 {
			t.Errorf("%d bytes", len(b))
		}
		m, err := rfc5424.NewParser().Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		return m.(*rfc5424.SyslogMessage)
	}
	m := read(event, origin)
	if *m.Priority != 109 || !m.Timestamp.Equal(time.Date(2026, 11, 30, 9, 50, 1, 123456000, time.UTC)) || *m.Hostname != "clinic.example" || *m.Appname != "mercer" || *m.ProcID != "4711" || *m.MsgID != "rejected" {
		t.Errorf("%+v", m)
	}
	data := (*m.StructuredData)[element]
	for name, want := range map[string]string{
		"number": "17", "hash": mark.Hash, "previous": event.Previous, "job": event.Job, "name": "kidney", "by": "user 1004 at north", "outcome": "no ethics vote", "member": "north",
	} {
		if data[name] != want {
			t.Errorf("%s is %q, want %q", name, data[name], want)
		}
	}
	if want := "rejected " + event.Job + " kidney"; *m.Message != want {
		t.Errorf("%q", *m.Message)
	}
	withdrawn := event
	withdrawn.Kind, withdrawn.Outcome, withdrawn.Submitter = audit.ReleaseWithdrawn, "approved before", &access.Person{Member: "hub"}
	m = read(withdrawn, origin)
	data = (*m.StructuredData)[element]
	if *m.Priority != 109 || *m.MsgID != "releasewithdrawn" || *m.Message != "release withdrawn "+event.Job+" kidney" || data["by"] != "user 1004 at north" || data["submitter"] != "somebody at hub" || data["outcome"] != "approved before" {
		t.Errorf("%+v, %v", m, data)
	}
	// A peer's words end neither the value nor the line, and no message is too long.
	hostile := event
	hostile.Kind, hostile.Name, hostile.Outcome = audit.Accepted, "a\"] <13>1 b \\", "x\n<0>1 forged\x00\xff"+strings.Repeat("\u00e9", 3000)
	hostile.Stage, hostile.Table, hostile.Submitter, hostile.Alone = strings.Repeat("]", 300), strings.Repeat(`"`, 300), &access.Person{Member: strings.Repeat(`\`, 300)}, true
	m = read(hostile, Origin{"a host \u00e9", "north", 1})
	if *m.Priority != 110 || *m.Hostname != "ahost" || len(*m.StructuredData) != 1 || strings.ContainsAny(*m.Message, "\n\x00") {
		t.Errorf("%+v", m)
	}
	if data := (*m.StructuredData)[element]; data["name"] != hostile.Name || data["alone"] != "true" || data["hash"] != mark.Hash {
		t.Errorf("%+v", data)
	}
	// Nothing reaches the server that a terminal obeys, or that reorders a line.
	hostile.Name, hostile.Outcome = "a\nb\u202e"+strings.Repeat("\u00e9", 300), "x\u009b31m\u0085<13>forged \u202e"
	if b := string(Message(origin, mark, hostile)); strings.ContainsAny(b, "\n\u0085\u009b\u202e") || len(b) > 2048 {
		t.Errorf("%d bytes: %q", len(b), b)
	}
	for kind, want := range map[audit.Kind]uint8{audit.Refused: 109, audit.ReleaseRefused: 109, audit.ReleaseApproved: 110, audit.Started: 110} {
		if m := read(audit.Event{Kind: kind}, origin); *m.Priority != want {
			t.Errorf("%s has priority %d, want %d", kind, *m.Priority, want)
		}
	}
	if m := read(audit.Event{Kind: audit.Started}, Origin{}); m.Hostname != nil {
		t.Errorf("%+v", m)
	}
}

func TestServers(t *testing.T) {
	for text, want := range map[string]string{
		"unix:///dev/log": "unixgram /dev/log", "udp://log.example": "udp log.example:514", "udp://[::1]:5514": "udp [::1]:5514", "tcp+tls://log.example": "tls log.example:6514",
		"": "", "tcp://log.example": "", "unix://dev/log": "", "unix:///": "", "udp://": "", "udp://log:0": "", "udp://log:x": "", "udp://log/path": "", "tcp+tls://user:secret@log": "", "udp://log?x=1": "", "/dev/log": "",
	} {
		s, err := ParseServer(text)
		if want == "" && (err == nil || !strings.Contains(err.Error(), "write unix:///dev/log, udp://HOST:514 or tcp+tls://HOST:6514")) || want != "" && (err != nil || s.String() != want) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// A socket that comes late, goes away and comes again gets what is sent while it is there.
func TestALocalSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := &Line{Server: Server{"unixgram", path}}
	defer l.Close() //nolint:errcheck // a test
	for round := range 2 {
		if err := l.Send(t.Context(), []byte("lost")); err == nil {
			t.Fatal("sent to nobody")
		}
		if err := os.RemoveAll(path); err != nil { // a server that has stopped leaves its socket
			t.Fatal(err)
		}
		in, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint("message ", round)
		if err := l.Send(t.Context(), []byte(want)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		if n, err := in.Read(b); err != nil || string(b[:n]) != want {
			t.Errorf("%q, %v", b[:n], err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// server is a syslog server over TLS that remembers what it has read.
type server struct {
	net.Listener
	authorities *x509.CertPool
	got         chan string
}

// serve starts a server. hears reads the messages of one connection.
func serve(t *testing.T, hears func(s *server, c net.Conn)) *server {
	t.Helper()
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	certified.Close()
	in, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{tls.NewListener(in, &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}), x509.NewCertPool(), make(chan string, 16)}
	s.authorities.AddCert(certified.Certificate())
	t.Cleanup(func() { _ = s.Close() })
	go func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			hears(s, c)
			_ = c.Close()
		}
	}()
	return s
}

// line returns a connection to the server.
func (s *server) line(t *testing.T) *Line {
	l := &Line{Server: Server{"tls", s.Addr().String()}, Authorities: s.authorities}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// readFrame reads a message.
func readFrame(c net.Conn) (string, bool) {
	r, n := bufio.NewReader(c), 0
	if _, err := fmt.Fscanf(r, "%d ", &n); err != nil {
		return "", false
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return string(b), err == nil
}

// wants returns an error unless the server has read these messages next.
func (s *server) wants(t *testing.T, list ...string) {
	t.Helper()
	for _, want := range list {
		select {
		case m := <-s.got:
			if m != want {
				t.Errorf("the server has read %q, want %q", m, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("the server has not read %q", want)
		}
	}
}

// Over TLS each message has its length before it, and a server with a stranger's certificate gets none.
func TestTLS(t *testing.T) {
	s := serve(t, func(s *server, c net.Conn) {
		if m, ok := readFrame(c); ok {
			s.got <- m
		}
	})
	stranger := &Line{Server: Server{"tls", s.Addr().String()}}
	if err := stranger.Send(t.Context(), []byte("secret")); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
	if err := s.line(t).Send(t.Context(), []byte("hello")); err != nil {
		t.Fatal(err)
	}
	s.wants(t, "hello")
}

// A server that closes a connection loses no message: the line hears it, and sends the last message again on the next
// connection, before the new one.
func TestAServerThatClosesTheConnection(t *testing.T) {
	s := serve(t, func(s *server, c net.Conn) {
		for range 2 { // the second time is at the next connection: a message again, then a new one
			if m, ok := readFrame(c); ok {
				s.got <- m
			}
			if len(s.got) == 1 {
				return
			}
		}
	})
	l := s.line(t)
	if err := l.Send(t.Context(), []byte("one")); err != nil {
		t.Fatal(err)
	}
	<-l.closed
	if err := l.Send(t.Context(), []byte("two")); err != nil {
		t.Fatal(err)
	}
	s.wants(t, "one", "one", "two")
}

// A message that a server has not read before it closed the connection comes again without a further one.
func TestWhatIsUnsureIsSentAgain(t *testing.T) {
	first := true
	s := serve(t, func(s *server, c net.Conn) {
		if b := make([]byte, 1); first { // it goes away with the rest unread
			_, _ = c.Read(b)
			first = false
			return
		}
		if m, ok := readFrame(c); ok {
			s.got <- m
		}
	})
	l := s.line(t)
	if err := l.Settle(t.Context()); err != nil || l.conn != nil {
		t.Fatalf("nothing is unsure: %v", err)
	}
	if err := l.Send(t.Context(), []byte("one")); err != nil {
		t.Fatal(err)
	}
	<-l.closed
	if err := l.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.wants(t, "one")
	<-l.closed
	l.unsure[0].when = time.Now().Add(-2 * doubtTime) // long ago: the server has read it
	if err := l.Settle(t.Context()); err != nil || l.conn != nil {
		t.Errorf("what the server has read is sent again: %v", err)
	}
}

// A connection that was idle is not used: a machine on the way may have forgotten it without a word.
func TestAnIdleConnection(t *testing.T) {
	s := serve(t, func(s *server, c net.Conn) {
		for m, ok := readFrame(c); ok; m, ok = readFrame(c) {
			s.got <- m
		}
	})
	l := s.line(t)
	for _, text := range []string{"one", "two"} {
		if err := l.Send(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
		s.wants(t, text)
	}
	for i := range l.unsure {
		l.unsure[i].when = time.Now().Add(-2 * doubtTime)
	}
	if err := l.Send(t.Context(), []byte("three")); err != nil {
		t.Fatal(err)
	}
	s.wants(t, "two", "three")
}
