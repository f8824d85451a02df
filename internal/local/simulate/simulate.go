// Package simulate runs a whole federation in one process. The coordinator and the parties are
// those of the daemons, but they use fresh identities and an in-memory transport, and keep sessions
// in memory.
package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/link"
	"github.com/mercer-fl/mercer/transport/mem"
)

// Config describes how to simulate a job.
type Config struct {
	Reader *job.Reader
	Job    *job.Job
	Shares []partition.Share
	Dir    string // folder for the coordinator's jobs and their models
	// Seed returns the seed of the identity or session with the given label.
	Seed     func(label string) [32]byte
	Usage    func() (cpuSeconds float64, peakRSS uint64)
	Progress func(protocol.Progress)
	// Notified is called with the notices about a party's table. In a deployment, only that party's
	// operator reads them. It can be nil.
	Notified func(party string, lines []string)
	// Failed is called with the cause of a failure at a party, in the words of its own log. In a
	// deployment, only that party's operator reads them. It can be nil.
	Failed func(party string, cause error)
	Logger *slog.Logger
	// Workers computes parts of the job's grid in other processes. It can be nil.
	Workers learner.Workers
}

const coordinatorName = "coordinator"

// Run runs the job to its end. It returns the job's result, without comparisons, and its decisions.
func Run(ctx context.Context, c Config) (*method.Result, *method.Outcome, error) {
	f, err := newFederation(c)
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := f.start(ctx, stop)
	result, outcome, err := f.submit(ctx, c)
	stop()
	for range f.daemons() {
		err = errors.Join(err, <-ended)
	}
	if err == nil {
		result.Network = f.network.simulatedCost()
	}
	return result, outcome, err
}

// federation holds the coordinator and all parties in one process.
type federation struct {
	boss    *coordinator.Coordinator
	parties []*party.Party
	network network
	aligned alignments
	judged  judgements
	// retained holds the state that the first party keeps after a job.
	retained party.Retained
}

// alignments holds the ids of each job's aligned rows, in the order of the job.
type alignments struct {
	mu  sync.Mutex
	ids map[job.ID][]string
}

func (a *alignments) put(id job.ID, ids []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids[id] = ids
	return nil
}

func (a *alignments) of(id job.ID) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ids[id]
}

// judgements holds the results that parties with labels compute on held-out rows.
type judgements struct {
	mu sync.Mutex
	of map[string]*method.Judged
}

func (g *judgements) put(party string) func(job.ID, *method.Judged) error {
	return func(_ job.ID, own *method.Judged) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.of[party] = own
		return nil
	}
}

// addTo adds the decisions and figures of the parties to the coordinator's outcome and result. It
// adds figures only if a single party has judged rows.
func (g *judgements) addTo(o *method.Outcome, r *method.Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(g.of)) {
		own := g.of[name]
		addRows(o, own.Outcome)
		if len(g.of) == 1 {
			r.Figures = own.Result.Figures
		}
	}
}

// addRows appends the rows and decisions of outcome more to outcome o.
func addRows(o, more *method.Outcome) {
	all := linalg.New[float64](o.Decisions.Rows+more.Decisions.Rows, more.Decisions.Cols)
	for i := range o.Decisions.Rows {
		copy(all.Row(i), o.Decisions.Row(i))
	}
	for i := range more.Decisions.Rows {
		copy(all.Row(o.Decisions.Rows+i), more.Decisions.Row(i))
	}
	o.Kind, o.Classes, o.Decisions = more.Kind, more.Classes, all
	o.Predicted, o.Truth, o.Held = append(o.Predicted, more.Predicted...), append(o.Truth, more.Truth...), append(o.Held, more.Held...)
}

func (f *federation) daemons() int { return 1 + len(f.parties) }

// newFederation creates all members and connects them to one network.
func newFederation(c Config) (*federation, error) {
	names := append([]string{coordinatorName}, c.Job.Parties()...)
	keys := make(map[string]*identity.Identity, len(names))
	members := &roster.Roster{Federation: "simulation"}
	for _, name := range names {
		id, err := identity.FromSeed(c.Seed("identity/" + name))
		if err != nil {
			return nil, err
		}
		role := roster.Party
		if name == coordinatorName {
			role = roster.Coordinator
		}
		keys[name] = id
		members.Members = append(members.Members, roster.Member{Name: name, Role: role, Public: id.Public()})
	}
	if err := members.Validate(); err != nil {
		return nil, err
	}
	return join(c, keys, members)
}

func join(c Config, keys map[string]*identity.Identity, members *roster.Roster) (*federation, error) {
	joined, err := networkOf(c.Job)
	if err != nil {
		return nil, err
	}
	conn, err := joined.join(coordinatorName)
	if err != nil {
		return nil, err
	}
	f := &federation{network: joined, aligned: alignments{ids: make(map[job.ID][]string)}, judged: judgements{of: make(map[string]*method.Judged)}}
	f.boss, err = coordinator.New(coordinator.Config{
		Reader: c.Reader, Identity: keys[coordinatorName], Roster: members, Conn: conn, Vault: vault.NewMemory(),
		Jobs: filepath.Join(c.Dir, "jobs"), Artifacts: plain(filepath.Join(c.Dir, "left")), Own: true, Workers: c.Workers, Seed: c.Seed, Usage: c.Usage, Logger: c.Logger,
		Progress: func(_ job.ID, p protocol.Progress) { c.Progress(p) },
	})
	if err != nil {
		return nil, err
	}
	for i, share := range c.Shares {
		retained := vault.NewMemoryStates()
		if i == 0 {
			f.retained = retained
		}
		conn, err := joined.join(share.Party)
		if err != nil {
			return nil, err
		}
		f.parties = append(f.parties, party.New(party.Config{
			Name: share.Party, Reader: c.Reader, Identity: keys[share.Party], Roster: members, Conn: conn, Vault: vault.NewMemory(),
			Retained: retained, Seed: c.Seed, Usage: c.Usage, Logger: c.Logger.With("party", share.Party),
			Policy:  func(string) (party.Policy, error) { return party.PolicyFor(c.Job), nil },
			Aligned: f.aligned.put, Alignments: vault.NewMemoryStates(), Notified: c.notifier(share.Party), Failed: c.failed(share.Party), Judged: f.judged.put(share.Party),
			Releases: disclosure.Ledger(filepath.Join(c.Dir, "releases-"+share.Party)), Audit: audit.Discard{},
			Load: func(job.ID, job.Data) (method.Table, error) { return share.Table, nil }, Snapshots: vault.NewMemoryStates(),
		}))
	}
	return f, nil
}

// notifier returns the function that passes a party's notices to c.Notified.
func (c Config) notifier(party string) func(job.ID, []string) error {
	return func(_ job.ID, lines []string) error {
		if c.Notified != nil {
			c.Notified(party, lines)
		}
		return nil
	}
}

// failed returns the function that passes the cause of a party's failure to c.Failed.
func (c Config) failed(party string) func(error) {
	return func(cause error) {
		if c.Failed != nil {
			c.Failed(party, cause)
		}
	}
}

// network connects the members of a federation. It measures simulated time if the job describes a
// network.
type network struct {
	fast  *mem.Network
	clock *link.Clock // nil if the job describes no network
}

func networkOf(j *job.Job) (network, error) {
	n := network{fast: mem.NewNetwork()}
	if j.Link == (job.Link{}) {
		return n, nil
	}
	var err error
	n.clock, err = link.NewClock(link.Line(j.Link))
	return n, err
}

func (n network) join(name string) (transport.Conn, error) {
	conn, err := n.fast.Join(name)
	if err != nil || n.clock == nil {
		return conn, err
	}
	return n.clock.Conn(name, conn), nil
}

// simulatedCost returns the time that the messages would have taken on the job's network. It
// returns nil if the job describes no network.
func (n network) simulatedCost() *method.Network {
	if n.clock == nil {
		return nil
	}
	bytes, messages := n.clock.Sent()
	return &method.Network{Seconds: n.clock.Elapsed().Seconds(), Bytes: bytes, Messages: messages}
}

// start starts all daemons. Each daemon sends its error, or nil, when it ends. The first daemon to
// end stops the others, which would otherwise wait for it.
func (f *federation) start(ctx context.Context, stop func()) <-chan error {
	ended := make(chan error, f.daemons())
	run := func(daemon func(context.Context) error) {
		defer stop()
		ended <- daemon(ctx)
	}
	go run(f.boss.Run)
	for _, p := range f.parties {
		go run(p.Run)
	}
	return ended
}

// submit runs one job to its end.
func (f *federation) submit(ctx context.Context, c Config) (*method.Result, *method.Outcome, error) {
	id, err := f.boss.Submit(asDeployed(c.Job), access.Person{})
	if err != nil {
		return nil, nil, err
	}
	done, err := f.boss.Wait(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("simulate: %w", err)
	}
	if done.Failure != nil {
		return nil, nil, &fault.Error{Code: done.Failure.Code, Blamed: done.Failure.Blamed, Err: errors.New(done.Failure.Message)}
	}
	if len(done.Result.Models) > 0 {
		done.Result.Models[0].Path = plain(filepath.Join(c.Dir, "left")).path(id, vault.Model)
	}
	if err := f.addOwnModel(done.Result, id, c); err != nil {
		return nil, nil, err
	}
	outcome, err := f.boss.Outcome(id)
	if err == nil {
		outcome.Rows = f.aligned.of(id)
		f.judged.addTo(outcome, done.Result)
	}
	return done.Result, outcome, err
}

// addOwnModel adds the first party's model to the result, if the party can predict with it alone. It includes the
// scaling, unlike the coordinator's model. The other parties' models are equal.
func (f *federation) addOwnModel(r *method.Result, id job.ID, c Config) error {
	kept, err := f.retained.Get(id)
	if errors.Is(err, vault.ErrNoState) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	k, err := method.DecodeRetained(kept)
	if err != nil {
		return err
	}
	own, err := predictsAlone(k, c)
	if err != nil || !own {
		return err
	}
	var file bytes.Buffer
	if err := model.EncodePrepared(&file, k.Prepared, func(w io.Writer) error {
		_, err := w.Write(k.Body)
		return err
	}); err != nil {
		return err
	}
	name := c.Shares[0].Party
	return local.SaveModel(r, name, filepath.Join(c.Dir, "model-"+name), file.Bytes())
}

// predictsAlone reports whether a retained state is a model with which one party can predict alone.
func predictsAlone(k method.RetainedState, c Config) (bool, error) {
	m, err := method.Opener(c.Reader.Protocols, k)
	if err != nil {
		return false, err
	}
	opened, err := m.OpenParty(k, c.Reader)
	if err != nil {
		return false, err
	}
	defer opened.Erase()
	_, own := opened.(method.Local)
	return own, nil
}

// asDeployed returns the job that deployed parties would run: if the job has a source for each party, each
// party has its own table under one common name.
func asDeployed(j *job.Job) *job.Job {
	if j.Data.Sources != nil {
		return j.Owned("own")
	}
	return j
}
