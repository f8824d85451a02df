package devices

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// line is a device's connection to the server.
type line struct {
	enrolment *Enrolment
	server    string // URL of the server
	name      string
	key       ed25519.PrivateKey
	http      *http.Client
	patience  time.Duration // how long the device waits for a server that does not answer

	sent, received atomic.Uint64 // bytes of bodies, including repeated requests
}

// errRefused marks an answer of the server that would not change if the device asked again.
var errRefused = errors.New("devices: the server refuses this device")

// ask repeats a request until the server answers it with another status than 503 and 429. It gives up
// when a try gets no answer and the first try was longer ago than the device's patience lasts.
func (l *line) ask(ctx context.Context, method, path string, query url.Values, body []byte) (status int, answer []byte, err error) {
	first, again := time.Now(), l.pauses()
	for {
		status, answer, err = l.sendOnce(ctx, method, path, query, body)
		switch {
		case ctx.Err() != nil:
			return 0, nil, context.Cause(ctx)
		case err == nil && status == http.StatusGone:
			return status, answer, movedBy(answer)
		case err == nil && (status == http.StatusOK || status == http.StatusNoContent):
			return status, answer, nil
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
			return status, nil, fmt.Errorf("%w: %s", errRefused, reason(answer))
		case err != nil && time.Since(first) > l.patience:
			return 0, nil, fmt.Errorf("devices: the server has not answered for %v: %w", l.patience, err)
		}
		again.wait(ctx)
	}
}

// pauses computes the growing pauses between the tries of a request.
type pauses struct{ next, longest time.Duration }

func (l *line) pauses() *pauses { return &pauses{retryFirst, l.longestPause()} }

// wait pauses before the next try, for half to one and a half times p.next, and at most until ctx ends.
func (p *pauses) wait(ctx context.Context) {
	select {
	case <-time.After(p.next/2 + rand.N(p.next)):
	case <-ctx.Done():
	}
	p.next = min(2*p.next, p.longest)
}

// longestPause returns the longest mean pause between two tries of a request. A device that has waited
// for a server to come back must not sleep through the round that begins then.
func (l *line) longestPause() time.Duration {
	return max(retryFirst, min(retryLast, l.enrolment.Job.Timeout.Round/retryShare))
}

// reason returns the text of a server's answer, shortened and quoted for an error.
func reason(b []byte) string {
	return strconv.Quote(strings.TrimSpace(string(b[:min(len(b), maxReason)])))
}

// sendOnce sends a request one time and reads the answer.
func (l *line) sendOnce(ctx context.Context, method, path string, query url.Values, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, waitTime+answerTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(l.server, "/")+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	l.enrolment.signer().Sign(q, l.name, l.key, body)
	r, err := l.http.Do(q)
	if err != nil {
		return 0, nil, err
	}
	l.sent.Add(uint64(len(body)))
	answer, err = io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	l.received.Add(uint64(len(answer)))
	return r.StatusCode, answer, errors.Join(err, r.Body.Close())
}

// step waits until a step has begun, and returns its announcement. If nobody needs the step any more,
// step returns errMoved, or [passed] if the server names the step that runs. After each answer that there
// is nothing, step pauses, in case the server has answered early.
func (l *line) step(ctx context.Context, index int) ([]byte, error) {
	for again := l.pauses(); ; again.wait(ctx) {
		status, b, err := l.ask(ctx, http.MethodGet, stepPath, url.Values{"index": {strconv.Itoa(index)}}, nil)
		switch {
		case errors.Is(err, errMoved):
			return nil, passedBy(b, index)
		case err != nil:
			return nil, err
		case status == http.StatusNoContent:
			continue
		case len(b) > maxAnnounced:
			return nil, fmt.Errorf("%w: the server's announcement of %d bytes is too long", errRefused, len(b))
		case len(b) == 0:
			return nil, nil
		}
		return b, nil
	}
}

// passed is the error for a device that asks to join a step that has ended.
type passed struct{ at int } // the step that runs now

func (p passed) Error() string { return fmt.Sprintf("devices: the job is at step %d", p.at) }

// Unwrap returns [errMoved], so that callers can treat passed like any ended step.
func (passed) Unwrap() error { return errMoved }

// passedBy returns the error for a server's answer that a step has ended.
func passedBy(answer []byte, step int) error {
	const digits = 10
	at, err := strconv.Atoi(string(answer))
	if err != nil || at <= step || len(answer) > digits {
		return movedBy(answer)
	}
	return passed{at}
}

// movedBy returns the error for an ended step or session, with the server's text.
func movedBy(answer []byte) error {
	return fmt.Errorf("%w: the server says %s", errMoved, reason(answer))
}

// pull waits for messages that the device does not have yet, and returns at least one. The argument
// offset is the number of messages that the device has. Like step, pull pauses after each answer that there
// is nothing.
func (l *line) pull(ctx context.Context, step int, session protocol.SessionID, offset int) ([]protocol.Message, error) {
	query := sessionQuery(step, session)
	query.Set("after", strconv.Itoa(offset))
	for again := l.pauses(); ; again.wait(ctx) {
		status, b, err := l.ask(ctx, http.MethodGet, messagesPath, query, nil)
		if err != nil {
			return nil, err
		}
		if status != http.StatusOK {
			continue
		}
		if list, err := decodeAll(b); err != nil || len(list) > 0 {
			return list, err
		}
	}
}

// sessionQuery returns the query parameters that identify a session.
func sessionQuery(step int, session protocol.SessionID) url.Values {
	return url.Values{"step": {strconv.Itoa(step)}, "session": {session.Hex()}}
}

// decodeAll decodes the messages that encodeAll has encoded.
func decodeAll(b []byte) ([]protocol.Message, error) {
	r := wire.NewReader(b)
	list := make([]protocol.Message, r.Count(maxAnswer, 4))
	for i := range list {
		one := r.Bytes32(maxPostBytes)
		if r.Err() != nil {
			break
		}
		m, err := decode(one)
		if err != nil {
			r.Fail(err)
			break
		}
		list[i] = m
	}
	if err := r.Close("devices: messages"); err != nil {
		return nil, fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return list, nil
}

// These are the paths that a server serves.
const (
	stepPath     = "/crowd/step"
	messagesPath = "/crowd/messages"
	farewellPath = "/crowd/farewell"
)

// These constants limit requests and answers.
const (
	waitTime     = 20 * time.Second               // longest wait of a GET before the server answers that there is nothing
	maxPostBytes = protocol.MaxChunkBytes + 2<<10 // bytes of a message with its header
	maxPullBytes = 1 << 20                        // bytes of messages in one answer; one message may exceed it
	maxAnnounced = 1 << 20                        // bytes of an announcement
	answerTime   = time.Minute                    // time limit for sending an answer to its device
	maxAnswer    = maxPullBytes + 2*maxPostBytes  // bytes of an answer that a device reads
	maxReason    = 512                            // bytes of an error text that a device reads
	retryFirst   = 100 * time.Millisecond         // mean of the first pause between two tries
	retryLast    = 2 * time.Second                // mean of the longest pauses between two tries in long rounds
	retryShare   = 8                              // number of the longest pauses that a round has time for, on average
)

// signer returns the parameters for signing and verifying devices' requests. They bind each request
// to one enrolment.
func (e *Enrolment) signer() request.Signer {
	return request.Signer{Purpose: "mercer/v2/crowd/request", Of: e.sum[:]}
}

// encode returns the header and the body of a message in one slice.
func encode(m protocol.Message) []byte { return append(m.Encode(), m.Body...) }

// sumOf returns the hash of an encoded message.
func sumOf(m protocol.Message) [sha256.Size]byte {
	h := sha256.New()
	h.Write(m.Encode())
	h.Write(m.Body)
	return [sha256.Size]byte(h.Sum(nil))
}

// decode decodes a message that encode has encoded, without copying the body.
func decode(b []byte) (protocol.Message, error) {
	h, body, err := protocol.CutHeader(b)
	if err == nil {
		err = h.Validate()
	}
	return protocol.Message{Header: h, Body: body}, err
}

// told records a step's announcement. A device stores it beside the session, so that a new process
// can replay its journals without a server.
type told struct {
	step      int
	announced []byte
}

func (t told) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(t.step))
	w.Bytes32(t.announced)
	return w.Bytes()
}

// decodeTold decodes a record that told.encode has encoded. An empty announcement is nil.
func decodeTold(b []byte) (told, error) {
	r := wire.NewReader(b)
	t := told{step: int(r.Uint32())}
	if announced := r.Bytes32(maxAnnounced); len(announced) > 0 {
		t.announced = announced
	}
	return t, r.Close("devices: note of a step")
}

const (
	lingerLook   = 100 * time.Millisecond // pause between two checks for devices that still need the server
	farewellTime = 5 * time.Second        // time for a device to send its farewell
)

// linger keeps the server running until the devices that finished the last session have said
// farewell. It waits at most for the longer of the times for joining a job and for a round.
func (s *Service) linger(ctx context.Context) error {
	s.mu.Lock()
	last := s.begun[len(s.begun)-1].box
	s.mu.Unlock()
	if last == nil {
		return nil
	}
	limits := s.Enrolment.Job.Timeout
	ctx, cancel := context.WithTimeout(ctx, max(limits.Join, limits.Round))
	defer cancel()
	often := time.NewTicker(lingerLook)
	defer often.Stop()
	kept := 0
	for {
		finished, missing := last.finishedAndMissing()
		if len(finished) > kept { // store the names, so that a restarted server does not wait for these devices
			if err := last.Put(vault.Report, encodeNames(finished)); err != nil {
				return err
			}
			kept = len(finished)
		}
		if missing == 0 {
			return nil
		}
		select {
		case <-often.C:
		case <-ctx.Done():
			s.Logger.Warn("devices have not fetched their last messages", "devices", missing)
			return nil
		}
	}
}

// finishedAndMissing returns the devices that have said farewell, and the number of devices that
// have yet to do so. Only devices that finished the session have to say farewell.
func (b *box) finishedAndMissing() (finished []string, missing int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range b.stayed {
		if !b.finished[name] {
			missing++
		}
	}
	return slices.Sorted(maps.Keys(b.finished)), missing
}

// farewell tells the server that this device needs nothing more. If the request does not arrive,
// the server waits for the device in vain.
func (d *Device) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewellTime)
	defer cancel()
	if err := d.line.farewell(ctx, d.last.step, d.last.session); err != nil {
		d.Logger.Debug("the server has not heard that this device has finished", "error", err)
	}
}

// farewell sends the server the request that ends the device's part of the job.
func (l *line) farewell(ctx context.Context, step int, session protocol.SessionID) error {
	_, _, err := l.ask(ctx, http.MethodPost, farewellPath, sessionQuery(step, session), nil)
	return err
}

func encodeNames(names []string) []byte {
	var w wire.Writer
	w.Strings(names)
	return w.Bytes()
}

// decodeNames decodes names that encodeNames has encoded.
func decodeNames(b []byte) ([]string, error) {
	r := wire.NewReader(b)
	names := r.Strings(MaxDevices, maxName)
	return names, r.Close("devices: devices that have finished")
}
