// Package simulator runs many devices in one process: one device for each of some rows of a table. Each
// device has its own credential, state and secrets. The package serves tests, demonstrations,
// and households that share a computer.
package simulator

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/device"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// Config selects the rows whose devices run, and holds the settings of these devices. The first
// device owns row First, and each further device owns the next row.
type Config struct {
	Home                string // folder of the devices' states
	Identity            *identity.Identity
	Rows                *dataset.Set
	First, Count        int
	Configuration       []byte
	Relay, Issuer       string
	RelayKey, IssuerKey ed25519.PublicKey // keys that verify the statements of relay and issuer
	HTTP                *http.Client
	Limits              secvmmachines.Limits
	Early               int
	// Seed fixes the devices' random draws, so that a run can be compared with a simulation. If
	// Seed is nil, the draws are truly random.
	Seed   func(label string) [32]byte
	Logger *slog.Logger
}

// Result counts the outcomes over all devices and windows.
type Result struct {
	Devices      int `json:"devices"`
	Answers      int `json:"answers"` // number of windows that a device has answered
	TooFew       int `json:"too_few"` // number of windows that a device has skipped because too few devices were ready
	Acknowledged int `json:"acknowledged"`
	Refused      int `json:"refused"`
	Lost         int `json:"lost"`
}

// Credential derives the signing key by which the issuer recognises the device of a row.
func Credential(id *identity.Identity, row int) ed25519.PrivateKey {
	seed := id.Derive("device", uint32(row))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Run runs the devices until each of them has answered the last iteration.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.First < 0 || c.Count < 1 || c.First+c.Count > c.Rows.X.Rows() {
		return nil, fault.BadInputf("%s has only %d rows, so devices cannot own rows %d to %d, counted from 0", c.Rows.Name, c.Rows.X.Rows(), c.First, c.First+c.Count-1)
	}
	if c.Rows.Labels == nil {
		return nil, fault.BadInputf("%s has no labels; name the column of labels with --label", c.Rows.Name)
	}
	if err := disk.MakeDir(filepath.Join(c.Home, "devices")); err != nil {
		return nil, err
	}
	r := &Result{Devices: c.Count}
	var mu sync.Mutex
	devices := make([]*device.Device, c.Count)
	for i := range devices {
		d, err := c.device(c.First+i, func(one device.Report) {
			mu.Lock()
			defer mu.Unlock()
			r.add(one)
		})
		if err != nil {
			return nil, fault.BadInput(err)
		}
		devices[i] = d
	}
	if err := all(devices, func(d *device.Device) error { return d.Prepare(ctx) }); err != nil {
		return nil, err
	}
	c.Logger.Info("the devices have their first tokens", "devices", c.Count)
	return r, all(devices, func(d *device.Device) error { return d.Run(ctx) })
}

func (r *Result) add(one device.Report) {
	if one.TooFew {
		r.TooFew++
		return
	}
	r.Answers++
	r.Acknowledged += one.Acknowledged
	r.Refused += one.Refused
	r.Lost += one.Lost
}

// all calls do for all devices concurrently, and returns the first error in the order of the
// devices.
func all(devices []*device.Device, do func(*device.Device) error) error {
	errs := make([]error, len(devices))
	var running sync.WaitGroup
	for i, d := range devices {
		running.Go(func() { errs[i] = do(d) })
	}
	running.Wait()
	for _, err := range errs { // one error is enough, because most are alike
		if err != nil {
			return err
		}
	}
	return nil
}

func (c Config) device(row int, report func(device.Report)) (*device.Device, error) {
	one := device.Config{
		Configuration: c.Configuration, Relay: c.Relay, Issuer: c.Issuer, RelayKey: c.RelayKey, IssuerKey: c.IssuerKey, Credential: Credential(c.Identity, row), HTTP: c.HTTP,
		Store: file(filepath.Join(c.Home, "devices", strconv.Itoa(row))), Limits: c.Limits, Early: c.Early, Report: report,
	}
	if c.Seed != nil {
		seeds := secvm.SeedsOf(c.Seed, row)
		one.Seeds = &seeds
	}
	return device.New(one, secvm.Features(c.Rows.X, row), c.Rows.Labels[row])
}

// file is the path of a device's stored state. It implements [device.Store].
type file string

// Load reads the stored state, or returns nil if there is none.
func (f file) Load() ([]byte, error) {
	b, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Save replaces the stored state.
func (f file) Save(b []byte) error { return disk.Replace(string(f), b) }
