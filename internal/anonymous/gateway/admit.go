package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/mercer-fl/mercer/internal/anonymous/counter"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// outcome is the result of checking a package.
type outcome struct {
	name   string
	status int // HTTP status of the sealed answer, which only the device can read
}

// These outcomes are the answers to a device. After heard, loaded or no answer, the device sends
// the package again; after all other outcomes it does not.
var (
	counted   = outcome{"counted", http.StatusOK}
	duplicate = outcome{"duplicate", http.StatusAlreadyReported}
	heard     = outcome{"waiting", http.StatusAccepted}
	malformed = outcome{"malformed", http.StatusBadRequest}
	tokenless = outcome{"tokenless", http.StatusUnauthorized}
	forged    = outcome{"forged", http.StatusForbidden}
	other     = outcome{"other iteration", http.StatusConflict}
	late      = outcome{"late", http.StatusGone}
	loaded    = outcome{"crowded", http.StatusServiceUnavailable}
)

func outcomes() []outcome {
	return []outcome{counted, duplicate, heard, malformed, tokenless, forged, other, late, loaded}
}

// window holds the data for checking packages while one iteration is open.
type window struct {
	iteration uint32
	verifier  *privacypass.Verifier
	challenge [sha256.Size]byte
	counter   *counter.Counter
}

// admit checks the content of a request, with the cheap checks first, and waits for its package to be
// on disk, as await describes.
func (g *Gateway) admit(ctx context.Context, content []byte) outcome {
	s, err := secvm.DecodeSpent(content, g.tokenSize)
	switch {
	case errors.Is(err, secvm.ErrTokenless):
		return tokenless
	case err != nil:
		return malformed
	}
	d := g.window.Load()
	if d == nil {
		return late
	}
	t, refused, ok := g.redeem(s, d)
	if !ok {
		return refused
	}
	f, again, err := d.counter.Count(counter.Nonce(t.Nonce[:counter.NonceSize]), s.Package)
	switch {
	case errors.Is(err, counter.ErrOver):
		return late
	case err != nil:
		return malformed
	}
	done := counted
	if again {
		done = duplicate
	}
	return g.await(ctx, f, done)
}

// redeem verifies a token, and checks that its package belongs to the open iteration.
func (g *Gateway) redeem(s secvm.Spent, d *window) (*privacypass.Token, outcome, bool) {
	t, err := privacypass.ParseToken(s.Token)
	if err != nil {
		return nil, tokenless, false
	}
	iteration, known := g.challenges[t.Challenge]
	switch {
	case !known:
		return nil, forged, false
	case iteration < d.iteration:
		return nil, late, false
	case iteration > d.iteration, s.Iteration != d.iteration, s.Tag != g.server.Params().Tag():
		return nil, other, false
	case d.verifier.Verify(t, d.challenge) != nil:
		return nil, forged, false
	}
	return t, outcome{}, true
}

// await waits until a package is on disk, for at most the time Hold. If few packages arrive, the
// record might be written only at the end of the window. If the time is over or the request ends first,
// await returns heard, and the device sends the package again.
func (g *Gateway) await(ctx context.Context, f *counter.Flush, done outcome) outcome {
	if f == nil {
		return done
	}
	hold := time.NewTimer(g.Hold)
	defer hold.Stop()
	select {
	case <-f.Done():
		if f.Err() != nil {
			return loaded
		}
		return done
	case <-hold.C:
	case <-ctx.Done():
	}
	return heard
}
