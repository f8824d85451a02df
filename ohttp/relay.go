package ohttp

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Relay passes sealed requests on to one gateway, without the sender's address, header
// fields or connection. With Batch it holds requests until that many have arrived, or until
// the first has waited for Wait, and passes them on in random order. Only Gateway is
// required. The surrounding server must bound the time of a body and the connections of an
// address.
type Relay struct {
	Gateway string        // address of the gateway, https in production
	Client  *http.Client  // to the gateway; nil for one that follows no redirects
	Limit   int           // greatest size of a sealed request in bytes; 0: MaxMessage
	Batch   int           // requests that are sent together; 0: each at once
	Wait    time.Duration // greatest delay of a request by its batch; 0: a second
	Pending int           // greatest number of completely received requests that wait or are being sent; 0: 4096
	Lanes   int           // concurrent requests to the gateway from one batch; 0: 16

	mu      sync.Mutex
	waiting []*passage
	timer   *time.Timer
	pending int
}

// passage is one request with its outcome.
type passage struct {
	ctx    context.Context
	sealed []byte
	done   chan struct{}
	status int
	answer []byte
}

// ServeHTTP implements [http.Handler] for POST requests of type [RequestType].
func (r *Relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method != http.MethodPost || q.Header.Get("Content-Type") != RequestType {
		http.Error(w, "post "+RequestType, http.StatusUnsupportedMediaType)
		return
	}
	sealed, status := readAll(w, q, limit(r.Limit))
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	if !r.enter() { // only after the body: slow senders must not keep others out
		http.Error(w, ErrCrowded.Error(), http.StatusServiceUnavailable)
		return
	}
	defer r.leave()
	p := &passage{ctx: q.Context(), sealed: sealed, done: make(chan struct{})}
	r.board(p)
	<-p.done
	if p.status == http.StatusOK {
		w.Header().Set("Content-Type", ResponseType)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(p.answer))) // in one piece, whatever its size
	w.WriteHeader(p.status)
	_, _ = w.Write(p.answer) // a client that has left asks again
}

func (r *Relay) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := r.Pending
	if most == 0 {
		most = 4096
	}
	if r.pending >= most {
		return false
	}
	r.pending++
	return true
}

func (r *Relay) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending--
}

// board adds a request to the waiting ones, and sends the batch when it is full
// or when its first request has waited long enough.
func (r *Relay) board(p *passage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, p)
	switch {
	case len(r.waiting) >= r.Batch:
		r.depart()
	case len(r.waiting) == 1:
		wait := r.Wait
		if wait == 0 {
			wait = time.Second
		}
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.timer == timer { // otherwise its batch was full in the meantime, and others wait
				r.depart()
			}
		})
		r.timer = timer
	}
}

// depart sends all waiting requests. The caller holds the lock.
func (r *Relay) depart() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	batch := r.waiting
	r.waiting = nil
	if len(batch) > 0 {
		go r.pass(batch)
	}
}

// pass sends a batch to the gateway in random order.
func (r *Relay) pass(batch []*passage) {
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		for _, p := range batch {
			p.end(http.StatusInternalServerError, nil)
		}
		return
	}
	rand.New(rand.NewChaCha8(seed)).Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	lanes := r.Lanes
	if lanes == 0 {
		lanes = 16
	}
	slots := make(chan struct{}, lanes)
	for _, p := range batch {
		slots <- struct{}{}
		go func() {
			p.end(r.post(p))
			<-slots
		}()
	}
}

func (p *passage) end(status int, answer []byte) {
	p.status, p.answer = status, answer
	close(p.done)
}

// post sends one request and returns the answer for its sender.
func (r *Relay) post(p *passage) (int, []byte) {
	q, err := http.NewRequestWithContext(p.ctx, http.MethodPost, r.Gateway, bytes.NewReader(p.sealed))
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	q.Header = http.Header{"Content-Type": {RequestType}, "User-Agent": {""}}
	client := r.Client
	if client == nil {
		client = noRedirects(nil, 0)
	}
	answer, err := post(client, q)
	var refused *StatusError
	switch {
	case errors.As(err, &refused) && refused.Status >= 400 && refused.Status < 600:
		return refused.Status, nil
	case err != nil:
		return http.StatusBadGateway, nil
	}
	return http.StatusOK, answer
}

// noRedirects returns a client for relays and gateways: neither may redirect it.
func noRedirects(t http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{Transport: t, Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// StatusError is an answer that is not sealed, from the relay or from a gateway that could
// not open the request.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("ohttp: the relay or the gateway answers %d %s", e.Status, http.StatusText(e.Status))
}

// post sends a request and reads the sealed answer.
func post(client *http.Client, q *http.Request) ([]byte, error) {
	p, err := client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("ohttp: %w", err)
	}
	defer func() { _ = p.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(p.Body, MaxMessage+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("ohttp: read an answer: %w", err)
	case p.StatusCode != http.StatusOK:
		return nil, &StatusError{p.StatusCode}
	case p.Header.Get("Content-Type") != ResponseType || len(answer) > MaxMessage:
		return nil, errors.New("ohttp: the answer is not sealed, or too large")
	}
	return answer, nil
}
