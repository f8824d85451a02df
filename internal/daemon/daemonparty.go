package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/nats"
)

// RunParty runs the daemon of one party until ctx ends. The party connects to the coordinator, which never
// connects to the party. The party waits for the coordinator without limit.
func RunParty(ctx context.Context, h Home, o Options) (err error) {
	o.Reader = h.Knowing(o.Reader)
	id, c, members, err := h.openJoined(o.Reader)
	if err != nil {
		return err
	}
	call, err := h.callFrom(c, members)
	if err != nil {
		return err
	}
	lock, err := h.lockHome()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	key, err := h.splitKey()
	if err != nil {
		return err
	}
	for _, warning := range c.Warnings() {
		o.Logger.Warn(warning)
	}
	o.Seed = o.seed()
	record, err := h.openAudit(o, members)
	if err != nil {
		return err
	}
	return partyHome{
		Home: h, id: id, settings: newInForce(c, members), key: key, call: call, audit: record, watch: newPartyWatch(h, c.Name, members, o),
		days: h.calendar(o.Logger),
	}.serve(ctx, o)
}

// callFrom returns how the party connects to the coordinator, and an error if it is not allowed to run or to connect.
func (h Home) callFrom(c *Config, members *roster.Roster) (nats.Options, error) {
	if members.Coordinator().Name == c.Name {
		return nats.Options{}, fault.BadInputf("%s is the coordinator of this federation; use mercer coordinator", c.Name)
	}
	if c.Coordinator == "" {
		return nats.Options{}, fault.BadInputf("%s: \"coordinator\" is missing; write \"coordinator: nats://HOST:4222\"", h.ConfigPath())
	}
	if err := h.mayDial(c, members); err != nil {
		return nats.Options{}, err
	}
	return c.call(members)
}

// serve opens the monitor, the page and the control sockets, and runs the party until ctx ends.
func (h partyHome) serve(ctx context.Context, o Options) (err error) {
	c := h.config()
	watched, err := openMonitor(c.Metrics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watched.close()) }()
	gate := h.gate(c, h.members(), func() access.Rules { return h.config().Roles })
	seen, err := h.openPage(c.Page, partyPage{h.watch, h.Home, o.Reader, o.Report}, newDesk(ctx, h, o.Reader), gate, o.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, seen.close()) }()
	forward, err := h.forwarder(c, o.Logger)
	if err != nil {
		return err
	}
	open, err := h.openDoors(c.Roles)
	if err != nil {
		return err
	}
	warnOfStrangers(o.Logger, c.Roles)
	h.watch.forwarding = forward.shown
	requests := admin.Party(h.watch, h.checksWhileRunning(o.Reader), gate, o.Logger).Reloading(func() error { return h.reloadRunning(ctx, o) }).Inviting(seen.invite)
	return serve(ctx, o, open, requests, watched.of(h.watch), seen, func(ctx context.Context) error {
		var beside sync.WaitGroup
		defer beside.Wait()
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		beside.Go(func() { forward.run(ctx) })
		beside.Go(func() { cutter{h.audit, c.Retention.Audit, h.days.today, o.Logger}.run(ctx) })
		return keepRunning(ctx, o.Logger, func() error { return disk.Probe(h.folder) }, func() error {
			err := h.runOnce(ctx, o)
			o.Ready = nil // call Ready only at the first start
			return err
		})
	})
}

// partyHome is a party's home with what the daemon has read or opened at its start.
type partyHome struct {
	Home
	id       *identity.Identity
	settings *inForce
	key      dataset.SplitKey
	call     nats.Options // how to connect to the coordinator
	audit    *audit.Log   // nil for the check of a job without a daemon
	watch    *partyWatch
	days     *calendar // nil for the check of a job without a daemon
}

// openAudit opens the record, and adds that the daemon has started. It returns an error if the record is broken, so
// that the daemon does not start.
func (h Home) openAudit(o Options, members *roster.Roster) (*audit.Log, error) {
	record, err := audit.Open(h.AuditPath())
	if err != nil {
		return nil, err
	}
	if n := record.Torn(); n > 0 {
		o.Logger.Warn("the audit record ends with an unfinished line, which a crash has left; it is cut off, and the next line says so", "bytes", n)
	}
	roster := members.Hash()
	return record, record.Append(audit.Event{Kind: audit.Started, Roster: hex.EncodeToString(roster[:]), Outcome: "version " + o.Version})
}

// call returns how a party connects to the coordinator.
func (c *Config) call(members *roster.Roster) (nats.Options, error) {
	at, err := nats.ParseAddress(c.Coordinator)
	if err != nil {
		return nats.Options{}, fault.BadInput(err)
	}
	proxy, _, err := c.proxy(at)
	return nats.Options{TLS: members.Coordinator().TLS, Proxy: proxy}, err
}

// config returns the configuration in force.
func (h partyHome) config() *Config { return h.settings.config.Load() }

// members returns the roster in force.
func (h partyHome) members() *roster.Roster { return h.settings.members.Load() }

// runOnce connects to the coordinator and runs the party until ctx ends or a session cannot
// continue.
func (h partyHome) runOnce(ctx context.Context, o Options) (err error) {
	id, c := h.id, h.config()
	kept, err := h.vault(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	artifacts, err := vault.OpenArtifacts(h.retained(), id.KEMKey())
	if err != nil {
		return err
	}
	sealed, err := vault.OpenArtifacts(h.snapshots(), id.KEMKey())
	if err != nil {
		return err
	}
	conn, err := h.dial(ctx, o)
	if err != nil && ctx.Err() != nil {
		return nil //nolint:nilerr // told to stop before the coordinator answered
	}
	if err != nil {
		return refusedTwin(err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	settings := h.decides(ctx, o.Reader, kept, artifacts)
	settings.Conn, settings.Seed, settings.Logger, settings.Version, settings.Limits = conn, o.Seed, o.Logger, o.Version, c.limits()
	settings.Aligned, settings.Recommended, settings.Notified, settings.Judged = keepAlignment(artifacts), keepRecommendations(artifacts), keepNotices(artifacts), keepJudged(artifacts)
	settings.Snapshots, settings.Audit, settings.Consents = sealed, h.audit, h.consents()
	settings.Today = h.days.today
	settings.Alone = func() bool { return h.config().Roles.Alone }
	settings.Head = h.head
	if settings.Restored, err = h.restoredCheck(h.audit); err != nil {
		return err
	}
	settings.Descriptions, settings.History = artifacts.Of(vault.Description), h.watch.history
	settings.Load = func(id job.ID, d job.Data) (method.Table, error) {
		t, err := h.load(ctx, h.config(), d, h.key, snapshots{sealed, id})
		if err == nil && t.Set != nil && t.Set.Unlabelled > 0 {
			o.Logger.Info("left out rows without a label", "table", d.Source, "rows", t.Set.Unlabelled, "job", id.String())
		}
		return t, err
	}
	settings.Stream = func(id job.ID, d job.Data) (method.Table, error) {
		return h.stream(ctx, h.config(), d, h.key, snapshots{sealed, id}, leastStreamed)
	}
	p := party.New(settings)
	serving, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() {
		freezer{h.Home, h.config, o.Reader, o.Logger, make(map[approved.Approval]string)}.run(serving)
	})
	beside.Go(func() { h.reloads(serving, o, p) })
	h.watch.party.Store(p)
	defer h.watch.party.Store(nil)
	if o.Ready != nil {
		o.Ready(c.Coordinator)
	}
	return h.otherBuild(refusedTwin(p.Run(ctx)))
}

// head returns the part of the audit record that the coordinator learns.
func (h partyHome) head() control.Record {
	tip := h.audit.Tip()
	return control.Record{Head: hashIn(tip.Head), Steps: uint64(tip.Steps), Origin: hashIn(tip.Origin)}
}

// hashIn returns the hash that hexadecimal digits give. It returns zero for "", which is the head of an empty record.
func hashIn(digits string) (hash [32]byte) {
	b, err := hex.DecodeString(digits)
	if err == nil {
		copy(hash[:], b)
	}
	return hash
}

// dial connects to the coordinator.
func (h partyHome) dial(ctx context.Context, o Options) (transport.Conn, error) {
	c, call := h.config(), h.call
	call.Logger, call.Version = o.Logger, o.Version
	call.Connected = func(is bool) {
		if ctx.Err() == nil { // a daemon that stops leaves on purpose
			h.watch.connected(is)
		}
	}
	way := []any{"party", c.Name, "coordinator", c.Coordinator}
	if call.Proxy != nil {
		way = append(way, "proxy", call.Proxy.String())
	}
	o.Logger.Info("connecting", way...)
	return nats.Dial(ctx, c.Coordinator, c.Name, h.id.NKey(), call)
}

// keepAlignment returns a function that stores the ids of a job's rows, in the order of the job.
// Readers of decisions need the ids, because the coordinator of a job by columns knows each row
// only by its number.
func keepAlignment(e *vault.Artifacts) func(id job.ID, ids []string) error {
	return func(id job.ID, ids []string) error {
		table := [][]string{{"id"}}
		for _, one := range ids {
			table = append(table, []string{one})
		}
		return keepTable(e, id, vault.Alignment, table)
	}
}

// keepRecommendations returns a function that stores a job's recommendations for the person to whom
// this party belongs. No other member learns them.
func keepRecommendations(e *vault.Artifacts) func(id job.ID, list []method.Recommendation) error {
	return func(id job.ID, list []method.Recommendation) error {
		table := [][]string{{"rank", "item", "score"}}
		for i, r := range list {
			table = append(table, []string{strconv.Itoa(i + 1), r.Item, strconv.FormatFloat(r.Score, 'f', 6, 64)})
		}
		return keepTable(e, id, vault.Recommendations, table)
	}
}

// keepNotices returns a function that stores a job's notices about this party's table.
func keepNotices(e *vault.Artifacts) func(id job.ID, lines []string) error {
	return func(id job.ID, lines []string) error {
		table := [][]string{{"notice"}}
		for _, line := range lines {
			table = append(table, []string{line})
		}
		return keepTable(e, id, vault.Notices, table)
	}
}

// keepJudged returns a function that stores a job's result and its predictions for those held-out rows whose
// labels this party has.
func keepJudged(e *vault.Artifacts) func(id job.ID, own *method.Judged) error {
	return func(id job.ID, own *method.Judged) error {
		b, err := json.Marshal(own)
		if err != nil {
			return fmt.Errorf("daemon: %w", err)
		}
		return e.Put(id, vault.Figures, b)
	}
}

// refusedTwin makes a TwinError an input error, because an operator who runs two daemons with one
// identity causes it.
func refusedTwin(err error) error {
	var twin *nats.TwinError
	if errors.As(err, &twin) {
		return fault.BadInput(err)
	}
	return err
}

// load reads the table that a job names, with the columns that the catalogue offers. The party
// itself chooses which of its rows are held out, unless the job holds out a party or the rows after a bound.
func (h Home) load(ctx context.Context, c *Config, all job.Data, key dataset.SplitKey, k jobRows) (method.Table, error) {
	t, d := method.Table{}, all.Own(c.Name)
	s, err := c.source(h, d.Source)
	if err != nil {
		return t, err
	}
	library := catalogue.New("") // jobs name catalogue entries, so no data folder is needed
	if d.Partition.By == job.Devices {
		if s.Given() {
			return t, fmt.Errorf("the job reads ratings from %s, but ratings can be read from files only; write them to a file, and give its path in the catalogue entry", d.Source)
		}
		t.Ratings, err = library.Ratings(s.Path)
		return t, err
	}
	if err := d.LeavesRows(); err != nil {
		return t, fault.Forbidden(err)
	}
	if d.Asks() && d.Schema == nil && s.hasColumnNames() { // ignore columns that were added later
		s = h.asFrozen(s, d.Source, dictionaryOf(d).Hash())
	}
	columns, err := s.pickColumns(d.Source, d, c.Name)
	if err != nil {
		return t, err
	}
	frozen, err := h.seesEdition(ctx, c, s, d, k)
	if err != nil {
		return t, err
	}
	switch {
	case frozen:
		t, err = h.loadEdition(c, s, d, k)
	case s.Given():
		t.Set, err = h.loadChanging(ctx, k, s, s.table(columns, d))
	default:
		t.Set, err = s.load(library, columns, d)
	}
	if err != nil {
		return t, err
	}
	t.Key = key
	if !frozen { // an edition contains no withdrawn people
		if t.Set, err = h.dropWithdrawn(s, d.Source, t.Set); err != nil {
			return t, err
		}
	}
	t.Set = d.Pick(t.Set)
	if t.Set.Labels != nil {
		t.Label = columns.Label
	}
	t.IDRule = s.ID.Canonical(s.Columns.Theirs)
	if s.ID.IsZero() {
		t.Set.IDs = nil // the entry declares no ids, so no column holds ids, whatever its name
	}
	return t, nil
}

// SplitKeyPath returns the path of the split key, which chooses a party's held-out rows.
func (h Home) SplitKeyPath() string { return h.path("split.key") }

// newSplitKey draws a random split key.
func newSplitKey() (dataset.SplitKey, error) {
	var key dataset.SplitKey
	_, err := rand.Read(key[:])
	return key, err
}

// SetSplitKey replaces the home's split key.
func (h Home) SetSplitKey(key dataset.SplitKey) error {
	return disk.Replace(h.SplitKeyPath(), key[:])
}

// RenewSplitKey draws a new split key for a home in which no daemon runs.
func (h Home) RenewSplitKey() error {
	return h.alone(func() error {
		key, err := newSplitKey()
		if err != nil {
			return err
		}
		return h.SetSplitKey(key)
	})
}

// splitKey reads the home's split key. If the file is missing, it draws a new key, but only if the
// home has not yet released data. A new key holds out other rows, and the difference of sums over
// both selections can reveal single rows.
func (h Home) splitKey() (dataset.SplitKey, error) {
	key, err := h.storedSplitKey()
	if errors.Is(err, fs.ErrNotExist) {
		return h.firstSplitKey()
	}
	return key, err
}

// peekSplitKey reads the home's split key, for a use that releases nothing. If the file is missing, it draws a new
// key, which it does not store, whether or not the home has released data.
func (h Home) peekSplitKey() (dataset.SplitKey, error) {
	key, err := h.storedSplitKey()
	if errors.Is(err, fs.ErrNotExist) {
		return newSplitKey()
	}
	return key, err
}

// storedSplitKey reads the home's split key. Its error matches [fs.ErrNotExist] if the file is
// missing.
func (h Home) storedSplitKey() (key dataset.SplitKey, err error) {
	b, err := os.ReadFile(h.SplitKeyPath())
	if err != nil {
		return key, fmt.Errorf("daemon: %w", err)
	}
	if copy(key[:], b); len(b) != len(key) || key == (dataset.SplitKey{}) {
		return key, fault.BadInputf("%s does not hold a split key of %d bytes; restore the file from a backup", h.SplitKeyPath(), len(key))
	}
	return key, nil
}

func (h Home) firstSplitKey() (dataset.SplitKey, error) {
	empty, err := h.Releases().Empty()
	if err != nil {
		return dataset.SplitKey{}, err
	}
	if !empty {
		return dataset.SplitKey{}, fault.BadInputf("%s is missing, although this home has released data; restore the key from a backup. Without a backup, mercer federation split-key --home %s draws a new key, which holds out other rows, so that earlier and later jobs together reveal more about single rows",
			h.SplitKeyPath(), h)
	}
	key, err := newSplitKey()
	if err != nil {
		return key, err
	}
	return key, disk.Create(h.SplitKeyPath(), key[:])
}
