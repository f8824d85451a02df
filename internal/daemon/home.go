// Package daemon runs the coordinator or a party from a home folder: it reads the identity, the roster
// and the configuration, opens the vault and the connection, and serves until it is stopped.
//
//	HOME/identity      the 32-byte seed of the process's keys, mode 0600
//	HOME/split.key     a party's 32-byte key that chooses the held-out rows, mode 0600
//	HOME/member.yaml   the public half of the identity, for the roster
//	HOME/config.yaml   name, addresses; for a party: catalogue and policy
//	HOME/roster.yaml   the members of the federation
//	HOME/approvals     rosters whose fingerprints the operator has compared
//	HOME/vault         sessions and their journals
//	HOME/keepsakes     retained state of finished jobs, sealed under a key for each job
//	HOME/snapshots     rows of open jobs whose source can change, sealed under a key for each job
//	HOME/dictionaries  data dictionaries that the operator has approved
//	HOME/editions      tables that the operator has frozen, sealed under a key for each edition
//	HOME/releases      the ledger of released data, for the operator to compare
//	HOME/jobs          the coordinator's jobs
//	HOME/queues        the coordinator's broker
//	HOME/control.sock  the operator's commands
package daemon

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/catalogue/live"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/dictionary"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Home is a process's folder.
type Home string

func (h Home) path(name string) string { return filepath.Join(string(h), name) }

// IdentityPath returns the file with the seed of the process's keys.
func (h Home) IdentityPath() string { return h.path("identity") }

// MemberPath returns the file with the public half of the identity.
func (h Home) MemberPath() string { return h.path("member.yaml") }

// ConfigPath returns the file of the configuration.
func (h Home) ConfigPath() string { return h.path("config.yaml") }

// RosterPath returns the file of the roster.
func (h Home) RosterPath() string { return h.path("roster.yaml") }

// Socket returns the Unix socket for the operator's commands.
func (h Home) Socket() string { return h.path("control.sock") }

// Releases returns a party's ledger of released data.
func (h Home) Releases() disclosure.Ledger { return disclosure.Ledger(h.path("releases")) }

// Dictionaries returns the data dictionaries that the operator has approved.
func (h Home) Dictionaries() dictionary.Approvals {
	return dictionary.Approvals(h.path("dictionaries"))
}

func (h Home) retained() string { return h.path("keepsakes") }

// artifacts opens the artifacts of finished jobs, for a command beside the daemon.
func (h Home) artifacts() (*vault.Artifacts, error) {
	id, err := identity.Load(h.IdentityPath())
	if err != nil {
		return nil, err
	}
	return vault.ReadArtifacts(h.retained(), id.KEMKey()), nil
}

// Jobs returns the coordinator's folder of jobs.
func (h Home) Jobs() string { return h.path("jobs") }

func (h Home) approvals() roster.Approvals { return roster.Approvals(h.path("approvals")) }

// Create makes a home with the configuration and an identity of the given seed, and writes its member
// file.
func (h Home) Create(jobs *job.Reader, c *Config, role roster.Role, seed [32]byte) (roster.Member, error) {
	m, file, err := member(jobs, c, role, seed)
	if err != nil {
		return m, fault.BadInput(err)
	}
	if err := errors.Join(os.MkdirAll(string(h), 0o700), os.Chmod(string(h), 0o700)); err != nil {
		return m, fault.BadInputf("%s cannot be a home: %w", h, err)
	}
	_, err = identity.Create(h.IdentityPath(), seed)
	if errors.Is(err, fs.ErrExist) {
		return m, fault.BadInputf("%s holds an identity already; choose another --home", h)
	}
	if err != nil {
		return m, err
	}
	if err := h.fill(c, role, file); err != nil {
		return m, errors.Join(err, disk.Erase(h.IdentityPath())) // the next try must find no identity
	}
	return m, nil
}

// fill writes the files of a home beside its identity, and removes them after an error.
func (h Home) fill(c *Config, role roster.Role, member []byte) error {
	if err := c.save(h.ConfigPath(), role); err != nil {
		return err
	}
	if err := disk.Replace(h.MemberPath(), member); err != nil {
		return errors.Join(err, os.Remove(h.ConfigPath()))
	}
	if role != roster.Party {
		return nil
	}
	key, err := newSplitKey()
	if err == nil {
		err = h.SetSplitKey(key)
	}
	if err != nil {
		return errors.Join(err, os.Remove(h.MemberPath()), os.Remove(h.ConfigPath()))
	}
	return nil
}

// reserved is a name that job files reserve for the coordinator.
const reserved = "coordinator"

// member returns the content of the member file, before anything is written.
func member(jobs *job.Reader, c *Config, role roster.Role, seed [32]byte) (roster.Member, []byte, error) {
	m := roster.Member{Name: c.Name, Role: role}
	if role == roster.Party && c.Name == reserved {
		return m, nil, fmt.Errorf("a party cannot be called %q; choose another --name", reserved)
	}
	if err := c.check(jobs.Known()); err != nil {
		return m, nil, err
	}
	id, err := identity.FromSeed(seed)
	if err != nil {
		return m, nil, err
	}
	m.Public = c.firstPublic(id, role)
	file, err := roster.MarshalMember(m)
	return m, file, err
}

// Join installs a roster whose fingerprints the operator has approved.
func (h Home) Join(jobs *job.Reader, r *roster.Roster) error {
	id, c, err := h.open(jobs)
	if err != nil {
		return err
	}
	if err := h.isIn(r, c, id); err != nil {
		return err
	}
	if err := r.Save(h.RosterPath()); err != nil {
		return err
	}
	return h.approvals().Approve(r.Hash())
}

// isIn checks that a roster has this home's name with its identity.
func (h Home) isIn(r *roster.Roster, c *Config, id *identity.Identity) error {
	m, ok := r.Lookup(c.Name)
	if !ok || m.Fingerprint() != shows(id, m).Fingerprint() {
		return fault.BadInputf("the roster has no member %s with the identity in %s; send its operator %s", c.Name, h, h.MemberPath())
	}
	return nil
}

// take locks the home against a second daemon until the file is closed. It locks the file of the
// identity, which every home has, so that a daemon that cannot start leaves no new file.
func (h Home) take() (*os.File, error) {
	if err := admin.Fits(h.Socket()); err != nil {
		return nil, fault.BadInput(err)
	}
	if err := os.Chmod(string(h), 0o700); err != nil { // an older folder may be open to others
		if disk.Failed(err) { // the disk may recover: no fault of the configuration
			return nil, fmt.Errorf("%s cannot be written to: %w", h, err)
		}
		return nil, fault.BadInputf("the permissions of %s cannot be restricted to its owner: %w", h, err)
	}
	lock, err := disk.Lock(h.IdentityPath())
	if errors.Is(err, disk.ErrLocked) {
		return nil, fault.BadInputf("another daemon runs in %s; stop that one first", h)
	}
	return lock, err
}

func (h Home) identity() (*identity.Identity, error) {
	id, err := identity.Load(h.IdentityPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.BadInputf("%s holds no identity; create one with mercer federation init --home %s", h, h)
	}
	return id, err
}

// Fingerprint returns the fingerprint of the home's identity, as its member file shows it.
func (h Home) Fingerprint() (identity.Fingerprint, error) {
	id, err := identity.Load(h.IdentityPath())
	if err != nil {
		return identity.Fingerprint{}, err
	}
	m, err := roster.LoadMember(h.MemberPath())
	if errors.Is(err, fs.ErrNotExist) {
		return id.Public().Fingerprint(), nil
	}
	return shows(id, m).Fingerprint(), err
}

// open reads the identity and the configuration.
func (h Home) open(jobs *job.Reader) (*identity.Identity, *Config, error) {
	id, err := h.identity()
	if err != nil {
		return nil, nil, err
	}
	c, err := loadConfig(jobs, h.ConfigPath())
	return id, c, err
}

// members reads the roster and checks that the operator has approved it and that this home is in it.
func (h Home) members(c *Config, id *identity.Identity) (*roster.Roster, error) {
	r, err := roster.Load(h.RosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.BadInputf("%s has joined no federation; use mercer federation join --home %s ROSTER", h, h)
	}
	if err != nil {
		return nil, fault.BadInput(err)
	}
	ok, err := h.approvals().Approved(r.Hash())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.Forbiddenf("%s is not approved; compare its fingerprints and use mercer federation join --home %s %s", h.RosterPath(), h, h.RosterPath())
	}
	return r, h.isIn(r, c, id)
}

// snapshots are the stored rows of one job.
type snapshots struct {
	artifacts *vault.Artifacts
	job       job.ID
}

// Write implements [snapshot.Store].
func (k snapshots) Write(name string, write func(io.Writer) error) error {
	return k.artifacts.Write(k.job, vault.Item(name), write)
}

// Open implements [snapshot.Store].
func (k snapshots) Open(name string) (io.ReadCloser, error) {
	return k.artifacts.Open(k.job, vault.Item(name))
}

// Remove implements [snapshot.Store].
func (k snapshots) Remove(name string) error { return k.artifacts.Remove(k.job, vault.Item(name)) }

// loadChanging reads a table whose source can change from the job's snapshot. It makes the snapshot
// first if there is none.
func (h Home) loadChanging(ctx context.Context, k snapshot.Store, s Source, t prepare.Table) (*dataset.Set, error) {
	t.Name = s.Name()
	set, err := live.Table(k, t)
	if !errors.Is(err, vault.ErrNoState) {
		return set, err
	}
	source := live.Source{Origin: s.Origin, Folder: string(h), Mapping: s.mapping(), IDs: s.ID.Columns}
	if err := live.Copy(ctx, k, source); err != nil {
		return nil, err
	}
	return live.Table(k, t)
}

// keepTable stores a table as CSV.
func keepTable(e *vault.Artifacts, id job.ID, item vault.Item, table [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(table); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return e.Put(id, item, b.Bytes())
}

// Left returns an artifact of a finished job in a party's home: the order of its rows, as CSV with one
// column, id; its recommendations to the party's person, as CSV with columns rank, item and score; or
// its notices about the party's table, as CSV with one column.
func (h Home) Left(name string, item vault.Item) ([]byte, error) {
	id, err := job.ParseID(name)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	e, err := h.artifacts()
	if err != nil {
		return nil, fault.BadInput(err)
	}
	b, err := e.Get(id, item)
	if errors.Is(err, vault.ErrNoState) {
		return nil, fault.BadInputf("job %s has no %s in %s; the job stored none, or it has been erased", name, item.Noun(), h)
	}
	return b, err
}

// Judged returns a finished job's predictions of held-out rows in a party's home, with their figures.
func (h Home) Judged(job string) (*method.Judged, error) {
	b, err := h.Left(job, vault.Figures)
	if err != nil {
		return nil, err
	}
	return decodeJudged(b)
}

// decodeJudged reads what keepJudged stored.
func decodeJudged(b []byte) (*method.Judged, error) {
	own := &method.Judged{}
	if err := json.Unmarshal(b, own); err != nil {
		return nil, fmt.Errorf("daemon: a party's figures: %w", err)
	}
	if own.Result == nil || own.Outcome == nil {
		return nil, errors.New("daemon: a party's stored figures have no result or no decisions")
	}
	o, d := own.Outcome, own.Outcome.Decisions
	if n := len(o.Truth); n == 0 || len(o.Held) != n || d.Rows != n || d.Cols < 1 || d.Cols > d.Stride || d.Stride > len(d.Data)/n {
		return nil, fmt.Errorf("daemon: a party's stored figures have %d labels and %d ids for %d x %d decisions; each row must have one label, one id and at least one decision", n, len(o.Held), d.Rows, d.Cols)
	}
	return own, nil
}

// Alignment returns the ids of a finished job's rows in the job's order, held-out rows last.
func (h Home) Alignment(job string) (ids []string, err error) {
	b, err := h.Left(job, vault.Alignment)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = 1
	records, err := r.ReadAll()
	if err == nil && len(records) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("daemon: job %s: the list of ids cannot be read: %w", job, err)
	}
	for _, one := range records[1:] {
		ids = append(ids, one[0])
	}
	return ids, nil
}
