package device

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Config says what to take part in, and how.
type Config struct {
	// Configuration is the gateway's, signed. Get it from where other devices get
	// it too: a gateway that gives every device its own knows them apart.
	Configuration []byte
	Relay, Issuer string             // addresses
	Credential    ed25519.PrivateKey // by which the issuer knows the device
	Store         Store
	Limits        secvm.Limits // zero: [secvm.DefaultLimits]
	// Early is for how many iterations tokens are fetched before the first window;
	// 0: 1.
	Early int
	HTTP  *http.Client // nil: [ohttp.Dial] without a proxy
	// Seeds are the device's secrets, for tests that compare it with a simulated
	// one; nil: drawn.
	Seeds *secvm.Seeds
	// Report is told how each window went; may be nil.
	Report func(Report)
}

// Report is how a window went.
type Report struct {
	Iteration    uint32
	Acknowledged int // packages
	Refused      int // packages that the gateway will not count
	Lost         int // packages that nobody has acknowledged in time
}

// Device is a record that takes part in one job.
type Device struct {
	Config
	job    *secvm.Configuration
	client *ohttp.Client
	self   *secvm.Device

	mu     sync.Mutex // of what follows
	state  *state
	random *prg.Stream
}

// requestTime bounds one request.
const requestTime = 30 * time.Second

// New checks the job against the device's limits, and makes its record of the
// names of its features and its label. What has been drawn once is in the store.
func New(c Config, features []string, label string) (*Device, error) {
	job, err := secvm.DecodeConfiguration(c.Configuration)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	if c.Limits == (secvm.Limits{}) {
		c.Limits = secvm.DefaultLimits()
	}
	if err := c.Limits.Check(job.Params); err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	if len(c.Credential) != ed25519.PrivateKeySize {
		return nil, errors.New("device: the credential is no key of Ed25519")
	}
	d := &Device{Config: c, job: job}
	if d.HTTP == nil {
		if d.HTTP, err = ohttp.Dial("", nil, requestTime); err != nil {
			return nil, err
		}
	}
	keys, err := ohttp.ParseKeys(job.Keys)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	d.client = &ohttp.Client{Relay: c.Relay, Config: keys[0], Size: secvm.RequestSize, HTTP: d.HTTP}
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	d.random = prg.New(seed, "device")
	return d, d.enrol(features, label)
}

// enrol makes the record, and draws what is drawn once.
func (d *Device) enrol(features []string, label string) error {
	p := d.job.Params
	record := secvm.Record{Label: -1}
	switch label {
	case d.job.Classes[0]:
	case d.job.Classes[1]:
		record.Label = 1
	default:
		return fmt.Errorf("device: label %q; the classes are %q and %q", label, d.job.Classes[0], d.job.Classes[1])
	}
	saved, err := d.Store.Load()
	if err != nil {
		return fmt.Errorf("device: %w", err)
	}
	if saved == nil {
		seeds := d.Seeds
		if seeds == nil {
			if seeds, err = drawSeeds(); err != nil {
				return err
			}
		}
		d.state = newState(d.job, seeds, p.Vector(features))
		err = d.save()
	} else {
		d.state, err = decodeState(d.job, saved)
	}
	if err != nil {
		return err
	}
	record.Vector = d.state.vector
	d.self, err = secvm.NewDevice(p, record, d.state.role)
	if err != nil {
		return fmt.Errorf("device: %w", err)
	}
	return nil
}

func drawSeeds() (*secvm.Seeds, error) {
	s := &secvm.Seeds{}
	for _, b := range [][]byte{s.Role[:], s.Own[:]} {
		if _, err := rand.Read(b); err != nil {
			return nil, fmt.Errorf("device: %w", err)
		}
	}
	return s, nil
}

// Prepare fetches the first tokens, for which the issuer is enough. Run does so
// too.
func (d *Device) Prepare(ctx context.Context) error {
	for i := range min(max(d.Early, 1), d.job.Iterations+1) {
		if err := d.fetch(ctx, uint32(i)); err != nil && !errors.Is(err, errSpent) {
			return err
		}
	}
	return nil
}

// Run takes part until the last window is over.
func (d *Device) Run(ctx context.Context) error {
	if err := d.Prepare(ctx); err != nil {
		return err
	}
	if err := d.compare(ctx); err != nil {
		return err
	}
	for {
		link, weights, err := d.follow(ctx)
		if err != nil {
			return err
		}
		if err := d.window(ctx, link, weights); err != nil {
			return err
		}
		if int(link.Iteration) == d.job.Iterations && d.answered(link.Iteration) {
			return nil
		}
		// Devices that ask at different times ask for the same.
		if err := d.sleepUntil(ctx, d.ends(link).Add(d.grace()+d.draw(d.pause()/2))); err != nil {
			return err
		}
	}
}

// ErrConfiguration is a gateway that has told the device another configuration
// than it tells through the relay.
var ErrConfiguration = errors.New("device: through the relay the gateway tells another configuration than the one that this device was given; do not take part, and compare with other devices")

// compare asks, as one of many, for the configuration.
func (d *Device) compare(ctx context.Context) error {
	b, err := d.get(ctx, secvm.ConfigurationPath)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, d.Configuration) {
		return ErrConfiguration
	}
	return nil
}

// patience is how long a device asks a gateway or an issuer that is not there, or
// that many others ask: at the beginning all of them want their first tokens.
func (d *Device) patience() time.Duration {
	return max(3*(d.length()+d.grace()+d.pause()), 10*time.Minute)
}

// get asks the gateway until it answers.
func (d *Device) get(ctx context.Context, path string) ([]byte, error) {
	deadline := time.Now().Add(d.patience())
	for {
		r, err := d.client.Do(ctx, &bhttp.Request{Method: http.MethodGet, Scheme: "https", Authority: "gateway", Path: path})
		switch {
		case err == nil && r.Status == http.StatusOK:
			return r.Content, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			err = fmt.Errorf("status %d", r.Status)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("device: the gateway does not answer through %s: %w", d.Relay, err)
		}
		if err := d.again(ctx); err != nil {
			return nil, err
		}
	}
}

// follow asks for the history until it has a window that is new.
func (d *Device) follow(ctx context.Context) (secvm.Link, secvm.Weights, error) {
	none := secvm.Weights{}
	for {
		b, err := d.get(ctx, secvm.AnnouncementPath)
		if err != nil {
			return secvm.Link{}, none, err
		}
		a, err := secvm.DecodeAnnouncement(d.job.Params, b)
		if err != nil {
			return secvm.Link{}, none, err
		}
		w, err := d.job.Params.DecodeWeights(a.Weights)
		if err != nil {
			return secvm.Link{}, none, err
		}
		link, err := d.move(a.Chain, w)
		if !errors.Is(err, secvm.ErrStale) {
			return link, w, err
		}
		if err := d.sleepUntil(ctx, time.Now().Add(d.pause()/4+d.draw(d.pause()/4)+time.Millisecond)); err != nil {
			return secvm.Link{}, none, err
		}
	}
}

// move moves the device's memory of the history on.
func (d *Device) move(c secvm.Chain, w secvm.Weights) (secvm.Link, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	link, err := d.state.follower.Follow(c, w.Values())
	if err != nil {
		return link, err
	}
	return link, d.saveLocked()
}
