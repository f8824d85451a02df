package devices

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/protocol"
)

// That a session is over at the server ends nothing at the device: its mail is closed behind
// the messages that have come, with the server's words as the reason.
func TestMailIsClosedBehindItsMessages(t *testing.T) {
	e, err := enrolled(t, filmsText)
	if err != nil {
		t.Fatal(err)
	}
	m := protocol.Message{Header: protocol.Header{Protocol: "secagg", Sender: Server, Receiver: Name(0), Kind: "Cohort", Chunks: 1}, Body: []byte("x")}
	asked := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 1 {
			http.Error(w, "gone on", http.StatusGone)
			return
		}
		_, _ = w.Write(bytes.Join(encodeAll([]protocol.Message{m}), nil))
	}))
	defer web.Close()
	d := &deviceMail{line: lineOf(e, web, 0), in: make(chan driver.Inbound, room)}
	if err := d.fetch(t.Context()); err != nil {
		t.Fatalf("a session that is over at the server: %v", err)
	}
	one, open := <-d.In()
	if !open || string(one.Message.Body) != "x" {
		t.Fatalf("%v, %v", one.Message, open)
	}
	if _, open := <-d.In(); open || d.why() == nil {
		t.Errorf("open %v, reason %v", open, d.why())
	}
	if err := one.Later(time.Millisecond); err != nil { // as a machine may ask, to no avail
		t.Error(err)
	}
}

// Adversary: a server that says at once, and without end, that there is nothing. A device asks it few
// times.
func TestADeviceDoesNotSpin(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	e, err := enrolled(t, filmsText)
	if err != nil {
		t.Fatal(err)
	}
	for name, nothing := range map[string]http.HandlerFunc{
		"no content":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"an empty list": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Join(encodeAll(nil), nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				asked.Add(1)
				nothing(w, q)
			}))
			defer web.Close()
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			list, err := lineOf(e, web, 0).pull(ctx, 0, protocol.SessionID{}, 0)
			if n := asked.Load(); err == nil || n < 2 || n > 8 {
				t.Errorf("messages: asked %d times, %d messages, %v", n, len(list), err)
			}
			if name != "no content" { // which is an announcement
				return
			}
			asked.Store(0)
			ctx, stop = context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if _, err := lineOf(e, web, 0).step(ctx, 0); err == nil || asked.Load() > 8 {
				t.Errorf("a step: asked %d times, %v", asked.Load(), err)
			}
		})
	}
}
