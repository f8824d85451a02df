package issuer

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// desk holds the devices that have a request in hand: each has one place, and takes no other's.
type desk struct {
	mu   sync.Mutex
	busy map[string]bool
}

// enter gives a device its place, unless it is there already.
func (d *desk) enter(device string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[device] {
		return false
	}
	d.busy[device] = true
	return true
}

func (d *desk) leave(device string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, device)
}

// serveTokens answers a post of a [secvm.TokenRequest] with as many answers.
func (i *Issuer) serveTokens(w http.ResponseWriter, r *http.Request) {
	outcome, status := "given", http.StatusOK
	answer, err := i.serve(w, r)
	switch {
	case errors.Is(err, errSpent):
		outcome, status = "over quota", http.StatusConflict
	case errors.Is(err, errStranger):
		outcome, status = "stranger", http.StatusForbidden
	case errors.Is(err, errTwice):
		outcome, status = "twice", http.StatusServiceUnavailable
	case errors.Is(err, errSlow):
		outcome, status = "slow", http.StatusRequestTimeout
	case errors.Is(err, errBusy):
		outcome, status = "left", http.StatusServiceUnavailable
	case errors.Is(err, errFailed):
		outcome, status = "failed", http.StatusServiceUnavailable
		i.Logger.Error("cannot give tokens", "error", err)
	case err != nil:
		outcome, status = "malformed", http.StatusBadRequest
	}
	i.answers.WithLabelValues(outcome).Inc()
	if status != http.StatusOK {
		endpoint.Refuse(w, status)
		return
	}
	endpoint.Answer(w, answer)
}

var (
	errStranger = errors.New("issuer: no device of the roster has signed the request")
	errTwice    = errors.New("issuer: another request of the device is in hand")
	errSlow     = errors.New("issuer: the request did not come in time")
	errBusy     = errors.New("issuer: too many devices ask at the moment")
	errFailed   = errors.New("issuer: the quota cannot be written")
)

// serve answers a request for tokens. A stranger gets no place, and no byte of a stranger's body is
// read.
func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost {
		return nil, errors.New("issuer: post a request for tokens")
	}
	head, q, err := i.recognise(r)
	if err != nil {
		return nil, err
	}
	if !i.desk.enter(head.Sender) {
		return nil, errTwice
	}
	defer i.desk.leave(head.Sender)
	body, err := endpoint.ReadBody(w, r, int64(i.Quota*i.size))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errSlow
	case err != nil:
		return nil, err
	case !head.Names(body):
		return nil, errStranger
	}
	if q.Blinded, err = secvm.DecodeBlinded(body, i.Quota, i.size); err != nil {
		return nil, err
	}
	return i.Give(r.Context(), q)
}

// recognise finds device and iteration of a request whose head a device of the roster has signed.
func (i *Issuer) recognise(r *http.Request) (request.Head, secvm.TokenRequest, error) {
	var q secvm.TokenRequest
	head, err := request.From(r)
	if err != nil {
		return request.Head{}, q, err
	}
	q.Device = i.known[head.Sender]
	if !head.By(q.Device, secvm.TokenPurpose) {
		return request.Head{}, q, errStranger
	}
	endpoint.Admit(r, head.Sender)
	iteration, known := i.sessions[head.Session]
	if !known || head.Length != uint64(i.Quota*i.size) {
		return request.Head{}, q, fmt.Errorf("issuer: a request of %d bytes, or for another key of tokens", head.Length)
	}
	q.Iteration = iteration
	return head.Head, q, nil
}

// Give answers a request of a device of the roster.
func (i *Issuer) Give(ctx context.Context, q secvm.TokenRequest) ([]byte, error) {
	all := sha256.New()
	for _, b := range q.Blinded {
		all.Write(b)
	}
	err := i.quota.claim(claim{[ed25519.PublicKeySize]byte(q.Device), q.Iteration}, [sha256.Size]byte(all.Sum(nil)))
	switch {
	case errors.Is(err, errSpent):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errFailed, err)
	}
	select {
	case i.turns <- struct{}{}:
		defer func() { <-i.turns }()
	case <-ctx.Done(): // a device that has left asks again
		return nil, fmt.Errorf("%w: %w", errBusy, ctx.Err())
	}
	var answer []byte
	for _, b := range q.Blinded {
		one, err := i.keys[q.Iteration].Issue(b)
		if err != nil {
			return nil, err
		}
		answer = append(answer, one...)
	}
	return answer, nil
}
