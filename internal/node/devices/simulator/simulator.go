// Package simulator runs many devices in one process. Each device has a person's data and its own
// key, ledger and journal. It is for tests and demonstrations, and for a household that shares a
// machine.
//
//	HOME/devices/N/vault                the device's ledger, and its journals while a job runs
//	HOME/devices/N/recommendations.csv  rank, item, score: once the job has ended for the device
//	HOME/devices/N/model                the model, in place of recommendations, if the job's devices receive one
package simulator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/csv"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/devices"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Config selects the devices to run. Their data are those of Count people, beginning at index First
// of People.
type Config struct {
	Home      string
	Build     string // version of the program; only the same version can continue a journal
	Enrolment *devices.Enrolment
	Server    string // URL of the server
	// Credential returns the private key of the device for a row of the table.
	Credential   func(row int) ed25519.PrivateKey
	Source       string         // name of the data set, for error texts
	People       []method.Table // one table for each person, from Ratings or Rows
	First, Count int
	Limits       method.Limits
	HTTP         *http.Client
	Patience     time.Duration
	// Seed, if not nil, provides the devices' random values, so that tests can compare with a
	// simulation. Otherwise each device derives them from its key.
	Seed func(label string) [32]byte
	// Vanishing lists, by the device's name, the moments at which a device vanishes.
	Vanishing map[string][]Moment
	Logger    *slog.Logger
}

// Moment is the time just before a device sends a message of kind Kind in step Step.
type Moment struct{ Step, Kind string }

// Result counts how the devices' runs ended.
type Result struct {
	Devices  int    `json:"devices"`
	Finished int    `json:"finished"`
	Vanished int    `json:"vanished"`
	LeftOut  int    `json:"left_out"` // number of devices that gave up or were left out
	Sessions int    `json:"sessions"` // number of sessions that devices finished; like the bytes, without devices left out
	Sent     uint64 `json:"sent_bytes"`
	Received uint64 `json:"received_bytes"`
}

// Run runs the devices until the job has ended for all of them. The error has the number of devices
// that gave up or were left out, and the reason of the first. The log has all reasons.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.First < 0 || c.Count < 1 || c.First+c.Count > len(c.People) {
		return nil, fault.BadInputf("table %s has data of %d people, so no devices can run for rows %d to %d", c.Source, len(c.People), c.First, c.First+c.Count-1)
	}
	r := &Result{Devices: c.Count}
	errs, reports := make([]error, c.Count), make([]*devices.Report, c.Count)
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i := range c.Count {
		running.Go(func() { reports[i], errs[i] = c.device(ctx, c.First+i, turns) })
	}
	running.Wait()
	var first error
	for i, err := range errs {
		if err == nil {
			r.add(reports[i])
			continue
		}
		c.Logger.Error("a device has failed", "row", c.First+i, "error", err)
		r.LeftOut++
		if first == nil {
			first = err
		}
	}
	switch {
	case first == nil:
		return r, nil
	case c.Count == 1:
		return r, first
	}
	return r, fmt.Errorf("%d of %d devices got no result; the first error: %w", r.LeftOut, c.Count, first)
}

func (r *Result) add(one *devices.Report) {
	if one.Vanished {
		r.Vanished++
	} else {
		r.Finished++
	}
	r.Sessions += one.Sessions
	r.Sent += one.Sent
	r.Received += one.Received
}

// Ratings divides a table of ratings into one table for each person.
func Ratings(all *dataset.Ratings) []method.Table {
	people := make([]method.Table, len(all.Users))
	for i := range people {
		people[i].Ratings = &dataset.Ratings{Name: all.Name, Users: all.Users[i : i+1], Items: all.Items, Timed: all.Timed}
	}
	for _, v := range all.List {
		own := people[v.User].Ratings
		v.User = 0
		own.List = append(own.List, v)
	}
	return people
}

// Rows divides a table into one table for each person, with one row.
func Rows(all *dataset.Set) []method.Table {
	people := make([]method.Table, all.X.Rows())
	for i := range people {
		people[i].Set = all.Subset([]int{i})
	}
	return people
}

// draw returns the source of random values for the device of a row. It returns nil if the device
// derives them from its key.
func (c Config) draw(row int) func(label string) [32]byte {
	if c.Seed == nil {
		return nil
	}
	return func(label string) [32]byte { return c.Seed(label + "/" + strconv.Itoa(row)) }
}

// device runs the device of a row, unless the device already has its result.
func (c Config) device(ctx context.Context, row int, turns chan struct{}) (r *devices.Report, err error) {
	home := deviceFolder(filepath.Join(c.Home, "devices", strconv.Itoa(row)))
	if home.done() {
		return &devices.Report{Finished: true}, nil
	}
	kept, err := vault.OpenDisk(filepath.Join(string(home), "vault"), c.Build)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	key := c.Credential(row)
	at, err := c.Enrolment.Place(key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	moments := c.Vanishing[devices.Name(at)]
	d, err := devices.NewDevice(devices.DeviceConfig{
		Enrolment: c.Enrolment, Server: c.Server, Key: key, Table: c.People[row], Draw: c.draw(row), Limits: c.Limits, Vault: kept,
		HTTP: c.HTTP, Patience: c.Patience, Turns: turns, Logger: c.Logger.With("device", devices.Name(at)),
		Leaves: func(step, kind string) bool {
			for _, m := range moments {
				if m == (Moment{step, kind}) {
					return true
				}
			}
			return false
		},
	})
	if err != nil {
		return nil, err
	}
	if r, err = d.Run(ctx); err != nil || r.Vanished {
		return r, err
	}
	if err := home.writeResult(r); err != nil {
		return nil, err
	}
	return r, d.Close()
}

// deviceFolder is the path of a device's folder.
type deviceFolder string

func (p deviceFolder) list() string  { return filepath.Join(string(p), "recommendations.csv") }
func (p deviceFolder) model() string { return filepath.Join(string(p), "model") }

// done reports whether the device has its result.
func (p deviceFolder) done() bool {
	for _, path := range []string{p.list(), p.model()} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// writeResult writes the device's result into files for the person.
func (p deviceFolder) writeResult(r *devices.Report) error {
	if r.Model != nil {
		return disk.ReplaceBy(p.model(), r.Model)
	}
	table := [][]string{{"rank", "item", "score"}}
	for i, one := range r.Recommended {
		table = append(table, []string{strconv.Itoa(i + 1), one.Item, strconv.FormatFloat(one.Score, 'f', 6, 64)})
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(table); err != nil {
		return err
	}
	return disk.Replace(p.list(), b.Bytes())
}
