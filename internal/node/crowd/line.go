package crowd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// line is a device's way to the server.
type line struct {
	enrolment *Enrolment
	server    string // address
	name      string
	key       ed25519.PrivateKey
	http      *http.Client
	patience  time.Duration // with a server that does not answer

	sent, received atomic.Uint64 // bytes of bodies, repetitions included
}

// errRefused is an answer that no repetition changes.
var errRefused = errors.New("crowd: the server refuses this device")

// ask repeats a request until the server answers it, or for as long as patience goes.
func (l *line) ask(ctx context.Context, method, path string, query url.Values, body []byte) (status int, answer []byte, err error) {
	first, again := time.Now(), l.pauses()
	for {
		status, answer, err = l.once(ctx, method, path, query, body)
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
			return 0, nil, fmt.Errorf("crowd: the server has not answered for %v: %w", l.patience, err)
		}
		again.wait(ctx)
	}
}

// pauses are the times between two tries, each longer than the one before.
type pauses struct{ next, longest time.Duration }

func (l *line) pauses() *pauses { return &pauses{retryFirst, l.longest()} }

// wait waits until it is time for the next try, or ctx ends.
func (p *pauses) wait(ctx context.Context) {
	select {
	case <-time.After(p.next/2 + rand.N(p.next)):
	case <-ctx.Done():
	}
	p.next = min(2*p.next, p.longest)
}

// longest returns the longest time between two tries. A device that has waited for a server
// to come back must not sleep through the round that begins then.
func (l *line) longest() time.Duration {
	return max(retryFirst, min(retryLast, l.enrolment.Job.Timeout.Round/retryShare))
}

// reason returns a server's text for a log.
func reason(b []byte) string {
	return strconv.Quote(strings.TrimSpace(string(b[:min(len(b), maxReason)])))
}

// once makes one request.
func (l *line) once(ctx context.Context, method, path string, query url.Values, body []byte) (status int, answer []byte, err error) {
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

// step waits until a step has begun, and returns its announcement. A step that is over and
// that nobody needs any more is [passed]. A server that has nothing to say, and does not wait with
// saying so, is not asked at once again.
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
			return nil, fmt.Errorf("%w: an announcement of %d bytes", errRefused, len(b))
		case len(b) == 0:
			return nil, nil
		}
		return b, nil
	}
}

// passed is the answer about a step that is over, and that nobody needs any more.
type passed struct{ at int } // the step that runs now

func (p passed) Error() string { return fmt.Sprintf("crowd: the job is at step %d", p.at) }

// Unwrap says that it is over.
func (passed) Unwrap() error { return errMoved }

// passedBy reads the answer about a step that is over.
func passedBy(answer []byte, step int) error {
	const digits = 10
	at, err := strconv.Atoi(string(answer))
	if err != nil || at <= step || len(answer) > digits {
		return movedBy(answer)
	}
	return passed{at}
}

// movedBy returns the error of a request for what is over, in the server's words.
func movedBy(answer []byte) error {
	return fmt.Errorf("%w: the server says %s", errMoved, reason(answer))
}

// pull waits for messages behind the first ones, of which there is one at least. See step.
func (l *line) pull(ctx context.Context, step int, session protocol.SessionID, after int) ([]protocol.Message, error) {
	query := about(step, session)
	query.Set("after", strconv.Itoa(after))
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

// about returns the part of an address that names a session.
func about(step int, session protocol.SessionID) url.Values {
	return url.Values{"step": {strconv.Itoa(step)}, "session": {session.Hex()}}
}

// decodeAll decodes what pieces has encoded.
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
	if err := r.Close("crowd: messages"); err != nil {
		return nil, fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return list, nil
}
