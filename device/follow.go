package device

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// follow requests the gateway's history until it has a new window that relay and issuer have
// countersigned. With Limits.Paper it does not ask them.
func (d *Device) follow(ctx context.Context) (secvm.Link, secvm.Weights, error) {
	for {
		a, weights, err := d.fetchAnnouncement(ctx)
		if err != nil {
			return secvm.Link{}, secvm.Weights{}, err
		}
		link, err := d.confirm(ctx, a.Chain, weights)
		wait := d.waitToRepeat
		switch {
		case errors.Is(err, secvm.ErrStale):
			wait = func(ctx context.Context) error {
				return d.sleepUntil(ctx, time.Now().Add(d.pause()/8+d.draw(d.pause()/8)+time.Millisecond))
			}
		case !errors.Is(err, secvm.ErrBehind):
			return link, weights, err
		}
		if err := wait(ctx); err != nil {
			return secvm.Link{}, secvm.Weights{}, err
		}
	}
}

// fetchAnnouncement fetches the gateway's announcement from the relay.
func (d *Device) fetchAnnouncement(ctx context.Context) (secvm.Announcement, secvm.Weights, error) {
	var w secvm.Weights
	b, err := d.getPublic(ctx, d.Relay, secvm.AnnouncementPath, secvm.AnnouncementLimit(d.job.Params))
	if err != nil {
		return secvm.Announcement{}, w, err
	}
	a, err := secvm.DecodeAnnouncement(d.job.Params, b)
	if err == nil {
		w, err = d.job.Params.DecodeWeights(a.Weights)
	}
	return a, w, err
}

// confirm appends new windows of the history to the device's state. It requires that the new
// history is in order and, unless Limits.Paper is set, countersigned.
func (d *Device) confirm(ctx context.Context, c secvm.Chain, w secvm.Weights) (secvm.Link, error) {
	d.mu.Lock()
	next := d.state.follower
	d.mu.Unlock()
	link, err := next.Follow(c, w.Values())
	if err != nil {
		return secvm.Link{}, err
	}
	if _, err := d.askWitnesses(ctx, c[len(c)-1].Hash(), len(c)); err != nil {
		return secvm.Link{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.follower = next
	return link, d.saveLocked()
}

// askWitnesses asks relay and issuer to confirm the gateway's history of windows. Each of the two
// states how many devices are ready; askWitnesses returns the smaller number. With Limits.Paper
// there are no witnesses to ask.
func (d *Device) askWitnesses(ctx context.Context, head [32]byte, links int) (devices int, err error) {
	if d.Limits.Paper {
		return 0, nil
	}
	for i, w := range []struct {
		name, address string
		key           ed25519.PublicKey
	}{{"relay", d.Relay, d.RelayKey}, {"issuer", d.Issuer, d.IssuerKey}} {
		b, err := d.getPublic(ctx, w.address, secvm.StatementPath, secvm.StatementSize)
		if err != nil {
			return 0, err
		}
		s, err := secvm.DecodeStatement(b, w.key)
		if err == nil {
			err = s.Names(d.job.Hash(), head, links)
		}
		if err != nil {
			return 0, fmt.Errorf("device: cannot use the statement of the %s: %w", w.name, err)
		}
		if i == 0 || int(s.Devices) < devices {
			devices = int(s.Devices)
		}
	}
	return devices, nil
}

// getPublic repeats a request for public data until the server answers or repeatTime is over.
func (d *Device) getPublic(ctx context.Context, address, path string, most int) ([]byte, error) {
	u, err := url.JoinPath(address, path)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	deadline := time.Now().Add(d.repeatTime())
	for {
		b, status, err := d.exchange(ctx, http.MethodGet, u, nil, most)
		switch {
		case err == nil && status == http.StatusOK:
			return b, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Now().After(deadline):
			return nil, unusable(u, status, err)
		}
		if err := d.waitToRepeat(ctx); err != nil {
			return nil, err
		}
	}
}
