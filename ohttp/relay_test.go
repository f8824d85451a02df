package ohttp

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/ohttp/bhttp"
)

// A timer that fires while its batch is being sent does not send the requests that wait for
// the next batch.
func TestRelayTimerOfAnotherBatch(t *testing.T) {
	newPassage := func() *passage { return &passage{ctx: t.Context(), done: make(chan struct{})} }
	r := &Relay{Batch: 2, Wait: time.Millisecond}
	first, second := newPassage(), newPassage()
	r.addToBatch(first)
	r.mu.Lock()
	time.Sleep(20 * time.Millisecond) // the timer fires and waits for the lock
	r.depart()
	r.waiting, r.timer = []*passage{second}, time.NewTimer(time.Hour)
	r.mu.Unlock()
	<-first.done
	time.Sleep(20 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) != 1 {
		t.Error("a passage left alone, before its batch was full")
	}
}

// Attack: more bodies than a relay has places, each with all but one byte missing.
func TestAttackSlowBodies(t *testing.T) {
	key, err := NewKey(7, bytes.Repeat([]byte{3}, 32))
	if err != nil {
		t.Fatal(err)
	}
	serve := func(context.Context, *bhttp.Request) *bhttp.Response { return &bhttp.Response{Status: 200} }
	g := httptest.NewServer(&Gateway{Keys: []*Key{key}, Serve: serve})
	defer g.Close()
	relay := &Relay{Gateway: g.URL, Pending: 2}
	reading := make(chan struct{}, 8)
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		reading <- struct{}{}
		relay.ServeHTTP(w, q)
	}))
	defer r.Close()
	for range cap(reading) {
		c, err := net.Dial("tcp", r.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: relay\r\nContent-Type: %s\r\nContent-Length: 300\r\n\r\nx", RequestType); err != nil {
			t.Fatal(err)
		}
	}
	for len(reading) < cap(reading) {
		time.Sleep(time.Millisecond)
	}
	for range cap(reading) { // also that of the honest request below
		<-reading
	}
	c := &Client{Relay: r.URL, Config: key.Config()}
	if p, err := c.Do(t.Context(), &bhttp.Request{Method: "POST", Scheme: "https", Authority: "a.example", Path: "/"}); err != nil || p.Status != 200 {
		t.Errorf("beside slow bodies: %+v, %v", p, err)
	}
}

// A relay has at most as many requests in progress as places.
func TestRelayIsFull(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	g := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-answer
	}))
	defer g.Close()
	r := &Relay{Gateway: g.URL, Pending: 1}
	post := func() int {
		q := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("sealed"))
		q.Header.Set("Content-Type", RequestType)
		a := httptest.NewRecorder()
		r.ServeHTTP(a, q)
		return a.Code
	}
	first := make(chan int, 1)
	go func() { first <- post() }()
	<-asked
	if status := post(); status != http.StatusServiceUnavailable {
		t.Errorf("beyond the last place: %d", status)
	}
	close(answer)
	if status := <-first; status != http.StatusBadGateway { // it was no sealed answer
		t.Errorf("at the last place: %d", status)
	}
}
