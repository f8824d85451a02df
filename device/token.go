package device

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// fetch gets the tokens for an iteration from the issuer, unless the device has got them
// already.
func (d *Device) fetch(ctx context.Context, iteration uint32) error {
	if d.has(iteration) {
		return nil
	}
	c, err := privacypass.NewClient(privacypass.Type(d.job.TokenType), d.job.TokenKeys[iteration])
	if err != nil {
		return fmt.Errorf("device: cannot use the key of the issuer: %w", err)
	}
	challenge := d.job.PackageToken(iteration)
	q := secvm.TokenRequest{Device: d.Credential.Public().(ed25519.PublicKey), Iteration: iteration}
	pending := make([]*privacypass.Pending, d.job.Params.Tokens())
	for i := range pending {
		challenge := challenge
		if i == d.job.Params.Spec().Packages {
			challenge = d.job.PresenceToken(iteration)
		}
		blinded, p, err := c.Request(challenge)
		if err != nil {
			return fmt.Errorf("device: %w", err)
		}
		q.Blinded, pending[i] = append(q.Blinded, blinded), p
	}
	answer, err := d.ask(ctx, q)
	if err != nil {
		return err
	}
	return d.saveTokens(iteration, pending, answer)
}

// errSpent reports that the issuer has already answered another request of this device for the
// iteration. The tokens of that request are lost, so the device skips the iteration.
var errSpent = errors.New("device: the issuer has already given this device the tokens for the iteration")

// ask repeats a request for tokens until the issuer answers. The issuer answers the same
// request any number of times.
func (d *Device) ask(ctx context.Context, q secvm.TokenRequest) ([]byte, error) {
	deadline := time.Now().Add(d.repeatTime())
	signer := request.Signer{Purpose: secvm.TokenPurpose, Of: d.job.TokenKeys[q.Iteration]}
	for {
		signed, err := signer.Post(ctx, d.Issuer+"?"+q.Query(), d.Credential, q.Body())
		if err != nil {
			return nil, fmt.Errorf("device: %w", err)
		}
		answer, status, err := d.do(signed, maxAnswer)
		switch {
		case status == http.StatusOK && err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case status == http.StatusConflict:
			return nil, errSpent
		case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
			return nil, fmt.Errorf("device: the issuer refused to give this device tokens: status %d, %s", status, http.StatusText(status))
		case time.Now().After(deadline):
			return nil, unusable("the issuer "+d.Issuer, status, err)
		}
		if err := d.waitToRepeat(ctx); err != nil {
			return nil, err
		}
	}
}

// unusable returns the error for a server that gave no usable answer in time: err, or the status if the
// last answer came without an error.
func unusable(server string, status int, err error) error {
	if err == nil {
		return fmt.Errorf("device: %s gives no usable answer: status %d, %s", server, status, http.StatusText(status))
	}
	return fmt.Errorf("device: %s gives no usable answer: %w", server, err)
}

// maxAnswer is the largest number of bytes of an issuer's answer.
const maxAnswer = 8 << 20

// exchange sends a request to the issuer or the relay. It reads at most maxBytes bytes of the
// answer.
func (d *Device) exchange(ctx context.Context, method, address string, body []byte, maxBytes int) (answer []byte, status int, err error) {
	q, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, 0, fmt.Errorf("device: %w", err)
	}
	q.Header = http.Header{"User-Agent": {""}}
	if method == http.MethodPost {
		q.Header.Set("Content-Type", "application/octet-stream")
	}
	return d.do(q, maxBytes)
}

// do sends one HTTP request and reads at most maxBytes bytes of the answer.
func (d *Device) do(q *http.Request, maxBytes int) (answer []byte, status int, err error) {
	r, err := d.HTTP.Do(q)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = r.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(r.Body, int64(maxBytes)))
	return answer, r.StatusCode, err
}

// saveTokens computes tokens from an issuer's answer and saves them.
func (d *Device) saveTokens(iteration uint32, pending []*privacypass.Pending, answer []byte) error {
	if len(answer)%len(pending) != 0 {
		return fmt.Errorf("device: the issuer's answer has %d bytes, which cannot be divided among %d tokens", len(answer), len(pending))
	}
	size := len(answer) / len(pending)
	tokens := make([][]byte, len(pending))
	for i, p := range pending {
		t, err := p.Finish(answer[i*size:][:size])
		if err != nil {
			return fmt.Errorf("device: %w", err)
		}
		tokens[i] = t.Encode()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.tokens[iteration] = tokens
	return d.saveLocked()
}

func (d *Device) has(iteration uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.answered >= int64(iteration) || d.state.tokens[iteration] != nil
}
