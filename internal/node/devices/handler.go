package devices

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/protocol"
)

// Handler returns the HTTP handler for the devices' requests.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+stepPath, s.signedOnly(s.limitPolls(s.serveStep)))
	mux.HandleFunc("GET "+messagesPath, s.signedOnly(s.limitPolls(s.servePull)))
	mux.HandleFunc("POST "+messagesPath, s.signedOnly(s.servePost))
	mux.HandleFunc("POST "+farewellPath, s.signedOnly(s.serveFarewell))
	return mux
}

// served is the type of a handler that gets a request with a verified header.
type served func(http.ResponseWriter, *http.Request, request.Signed)

// signedOnly passes a request to serve only if an enrolled device has signed the request. The
// request of a stranger gets no place, and no byte of its body is read.
func (s *Service) signedOnly(serve served) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		by, err := s.Enrolment.signer().Verify(q, s.Enrolment.Key)
		if err != nil {
			request.Unread(w)
			http.Error(w, "this device is not enrolled, or its signature is wrong", http.StatusForbidden)
			return
		}
		endpoint.Admit(q, by.Name)
		serve(w, q, by)
	}
}

// limitPolls wraps a GET handler. It limits how long a GET waits, and how many GETs of one device
// are in progress. The function serve returns the answer in pieces, or nil if it has written a
// short answer itself.
func (s *Service) limitPolls(serve func(context.Context, http.ResponseWriter, *http.Request, string) [][]byte) served {
	return func(w http.ResponseWriter, q *http.Request, by request.Signed) {
		if by.Length > 0 {
			tooLong(w)
			return
		}
		ctx, p, ok := s.desks.poll(q.Context(), by.Name)
		if !ok {
			endpoint.Refuse(w, http.StatusServiceUnavailable)
			return
		}
		defer s.desks.end(by.Name, p)
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(waitTime + answerTime))
		pieces := serve(ctx, w, q, by.Name)
		switch {
		case pieces == nil:
		case s.desks.mayAnswer(by.Name, p):
			endpoint.Answer(w, pieces...)
		default: // a newer request of the device has ended this one
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

func tooLong(w http.ResponseWriter) {
	request.Unread(w)
	http.Error(w, "the request's body is too long", http.StatusRequestEntityTooLarge)
}

// serveStep answers with the announcement of a step. It answers 204 while the step has not begun.
func (s *Service) serveStep(ctx context.Context, w http.ResponseWriter, q *http.Request, _ string) [][]byte {
	index, err := strconv.Atoi(q.URL.Query().Get("index"))
	if err != nil || index < 0 || index >= len(s.plan) {
		http.Error(w, "the job has no such step", http.StatusBadRequest)
		return nil
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
		case failure != nil: // do not send the reason, because it may name people
			http.Error(w, "the job has failed", http.StatusGone)
			return nil
		case s.passing && index < now: // the device is late: tell it the number of the current step
			w.WriteHeader(http.StatusGone)
			_, _ = fmt.Fprint(w, now)
			return nil
		case s.passing && index == now && one.box == nil: // wait: an earlier process ran this step, and the next step will begin soon
		case index <= now:
			return [][]byte{one.announced}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
}

// open returns the box of the session that a request names. If there is no such box, open itself
// answers the request. The status is 410 for a session of a step that has ended, or if the job has
// failed, and 503 for a session that this process has not begun or that does not have the device.
func (s *Service) open(w http.ResponseWriter, q *http.Request, name string) *box {
	index, err := strconv.Atoi(q.URL.Query().Get("step"))
	if err != nil {
		http.Error(w, `the parameter "step" is not a number`, http.StatusBadRequest)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := len(s.begun) - 1; {
	case s.failure != nil || index < now:
		s.moved(w)
		return nil
	case index == now && now >= 0:
		if b := s.begun[now].box; b != nil && b.session.ID().Hex() == q.URL.Query().Get("session") && b.has(name) {
			return b
		}
	}
	s.again(w)
	return nil
}

// servePull answers with messages for a device, or with 204 if there are none.
func (s *Service) servePull(ctx context.Context, w http.ResponseWriter, q *http.Request, name string) [][]byte {
	b := s.open(w, q, name)
	if b == nil {
		return nil
	}
	after, err := strconv.Atoi(q.URL.Query().Get("after"))
	if err != nil {
		http.Error(w, `the parameter "after" is not a number`, http.StatusBadRequest)
		return nil
	}
	list := b.pull(ctx, name, after)
	if len(list) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return encodeAll(list)
}

// servePost accepts one message from a device. The header is enough to refuse the message, or to
// answer that it has arrived already, so an eavesdropper who repeats a header does not get the
// device's place.
func (s *Service) servePost(w http.ResponseWriter, q *http.Request, by request.Signed) {
	if by.Length > maxPostBytes {
		tooLong(w)
		return
	}
	b := s.open(w, q, by.Name)
	if b == nil {
		return
	}
	if b.handled(by.Sum) {
		request.Unread(w) // do not wait for the body, which need not come with a repeated header
		return
	}
	if b.tooManyRefused(by.Name) {
		request.Unread(w)
		http.Error(w, "the session has refused too many messages of this device", http.StatusGone)
		return
	}
	done, ok := s.desks.post(by.Name, by.Length)
	if !ok {
		s.again(w)
		return
	}
	var late error
	defer func() { done(late != nil) }()
	if late = s.readMessage(w, q, b, by); late != nil {
		s.complain(by.Name, late)
	}
}

// readMessage reads a message that its device has signed, and passes it to the session. Every error
// counts as a fault of the device, because a malformed body occupies a place as long as a slow one.
func (s *Service) readMessage(w http.ResponseWriter, q *http.Request, b *box, by request.Signed) (late error) {
	began := time.Now()
	body, err := by.Read(w, q, maxPostBytes)
	took := time.Since(began)
	if err != nil {
		http.Error(w, "the message was cut off, was too slow, or differs from its signed hash", http.StatusBadRequest)
		return err
	}
	if err := s.accept(w, q, b, by, body); err != nil {
		return err
	}
	if most := request.BodyTime(by.Length) / 2; took > most {
		return fmt.Errorf("devices: a body of %d bytes took %v; it must take at most %v, half of the time limit for its length", by.Length, took, most)
	}
	return nil
}

// complain logs that a device sent a slow or malformed message. A device can send any number of
// such messages, so complain counts them and logs only some.
func (s *Service) complain(name string, why error) {
	if n, tell := s.complaints.Count("", name); tell {
		s.Logger.Warn("a device sent a slow or malformed message", "device", name, "times", n, "error", why)
	}
}

func (s *Service) moved(w http.ResponseWriter) {
	http.Error(w, "the session has ended or the job has failed", http.StatusGone)
}

func (s *Service) again(w http.ResponseWriter) {
	http.Error(w, "send it again", http.StatusServiceUnavailable)
}

// accept passes a device's signed message to the session. It returns an error if the message is not
// valid.
func (s *Service) accept(w http.ResponseWriter, q *http.Request, b *box, by request.Signed, body []byte) error {
	m, err := decode(body)
	if err == nil {
		err = b.session.Check(m.Header, Server)
	}
	if err == nil && m.Sender != by.Name {
		err = errors.New("the message names another device as its sender")
	}
	if err != nil {
		http.Error(w, "the body is not a message from this device to the server", http.StatusBadRequest)
		return fmt.Errorf("devices: the body is not a message from the device to the server: %w", err)
	}
	fresh, err := b.isNew(m)
	switch {
	case err != nil: // refuse only this message, because a faulty device must not end the session
		http.Error(w, "the server already has another message with this header", http.StatusConflict)
		return err
	case !fresh: // the server is already storing the same message
		s.again(w)
		return nil
	}
	ctx, cancel := context.WithTimeout(q.Context(), waitTime)
	defer cancel()
	switch b.offer(ctx, m, by.Sum) {
	case tooLate:
		s.moved(w)
	case later:
		s.again(w)
	}
	return nil
}

// serveFarewell records that a device needs nothing more from a session.
func (s *Service) serveFarewell(w http.ResponseWriter, q *http.Request, by request.Signed) {
	if b := s.open(w, q, by.Name); b != nil {
		b.finish(by.Name)
	}
}

// encodeAll encodes messages for a device in several slices, without copying the bodies.
func encodeAll(list []protocol.Message) [][]byte {
	var w wire.Writer
	w.Uint32(uint32(len(list)))
	all := [][]byte{w.Bytes()}
	for _, m := range list {
		header := m.Encode()
		var w wire.Writer
		w.Uint32(uint32(len(header) + len(m.Body)))
		all = append(all, append(w.Bytes(), header...), m.Body)
	}
	return all
}

// offer passes a message to the machine and waits for its answer. If there is no answer in time,
// the device must send the message again.
func (b *box) offer(ctx context.Context, m protocol.Message, sum [sha256.Size]byte) verdict {
	r := &receipt{answer: make(chan verdict, 1), box: b, sender: m.Sender, sum: sum}
	select {
	case b.in <- driver.Inbound{Message: m, Receipt: r}:
	case <-b.done:
		return tooLate
	case <-ctx.Done():
		return later
	}
	select {
	case v := <-r.answer:
		return v
	case <-b.done:
	case <-ctx.Done():
		return later
	}
	select { // the machine may have answered just before it ended
	case v := <-r.answer:
		return v
	default:
		return tooLate
	}
}

// handled reports whether the machine has already handled a message with this hash. Such a message
// is on disk, or was refused.
func (b *box) handled(sum [sha256.Size]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held[sum]
}

// settle records that the machine has handled a message, and that the journal so far is on disk. A
// message that is not in the journal was refused; [box.tooManyRefused] limits their number.
func (b *box) settle(sender string, sum [sha256.Size]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.held[sum]; !known {
		b.refused[sender]++
	}
	b.held[sum] = true
}

// tooManyRefused reports whether the session has already refused maxRefused messages of a device.
// The session then reads no more messages of the device.
func (b *box) tooManyRefused(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused[name] >= maxRefused
}

// isNew reports whether message m is new to the session. It returns an error if the sender has sent
// another message with the same header.
func (b *box) isNew(m protocol.Message) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inbox.Fresh(m)
}

// finish records that a device needs nothing more from the session.
func (b *box) finish(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finished[name] = true
}
