package device

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// fate is the outcome of an attempt to send a package.
type fate int

const (
	lost fate = iota
	acknowledged
	refused
)

// answerWindow answers one window, and meanwhile fetches the tokens for the next iteration. It does
// nothing if the window is over or the device has already answered a window of the iteration.
func (d *Device) answerWindow(ctx context.Context, link secvm.Link, weights secvm.Weights) error {
	ends := d.endOf(link)
	if d.answered(link.Iteration) || !time.Now().Before(ends) {
		return nil
	}
	if err := d.fetch(ctx, link.Iteration); err != nil && !errors.Is(err, errSpent) { // fetches nothing if Run or an earlier window has fetched the tokens
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan error, 1)
	go func() { next <- d.fetchNext(ctx, link) }()
	r, err := d.sendAnswer(ctx, link, weights)
	if err != nil {
		return err
	}
	if d.Report != nil {
		d.Report(r)
	}
	if err := <-next; !errors.Is(err, errSpent) {
		return err
	}
	return nil
}

// sendAnswer sends the device's packages for a window if enough devices are ready.
func (d *Device) sendAnswer(ctx context.Context, link secvm.Link, weights secvm.Weights) (Report, error) {
	key, err := ohttp.ParseKeyConfig(link.Key[:])
	if err != nil {
		return Report{}, fmt.Errorf("device: cannot read the key of the window: %w", err)
	}
	enough, err := d.awaitOthers(ctx, link)
	if err != nil || !enough {
		return Report{Iteration: link.Iteration, TooFew: true}, err
	}
	packages, tokens, err := d.commit(link.Iteration, weights)
	if err != nil {
		return Report{}, err
	}
	gateway := &ohttp.Client{Relay: d.Relay, Config: key, Size: secvm.RequestSize, HTTP: d.HTTP}
	return d.sendAll(ctx, link, gateway, packages, tokens), nil
}

// commit computes the answer to a window and removes the iteration's tokens from the state.
// Whatever happens afterwards, the device does not answer the iteration again. Without tokens it
// returns no packages.
func (d *Device) commit(iteration uint32, weights secvm.Weights) ([]secvm.Package, [][]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	packages, err := d.self.Answer(iteration, weights, d.random)
	if err != nil {
		return nil, nil, fmt.Errorf("device: %w", err)
	}
	tokens := d.state.take(iteration)
	n := min(len(tokens), len(packages)) // the last token is not spent, because the device has shown it to the relay
	return packages[:n], tokens[:n], d.saveLocked()
}

// fetchNext fetches the tokens for the next iteration at a random time of the window. The time
// reveals nothing.
func (d *Device) fetchNext(ctx context.Context, link secvm.Link) error {
	if int(link.Iteration) == d.job.Iterations {
		return nil
	}
	begins := time.UnixMilli(link.Opens)
	if err := d.sleepUntil(ctx, begins.Add(d.draw(d.length()))); err != nil {
		return err
	}
	return d.fetch(ctx, link.Iteration+1)
}

// sendAll sends each package at its own random time within the window.
func (d *Device) sendAll(ctx context.Context, link secvm.Link, gateway *ohttp.Client, packages []secvm.Package, tokens [][]byte) Report {
	begins := time.UnixMilli(link.Opens)
	if now := time.Now(); now.After(begins) {
		begins = now
	}
	left := d.endOf(link).Sub(begins)
	times := make([]time.Time, len(packages))
	for i := range times {
		times[i] = begins.Add(d.draw(left))
	}
	slices.SortFunc(times, time.Time.Compare) // sorted times reveal nothing, because the packages are in random order
	ctx, cancel := context.WithDeadline(ctx, d.endOf(link).Add(d.grace()))
	defer cancel()
	fates := make([]fate, len(packages))
	var sending sync.WaitGroup
	for i, p := range packages {
		if d.sleepUntil(ctx, times[i]) != nil {
			break
		}
		sending.Go(func() { fates[i] = d.send(ctx, gateway, secvm.Spent{Token: tokens[i], Package: p}) })
	}
	sending.Wait()
	r := Report{Iteration: link.Iteration}
	for _, f := range fates {
		*map[fate]*int{lost: &r.Lost, acknowledged: &r.Acknowledged, refused: &r.Refused}[f]++
	}
	return r
}

// send repeats a package until the gateway acknowledges or refuses it, or until ctx ends.
func (d *Device) send(ctx context.Context, gateway *ohttp.Client, s secvm.Spent) fate {
	q := &bhttp.Request{Method: http.MethodPost, Scheme: "https", Authority: "gateway", Path: secvm.PackagePath, Content: s.Encode()}
	for {
		r, err := gateway.Do(ctx, q)
		if err == nil {
			switch {
			case r.Status == http.StatusOK, r.Status == http.StatusAlreadyReported:
				return acknowledged
			case r.Status >= 400 && r.Status < 500:
				return refused
			}
		}
		if d.waitToRepeat(ctx) != nil {
			return lost
		}
	}
}

// awaitOthers waits until enough devices are ready to answer a window. It first shows the relay
// that this device has its tokens. Enough devices are ready when issuer and relay each report at
// least the number of devices in the job's cohort. So unless Limits.Paper is set, the device never sends
// alone or with few others. awaitOthers reports whether enough devices were ready before the end of the
// window. It returns true at once with Limits.Paper, or if the device has no token for the relay.
func (d *Device) awaitOthers(ctx context.Context, link secvm.Link) (bool, error) {
	if d.Limits.Paper {
		return true, nil
	}
	presence, links := d.presence(link.Iteration)
	if presence == nil { // the device has no token for the relay and skips the iteration
		return true, nil
	}
	open, cancel := context.WithDeadline(ctx, d.endOf(link))
	defer cancel()
	enough, err := d.waitForOthers(open, link, links, presence)
	if open.Err() != nil && ctx.Err() == nil { // the window ended before enough devices were ready
		return false, nil
	}
	return enough, err
}

// waitForOthers asks relay and issuer repeatedly until both report enough ready devices.
func (d *Device) waitForOthers(ctx context.Context, link secvm.Link, links int, presence []byte) (bool, error) {
	cohort := d.job.Params.Spec().Cohort
	last := time.UnixMilli(link.Opens).Add(-d.draw(d.pause() / 4))
	for {
		if err := d.sendPresence(ctx, presence); err != nil {
			return false, err
		}
		if err := d.sleepUntil(ctx, last); err != nil { // waits until shortly before the window opens, when most devices are ready
			return false, err
		}
		n, err := d.askWitnesses(ctx, link.Hash(), links)
		switch {
		case errors.Is(err, secvm.ErrBehind): // the gateway has announced another window
			return false, nil
		case err != nil:
			return false, err
		case n >= cohort:
			return true, nil
		}
		if err := d.waitToRepeat(ctx); err != nil {
			return false, err
		}
	}
}

// presence returns the token that the device shows to the relay. It also returns the length of the
// history.
func (d *Device) presence(iteration uint32) (token []byte, links int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	tokens := d.state.tokens[iteration]
	if n := d.job.Params.Spec().Packages; len(tokens) > n {
		token = tokens[n]
	}
	return token, d.state.follower.Seen
}

// sendPresence sends the relay a token, which shows that a device is ready. If the relay is
// unreachable, sendPresence returns without an error, because the device tries again later.
func (d *Device) sendPresence(ctx context.Context, token []byte) error {
	u, err := url.JoinPath(d.Relay, secvm.PresencePath)
	if err != nil {
		return fmt.Errorf("device: %w", err)
	}
	_, status, err := d.exchange(ctx, http.MethodPost, u, token, maxRefusal)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && status == http.StatusForbidden:
		return errors.New("device: the relay refused this device's token; check that issuer and relay belong to this job")
	}
	return nil
}

// maxRefusal is the largest number of bytes read of an answer that should have no content.
const maxRefusal = 1 << 10
