package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/scratch"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Withdrawal reports the people who were withdrawn from a table, and the new editions without them.
type Withdrawal struct {
	People, Company int      // counts of the named people, and of others withdrawn with them
	Absent          []string // the named people who are in no edition; nil if Erased lists an edition
	Editions        []edition.Edition
	Erased          []edition.Edition // editions that were erased without a replacement
}

// exclusively calls a function while the home's editions are locked. No other process then freezes
// a table of this home or withdraws people from it.
func (h Home) exclusively(do func() error) (err error) {
	if err := disk.MakeDir(h.editions()); err != nil {
		return err
	}
	lock, err := disk.WaitLock(h.path("editions/making"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return do()
}

// Withdraw withdraws people from a table: neither current nor later editions include them. If they are few,
// it also withdraws other people, chosen by the home's key, so that the editions before and after do not
// reveal who was named. If a crash interrupts the command, running it again completes the
// withdrawal. A name that neither the table nor an edition contains is an error, unless the person was
// withdrawn before or an edition can no longer be read.
func (h Home) Withdraw(ctx context.Context, jobs *job.Reader, table string, people []string) (done Withdrawal, err error) {
	return h.withdrawOf(jobs, table, people, func(s Source, absent []string) error { return h.mustHave(ctx, s, table, absent) })
}

// WithdrawAhead withdraws people whether or not the table has them yet. Their future rows never take part
// in jobs.
func (h Home) WithdrawAhead(jobs *job.Reader, table string, people []string) (done Withdrawal, err error) {
	return h.withdrawOf(jobs, table, people, func(Source, []string) error { return nil })
}

// CheckTable returns an error if the home's catalogue has no entry for a table.
func (h Home) CheckTable(jobs *job.Reader, table string) error {
	c, err := h.Config(jobs)
	if err != nil {
		return err
	}
	if _, err := c.source(h, table); err != nil {
		return fault.BadInput(err)
	}
	return nil
}

func (h Home) withdrawOf(jobs *job.Reader, table string, people []string, check func(s Source, absent []string) error) (done Withdrawal, err error) {
	err = h.exclusively(func() (err error) {
		done, err = h.withdraw(jobs, table, people, check)
		return err
	})
	return done, err
}

func (h Home) withdraw(jobs *job.Reader, table string, people []string, check func(s Source, absent []string) error) (done Withdrawal, err error) {
	c, err := h.Config(jobs)
	if err != nil {
		return done, err
	}
	s, err := c.source(h, table)
	if err != nil {
		return done, fault.BadInput(err)
	}
	names, err := s.normalizedNames(table, people)
	if err != nil {
		return done, fault.BadInput(err)
	}
	key, err := h.splitKey()
	if err != nil {
		return done, err
	}
	frozen, lost, err := h.newestEditions(c, s, key, table)
	if err != nil {
		return done, fault.BadInput(err)
	}
	done.Erased = lost
	if len(lost) == 0 {
		done.Absent = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.ContainsFunc(frozen, func(f newestEdition) bool { return f.people[name].rows > 0 })
		})
	}
	if err := check(s, done.Absent); err != nil {
		return done, fault.BadInput(err)
	}
	record, by, err := h.decision(jobs) // a withdrawal that cannot be recorded does not begin
	if err != nil {
		return done, err
	}
	gone, err := h.chooseWithdrawn(table, s, frozen, names)
	if err != nil {
		return done, fault.BadInput(err)
	}
	done.People, done.Company = len(names), len(gone)-len(names)
	keep := make(map[string]bool)
	for _, f := range frozen {
		made, err := h.editionWithout(f, gone)
		if err != nil {
			return done, err
		}
		keep[made.ID] = true
		if made.ID != f.ID {
			done.Editions = append(done.Editions, made)
		}
	}
	if err := h.Editions().EraseBut(table, keep); err != nil {
		return done, err
	}
	return done, recordWithdrawal(record, by, table, done)
}

// mustHave returns an error if the table lacks a named person who was not withdrawn before.
func (h Home) mustHave(ctx context.Context, s Source, table string, names []string) error {
	left, err := h.Editions().Left(table, s.peopleRule())
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return left != nil && left(name) })
	if len(names) == 0 {
		return nil
	}
	rows, err := h.scratch()
	if err != nil {
		return err
	}
	found := make(map[string]bool)
	err = h.copyRows(ctx, s, job.OfNumbers(), rows)
	if err == nil {
		err = s.personOfEachRow(table, rows, func(name string) {
			if slices.Contains(names, name) {
				found[name] = true
			}
		})
	}
	if err := errors.Join(err, rows.Close()); err != nil {
		return err
	}
	if names = slices.DeleteFunc(names, func(name string) bool { return found[name] }); len(names) > 0 {
		return &AbsentError{table, names}
	}
	return nil
}

// AbsentError reports people whom neither a table nor its editions contain.
type AbsentError struct {
	Table string
	Names []string
}

func (e *AbsentError) Error() string {
	return fmt.Sprintf("table %s and its editions do not contain %s; check how the table writes the name, or use --absent to withdraw people who have no rows yet", e.Table, dataset.Quote(strings.Join(e.Names, ", ")))
}

// chooseWithdrawn returns the named people, and the people who must be withdrawn together with them. It
// records all these people as withdrawn.
func (h Home) chooseWithdrawn(table string, s Source, frozen []newestEdition, names []string) (map[string]bool, error) {
	left, err := h.Editions().Left(table, s.peopleRule())
	if err != nil {
		return nil, err
	}
	gone, out := make(map[string]bool), make(map[edition.Element]bool)
	for _, name := range names {
		gone[name] = true
	}
	var now []edition.Standing
	for _, f := range frozen {
		now = append(now, f.heldOutByPerson())
		for name, p := range f.people {
			if gone[name] || left != nil && left(name) {
				out[p.id] = true
			}
		}
	}
	if len(out) > 0 {
		if err := h.Editions().Company(table, now, out); err != nil {
			return nil, err
		}
	}
	for _, f := range frozen {
		for name, p := range f.people {
			if out[p.id] {
				gone[name] = true
			}
		}
	}
	return gone, h.Editions().Leave(table, s.peopleRule(), slices.Collect(maps.Keys(gone)))
}

// newestEdition is the newest edition of a table for a dictionary, with its people.
type newestEdition struct {
	edition.Edition
	source  Source
	key     dataset.SplitKey
	rows    snapshots
	labels  []string // labels, and last the column of weights, that the catalogue offers
	about   []string // the person of each stored row, in order
	people  map[string]person
	served  []usedRow // the edition's rows that jobs can use
	columns []string
	all     []edition.Person
}

// usedRow is one row that jobs with the dictionary use.
type usedRow struct {
	name string
	held bool
}

// newestEditions returns the newest edition of a table for each dictionary. It also returns the
// editions of revoked dictionaries if the catalogue's entry can no longer read these editions. No
// people can be withdrawn from such an edition, and no job needs it.
func (h Home) newestEditions(c *Config, s Source, key dataset.SplitKey, table string) (all []newestEdition, lost []edition.Edition, err error) {
	list, err := h.Editions().List()
	if err != nil {
		return nil, nil, err
	}
	artifacts, err := h.Editions().Sealed()
	if err != nil {
		return nil, nil, err
	}
	seen := make(map[string]bool)
	for _, e := range slices.Backward(list) {
		if e.Table != table || seen[e.Dictionary] {
			continue
		}
		seen[e.Dictionary] = true
		id, err := job.ParseID(e.ID)
		if err != nil {
			return nil, nil, err
		}
		f := newestEdition{Edition: e, source: s, key: key, rows: snapshots{artifacts, id}}
		err = f.read(h, c)
		if err == nil {
			all = append(all, f)
			continue
		}
		yes, unknown := h.Dictionaries().Approved(e.Dictionary, table)
		if yes || unknown != nil || e.Dictionary == job.OfNumbers().Hash() { // the dictionary of plain numbers needs no approval
			return nil, nil, errors.Join(fmt.Errorf("no person can be withdrawn from edition %[2]d of table %[4]s for dictionary %[3]s; repair the cause, or erase the edition with mercer edition erase: %[1]w", err, e.Number, e.Name, e.Table), unknown)
		}
		lost = append(lost, e)
	}
	return all, lost, nil
}

// read reads the people of the edition.
func (f *newestEdition) read(h Home, c *Config) error {
	d, err := h.dictionary(f.Name, f.Dictionary)
	if err != nil {
		return err
	}
	if reading, err := f.source.mappingDigest(); err != nil || f.Reading != "" && reading != f.Reading {
		return errors.Join(err, errOtherReading)
	}
	f.labels = f.source.offeredLabels(d)
	if err := h.Editions().Fits(f.Table, f.Dictionary, f.source.identificationDigest(f.key), f.labels); err != nil {
		return err
	}
	set, labels, merged, err := h.readAll(c, f.source, d, f.Table, f.rows)
	if err != nil {
		return err
	}
	held, err := heldOut(f.rows.artifacts, f.rows.job, set.X.Rows())
	if err != nil {
		return err
	}
	out := marked(set.X.Rows(), held)
	for i, name := range knownBy(set) {
		f.served = append(f.served, usedRow{name, out[i]})
	}
	f.people = peopleIn(f.key, set, labels, held)
	f.columns, f.all = set.Columns, allPeople(f.key, set, newDigester(f.key).names(knownBy(set)), merged, held)
	return f.source.personOfEachRow(f.Table, f.rows, func(name string) { f.about = append(f.about, name) })
}

// heldOutByPerson returns, for each person, whether the edition holds out the person's rows.
func (f *newestEdition) heldOutByPerson() edition.Standing {
	s := make(edition.Standing)
	for _, p := range f.people {
		s[p.id] = p.held
	}
	return s
}

// editionWithout makes the next edition from the rows of all people who are not withdrawn. It
// returns the zero edition if all people are withdrawn, and the same edition if none is withdrawn.
func (h Home) editionWithout(f newestEdition, gone map[string]bool) (made edition.Edition, err error) {
	next := edition.Draft{Edition: f.Edition, Known: f.source.identificationDigest(f.key), Labels: f.labels}
	next.Day, next.Lack, next.Training, next.HeldOut = time.Now().UTC().Format(time.DateOnly), 0, 0, 0
	stays := make(map[edition.Element]person)
	for name, one := range f.people {
		switch {
		case gone[name]:
			continue
		case one.held:
			next.HeldOut += one.rows
		default:
			next.Training += one.rows
		}
		stays[one.id] = one
	}
	cut, cells := cutAndCells(maps.Values(stays))
	next.Rows, next.Cells = edition.InMemory(cut), edition.InMemory(cells)
	next.Columns, next.People = f.columns, edition.Everybody(slices.DeleteFunc(slices.Clone(f.all), func(p edition.Person) bool {
		_, in := stays[p.ID]
		return !in
	}))
	var keep, held method.Bits
	kept, rows := 0, 0
	for i, name := range f.about {
		if !gone[name] {
			keep.Set(i)
			kept++
		}
	}
	switch {
	case len(cut) == 0:
		return made, nil
	case kept == len(f.about):
		return f.Edition, nil
	}
	for _, row := range f.served {
		if gone[row.name] {
			continue
		}
		if row.held {
			held.Set(rows)
		}
		rows++
	}
	next.Keep = func(e *vault.Artifacts, id job.ID) error {
		return errors.Join(copySome(snapshots{e, id}, f.rows, keep), keepHeld(e, id, held, rows))
	}
	return h.Editions().Make(next)
}

// copySome copies the selected rows of a snapshot, in their order.
func copySome(to, from snapshot.Store, keep method.Bits) error {
	rows, err := snapshot.Read(from)
	if err != nil {
		return err
	}
	return errors.Join(snapshot.Keep(to, &selectedRows{rows, keep, 0}), rows.Close())
}

// selectedRows yields only the selected records of a snapshot.
type selectedRows struct {
	*snapshot.Rows
	keep method.Bits
	at   int
}

// Next implements [dataset.Records].
func (s *selectedRows) Next() (dataset.Record, error) {
	for {
		row, err := s.Rows.Next()
		s.at++
		if err != nil || s.keep.Has(s.at-1) {
			return row, err
		}
	}
}

// copyStaying copies all rows of a table except the rows of withdrawn people.
func (h Home) copyStaying(ctx context.Context, s Source, d *job.Dictionary, table string, to *scratch.Space) error {
	left, err := h.Editions().Left(table, s.peopleRule())
	if err != nil {
		return err
	}
	if left == nil {
		return h.copyRows(ctx, s, d, to)
	}
	all, err := h.scratch()
	if err != nil {
		return err
	}
	var keep method.Bits
	rows := 0
	err = h.copyRows(ctx, s, d, all)
	if err == nil {
		err = s.personOfEachRow(table, all, func(name string) {
			if !left(name) {
				keep.Set(rows)
			}
			rows++
		})
	}
	if err == nil {
		err = copySome(to, all, keep)
	}
	return errors.Join(err, all.Close())
}

// dropWithdrawn returns a table without the rows of withdrawn people.
func (h Home) dropWithdrawn(s Source, table string, set *dataset.Set) (*dataset.Set, error) {
	left, err := h.Editions().Left(table, s.peopleRule())
	if err != nil || left == nil {
		return set, fault.Data.Of(err)
	}
	known := knownBy(set)
	if known == nil || s.Group != "" && set.Groups == nil {
		return nil, fault.Data.Of(edition.ErrLeaversUnknown)
	}
	var rows []int
	for i, name := range known {
		if !left(name) {
			rows = append(rows, i)
		}
	}
	stays := set.Subset(rows)
	stays.Unlabelled = set.Unlabelled
	return stays, nil
}
