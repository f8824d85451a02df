package crowd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/protocol"
)

// Limits on what devices may have under way.
const (
	maxPolls   = 2  // of a device
	maxReading = 64 // bodies that are being read, of all devices
)

// desk counts what a device has under way.
type desk struct{ posts, polls int }

// Handler serves the devices.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+stepPath, s.polled(s.serveStep))
	mux.HandleFunc("GET "+messagesPath, s.polled(s.servePull))
	mux.HandleFunc("POST "+messagesPath, s.servePost)
	return mux
}

// enter lets a device's request in, unless it has too many under way.
func (s *Service) enter(name string, posts, polls int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.busy[name]
	if d == nil {
		d = &desk{}
		s.busy[name] = d
	}
	if d.posts+posts > 1 || d.polls+polls > maxPolls {
		return false
	}
	d.posts, d.polls = d.posts+posts, d.polls+polls
	return true
}

func (s *Service) leave(name string, posts, polls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.busy[name]
	if d.posts, d.polls = d.posts-posts, d.polls-polls; *d == (desk{}) {
		delete(s.busy, name)
	}
}

// polled checks a GET, and bounds how long it waits.
func (s *Service) polled(serve func(context.Context, http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		name := q.Header.Get(deviceHeader)
		if !verify(q, s.Enrolment, nil) {
			http.Error(w, "this device is not enrolled, or its signature is not right", http.StatusForbidden)
			return
		}
		if !s.enter(name, 0, 1) {
			http.Error(w, "too many requests of this device at a time", http.StatusTooManyRequests)
			return
		}
		defer s.leave(name, 0, 1)
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(waitTime + answerTime))
		ctx, cancel := context.WithTimeout(q.Context(), waitTime)
		defer cancel()
		serve(ctx, w, q, name)
	}
}

// serveStep answers with the announcement of a step, 204 while it has not begun.
func (s *Service) serveStep(ctx context.Context, w http.ResponseWriter, q *http.Request, _ string) {
	index, err := strconv.Atoi(q.URL.Query().Get("index"))
	if err != nil || index < 0 || index >= len(s.plan) {
		http.Error(w, "the job has no such step", http.StatusBadRequest)
		return
	}
	for {
		s.mu.Lock()
		now, failure, changed := len(s.begun)-1, s.failure, s.changed
		var one stage
		if index <= now {
			one = *s.begun[index]
		}
		s.mu.Unlock()
		switch {
		case failure != nil: // its reason may name people: it is for the server's log
			http.Error(w, "the job has failed", http.StatusGone)
			return
		case s.passing && index < now: // where the device can take part again
			w.WriteHeader(http.StatusGone)
			_, _ = fmt.Fprint(w, now)
			return
		case s.passing && index == now && one.box == nil: // of an earlier process: the next is about to begin
		case index <= now:
			_, _ = w.Write(one.announced)
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
}

// open returns the box of the session that a request is about. Without one it answers: 410 for
// a session of a step that is over, 503 for one that has not begun in this life of the server.
func (s *Service) open(w http.ResponseWriter, q *http.Request, name string) *box {
	index, err := strconv.Atoi(q.URL.Query().Get("step"))
	if err != nil {
		http.Error(w, "step is no number", http.StatusBadRequest)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := len(s.begun) - 1; {
	case s.failure != nil || index < now:
		http.Error(w, errMoved.Error(), http.StatusGone)
		return nil
	case index == now && now >= 0:
		if b := s.begun[now].box; b != nil && b.session.ID().Hex() == q.URL.Query().Get("session") && b.has(name) {
			return b
		}
	}
	s.again(w)
	return nil
}

// servePull answers with messages for a device, 204 when there are none.
func (s *Service) servePull(ctx context.Context, w http.ResponseWriter, q *http.Request, name string) {
	b := s.open(w, q, name)
	if b == nil {
		return
	}
	after, err := strconv.Atoi(q.URL.Query().Get("after"))
	if err != nil {
		http.Error(w, "after is no number", http.StatusBadRequest)
		return
	}
	list := b.pull(ctx, name, after)
	if len(list) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	_, _ = w.Write(encodeAll(list))
}

// servePost takes one message of a device.
func (s *Service) servePost(w http.ResponseWriter, q *http.Request) {
	name := q.Header.Get(deviceHeader)
	if s.Enrolment.Key(name) == nil {
		http.Error(w, "this device is not enrolled", http.StatusForbidden)
		return
	}
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	default:
		s.again(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxPostBytes))
	if err != nil {
		http.Error(w, "the message is too long, or was cut off", http.StatusRequestEntityTooLarge)
		return
	}
	if !verify(q, s.Enrolment, body) {
		http.Error(w, "the signature is not right", http.StatusForbidden)
		return
	}
	if !s.enter(name, 1, 0) {
		s.again(w)
		return
	}
	defer s.leave(name, 1, 0)
	s.accept(w, q, name, body)
}

func (s *Service) again(w http.ResponseWriter) {
	http.Error(w, "send it again", http.StatusServiceUnavailable)
}

// accept hands a message that its device has signed to the session.
func (s *Service) accept(w http.ResponseWriter, q *http.Request, name string, body []byte) {
	b := s.open(w, q, name)
	if b == nil {
		return
	}
	m, err := decode(body)
	if err == nil {
		err = b.session.Check(m.Header, Server)
	}
	if err != nil || m.Sender != name {
		http.Error(w, "this is no message of the device to the server", http.StatusBadRequest)
		return
	}
	fresh, err := b.fresh(m)
	switch {
	case err != nil: // one device must not end the session of all
		s.Logger.Warn("a device has sent two messages under one header", "message", m.Header.String())
		http.Error(w, "another message came under this header", http.StatusConflict)
		return
	case !fresh:
		w.WriteHeader(http.StatusOK)
		return
	}
	ctx, cancel := context.WithTimeout(q.Context(), waitTime)
	defer cancel()
	switch b.offer(ctx, m) {
	case tooLate:
		http.Error(w, errMoved.Error(), http.StatusGone)
	case later:
		s.again(w)
	}
}

// encodeAll encodes messages for a device.
func encodeAll(list []protocol.Message) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(list)))
	for _, m := range list {
		w.Bytes32(encode(m))
	}
	return w.Bytes()
}

// offer hands a message to the machine and waits for its answer. Without one in time the
// message shall come again.
func (b *box) offer(ctx context.Context, m protocol.Message) verdict {
	r := make(receipt, 1)
	select {
	case b.in <- driver.Inbound{Message: m, Receipt: r}:
	case <-b.done:
		return tooLate
	case <-ctx.Done():
		return later
	}
	select {
	case v := <-r:
		return v
	case <-b.done:
	case <-ctx.Done():
		return later
	}
	select { // both may have come
	case v := <-r:
		return v
	default:
		return tooLate
	}
}

// fresh reports whether a message is new; an error says that its sender had sent another one
// under its header.
func (b *box) fresh(m protocol.Message) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inbox.Fresh(m)
}
