package device

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// fate tells how the sending of a package ended.
type fate int

const (
	lost fate = iota
	acknowledged
	refused
)

// window answers one window, unless the device has answered its iteration or
// comes too late, and fetches the tokens for the next one meanwhile.
func (d *Device) window(ctx context.Context, link secvm.Link, weights secvm.Weights) error {
	ends := d.ends(link)
	if d.answered(link.Iteration) || !time.Now().Before(ends) {
		return nil
	}
	if err := d.fetch(ctx, link.Iteration); err != nil && !errors.Is(err, errSpent) { // has been done, if all went well
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan error, 1)
	go func() { next <- d.fetchNext(ctx, link) }()
	r, err := d.answer(ctx, link, weights)
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

// answer answers a window when enough devices have come.
func (d *Device) answer(ctx context.Context, link secvm.Link, weights secvm.Weights) (Report, error) {
	key, err := ohttp.ParseKeyConfig(link.Key[:])
	if err != nil {
		return Report{}, fmt.Errorf("device: the window's key: %w", err)
	}
	enough, err := d.gather(ctx, link)
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

// commit makes the answer to a window and takes its tokens, once: whatever
// happens afterwards, the device does not answer again. Without tokens it has no
// answer.
func (d *Device) commit(iteration uint32, weights secvm.Weights) ([]secvm.Package, [][]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	packages, err := d.self.Answer(iteration, weights, d.random)
	if err != nil {
		return nil, nil, fmt.Errorf("device: %w", err)
	}
	tokens := d.state.take(iteration)
	n := min(len(tokens), len(packages)) // the last token was for the relay
	return packages[:n], tokens[:n], d.saveLocked()
}

// fetchNext fetches the tokens for the next iteration at a time of the window
// that tells nothing.
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

// sendAll sends every package at a time of its own.
func (d *Device) sendAll(ctx context.Context, link secvm.Link, gateway *ohttp.Client, packages []secvm.Package, tokens [][]byte) Report {
	begins := time.UnixMilli(link.Opens)
	if now := time.Now(); now.After(begins) {
		begins = now
	}
	left := d.ends(link).Sub(begins)
	times := make([]time.Time, len(packages))
	for i := range times {
		times[i] = begins.Add(d.draw(left))
	}
	slices.SortFunc(times, time.Time.Compare) // the packages are in random order
	ctx, cancel := context.WithDeadline(ctx, d.ends(link).Add(d.grace()))
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

// send sends a package until somebody reports its fate.
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
		if d.again(ctx) != nil {
			return lost
		}
	}
}
