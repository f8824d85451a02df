package daemon

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Withdrawal says what came of people who left a table for good.
type Withdrawal struct {
	People, Company int // who left, and who went along
	Editions        []edition.Edition
}

// withdrawn are the people, by digests under a key of the home, who never take part again, by table.
type withdrawn map[string][]string

func (h Home) withdrawn() (w withdrawn, err error) {
	b, err := os.ReadFile(h.withdrawnPath())
	if errors.Is(err, fs.ErrNotExist) {
		return withdrawn{}, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil {
		return nil, fault.BadInputf("%s cannot be read (%v); put it back from a backup: without it people who have left would take part again", h.withdrawnPath(), err)
	}
	return w, nil
}

func (h Home) withdrawnPath() string { return h.path("editions/withdrawn") }

// of returns those who have left a table.
func (w withdrawn) of(table string) map[edition.Element]bool {
	gone := make(map[edition.Element]bool)
	for _, text := range w[table] {
		var e edition.Element
		if b, err := hex.DecodeString(text); err == nil && len(b) == len(e) {
			copy(e[:], b)
			gone[e] = true
		}
	}
	return gone
}

// Withdraw has people leave a table for good: no edition has them any more, and no later one will. Others,
// drawn by the home's key, go along, so that nobody can tell by the editions before and after who left. What
// a crash leaves undone is done when the command is given again.
func (h Home) Withdraw(ctx context.Context, jobs *job.Reader, table string, people []string) (done Withdrawal, err error) {
	c, err := h.Config(jobs)
	if err != nil {
		return done, err
	}
	s, err := c.source(h, table)
	if err != nil {
		return done, fault.BadInput(err)
	}
	if s.ID.IsZero() && s.Group == "" {
		return done, fault.BadInputf("the catalogue's entry of %s names no id and no group, by which people are known; take the rows out of the table, and freeze it", table)
	}
	key, err := h.splitKey()
	if err != nil {
		return done, err
	}
	frozen, err := h.newest(c, s, key, table)
	if err != nil {
		return done, err
	}
	left, err := h.withdrawn()
	if err != nil {
		return done, err
	}
	gone := left.of(table)
	for _, name := range people {
		gone[digest(key, []byte(name))] = true
	}
	var now []edition.Standing
	known := 0 // of those who leave, whom an edition has
	for _, f := range frozen {
		now = append(now, f.standing())
	}
	for e := range gone {
		if slices.ContainsFunc(now, func(s edition.Standing) bool { _, in := s[e]; return in }) {
			known++
		}
	}
	before := len(gone)
	if known > 0 {
		if err := h.Editions().Company(table, now, gone); err != nil {
			return done, err
		}
	}
	done.People, done.Company = len(people), len(gone)-before
	if err := h.leave(table, left, gone); err != nil {
		return done, err
	}
	keep := make(map[string]bool)
	for _, f := range frozen {
		made, err := h.without(f, gone)
		if err != nil {
			return done, err
		}
		keep[made.ID] = true
		if made.ID != f.ID {
			done.Editions = append(done.Editions, made)
		}
	}
	return done, h.Editions().EraseBut(table, keep)
}

// leave writes down who has left, before any edition without them is made.
func (h Home) leave(table string, left withdrawn, gone map[edition.Element]bool) error {
	left[table] = nil
	for e := range gone {
		left[table] = append(left[table], hex.EncodeToString(e[:]))
	}
	slices.Sort(left[table])
	b, err := json.MarshalIndent(left, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(disk.MakeDir(h.editions()), disk.Replace(h.withdrawnPath(), b))
}

// newestEdition is the newest edition of a table for a dictionary, with the people in it.
type newestEdition struct {
	edition.Edition
	source Source
	key    dataset.SplitKey
	rows   snapshots
	labels string   // that are offered, as a digest
	about  []string // whom the sealed rows are about, in their order
	people map[string]standing
	served []served // the rows that the dictionary takes in
}

// served is a row that a dictionary takes in.
type served struct {
	name string
	held bool
}

// newest reads the newest editions of a table.
func (h Home) newest(c *Config, s Source, key dataset.SplitKey, table string) (all []newestEdition, err error) {
	list, err := h.Editions().List()
	if err != nil {
		return nil, err
	}
	estate, err := h.Editions().Sealed()
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for _, e := range slices.Backward(list) {
		if e.Table != table || seen[e.Dictionary] {
			continue
		}
		seen[e.Dictionary] = true
		id, err := job.ParseID(e.ID)
		if err != nil {
			return nil, err
		}
		f := newestEdition{Edition: e, source: s, key: key, rows: snapshots{estate, id}}
		if err := f.read(h, c); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// read finds out whom the edition has.
func (f *newestEdition) read(h Home, c *Config) error {
	d, err := h.Dictionaries().Find(f.Name, f.Dictionary)
	if err != nil {
		return err
	}
	set, labels, err := h.readAll(c, f.source, d, f.Table, f.rows)
	if err != nil {
		return err
	}
	held, err := heldOut(f.rows.estate, f.rows.job, set.X.Rows())
	if err != nil {
		return err
	}
	out := marked(set.X.Rows(), held)
	for i, name := range knownBy(set) {
		f.served = append(f.served, served{name, out[i]})
	}
	f.people, f.labels = peopleIn(f.key, set, labels, held), offered(f.key, f.source, d)
	f.about, err = f.source.people(f.Table, f.rows)
	return err
}

// people returns whom each row of a snapshot is about.
func (s Source) people(table string, rows snapshot.Store) ([]string, error) {
	from, err := snapshot.Read(rows)
	if err != nil {
		return nil, err
	}
	about, err := prepare.Table{Name: table, Mapping: s.mapping(), ID: s.ID.IDRule, Group: s.Group}.People(from)
	return about, errors.Join(err, from.Close())
}

// standing is how people stand in the edition.
func (f *newestEdition) standing() edition.Standing {
	s := make(edition.Standing)
	for _, p := range f.people {
		s[p.id] = p.held
	}
	return s
}

// without makes the next edition, of the rows of those who stay: the zero edition if nobody does, and the
// same if nobody leaves.
func (h Home) without(f newestEdition, gone map[edition.Element]bool) (made edition.Edition, err error) {
	next := edition.Draft{Edition: f.Edition, Known: f.source.known(f.key), Labels: f.labels, Rows: make(edition.Cut), Cells: make(edition.Cells)}
	next.Day, next.Lack, next.Training, next.HeldOut = time.Now().UTC().Format(time.DateOnly), 0, 0, 0
	for _, one := range f.people {
		switch {
		case gone[one.id]:
			continue
		case one.held:
			next.HeldOut += one.rows
		default:
			next.Training += one.rows
		}
		next.Rows[one.id], next.Cells[one.id] = edition.Part{Held: one.held}, one.cells
	}
	keep := make([]bool, len(f.about))
	for i, name := range f.about {
		keep[i] = !gone[digest(f.key, []byte(name))]
	}
	switch {
	case len(next.Rows) == 0:
		return made, nil
	case !slices.Contains(keep, false):
		return f.Edition, nil
	}
	var held []bool
	for _, row := range f.served {
		if !gone[f.people[row.name].id] {
			held = append(held, row.held)
		}
	}
	next.Keep = func(e *vault.Estate, id job.ID) error {
		return errors.Join(copySome(snapshots{e, id}, f.rows, keep, f.source.ID.Columns), keepHeld(e, id, held))
	}
	return h.Editions().Make(next)
}

// copySome copies the rows of a snapshot that stay.
func copySome(to, from snapshot.Store, keep []bool, ids []string) error {
	rows, err := snapshot.Read(from)
	if err != nil {
		return err
	}
	return errors.Join(snapshot.Write(to, &some{rows, keep, 0}, ids), rows.Close())
}

// some are the records of a snapshot that stay.
type some struct {
	*snapshot.Rows
	keep []bool
	at   int
}

// Next implements [dataset.Records].
func (s *some) Next() (dataset.Record, error) {
	for {
		row, err := s.Rows.Next()
		s.at++
		if err != nil || s.keep[s.at-1] {
			return row, err
		}
	}
}

// stayingRows are the rows of a table without those of people who have left it.
func (h Home) stayingRows(s Source, key dataset.SplitKey, table string, rows *once) (*once, error) {
	left, err := h.withdrawn()
	if err != nil || len(left[table]) == 0 {
		return rows, err
	}
	about, err := s.people(table, rows)
	if err != nil {
		return nil, err
	}
	if about == nil {
		return nil, errUnknown(table)
	}
	gone, keep := left.of(table), make([]bool, len(about))
	for i, name := range about {
		keep[i] = !gone[digest(key, []byte(name))]
	}
	staying := &once{}
	return staying, copySome(staying, rows, keep, s.ID.Columns)
}

// staying is a table without the rows of people who have left it.
func (h Home) staying(key dataset.SplitKey, table string, set *dataset.Set) (*dataset.Set, error) {
	left, err := h.withdrawn()
	if err != nil || len(left[table]) == 0 {
		return set, err
	}
	known := knownBy(set)
	if known == nil {
		return nil, errUnknown(table)
	}
	gone := left.of(table)
	var rows []int
	for i, name := range known {
		if !gone[digest(key, []byte(name))] {
			rows = append(rows, i)
		}
	}
	return set.Subset(rows), nil
}

func errUnknown(table string) error {
	return fault.Forbiddenf("people have left table %s for good, and its catalogue entry names no id and no group any more, by which they are known", table)
}
