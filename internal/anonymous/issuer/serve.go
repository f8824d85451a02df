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

// desk holds the names of devices whose requests are in progress. Each device has at most one
// request in progress, so that no device can block another.
type desk struct {
	mu   sync.Mutex
	busy map[string]bool
}

// enter marks a device as busy. It returns false if the device is busy already.
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

// serveTokens answers the POST request of a [secvm.TokenRequest], whose body holds the blinded requests,
// with one answer for each of them.
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
	errTwice    = errors.New("issuer: another request of this device is in progress")
	errSlow     = errors.New("issuer: the request did not arrive in time")
	errBusy     = errors.New("issuer: too many requests are in progress; try again")
	errFailed   = errors.New("issuer: the quota cannot be written")
)

// serve checks a request for tokens and returns its answer. It refuses a device that is not on
// the roster before it reads the body.
func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost {
		return nil, fmt.Errorf("issuer: the request for tokens has the method %s; it must be POST", r.Method)
	}
	by, q, err := i.recognise(r)
	if err != nil {
		return nil, err
	}
	if !i.desk.enter(by.Name) {
		return nil, errTwice
	}
	defer i.desk.leave(by.Name)
	body, err := by.Read(w, r, by.Length)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errSlow
	case errors.Is(err, request.ErrOtherBody):
		return nil, errors.Join(errStranger, err)
	case err != nil:
		return nil, err
	}
	if q.Blinded, err = secvm.DecodeBlinded(body, i.Quota, i.size); err != nil {
		return nil, err
	}
	return i.Give(r.Context(), q)
}

// recognise returns the device and the iteration of a request. It refuses a request whose header
// no device of the roster has signed.
func (i *Issuer) recognise(r *http.Request) (by request.Signed, q secvm.TokenRequest, err error) {
	if q.Iteration, err = secvm.ParseQuery(r.URL.RawQuery); err != nil {
		return by, q, err
	}
	if int(q.Iteration) >= len(i.keys) {
		return by, q, fmt.Errorf("issuer: the request is for iteration %d; the iteration must be below %d", q.Iteration, len(i.keys))
	}
	signer := request.Signer{Purpose: secvm.TokenPurpose, Of: i.keys[q.Iteration].PublicKey()}
	if by, err = signer.Verify(r, func(name string) ed25519.PublicKey { return i.known[name] }); err != nil {
		return by, q, errors.Join(errStranger, err)
	}
	endpoint.Admit(r, by.Name)
	if by.Length != int64(i.Quota*i.size) {
		return by, q, fmt.Errorf("issuer: the request has %d bytes; a request for %d tokens must have %d", by.Length, i.Quota, i.Quota*i.size)
	}
	q.Device = i.known[by.Name]
	return by, q, nil
}

// Give returns the issuer's answers to the blinded requests of a device. The caller must know that the
// device is on the roster.
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
	case <-ctx.Done(): // a device that has disconnected sends its request again
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
