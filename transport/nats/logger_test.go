package nats

import (
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
)

const (
	mostLines = 12  // of one kind, in a few seconds
	mostLine  = 500 // bytes
)

// bounded fails if the server has written more lines than its budgets allow, or too many at
// once.
func (n *notes) bounded(t *testing.T, kinds int) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(n.text.String()), "\n")
	if len(lines) > kinds*mostLines {
		t.Errorf("%d lines of %d kinds", len(lines), kinds)
	}
	for _, line := range lines {
		if len(line) > mostLine {
			t.Errorf("a line has %d bytes: %.200s", len(line), line)
		}
	}
}

// Strangers with TLS cause few and short lines in the coordinator's log, whatever they
// send, and do not use up the lines about members. They represent anybody who reaches the
// port.
func TestStrangersWriteLittleIntoTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	key, _ := tlsKey(1)
	said := new(notes)
	f := secure(t, said, key)
	words := []string{
		`CONNECT {"user":"` + strings.Repeat("A", 3500) + `","pass":"x"}` + "\r\nPING\r\n",
		"CONNECT {}\r\nPING\r\n",
		"JUNK JUNK\r\n",
		"CONNECT " + strings.Repeat("x", 8000) + "\r\n",
	}
	for i := range 160 {
		stranger(t, f.server.Addr(), words[i%len(words)])
	}
	said.bounded(t, 3)
	f.server.log.Errorf(`127.0.0.1:1 - cid:1 - Publish Violation - Subject "mercer.x"`)
	f.server.log.Errorf("JetStream failed to store")
	said.await(t, "Publish Violation", time.Second)
	said.await(t, "failed to store", time.Second)
}

func stranger(t *testing.T, address, words string) {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Logf("the end of a stranger's connection: %v", err)
		}
	}()
	if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, words); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Logf("the server ends the connection: %v", err)
	}
}

// A member that sends forbidden messages as fast as it can causes few lines, which name it.
func TestMemberWritesLittleIntoTheLog(t *testing.T) {
	said := new(notes)
	f := newFederation(t, func(c *Config) { c.Logger = said.logger() })
	pub, err := f.keys["north"].PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	nc, err := natsgo.Connect(f.server.URL(), natsgo.Nkey(pub, f.keys["north"].Sign),
		natsgo.ErrorHandler(func(*natsgo.Conn, *natsgo.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for i := range 5000 {
		if err := nc.Publish(fmt.Sprintf("mercer.%s.%d", strings.Repeat("x", 500), i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.FlushTimeout(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	said.await(t, "Publish Violation", time.Second)
	said.await(t, "member-north", time.Second)
	said.bounded(t, 1)
}

// The log reports suppressed lines, and a peer's text does not control a terminal.
func TestLogOfTheServerIsBoundedByKind(t *testing.T) {
	said := new(notes)
	l := &logger{log: said.logger(), secure: true}
	for i := range 1000 {
		l.Warnf("JetStream \x1b[31m %d", i)
		l.Errorf("1.2.3.4:5 - cid:%d - Maximum of everything", i)
		l.Errorf("1.2.3.4:5 - wid:%d - Maximum of everything", i) // by WebSocket
	}
	said.mu.Lock()
	defer said.mu.Unlock()
	text := said.text.String()
	if got := strings.Count(text, "JetStream"); got != 100 {
		t.Errorf("%d lines of the server's own, want 100", got)
	}
	if got := strings.Count(text, "Maximum"); got != 10 {
		t.Errorf("%d lines of connections, want 10", got)
	}
	if strings.Contains(text, "x1b") {
		t.Error("a line writes an escape")
	}
}
