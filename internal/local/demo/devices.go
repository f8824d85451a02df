package demo

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/anonymous/simulator"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
)

// Names of the processes of a SecVM job, except those of its devices.
const (
	Issuer  = "issuer"
	Relay   = "relay"
	Gateway = "gateway"
)

// DevicesConfig describes a demonstration with simulated devices.
type DevicesConfig struct {
	Program   []string // the command that runs mercer
	Job       *job.Job // a job of protocol secvm
	Rows      *dataset.Set
	Processes int // number of processes that simulate devices; each has a part of the rows
	Dir       string
	// Settings of the gateway; see gateway.Config.
	Window, Grace, Pause, Lead time.Duration
	Least                      int
	Batch                      int // batch size of the relay
	Early                      int // number of iterations for which devices fetch tokens before the gateway's first window
	// Certificate and Key are the files with which issuer, relay and gateway serve HTTPS. Their
	// clients trust this certificate. If both are "", the servers use HTTP.
	Certificate, Key string
	InsecureSeed     *uint64
}

// Devices runs issuer, relay, gateway and simulated devices as processes on this machine.
type Devices struct {
	DevicesConfig
	processes
	address map[string]string // host:port at which a process listens
	reached map[string]string // host:port at which other processes reach a process, if it differs from the entry of address

	gatewayKey string // public key, in hexadecimal digits
}

// DevicesResult holds the results that the gateway and the devices reported.
type DevicesResult struct {
	Gateway gateway.Result
	Devices simulator.Result // sums over all processes of devices
}

// ink is the least value of a dark pixel in the digits, whose pixels have values from 0 to 16.
const ink = 8

// OddDigits converts the first digits of the bundled data set to rows for devices. Each dark pixel
// is a feature, and the label says whether the digit is odd or even.
func OddDigits(digits *dataset.Set, rows int) (*dataset.Set, error) {
	x := linalg.New[float64](rows, digits.X.Cols())
	labels := make([]string, rows)
	for i := range rows {
		digits.X.Each(i, func(col int, value float64) {
			if value >= ink {
				x.Row(i)[col] = 1
			}
		})
		digit, err := strconv.Atoi(digits.Labels[i])
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		labels[i] = []string{"even", "odd"}[digit%2]
	}
	return &dataset.Set{Name: "digits, pixels from 8 on", X: dataset.NewDense(x), Columns: digits.Columns, Labels: labels}, nil
}

// FoundDevices creates the home folders, the credentials and the table of all devices.
func FoundDevices(c DevicesConfig) (*Devices, error) {
	if err := tryProcesses(); err != nil {
		return nil, err
	}
	f := &Devices{DevicesConfig: c, processes: newProcesses(c.Program, c.Dir), address: map[string]string{}, reached: map[string]string{}}
	for _, name := range []string{Issuer, Relay, Gateway, metricsOf(Issuer), metricsOf(Relay), metricsOf(Gateway)} {
		address, err := endpoint.Unused()
		if err != nil {
			return nil, err
		}
		f.address[name] = address
	}
	if err := disk.Replace(f.path("job.yaml"), c.Job.Encode()); err != nil {
		return nil, err
	}
	if err := writeTable(f.path("rows.csv"), c.Rows); err != nil {
		return nil, err
	}
	return f, errors.Join(f.enrol(), f.drawGateway())
}

// drawGateway draws the gateway's key. Issuer and relay need it before they start.
func (f *Devices) drawGateway() error {
	id, lock, err := daemon.At(f.path(Gateway)).Own(nil)
	if err != nil {
		return err
	}
	f.gatewayKey = hex.EncodeToString(id.Public().Sign)
	return lock.Close()
}

// path returns the path of a file in the devices' folder.
func (f *Devices) path(name ...string) string {
	return filepath.Join(append([]string{f.Dir}, name...)...)
}

// rowsOf returns which rows one process simulates, as the first row and the number of rows.
func (f *Devices) rowsOf(process int) (first, count int) {
	rows := f.Rows.X.Rows()
	first = process * rows / f.Processes
	return first, (process+1)*rows/f.Processes - first
}

func deviceProcess(i int) string { return fmt.Sprintf("devices%d", i) }

// enrol draws a credential for every device and writes the roster of their public keys.
func (f *Devices) enrol() (err error) {
	var roster strings.Builder
	for i := range f.Processes {
		id, lock, err := daemon.At(f.path(deviceProcess(i))).Own(nil)
		if err != nil {
			return err
		}
		first, count := f.rowsOf(i)
		for row := first; row < first+count; row++ {
			key := simulator.Credential(id, row).Public().(ed25519.PublicKey)
			roster.WriteString(hex.EncodeToString(key) + "\n")
		}
		if err := lock.Close(); err != nil {
			return err
		}
	}
	return disk.Replace(f.path("roster"), []byte(roster.String()))
}

// Names returns the names of all processes that were started, sorted.
func (f *Devices) Names() []string { return slices.Sorted(maps.Keys(f.running)) }

// Windows returns the number of windows, the times in which the gateway accepts packages, that the gateway has
// closed according to its log.
func (f *Devices) Windows() int {
	b, err := os.ReadFile(f.logPath(Gateway))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	return strings.Count(string(b), "window over")
}

// Wait waits until the gateway and all devices have ended. It calls watch, if not nil, with
// the number of closed windows from time to time.
func (f *Devices) Wait(ctx context.Context, watch func(windows int)) (*DevicesResult, error) {
	names := append([]string{Gateway}, f.deviceProcesses()...)
	r := &DevicesResult{}
	for _, name := range names {
		for !f.hasEnded(name) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if watch != nil {
				watch(f.Windows())
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err := f.running[name].err; err != nil {
			return nil, fmt.Errorf("demo: %s failed (%w); its last lines: %s", name, err, f.lastWords(name))
		}
	}
	if err := f.decodeOutput(Gateway, &r.Gateway); err != nil {
		return nil, err
	}
	for _, name := range names[1:] {
		var one simulator.Result
		if err := f.decodeOutput(name, &one); err != nil {
			return nil, err
		}
		r.Devices.Devices += one.Devices
		r.Devices.Answers += one.Answers
		r.Devices.TooFew += one.TooFew
		r.Devices.Acknowledged += one.Acknowledged
		r.Devices.Refused += one.Refused
		r.Devices.Lost += one.Lost
	}
	return r, nil
}

// hasEnded reports whether a process has ended.
func (f *Devices) hasEnded(name string) bool {
	select {
	case <-f.running[name].ended:
		return true
	default:
		return false
	}
}

// decodeOutput decodes the JSON document that a process printed.
func (f *Devices) decodeOutput(name string, result any) error {
	b, err := os.ReadFile(f.outPath(name))
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	document := struct{ Result any }{result}
	if err := json.Unmarshal(b, &document); err != nil {
		return fmt.Errorf("demo: the output of %s is not a JSON document: %w", name, err)
	}
	return nil
}
