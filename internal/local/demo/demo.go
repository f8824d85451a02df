// Package demo runs a whole federation as processes on this machine: one coordinator and its
// parties. Each process has a fresh identity and its own home (its folder of keys and settings) in a
// temporary folder. Each party also has its own share of the data. The processes are connected over loopback
// sockets. They run
// the ordinary daemons, and an operator could type every command that the demonstration gives them.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/privacy"
)

// Coordinator is the name of the coordinator's process.
const Coordinator = "coordinator"

// catalogueName is the name under which a party's catalogue lists the party's table.
const catalogueName = "own"

// Config describes the federation to run.
type Config struct {
	Program []string // the command that runs mercer, before the daemon's arguments
	Reader  *job.Reader
	Job     *job.Job
	Shares  []partition.Share
	Dir     string // parent folder of the homes; it must exist
	// Files are the absolute paths of the tables of parties that have files of their own, with the
	// labels in a column "label". Found writes the shares of the other parties into files. It does not freeze
	// the parties' own files for the dictionary; a command must do so.
	Files map[string]string
	// Dictionary, if not nil, is the data dictionary that all operators approve.
	Dictionary *job.Dictionary
	// InsecureSeed, if not nil, determines every secret of every process, so that two runs can be
	// compared.
	InsecureSeed *uint64
}

// seed returns the seed of a process's identity.
func (c *Config) seed(name string) [32]byte {
	if c.InsecureSeed == nil {
		return coordinator.RandomSeed(name)
	}
	return daemon.InsecureSeeds(*c.InsecureSeed)("identity/" + name)
}

// Federation is a running demonstration.
type Federation struct {
	Config
	processes
	client *admin.Client
}

// Found creates the homes, gives each party its share, and writes the roster.
func Found(c Config) (*Federation, error) {
	if err := tryProcesses(); err != nil {
		return nil, err
	}
	address, err := endpoint.Unused()
	if err != nil {
		return nil, err
	}
	f := &Federation{Config: c, processes: newProcesses(c.Program, c.Dir)}
	members := &roster.Roster{Federation: "demo"}
	boss, err := f.Home(Coordinator).Create(f.Reader, &daemon.Config{Name: Coordinator, Listen: address}, roster.Coordinator, c.seed(Coordinator))
	if err != nil {
		return nil, err
	}
	members.Members = append(members.Members, boss)
	for _, s := range c.Shares {
		m, err := f.furnish(s, address)
		if err != nil {
			return nil, err
		}
		members.Members = append(members.Members, m)
	}
	for _, m := range members.Members {
		if err := f.Home(m.Name).Join(f.Reader, members); err != nil {
			return nil, err
		}
		if err := f.approve(m); err != nil {
			return nil, err
		}
	}
	f.client = admin.NewClient(f.Home(Coordinator).Socket())
	return f, nil
}

// tryProcesses makes the Go runtime check early which process functions the operating system has.
// The runtime checks this once, in a forked child, and a Ctrl-C at that moment would break the
// program.
func tryProcesses() error {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return p.Release()
}

// Home returns the folder of a process.
func (f *Federation) Home(name string) daemon.Home { return daemon.At(filepath.Join(f.Dir, name)) }

// Names returns the names of all processes, the coordinator first.
func (f *Federation) Names() []string {
	names := []string{Coordinator}
	for _, s := range f.Shares {
		names = append(names, s.Party)
	}
	return names
}

// furnish creates a party's home. It writes the party's share of the data into the home, unless the party has a
// file of its own.
func (f *Federation) furnish(s partition.Share, address string) (roster.Member, error) {
	h := f.Home(s.Party)
	file, own := f.Files[s.Party]
	source := daemon.Source{}
	if own {
		source = f.catalogue(&dataset.Set{Labels: []string{}})
		source.Path = file
		source.Policy.Limits.Share = new(0.0) // allow that one party has nearly all rows
	} else {
		source = f.catalogue(s.Table.Set)
	}
	m, err := h.Create(f.Reader, &daemon.Config{
		Name: s.Party, Coordinator: "nats://" + address, Data: map[string]daemon.Source{catalogueName: source},
	}, roster.Party, f.seed(s.Party))
	if own {
		return m, err
	}
	if err == nil {
		err = h.SetSplitKey(s.Table.Key) // with this key, the party holds out the same rows as the comparisons
	}
	if err != nil {
		return m, err
	}
	return m, writeTable(filepath.Join(h.String(), "own.csv"), s.Table.Set)
}

// catalogue describes a share as a source of the party's catalogue, and allows all jobs of this
// program. The minimum row counts are the defaults, except that a class can have any number of
// rows, because with uneven shares some classes are rare at a party.
func (f *Federation) catalogue(set *dataset.Set) daemon.Source {
	c := daemon.Source{Path: "own.csv", Policy: &party.Policy{
		Protocols: f.Reader.Known().Protocols, Modes: f.Reader.Known().Modes, OpenPrediction: true,
		Privacy: privacy.Guarantee{Epsilon: privacy.MostEpsilon, Delta: privacy.MostDelta},
		Limits:  party.PolicyLimits{ClassRows: new(0)},
	}}
	if set.Labels != nil {
		c.Label = daemon.Labels{Columns: []string{"label"}}
	}
	if set.Weights != nil {
		c.Weight = "weight"
	}
	if set.IDs != nil {
		c.ID.Columns = []string{"id"}
	}
	return c
}

func writeTable(path string, set *dataset.Set) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return dataset.WriteCSV(f, set)
}

// approve approves the demonstration's dictionary at a member's home, as its operator would.
func (f *Federation) approve(m roster.Member) error {
	if f.Dictionary == nil {
		return nil
	}
	h, table := f.Home(m.Name), ""
	if m.Role == roster.Party {
		table = catalogueName
	}
	if err := h.Dictionaries().Approve(f.Dictionary, table, time.Now()); err != nil || table == "" {
		return err
	}
	if _, own := f.Files[m.Name]; own { // the table can be large: a command freezes it later
		return nil
	}
	_, err := h.Freeze(context.Background(), f.Reader, f.Dictionary, table)
	return err
}

// Start starts every process and waits until the coordinator answers requests.
func (f *Federation) Start(ctx context.Context) error {
	for _, name := range f.Names() {
		if err := f.StartProcess(name); err != nil {
			return err
		}
	}
	return f.waitForCoordinator(ctx)
}

// waitForCoordinator waits until the coordinator answers requests on its socket.
func (f *Federation) waitForCoordinator(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		_, err := f.client.Jobs(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-f.running[Coordinator].ended:
			return f.endedEarly(ctx, Coordinator)
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("demo: the coordinator did not answer in time: %w", err)
			}
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Submit submits the job to the coordinator and returns the job's id. It submits the job as
// deployed parties see it: each party has its own table.
func (f *Federation) Submit(ctx context.Context, j *job.Job) (string, error) {
	d := j.Owned(catalogueName)
	if d.Data.Label != job.NoLabel {
		d.Data.Label = "label"
	}
	if d.Data.Weight != "" {
		d.Data.Weight = "weight"
	}
	d.Compare = nil
	submitted, err := f.client.Submit(ctx, "job.yaml", d.Encode())
	return submitted.ID, err
}

// Approve approves all releases that wait for an operator in the parties' ledgers, as mercer release approve does. It
// returns the sentences that say what these releases reveal.
func (f *Federation) Approve() (said []string, err error) {
	for _, s := range f.Shares {
		h := f.Home(s.Party)
		list, err := h.Releases().List()
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if e.State != disclosure.Held {
				continue
			}
			if err := h.ApproveRelease(f.Reader, e.ID); err != nil {
				return nil, err
			}
			said = append(said, e.Reveals...)
		}
	}
	return said, nil
}

// Wait waits until the job ends, and returns its result and its decisions. It keeps waiting while
// the coordinator restarts. It calls watch, if not nil, with the job from time to time.
func (f *Federation) Wait(ctx context.Context, id string, watch func(admin.Job)) (*method.Result, *method.Outcome, error) {
	for {
		j, err := f.client.Job(ctx, id)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		switch {
		case err == nil && j.Failure != nil:
			return nil, nil, &fault.Error{Code: j.Failure.Code, Blamed: j.Failure.Blamed, Err: errors.New(j.Failure.Message)}
		case err == nil && j.Result != nil && j.State == "done":
			o, err := f.outcome(ctx, id)
			return j.Result, o, err
		case err == nil && watch != nil:
			watch(j)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// outcome returns a job's decisions. For a job by columns it adds the ids of the rows, which only
// the parties know: this process owns their data.
func (f *Federation) outcome(ctx context.Context, id string) (*method.Outcome, error) {
	o, err := f.client.Outcome(ctx, id)
	if err == nil && f.Job.Data.Partition.By == job.Columns {
		o.Rows, err = f.Home(f.Shares[0].Party).Alignment(id)
	}
	return o, err
}
