// Package daemon runs the coordinator or a party from a home folder. It reads the identity, the
// roster and the configuration, opens the vault and the connection, and serves until it is stopped.
// It also runs the servers of many devices, whose homes have further files.
//
//	HOME/identity      the 32-byte seed of the process's keys, mode 0600, in clear or sealed by age
//	HOME/split.key     a party's 32-byte key that chooses the held-out rows, mode 0600
//	HOME/member.yaml   the public half of the identity, for the roster
//	HOME/config.yaml   name, addresses; for a party: catalogue and policy
//	HOME/roster.yaml   the members of the federation
//	HOME/approvals     rosters whose fingerprints the operator has compared
//	HOME/vault         sessions and their journals
//	HOME/keepsakes     retained state of finished jobs, sealed under a key for each job
//	HOME/snapshots     what open jobs read: rows of a changeable source, or which edition; sealed by a key for each job
//	HOME/dictionaries  data dictionaries that the operator has approved
//	HOME/studies       studies that the operator has approved, and which jobs each has admitted
//	HOME/editions      frozen copies of tables, sealed under a key for each edition
//	HOME/consents      the operator's decisions about single jobs
//	HOME/releases      the ledger of released data, for the operator to compare
//	HOME/audit         the audit record: what a party consented to and released, or who submitted jobs to a coordinator
//	HOME/audit.sent    the last line of the record that the syslog server has had
//	HOME/days          the first and the last day on which the daemon has run
//	HOME/heads         the last head of each party's audit record that a coordinator has seen
//	HOME/restored      marks a party's home that was restored from a backup, until the party is allowed to go on
//	HOME/invitations   the coordinator's open invitations, without their secrets
//	HOME/jobs          the coordinator's jobs
//	HOME/queues        the messages of the coordinator's broker
//	HOME/control.sock  the socket for the operator's commands
//	HOME/lock          an empty file that the daemon locks
//	HOME/roster.lock   an empty file that commands lock while they change the roster
package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

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
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/consent"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/study"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Home is a process's home folder, with the secrets that open its identity. Get one from [At].
type Home struct {
	folder string
	keys   *keys // shared by all copies of this Home
}

// String returns the path of the folder.
func (h Home) String() string { return h.folder }

func (h Home) path(name string) string { return filepath.Join(h.folder, name) }

// IdentityPath returns the path of the file with the seed of the process's keys.
func (h Home) IdentityPath() string { return h.path("identity") }

// lockPath returns the path of the file that a daemon locks while it runs.
func (h Home) lockPath() string { return h.path("lock") }

// MemberPath returns the path of the file with the public half of the identity.
func (h Home) MemberPath() string { return h.path("member.yaml") }

// ConfigPath returns the path of the configuration file.
func (h Home) ConfigPath() string { return h.path("config.yaml") }

// RosterPath returns the path of the roster file.
func (h Home) RosterPath() string { return h.path("roster.yaml") }

// Socket returns the path of the Unix socket for the operator's commands. A folder that the setting "roles" names has
// a socket of the same name, so commands take that folder in place of a home.
func (h Home) Socket() string { return h.path(socketName) }

const socketName = "control.sock"

// Releases returns a party's ledger, which lists released data.
func (h Home) Releases() disclosure.Ledger { return disclosure.Ledger(h.path("releases")) }

// Dictionaries returns the store of data dictionaries that the operator has approved.
func (h Home) Dictionaries() approved.Store[*job.Dictionary] {
	return approved.Store[*job.Dictionary]{Folder: h.path("dictionaries"), Parse: job.ParseDictionary, Unknown: job.ErrUnapproved}
}

// Studies returns the store of studies that the operator has approved.
func (h Home) Studies(jobs *job.Reader) study.Studies { return study.In(h.path("studies"), jobs) }

// Knowing returns a reader that finds the home's dictionaries and studies, including revoked ones.
func (h Home) Knowing(jobs *job.Reader) *job.Reader {
	return jobs.Knowing(h.Dictionaries().Find).KnowingStudies(h.Studies(jobs).Find)
}

// AuditPath returns the path of the home's audit record, see package audit.
func (h Home) AuditPath() string { return h.path("audit") }

func (h Home) consents() consent.Decisions { return consent.Decisions(h.path("consents")) }

func (h Home) retained() string { return h.path("keepsakes") }

func (h Home) snapshots() string { return h.path("snapshots") }

// artifacts opens the artifacts of finished jobs. A command can do so while the daemon runs.
func (h Home) artifacts() (*vault.Artifacts, error) {
	id, err := h.identity()
	if err != nil {
		return nil, err
	}
	return vault.ReadArtifacts(h.retained(), id.KEMKey()), nil
}

// Jobs returns the path of the coordinator's folder of jobs.
func (h Home) Jobs() string { return h.path("jobs") }

func (h Home) approvals() roster.Approvals { return roster.Approvals(h.path("approvals")) }

// Create makes a home with a configuration and an identity from the seed. It writes the member file, and
// returns the member that the file describes.
func (h Home) Create(jobs *job.Reader, c *Config, role roster.Role, seed [32]byte) (roster.Member, error) {
	m, file, err := member(jobs, c, role, seed)
	if err != nil {
		return m, fault.BadInput(err)
	}
	if err := makePrivate(h.folder); err != nil {
		return m, fault.BadInputf("%s cannot be a home: %w; choose another --home", h, err)
	}
	_, err = identity.Create(h.IdentityPath(), seed)
	if errors.Is(err, fs.ErrExist) {
		return m, fault.BadInputf("%s already holds an identity; choose another --home", h)
	}
	if err != nil {
		return m, err
	}
	if err := h.fill(c, role, file); err != nil {
		return m, errors.Join(err, disk.Erase(h.IdentityPath())) // without an identity, the operator can create the home again
	}
	return m, nil
}

// fill writes all files of a new home except its identity. After an error it removes them.
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

// reservedName is the name of the coordinator in job files; no party can have it.
const reservedName = "coordinator"

// member returns the member of a new home and the content of its member file. It writes nothing.
func member(jobs *job.Reader, c *Config, role roster.Role, seed [32]byte) (roster.Member, []byte, error) {
	m := roster.Member{Name: c.Name, Role: role}
	if role == roster.Party && c.Name == reservedName {
		return m, nil, fmt.Errorf("a party cannot be called %q; choose another --name", reservedName)
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

// Join installs a roster after the operator has approved its fingerprints.
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

// ApprovedRoster returns the roster that the operator has approved in this home, or nil if there is none.
func (h Home) ApprovedRoster() (*roster.Roster, error) {
	r, err := roster.Load(h.RosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.BadInput(err)
	}
	approved, err := h.approvals().Approved(r.Hash())
	if err != nil || !approved {
		return nil, err
	}
	return r, nil
}

// isIn returns an error unless the roster lists this home's name with this home's identity.
func (h Home) isIn(r *roster.Roster, c *Config, id *identity.Identity) error {
	m, ok := r.Lookup(c.Name)
	if !ok || m.Fingerprint() != publicKeys(id, m).Fingerprint() {
		return fault.BadInputf("the roster has no member %s with the identity in %s; send %s to the operator who makes the roster", c.Name, h, h.MemberPath())
	}
	return nil
}

// lockHome locks the home against a second daemon until the returned file is closed. The lock has a
// file of its own, because the identity file can be replaced, or can be missing in the home. Under the lock,
// lockHome completes or undoes an interrupted change of the identity.
func (h Home) lockHome() (*os.File, error) {
	if err := admin.Fits(h.Socket()); err != nil {
		return nil, fault.BadInput(err)
	}
	if err := os.Chmod(h.folder, 0o700); err != nil { // a folder of an earlier version might be open to other users
		if disk.Failed(err) { // a full or broken disk is not a mistake of the operator
			return nil, fmt.Errorf("the folder %s is not writable: %w", h, err)
		}
		return nil, fault.BadInputf("cannot restrict the permissions of %s to its owner: %w", h, err)
	}
	lock, err := disk.Lock(h.lockPath())
	if errors.Is(err, disk.ErrLocked) {
		return nil, fault.BadInputf("another daemon runs in %s; stop that daemon first", h)
	}
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(h.stillOpen(), h.recoverIdentity()); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// makePrivate makes a folder that no other user can read, and its parents. The error names the folder or the file that
// is in the way.
func makePrivate(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		err = disk.MakeDirs(folder)
	case err == nil && !info.IsDir():
		err = &fs.PathError{Op: "mkdir", Path: folder, Err: syscall.ENOTDIR}
	case err == nil:
		err = os.Chmod(folder, 0o700)
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

// Fingerprint returns the fingerprint of the home's identity. It covers the TLS key if the member file has one.
func (h Home) Fingerprint() (identity.Fingerprint, error) {
	id, err := h.identity()
	if err != nil {
		return identity.Fingerprint{}, err
	}
	m, err := roster.LoadMember(h.MemberPath())
	if errors.Is(err, fs.ErrNotExist) {
		return id.Public().Fingerprint(), nil
	}
	return publicKeys(id, m).Fingerprint(), err
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

// openJoined reads the identity, the configuration and the roster of a home that has joined a federation.
func (h Home) openJoined(jobs *job.Reader) (*identity.Identity, *Config, *roster.Roster, error) {
	id, c, err := h.open(jobs)
	if err != nil {
		return nil, nil, nil, err
	}
	members, err := h.readMembers(c, id)
	return id, c, members, err
}

// readMembers reads the roster. It checks that the operator has approved the roster and that this
// home is in it.
func (h Home) readMembers(c *Config, id *identity.Identity) (*roster.Roster, error) {
	r, err := roster.Load(h.RosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.BadInputf("%s has not joined a federation; use mercer federation join --home %s ROSTER", h, h)
	}
	if err != nil {
		return nil, fault.BadInput(err)
	}
	ok, err := h.approvals().Approved(r.Hash())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.Forbiddenf("the roster %s is not approved; compare its fingerprints and use mercer federation join --home %s %s", h.RosterPath(), h, h.RosterPath())
	}
	return r, h.isIn(r, c, id)
}

// jobRows stores what a job has read: the rows of a changeable source, and which edition of its table
// the job uses.
type jobRows interface {
	snapshot.Store
	edition() (job.ID, error) // [vault.ErrNoState] if the job has read no edition
	use(edition job.ID) error
	freezes() bool // whether the job is allowed to make the table's first edition
}

// snapshots stores the rows of one job or of one edition.
type snapshots struct {
	artifacts *vault.Artifacts
	job       job.ID
}

// editionItem is the name under which a party stores the id of the edition that a job uses.
const editionItem vault.Item = "edition"

func (k snapshots) edition() (job.ID, error) {
	b, err := k.artifacts.Get(k.job, editionItem)
	if err != nil {
		return job.ID{}, err
	}
	return job.ParseID(string(b))
}

func (k snapshots) use(edition job.ID) error {
	return k.artifacts.Put(k.job, editionItem, []byte(edition.String()))
}

func (k snapshots) freezes() bool { return true }

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

// peeked stores in memory the rows that are read for the check of a job.
type peeked struct{ snapshot.Memory }

// Open implements [snapshot.Store].
func (p *peeked) Open(name string) (io.ReadCloser, error) {
	r, err := p.Memory.Open(name)
	if err != nil {
		return nil, vault.ErrNoState
	}
	return r, nil
}

func (peeked) edition() (job.ID, error) { return job.ID{}, vault.ErrNoState }
func (peeked) use(job.ID) error         { return nil }
func (peeked) freezes() bool            { return false }

// loadChanging reads a table whose source can change, from the job's snapshot. If the job has no
// snapshot, it makes one first.
func (h Home) loadChanging(ctx context.Context, k snapshot.Store, s Source, t prepare.Table) (*dataset.Set, error) {
	t.Name = s.Name()
	set, err := live.Table(k, t)
	if !errors.Is(err, vault.ErrNoState) {
		return set, err
	}
	source := live.Source{Origin: s.Origin, Folder: h.folder, Mapping: s.mapping(), IDs: s.ID.Columns}
	if err := live.Copy(ctx, k, source); err != nil {
		return nil, err
	}
	return live.Table(k, t)
}

// keepTable stores a table as an artifact of a job, in CSV.
func keepTable(e *vault.Artifacts, id job.ID, item vault.Item, table [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(table); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return e.Put(id, item, b.Bytes())
}

// Left returns an artifact of a finished job in a party's home. Three artifacts are CSV: the order of the
// job's rows (column id), recommendations to the party's person (columns rank, item and score), and
// notices about the party's table (one column). The results on held-out rows are JSON, see [Home.Judged].
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
		return nil, fault.BadInputf("job %s has no %s in %s; the job did not store it, or it was erased", name, item.Noun(), h)
	}
	return b, err
}

// Judged returns a party's stored results on the held-out rows of a finished job.
func (h Home) Judged(job string) (*method.Judged, error) {
	b, err := h.Left(job, vault.Figures)
	if err != nil {
		return nil, err
	}
	return decodeJudged(b)
}

// decodeJudged decodes the result and the predictions that keepJudged stored.
func decodeJudged(b []byte) (*method.Judged, error) {
	own := &method.Judged{}
	if err := json.Unmarshal(b, own); err != nil {
		return nil, fmt.Errorf("daemon: a party's stored figures cannot be decoded: %w", err)
	}
	if own.Result == nil || own.Outcome == nil {
		return nil, errors.New("daemon: a party's stored results are incomplete; they must contain metrics and decisions")
	}
	o, d := own.Outcome, own.Outcome.Decisions
	if n := len(o.Truth); n == 0 || len(o.Held) != n || d.Rows != n || d.Cols < 1 || d.Cols > d.Stride || d.Stride > len(d.Data)/n {
		return nil, fmt.Errorf("daemon: a party's stored figures have %d labels and %d ids for %d x %d decisions; each row must have one label, one id and at least one decision", n, len(o.Held), d.Rows, d.Cols)
	}
	return own, nil
}

// Alignment returns the ids of a finished job's rows in the job's order. Held-out rows come last.
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
