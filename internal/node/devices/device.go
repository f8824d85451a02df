package devices

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// DeviceConfig holds the settings and resources of a device.
type DeviceConfig struct {
	Enrolment *Enrolment
	Server    string             // URL of the server
	Key       ed25519.PrivateKey // the private key of an enrolled public key
	Table     method.Table       // the person's own data
	Limits    method.Limits      // limits that every job must meet
	Vault     vault.Vault        // vault of this device only; its ledger must outlive every job
	HTTP      *http.Client
	Patience  time.Duration // how long the device waits for a server that does not answer
	// Turns, if not nil, bounds the number of machines in this process that compute at the same
	// time.
	Turns chan struct{}
	// Leaves, if not nil, reports whether a simulated device vanishes before it sends a message of
	// the given kind in the given step.
	Leaves func(step, kind string) bool
	// Draw, if not nil, provides the device's random values for the job, so that tests can compare
	// with a simulation. Otherwise the device derives them from its key.
	Draw   func(label string) [32]byte
	Logger *slog.Logger
}

// Device is one person's side of a job.
type Device struct {
	DeviceConfig
	line    *line
	plan    []method.Step
	passing bool // true if the job goes on with a device that has missed sessions (see [method.DevicesOf])
	party   *method.PartySide
	kept    sessions
	before  map[int][]byte // announcements that an earlier process received, by step
	// The last session that the device finished.
	last struct {
		step    int
		session protocol.SessionID
	}
}

// Report describes a device's progress in a job.
type Report struct {
	Finished    bool
	Vanished    bool   // true if the device vanished because Leaves returned true
	Left        string // name of the device's last step if the device did not finish its session, otherwise ""
	Sessions    int    // number of sessions that this process finished
	Sent        uint64 // bytes of bodies that the device sent
	Received    uint64
	Recommended []method.Recommendation
	Model       func(io.Writer) error // writes the model that the device received; nil if the job gives devices no model
}

// NewDevice returns a device that can run a job. It refuses a job outside the limits. It sends
// nothing.
func NewDevice(c DeviceConfig) (*Device, error) {
	place, err := c.Enrolment.Place(c.Key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	if err := c.Limits.CheckJob(c.Enrolment.Job); err != nil {
		return nil, fault.Forbidden(err)
	}
	d := &Device{DeviceConfig: c}
	d.line = &line{enrolment: c.Enrolment, server: c.Server, name: Name(place), key: c.Key, http: c.HTTP, patience: c.Patience}
	m, plan, passing, err := c.Enrolment.plan()
	if err != nil {
		return nil, err
	}
	d.plan, d.passing = plan, passing
	instance := c.Enrolment.instance()
	instance.Limits = c.Limits
	if d.party, err = m.Party(instance, d.line.name, d.Table); err != nil {
		return nil, fault.BadInput(err)
	}
	if err := d.setDraw(); err != nil {
		return nil, fault.BadInput(err)
	}
	open, _, err := c.Vault.Open() // ignore lost sessions, whose sums the ledger still contains
	if err != nil {
		return nil, err
	}
	d.kept = reopened(open)
	d.before, err = toldBefore(open, len(d.plan))
	return d, err
}

// toldBefore returns the announcements that an earlier process stored, by step.
func toldBefore(open []vault.Session, steps int) (map[int][]byte, error) {
	before := make(map[int][]byte)
	for _, k := range open {
		b, err := k.Get(vault.Proposal)
		if err != nil {
			return nil, err
		}
		t, err := decodeTold(b)
		if err != nil {
			return nil, err
		}
		if t.step >= steps {
			return nil, fmt.Errorf("devices: the vault has a session of step %d, but the job has only %d steps", t.step, steps)
		}
		before[t.step] = t.announced
	}
	return before, nil
}

// setDraw tells the party to derive its random values from the device's key and the job. So each
// process draws the same values.
func (d *Device) setDraw() error {
	if d.party.Draw == nil {
		return nil
	}
	secret := d.Draw
	if secret == nil {
		secret = func(label string) [32]byte {
			return prg.Derive([32]byte(d.Key.Seed()), "crowd/draw", d.Enrolment.sum[:], []byte(label))
		}
	}
	return d.party.Draw(secret)
}

// Run takes part in the job until the job has ended for this device. A device that ctx stops can
// continue in another process, on the same vault, while the server waits. An error says why a
// device gave up, or was left out.
func (d *Device) Run(ctx context.Context) (*Report, error) {
	r := &Report{}
	err := d.runSteps(ctx, r)
	r.Sent, r.Received = d.line.sent.Load(), d.line.received.Load()
	switch {
	case errors.Is(err, errVanished):
		r.Vanished = true
		return r, nil
	case errors.Is(err, errMoved):
		return r, errors.Join(
			fmt.Errorf("devices: the job continued without device %s from step %s on: %w", d.line.name, r.Left, err),
			d.forget("the job went on without this device"))
	case err != nil:
		return r, err
	}
	d.farewell(ctx)
	r.Finished = true
	if recommended := d.party.Recommended; recommended != nil {
		r.Recommended = recommended()
	}
	r.Model = d.party.Model
	return r, nil
}

// runSteps runs the job's steps in order. If the job lets devices miss sessions, a missed session is
// an error only if it is the last one.
func (d *Device) runSteps(ctx context.Context, r *Report) (missed error) {
	for i := d.firstStep(); i < len(d.plan); i++ {
		step := d.plan[i]
		if step.Session == nil {
			continue
		}
		r.Left = step.Name
		announced, err := d.announced(ctx, i)
		if over := (passed{}); errors.As(err, &over) {
			i, missed = over.at-1, err
			continue
		}
		if err != nil {
			return err
		}
		switch missed = d.join(ctx, i, announced); {
		case missed == nil:
			r.Left = ""
			r.Sessions++
		case !d.passing || !errors.Is(missed, errMoved) && !errors.Is(missed, errVanished):
			return missed
		}
	}
	return missed
}

// firstStep returns the index of the step at which this process begins. If the job lets devices miss
// sessions, the first step is the last step of an earlier process.
func (d *Device) firstStep() (step int) {
	if d.passing {
		for i := range d.before {
			step = max(step, i)
		}
	}
	return step
}

// announced returns a step's announcement. It asks the server unless an earlier process has stored
// the announcement.
func (d *Device) announced(ctx context.Context, step int) ([]byte, error) {
	if b, known := d.before[step]; known {
		return b, nil
	}
	return d.line.step(ctx, step)
}

// join takes part in a step's session. It returns errMoved if the device is not a member of the session.
func (d *Device) join(ctx context.Context, i int, announced []byte) error {
	next, err := d.plan[i].Session.After(d.party.Public(), announced)
	if err != nil {
		return err
	}
	if !next.Has(d.line.name) {
		return fmt.Errorf("%w: some messages of this device did not arrive in an earlier step", errMoved)
	}
	return d.runSession(ctx, i, next, announced)
}

// runSession runs the device's part of one session.
func (d *Device) runSession(ctx context.Context, i int, next *method.Session, announced []byte) error {
	step := d.plan[i].Name
	opened, err := protocol.NewSession(d.Enrolment.descriptor(next, i))
	if err != nil {
		return err
	}
	if err := d.Vault.Unclaimed(opened.ID(), next.Claims...); err != nil {
		return fmt.Errorf("devices: this device has already contributed to this sum, and can contribute only once: %w", err)
	}
	kept, err := d.kept.openOrCreate(d.Vault, opened.ID(), told{i, announced}.encode())
	if err != nil {
		return fmt.Errorf("devices: step %s: %w", step, err)
	}
	if d.passing {
		if err := d.kept.destroyAllBut(opened.ID(), endedWell); err != nil {
			return err
		}
	}
	run, err := d.party.Build(i, method.Setup{
		Setup: protocol.Setup{Session: opened, Self: d.line.name, Seed: kept.Seed()}, Announced: announced, Key: d.Enrolment.Key,
		Sign: func(message []byte) []byte { return ed25519.Sign(d.Key, message) },
	})
	if err != nil {
		return err
	}
	if err := d.drive(ctx, i, next, opened, kept, run); err != nil {
		return fmt.Errorf("devices: step %s: %w", step, err)
	}
	d.last.step, d.last.session = i, opened.ID()
	if d.Turns != nil { // wait for a turn, because Finish may train a model
		d.Turns <- struct{}{}
		defer func() { <-d.Turns }()
	}
	return run.Finish()
}

// forget destroys the secrets of the job and keeps the ledger.
func (d *Device) forget(outcome string) error { return d.kept.destroy(outcome) }

// Close destroys the secrets of a job that has ended for this device.
func (d *Device) Close() error { return d.forget(endedWell) }
