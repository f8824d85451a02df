// Package hosted plays many devices of a crowd in one process: a device for each of several
// people of a table of ratings, with a key, a ledger and a journal of its own. It is for tests
// and demonstrations, and for a household that shares a machine.
//
//	HOME/devices/N/vault                the device's ledger, and its journals while a job runs
//	HOME/devices/N/recommendations.csv  rank, item, score: once the job is over for the device
package hosted

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/csv"
	"errors"
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
	"github.com/mercer-fl/mercer/internal/node/crowd"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Config selects the devices to play. They own the ratings of the people from First on.
type Config struct {
	Home      string
	Build     string // names the program: journals are for the same program
	Enrolment *crowd.Enrolment
	Server    string // address
	// Credential returns the key of the device of a row.
	Credential   func(row int) ed25519.PrivateKey
	Ratings      *dataset.Ratings
	First, Count int
	Floors       method.Floors
	HTTP         *http.Client
	Patience     time.Duration
	// Vanishing has the step and the kind of message before which devices vanish, by name. It
	// is for rehearsals.
	Vanishing map[string][]Moment
	Logger    *slog.Logger
}

// Moment is the time before a device sends a message of a kind in a step.
type Moment struct{ Step, Kind string }

// Result counts the outcomes of all devices.
type Result struct {
	Devices  int    `json:"devices"`
	Finished int    `json:"finished"`
	Vanished int    `json:"vanished"`
	LeftOut  int    `json:"left_out"` // the job went on without them
	Sent     uint64 `json:"sent_bytes"`
	Received uint64 `json:"received_bytes"`
}

// Run plays the devices until the job is over for all of them.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.First < 0 || c.Count < 1 || c.First+c.Count > len(c.Ratings.Users) {
		return nil, fault.BadInputf("%s has ratings of %d people; there are no devices for rows %d to %d", c.Ratings.Name, len(c.Ratings.Users), c.First, c.First+c.Count-1)
	}
	r, lists := &Result{Devices: c.Count}, split(c.Ratings)
	errs, reports := make([]error, c.Count), make([]*crowd.Report, c.Count)
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i := range c.Count {
		running.Go(func() { reports[i], errs[i] = c.device(ctx, c.First+i, lists[c.First+i], turns) })
	}
	running.Wait()
	failed := 0
	for i, err := range errs {
		if err == nil {
			r.add(reports[i])
			continue
		}
		c.Logger.Error("a device has failed", "row", c.First+i, "error", err)
		r.LeftOut++
		failed++
	}
	if failed == c.Count {
		return nil, errs[0]
	}
	return r, nil
}

func (r *Result) add(one *crowd.Report) {
	switch {
	case one.Finished:
		r.Finished++
	case one.Vanished:
		r.Vanished++
	default:
		r.LeftOut++
	}
	r.Sent += one.Sent
	r.Received += one.Received
}

// split returns each person's own ratings.
func split(all *dataset.Ratings) []*dataset.Ratings {
	lists := make([]*dataset.Ratings, len(all.Users))
	for i := range lists {
		lists[i] = &dataset.Ratings{Name: all.Name, Users: all.Users[i : i+1], Items: all.Items, Timed: all.Timed}
	}
	for _, v := range all.List {
		own := lists[v.User]
		v.User = 0
		own.List = append(own.List, v)
	}
	return lists
}

// device plays one device. One that has its recommendations is done.
func (c Config) device(ctx context.Context, row int, own *dataset.Ratings, turns chan struct{}) (r *crowd.Report, err error) {
	home := filepath.Join(c.Home, "devices", strconv.Itoa(row))
	list := filepath.Join(home, "recommendations.csv")
	if _, err := os.Stat(list); err == nil {
		return &crowd.Report{Finished: true}, nil
	}
	kept, err := vault.OpenDisk(filepath.Join(home, "vault"), c.Build)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	key := c.Credential(row)
	place, err := c.Enrolment.Place(key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	moments := c.Vanishing[crowd.Name(place)]
	d, err := crowd.NewDevice(crowd.DeviceConfig{
		Enrolment: c.Enrolment, Server: c.Server, Key: key, Table: method.Table{Ratings: own}, Floors: c.Floors, Vault: kept,
		HTTP: c.HTTP, Patience: c.Patience, Turns: turns, Logger: c.Logger.With("device", crowd.Name(place)),
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
	if r, err = d.Run(ctx); err != nil || !r.Finished {
		return r, err
	}
	if err := keep(list, r.Recommended); err != nil {
		return nil, err
	}
	return r, d.Close()
}

// keep writes recommendations to the person.
func keep(path string, list []method.Recommendation) error {
	table := [][]string{{"rank", "item", "score"}}
	for i, one := range list {
		table = append(table, []string{strconv.Itoa(i + 1), one.Item, strconv.FormatFloat(one.Score, 'f', 6, 64)})
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(table); err != nil {
		return err
	}
	return disk.Replace(path, b.Bytes())
}
