package daemon

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
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
	all, out := frozen.people(gone)
	before := count(out)
	if len(frozen) > 0 {
		if err := h.Editions().Company(all, frozen.standings(all), out); err != nil {
			return done, err
		}
	}
	for i, p := range all {
		if out[i] {
			gone[p.ID] = true
		}
	}
	done.People, done.Company = len(people), count(out)-before
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

func count(marked []bool) (n int) {
	for _, m := range marked {
		if m {
			n++
		}
	}
	return n
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
	about  []string // whom the sealed rows are about, in their order
	people map[string]standing
}

// newestEditions are the newest editions of a table, one for each dictionary.
type newestEditions []newestEdition

// newest reads the newest editions of a table.
func (h Home) newest(c *Config, s Source, key dataset.SplitKey, table string) (all newestEditions, err error) {
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
	_, held, err := split(f.key, set, d)
	if err != nil {
		return err
	}
	f.people = peopleIn(f.key, set, labels, held)
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

// people returns everybody in the editions, and marks those who leave.
func (t newestEditions) people(gone map[edition.Element]bool) (all []edition.Person, out []bool) {
	var names []string
	for _, f := range t {
		names = append(names, slices.Collect(maps.Keys(f.people))...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		var p edition.Person
		for _, f := range t {
			one := f.people[name]
			if one.rows > 0 {
				p.ID = one.id
			}
			p.Cells = append(p.Cells, one.cells)
		}
		all, out = append(all, p), append(out, gone[p.ID])
	}
	return all, out
}

// standings describes the editions as [edition.Store.Company] asks.
func (t newestEditions) standings(all []edition.Person) (list []edition.Standing) {
	for k, f := range t {
		held := make(map[edition.Element]bool)
		for _, one := range f.people {
			held[one.cells] = one.held
		}
		s := edition.Standing{Table: f.Table, Dictionary: f.Dictionary, Held: make([]bool, len(all))}
		for i, p := range all {
			s.Held[i] = held[p.Cells[k]]
		}
		list = append(list, s)
	}
	return list
}

// without makes the next edition, of the rows of those who stay: the zero edition if nobody does, and the
// same if nobody leaves.
func (h Home) without(f newestEdition, gone map[edition.Element]bool) (made edition.Edition, err error) {
	next := edition.Draft{Edition: f.Edition, People: make(edition.Cut), Cells: make(edition.Cut)}
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
		next.People[one.id], next.Cells[one.cells] = one.held, one.held
	}
	keep := make([]bool, len(f.about))
	for i, name := range f.about {
		keep[i] = !gone[digest(f.key, []byte(name))]
	}
	switch {
	case len(next.People) == 0:
		return made, nil
	case !slices.Contains(keep, false):
		return f.Edition, nil
	}
	next.Keep = func(e *vault.Estate, id job.ID) error {
		return copySome(snapshots{e, id}, f.rows, keep, f.source.ID.Columns)
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
