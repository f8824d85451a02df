package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// ended reports whether the other end closes a connection at once, and not only since its header is late.
func ended(t *testing.T, c net.Conn) bool {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(4 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, c)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Who is refused keeps no connection.
func TestARefusalEndsTheConnection(t *testing.T) {
	q := newRequests(gate(ofEachRole()), quiet())
	q.add(unknown, func(*http.Request) (any, error) { return nil, nil })
	uid := stranger
	client := serveAs(t, q, func(net.Conn) int { return uid })
	c := dial(t, client.socket)
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: m\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if !ended(t, c) {
		t.Error("the connection is open")
	}
}

// onePipe is a listener with one connection in memory.
type onePipe struct {
	waiting chan net.Conn
	closed  chan struct{}
	close   sync.Once
}

func (l *onePipe) Accept() (net.Conn, error) {
	select {
	case c := <-l.waiting:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *onePipe) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

func (l *onePipe) Addr() net.Addr { return &net.UnixAddr{} }

// A connection without a further request is closed after a while, and gives its place back.
func TestAnIdleConnectionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		l := &onePipe{waiting: make(chan net.Conn, 1), closed: make(chan struct{})}
		l.waiting <- server
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- serveKnowing(ctx, l, answering(func(*http.Request) (any, error) { return struct{}{}, nil }), func(net.Conn) int { return os.Geteuid() })
		}()
		if _, err := fmt.Fprintf(client, "GET / HTTP/1.1\r\nHost: m\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(client)
		res, err := http.ReadResponse(in, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%+v, %v", res, err)
		}
		answered := time.Now()
		if err := client.SetReadDeadline(answered.Add(2 * idleTime)); err != nil {
			t.Fatal(err)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) || time.Since(answered) != idleTime {
			t.Errorf("%v after %v", err, time.Since(answered))
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A user's connections take none of the places of others, and a closed one gives its place back.
func TestPlacesOfASocket(t *testing.T) {
	q := newRequests(gate(ofEachRole()), quiet())
	q.add("GET /jobs", func(*http.Request) (any, error) { return struct{}{}, nil })
	var peer atomic.Int64
	peer.Store(stranger)
	client := serveAs(t, q, func(net.Conn) int { return int(peer.Load()) })
	asks := func(c net.Conn) bool { // waits until the server has accepted it
		if _, err := fmt.Fprintf(c, "GET /jobs HTTP/1.1\r\nHost: m\r\n\r\n"); err != nil {
			return false
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil && res.StatusCode == http.StatusOK
	}
	var first net.Conn
	for i := range maxOfUser { // silent ones
		if c := dial(t, client.socket); i == 0 {
			first = c
		}
	}
	if further := dial(t, client.socket); !ended(t, further) {
		t.Error("a user has more connections than allowed")
	}
	peer.Store(viewer)
	if !asks(dial(t, client.socket)) {
		t.Error("another user has no place")
	}
	peer.Store(stranger)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		c := dial(t, client.socket)
		if _, err := fmt.Fprintf(c, "GET /jobs HTTP/1.1\r\nHost: m\r\n\r\n"); err == nil {
			if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && res.StatusCode != 0 {
				break // refused by the gate, hence accepted
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("a closed connection keeps its place")
		}
	}
	p := newPlaces(nil, nil, quiet())
	for i := range maxOpen {
		if !p.take(i) {
			t.Fatalf("user %d has no place", i)
		}
	}
	if p.take(maxOpen) {
		t.Error("there are more places than allowed")
	}
	if p.leave(3); !p.take(maxOpen) || len(p.of) != maxOpen || len(p.full) != 0 {
		t.Errorf("%d users, %v", len(p.of), p.full)
	}
}

// A client sends nothing to a socket of somebody who is neither root nor the owner of its folder.
func TestWhoServesTheSocket(t *testing.T) {
	folder := short(t)
	own := os.Getuid()
	for server, may := range map[int]bool{own: true, 0: true, -1: true, 4711: false} {
		if err := ownerServes(folder, server); (err == nil) != may || err != nil && fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("user %d: %v", server, err)
		}
	}
	if ownerServes(filepath.Join(folder, "none"), own) == nil {
		t.Error("a folder that is not there")
	}
}
