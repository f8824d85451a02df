package crowd

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// DeviceConfig holds the settings and resources of a device.
type DeviceConfig struct {
	Enrolment *Enrolment
	Server    string             // address
	Key       ed25519.PrivateKey // enrolled
	Table     method.Table       // the person's own data
	Floors    method.Floors      // the least that the device asks of a job
	Vault     vault.Vault        // of this device alone: its ledger outlives every job
	HTTP      *http.Client
	Patience  time.Duration // with a server that does not answer
	// Turns, if not nil, holds a place for each machine of this process that may compute.
	Turns chan struct{}
	// Leaves, if not nil, makes the device of a rehearsal vanish before it sends a message of
	// a kind in a step.
	Leaves func(step, kind string) bool
	Logger *slog.Logger
}

// Device is one person's side of a job.
type Device struct {
	DeviceConfig
	line  *line
	plan  []method.Step
	party method.Party
	kept  map[protocol.SessionID]vault.Session
}

// Report describes a device's way through a job.
type Report struct {
	Finished    bool
	Vanished    bool   // as it was told
	Left        string // the step that went on without it, or ""
	Sent        uint64 // bytes
	Received    uint64
	Recommended []method.Recommendation
}

// NewDevice checks a job before anything is sent. A job below the floors is refused.
func NewDevice(c DeviceConfig) (*Device, error) {
	place, err := c.Enrolment.Place(c.Key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	if err := c.Floors.CheckJob(c.Enrolment.Job); err != nil {
		return nil, fault.Forbidden(err)
	}
	d := &Device{DeviceConfig: c, kept: make(map[protocol.SessionID]vault.Session)}
	d.line = &line{enrolment: c.Enrolment, server: c.Server, name: Name(place), key: c.Key, http: c.HTTP, patience: c.Patience}
	m, plan, err := c.Enrolment.plan()
	if err != nil {
		return nil, err
	}
	d.plan = plan
	if d.party, err = m.Party(c.Enrolment.cast(), d.line.name, c.Table); err != nil {
		return nil, fault.BadInput(err)
	}
	open, _, err := c.Vault.Open() // the ledger keeps what a lost session had added
	for _, k := range open {
		d.kept[k.ID()] = k
	}
	return d, err
}

// Run takes part until the job is over for this device. A device that ctx stops can go on in
// another process, on the same vault, while the server waits.
func (d *Device) Run(ctx context.Context) (*Report, error) {
	r := &Report{}
	err := d.walk(ctx, r)
	r.Sent, r.Received = d.line.sent.Load(), d.line.received.Load()
	switch {
	case errors.Is(err, errVanished):
		r.Vanished = true
		return r, nil
	case errors.Is(err, errMoved):
		return r, d.forget("the job went on without this device")
	case err != nil:
		return r, err
	case r.Left == "":
		r.Finished = true
		if p, is := d.party.(method.Recommender); is {
			r.Recommended = p.Recommended()
		}
	}
	return r, nil
}

// walk takes one step after the other.
func (d *Device) walk(ctx context.Context, r *Report) error {
	for i, step := range d.plan {
		if step.Session == nil {
			continue
		}
		r.Left = step.Name
		announced, err := d.line.step(ctx, i)
		if err != nil {
			return err
		}
		next, err := step.Session.After(d.party.Known(), announced)
		if err != nil {
			return err
		}
		if !next.Has(d.line.name) {
			return errMoved
		}
		if err := d.take(ctx, i, step.Name, next, announced); err != nil {
			return err
		}
	}
	r.Left = ""
	return nil
}

// take takes part in one session.
func (d *Device) take(ctx context.Context, i int, step string, next *method.Session, announced []byte) error {
	opened, err := protocol.NewSession(d.Enrolment.descriptor(next, i))
	if err != nil {
		return err
	}
	if err := d.Vault.Unclaimed(opened.ID(), next.Claims...); err != nil {
		return fmt.Errorf("crowd: this device has added its list before, and does so once: %w", err)
	}
	kept, err := take(d.Vault, d.kept, opened.ID(), step)
	if err != nil {
		return err
	}
	d.kept[opened.ID()] = kept
	run, err := d.party.Machine(step, method.Setup{
		Setup: protocol.Setup{Session: opened, Self: d.line.name, Seed: kept.Seed()}, Announced: announced, Key: d.Enrolment.Key,
		Sign: func(message []byte) []byte { return ed25519.Sign(d.Key, message) },
	})
	if err != nil {
		return err
	}
	if err := d.drive(ctx, step, next, opened, kept, run); err != nil {
		return fmt.Errorf("crowd: step %s: %w", step, err)
	}
	if d.Turns != nil { // a device may learn from what it was told
		d.Turns <- struct{}{}
		defer func() { <-d.Turns }()
	}
	return run.Finish()
}

// forget destroys the secrets of the job. The ledger stays.
func (d *Device) forget(outcome string) error {
	var errs error
	for id, k := range d.kept {
		errs = errors.Join(errs, k.Destroy(outcome))
		delete(d.kept, id)
	}
	return errs
}

// Close destroys the secrets of a job that is over for this device.
func (d *Device) Close() error { return d.forget(ended) }
