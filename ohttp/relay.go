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

// Relay forwards sealed requests to one gateway without the sender's address, header fields or
// connection. With Batch set, it holds requests until a batch of this size has arrived, or until
// the first of them has waited for Wait. Then it forwards the batch in random order. Only Gateway
// must be set. The surrounding HTTP server must limit the time to read a body and the number of
// connections from one address.
type Relay struct {
	Gateway string        // URL of the gateway; https in production
	Client  *http.Client  // client for requests to the gateway; nil for a client that follows no redirects
	Limit   int           // largest size of a sealed request in bytes; 0 means MaxMessage
	Batch   int           // number of requests that are forwarded together; 0 means that each is forwarded at once
	Wait    time.Duration // longest time that a request waits for its batch; 0 means 1 s
	Pending int           // largest number of received requests that wait or are being forwarded; 0 means 4096
	Lanes   int           // largest number of requests of one batch that are forwarded concurrently; 0 means 16

	mu      sync.Mutex
	waiting []*passage
	timer   *time.Timer
	pending int
}

// passage holds one request and, later, the answer for its sender.
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
	if !r.enter() { // counts the request only after its body has arrived, so that slow senders exclude nobody
		http.Error(w, ErrCrowded.Error(), http.StatusServiceUnavailable)
		return
	}
	defer r.leave()
	p := &passage{ctx: q.Context(), sealed: sealed, done: make(chan struct{})}
	r.addToBatch(p)
	<-p.done
	if p.status == http.StatusOK {
		w.Header().Set("Content-Type", ResponseType)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(p.answer))) // prevents chunked transfer of large answers
	w.WriteHeader(p.status)
	_, _ = w.Write(p.answer) // a failed write is ignored, because the client repeats its request
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

// addToBatch adds a request to the current batch. It forwards the batch when it is full or when its
// first request has waited long enough.
func (r *Relay) addToBatch(p *passage) {
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
			if r.timer == timer { // if the timers differ, another call has forwarded this timer's batch
				r.depart()
			}
		})
		r.timer = timer
	}
}

// depart forwards all waiting requests. The caller holds the lock.
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

// pass forwards a batch to the gateway in random order.
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

// post forwards one request to the gateway and returns the status and the answer for its
// sender.
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

// noRedirects returns a client that follows no redirects of relays and gateways.
func noRedirects(t http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{Transport: t, Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// StatusError reports an answer that is not sealed. The answer comes from the relay, or from a
// gateway that did not accept the request.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("ohttp: the relay or the gateway answered with status %d %s", e.Status, http.StatusText(e.Status))
}

// post sends a request with the given client and reads the sealed answer.
func post(client *http.Client, q *http.Request) ([]byte, error) {
	p, err := client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("ohttp: %w", err)
	}
	defer func() { _ = p.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(p.Body, MaxMessage+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("ohttp: cannot read an answer: %w", err)
	case p.StatusCode != http.StatusOK:
		return nil, &StatusError{p.StatusCode}
	case p.Header.Get("Content-Type") != ResponseType:
		return nil, errors.New("ohttp: the answer is not sealed")
	case len(answer) > MaxMessage:
		return nil, fmt.Errorf("ohttp: the answer has more than %d bytes", MaxMessage)
	}
	return answer, nil
}
