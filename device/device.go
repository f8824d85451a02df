package device

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Config describes the job in which a device takes part, and holds the device's own settings.
type Config struct {
	// Configuration is the gateway's signed configuration. Unless Limits.Paper is set, the device
	// takes part only if the relay and the issuer have countersigned this configuration.
	Configuration []byte
	Relay, Issuer string // addresses of the relay and the issuer
	// RelayKey and IssuerKey are the public keys that verify statements of the relay and the
	// issuer. Get the keys from relay and issuer, or from somebody whom the device trusts, but not
	// from the gateway. The keys are not needed with Limits.Paper.
	RelayKey, IssuerKey ed25519.PublicKey
	Credential          ed25519.PrivateKey // private key by which the device identifies itself to the issuer
	Store               Store
	Limits              secvm.Limits // zero fields have the values of [secvm.DefaultLimits]
	// Early is the number of iterations whose tokens the device fetches before the first
	// window. 0 means 1.
	Early int
	HTTP  *http.Client // client for all requests; nil means [ohttp.Dial] without a proxy
	// Seeds holds the device's secrets for tests that compare it with a simulated device. If Seeds
	// is nil, the device draws its secrets.
	Seeds *secvm.Seeds
	// Report is called for each window that the device has answered, or has not answered because
	// too few devices were ready. It can be nil.
	Report func(Report)
}

// Report describes how a device answered one window, the time in which the gateway collects
// answers.
type Report struct {
	Iteration    uint32
	TooFew       bool // the device sent no answer, because too few devices were ready
	Acknowledged int  // number of packages that the gateway acknowledged
	Refused      int  // number of packages that the gateway will not count
	Lost         int  // number of packages that were not acknowledged in time
}

// Device takes part in one SecVM job with one record.
type Device struct {
	Config
	job  *secvm.Configuration
	self *secvm.Device

	mu     sync.Mutex // guards the fields below
	state  *state
	random *prg.Stream
}

// requestTime limits the duration of one HTTP request.
const requestTime = 30 * time.Second

// New returns a device whose record has the given features and label. It returns an error if
// the job exceeds the device's limits. In a job without hashing, the names of features are the
// numbers, from 1, of columns in a list that all devices have. The store keeps the values that
// a device draws once.
func New(c Config, features []string, label string) (*Device, error) {
	job, err := secvm.DecodeConfiguration(c.Configuration)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	c.Limits = c.Limits.OrDefaults()
	if err := c.Limits.Check(job.Params); err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	if err := c.checkWitnesses(job); err != nil {
		return nil, err
	}
	if len(c.Credential) != ed25519.PrivateKeySize {
		return nil, errors.New("device: the credential is not an Ed25519 private key")
	}
	d := &Device{Config: c, job: job}
	if d.HTTP == nil {
		if d.HTTP, err = ohttp.Dial("", nil, requestTime); err != nil {
			return nil, err
		}
	}
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	d.random = prg.New(seed, "device")
	return d, d.enrol(features, label)
}

// checkWitnesses returns an error unless a relay and an issuer can confirm the gateway's
// announcements, or Limits.Paper is set.
func (c Config) checkWitnesses(job *secvm.Configuration) error {
	switch {
	case c.Limits.Paper:
		return nil
	case job.TokenType != uint16(privacypass.BlindRSA):
		return errors.New("device: the job's gateway issues the tokens itself and could read this device's record; such a job of mode \"paper\" requires Limits.Paper")
	case len(c.RelayKey) != ed25519.PublicKeySize || len(c.IssuerKey) != ed25519.PublicKeySize:
		return errors.New("device: RelayKey and IssuerKey must both be set; without the keys the device cannot check that relay and issuer countersigned the gateway's announcements")
	case c.RelayKey.Equal(c.IssuerKey):
		return errors.New("device: relay and issuer have the same key; they must be two independent witnesses")
	}
	return nil
}

// enrol builds the device's record. It loads the values that a device draws once, or draws and
// saves them.
func (d *Device) enrol(features []string, label string) error {
	p := d.job.Params
	if err := p.CheckNames(features); err != nil {
		return fmt.Errorf("device: %w", err)
	}
	record := secvm.Record{Label: -1}
	switch label {
	case d.job.Classes[0]:
	case d.job.Classes[1]:
		record.Label = 1
	default:
		return fmt.Errorf("device: the label is %q; it must be %q or %q", label, d.job.Classes[0], d.job.Classes[1])
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

// newState draws the values that a device draws only once per job.
func newState(c *secvm.Configuration, s *secvm.Seeds, whole secvm.Vector) *state {
	return &state{
		role: s.Cast(c.Testers), vector: whole.Sample(c.Params.Room(), s.Random()),
		follower: secvm.Follower{Key: c.Signer, Configuration: c.Hash()},
		answered: -1, tokens: map[uint32][][]byte{},
	}
}

func (d *Device) save() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.saveLocked()
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

// Prepare fetches the first tokens from the issuer. Run also does so.
func (d *Device) Prepare(ctx context.Context) error {
	for i := range min(max(d.Early, 1), d.job.Iterations+1) {
		if err := d.fetch(ctx, uint32(i)); err != nil && !errors.Is(err, errSpent) {
			return err
		}
	}
	return nil
}

// Run takes part in the job until the device has answered the last iteration.
func (d *Device) Run(ctx context.Context) error {
	if err := d.Prepare(ctx); err != nil {
		return err
	}
	for {
		link, weights, err := d.follow(ctx)
		if err != nil {
			return err
		}
		if err := d.answerWindow(ctx, link, weights); err != nil {
			return err
		}
		if int(link.Iteration) == d.job.Iterations && d.answered(link.Iteration) {
			return nil
		}
		// All devices send the same request, each after its own random delay.
		if err := d.sleepUntil(ctx, d.endOf(link).Add(d.grace()+d.draw(d.pause()/2))); err != nil {
			return err
		}
	}
}

// repeatTime returns how long a device repeats a request to a server that is unreachable or busy.
// It is long, because at the start all devices request their first tokens.
func (d *Device) repeatTime() time.Duration {
	return max(3*(d.length()+d.grace()+d.pause()), 10*time.Minute)
}

func (d *Device) length() time.Duration { return time.Duration(d.job.Window) * time.Millisecond }
func (d *Device) grace() time.Duration  { return time.Duration(d.job.Grace) * time.Millisecond }
func (d *Device) pause() time.Duration  { return time.Duration(d.job.Pause) * time.Millisecond }

// endOf returns the end of a window. After the end, the device can repeat packages but sends no new
// ones.
func (d *Device) endOf(l secvm.Link) time.Time { return time.UnixMilli(l.Opens).Add(d.length()) }

// draw returns a uniformly random duration below limit.
func (d *Device) draw(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.random.Uint64n(uint64(limit)))
}

// waitToRepeat waits for about a fortieth of a window before the device repeats a request. The mean
// time is from 20 ms to 5 s.
func (d *Device) waitToRepeat(ctx context.Context) error {
	mean := min(max(d.length()/40, 20*time.Millisecond), 5*time.Second)
	return d.sleepUntil(ctx, time.Now().Add(mean/2+d.draw(mean)))
}

func (d *Device) sleepUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
