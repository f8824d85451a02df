package devices

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/protocol"
)

// narrow is a listener whose connections hold few bytes that nobody has read, as on a wide network.
type narrow struct{ net.Listener }

const narrowBytes = 64 << 10

// Accept implements [net.Listener].
func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if t, is := c.(*net.TCPConn); is {
		err = t.SetWriteBuffer(narrowBytes)
	}
	return c, err
}

// narrowly serves a session's messages to the devices on such a listener.
func narrowly(t *testing.T, s *Service) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- endpoint.Serve(ctx, narrow{l}, s.Handler(), slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// question asks for the messages of a device, and reads nothing.
func question(t *testing.T, e *Enrolment, address string, device int, session protocol.SessionID) net.Conn {
	t.Helper()
	query := sessionQuery(0, session)
	query.Set("after", "0")
	q, err := http.NewRequest("GET", "http://"+address+messagesPath+"?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	e.signer().Sign(q, Name(device), keyOf(device), nil)
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		outer := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, narrowBytes)
		})
		return errors.Join(outer, err)
	}}
	c, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var header bytes.Buffer
	fmt.Fprintf(&header, "GET %s HTTP/1.1\r\nHost: x\r\n", q.URL.RequestURI())
	if err := q.Header.Write(&header); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, header.String()+"\r\n"); err != nil {
		t.Fatal(err)
	}
	return c
}

// firstBox returns the box of a server's first sum, once it has begun.
func firstBox(t *testing.T, l *line, s *Service) *box {
	t.Helper()
	if _, err := l.step(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[0].box
}

// answering returns how many answers of a device are under way.
func (d *desks) answering(name string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of[name] == nil {
		return 0
	}
	for _, p := range d.of[name].polls {
		if p.answering {
			n++
		}
	}
	return n
}

// Adversary: one enrolled device that asks for a long answer on many connections, and reads none. Two
// answers are under way for it, and it is refused on the others; another device has its answer.
func TestADeviceReadsNoAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	e, s, web := serving(t)
	b := firstBox(t, lineOf(e, web, 0), s)
	for device := range 2 {
		for i := range 2 {
			h := b.session.Header(Server, Name(device), 0, "Kernel")
			h.Sequence = uint32(i)
			if err := b.Send(t.Context(), protocol.Message{Header: h, Body: bytes.Repeat([]byte{byte(i)}, 500<<10)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	address := narrowly(t, s)
	var unread []net.Conn
	for i := range maxPolls {
		unread = append(unread, question(t, e, address, 0, b.session.ID()))
		for began := time.Now(); s.desks.answering(Name(0)) != i+1; time.Sleep(time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("%d answers are under way, want %d", s.desks.answering(Name(0)), i+1)
			}
		}
	}
	for i := range 20 {
		answer := said(question(t, e, address, 0, b.session.ID()), 10*time.Second)
		if !strings.HasPrefix(answer, "HTTP/1.1 503") || !strings.Contains(answer, "Connection: close") {
			t.Fatalf("question %d beside two answers that are not read: %.60q", i, answer)
		}
	}
	list, err := lineOf(e, web, 1).pull(t.Context(), 0, b.session.ID(), 0)
	if err != nil || len(list) != 2 {
		t.Errorf("another device: %d messages, %v", len(list), err)
	}
	_ = unread[0].Close() // as a device that is killed
	list, err = lineOf(e, web, 0).pull(t.Context(), 0, b.session.ID(), 0)
	if err != nil || len(list) != 2 {
		t.Errorf("the device, once it reads: %d messages, %v", len(list), err)
	}
}

// Answers share the bodies of messages with the box, and their readers have a time: see
// [endpoint.Answer], which tells the length.
func TestAnswersShareBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	e, s, web := serving(t)
	b := firstBox(t, lineOf(e, web, 0), s)
	m := protocol.Message{Header: b.session.Header(Server, Name(0), 0, "Kernel"), Body: make([]byte, 100<<10)}
	if all := encodeAll([]protocol.Message{m}); &all[len(all)-1][0] != &m.Body[0] {
		t.Error("a body is copied")
	}
	if err := b.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	c := question(t, e, narrowly(t, s), 0, b.session.ID())
	if head := said(c, time.Second); !strings.Contains(head, fmt.Sprintf("Content-Length: %d\r\n", len(bytes.Join(encodeAll([]protocol.Message{m}), nil)))) {
		t.Errorf("the head of an answer: %.200q", head)
	}
}
