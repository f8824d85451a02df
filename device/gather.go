package device

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// gather shows the relay that this device has its tokens for a window, and waits
// until issuer and relay both know as many devices as the job's cohort has: alone,
// or with a few, a device sends nothing. It says whether they have come before the
// window's end.
func (d *Device) gather(ctx context.Context, link secvm.Link) (bool, error) {
	if d.Limits.Paper {
		return true, nil
	}
	presence, links := d.presence(link.Iteration)
	if presence == nil { // the issuer has none left for this device, which sits the iteration out
		return true, nil
	}
	open, cancel := context.WithDeadline(ctx, d.ends(link))
	defer cancel()
	enough, err := d.waitForOthers(open, link, links, presence)
	if open.Err() != nil && ctx.Err() == nil { // the window is over
		return false, nil
	}
	return enough, err
}

// waitForOthers asks both witnesses until they know enough devices.
func (d *Device) waitForOthers(ctx context.Context, link secvm.Link, links int, presence []byte) (bool, error) {
	cohort := d.job.Params.Spec().Cohort
	last := time.UnixMilli(link.Opens).Add(-d.draw(d.pause() / 4))
	for {
		if err := d.appear(ctx, presence); err != nil {
			return false, err
		}
		if err := d.sleepUntil(ctx, last); err != nil { // when most have come
			return false, err
		}
		n, err := d.witnesses(ctx, link.Hash(), links)
		switch {
		case errors.Is(err, secvm.ErrBehind): // another window has been announced
			return false, nil
		case err != nil:
			return false, err
		case n >= cohort:
			return true, nil
		}
		if err := d.again(ctx); err != nil {
			return false, err
		}
	}
}

// presence returns the token that is for the relay, and the length of the history.
func (d *Device) presence(iteration uint32) (token []byte, links int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	tokens := d.state.tokens[iteration]
	if n := d.job.Params.Spec().Packages; len(tokens) > n {
		token = tokens[n]
	}
	return token, d.state.follower.Seen
}

// appear shows the relay a token. A relay that is not there is asked for nothing:
// the device comes back.
func (d *Device) appear(ctx context.Context, token []byte) error {
	u, err := url.JoinPath(d.Relay, secvm.PresencePath)
	if err != nil {
		return fmt.Errorf("device: %w", err)
	}
	_, status, err := d.exchange(ctx, http.MethodPost, u, token, maxRefusal)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && status == http.StatusForbidden:
		return errors.New("device: the relay does not take this device's token: the issuer or the relay is not the job's")
	}
	return nil
}

// maxRefusal bounds an answer that says nothing.
const maxRefusal = 1 << 10
