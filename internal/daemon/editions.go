package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/scratch"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/live"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Editions returns the store of tables that this home has frozen.
func (h Home) Editions() edition.Store {
	return edition.Store{Folder: h.editions(), Sealed: func() (*vault.Artifacts, error) {
		id, err := h.identity()
		if err != nil {
			return nil, err
		}
		return vault.OpenArtifacts(h.editions(), id.KEMKey())
	}}
}

func (h Home) editions() string { return h.path("editions") }

// Freeze makes the next edition of a table for an approved dictionary, or for the implied dictionary of plain numbers. If the
// edition would single out too few people, it returns an [edition.LackError].
func (h Home) Freeze(ctx context.Context, jobs *job.Reader, d *job.Dictionary, table string) (made edition.Edition, err error) {
	err = h.exclusively(func() error {
		c, err := h.Config(jobs)
		if err == nil {
			made, err = h.freeze(ctx, c, d, table)
		}
		return err
	})
	return made, err
}

func (h Home) freeze(ctx context.Context, c *Config, d *job.Dictionary, table string) (edition.Edition, error) {
	s, err := c.source(h, table)
	if err != nil {
		return edition.Edition{}, fault.BadInput(err)
	}
	if !s.Given() && catalogue.New("").Missing(s.Path) && filepath.Ext(s.Path) != "" {
		return edition.Edition{}, fault.BadInputf("%s does not exist; correct \"path\" of %s in %s, or put the file there", s.Path, table, h.ConfigPath())
	}
	if d.IsNumbers() && !s.hasColumnNames() {
		return edition.Edition{}, fault.BadInputf("%s can be frozen only for an approved dictionary, because it is not a CSV or parquet file; approve a dictionary, and freeze the table for it", table)
	}
	key, err := h.splitKey()
	if err != nil {
		return edition.Edition{}, err
	}
	space, err := h.scratch()
	if err != nil {
		return edition.Edition{}, err
	}
	made, err := h.freezeIn(ctx, space, c, s, d, table, key)
	return made, errors.Join(err, space.Close())
}

// freezeIn makes an edition. The space holds the rows and sorted digests meanwhile.
func (h Home) freezeIn(ctx context.Context, space *scratch.Space, c *Config, s Source, d *job.Dictionary, table string, key dataset.SplitKey) (made edition.Edition, err error) {
	if err := h.copyStaying(ctx, s, d, table, space); err != nil {
		return made, badTable(err)
	}
	f, err := h.freezing(c, s, d, table, key, space)
	if err != nil {
		return made, badTable(err)
	}
	people, err := f.people(space)
	if err != nil {
		return made, badTable(err)
	}
	draft := people.draft(edition.Edition{
		Day: time.Now().UTC().Format(time.DateOnly), Table: table, Name: d.Name, Dictionary: d.Hash(),
	})
	if draft.Reading, err = s.mappingDigest(); err != nil {
		return made, err
	}
	draft.Known, draft.Labels = s.identificationDigest(key), s.offeredLabels(d)
	if draft.Cuts = s.CutDates; draft.Cuts != nil {
		draft.CutColumn = s.Cut
	}
	if draft.Cells != nil {
		if draft.Others, err = h.cellsByOthers(space, c, s, key, table, d); err != nil {
			return made, err
		}
	}
	draft.Keep = func(e *vault.Artifacts, id job.ID) error {
		return errors.Join(copyStream(snapshots{e, id}, space, snapshot.Name), keepHeld(e, id, people.held, people.rows))
	}
	return h.Editions().Make(draft)
}

// badTable makes an error a bad input, unless the disk failed.
func badTable(err error) error {
	var failed *scratch.Error
	if errors.As(err, &failed) {
		return err
	}
	return fault.BadInput(err)
}

// copyStream copies a stream from one store to another.
func copyStream(to, from snapshot.Store, name string) error {
	return to.Write(name, func(w io.Writer) error {
		r, err := from.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, r)
		return errors.Join(err, r.Close())
	})
}

// cellsByOthers sorts the people's cells by every other dictionary for which the table was frozen. It
// skips a dictionary that is lost or can no longer read the table, because such a dictionary reveals nothing.
func (h Home) cellsByOthers(space *scratch.Space, c *Config, s Source, key dataset.SplitKey, table string, but *job.Dictionary) (map[string]edition.Stream[edition.Element], error) {
	frozen, err := h.Editions().Dictionaries(table)
	if err != nil {
		return nil, err
	}
	others := make(map[string]edition.Stream[edition.Element])
	for hash, labels := range frozen {
		d, err := h.dictionary("", hash)
		if err != nil || hash == but.Hash() {
			continue
		}
		as := s.limitedTo(labels)
		if d.Columns == nil { // ignore columns added later, which would change every person's cells
			as = h.asFrozen(as, table, hash)
		}
		cells, err := h.cellsBy(space, c, as, d, table, key)
		var failed *scratch.Error
		switch {
		case errors.As(err, &failed):
			return nil, err
		case err == nil:
			others[hash] = cells
		}
	}
	return others, nil
}

// cellsBy sorts the people's cells as a dictionary reads them.
func (h Home) cellsBy(space *scratch.Space, c *Config, s Source, d *job.Dictionary, table string, key dataset.SplitKey) (edition.Stream[edition.Element], error) {
	f, err := h.freezing(c, s, d, table, key, space)
	if err != nil {
		return nil, err
	}
	return f.cells(space)
}

// limitedTo returns the entry with the label columns of an edition, and with its column of weights if
// the edition has one.
func (s Source) limitedTo(labels []string) Source {
	if !slices.Contains(labels, s.Weight) {
		s.Weight = ""
	}
	s.Label.Columns = slices.DeleteFunc(slices.Clone(labels), func(name string) bool { return name == s.Weight })
	return s
}

// asFrozen limits a table to the columns of its newest edition for a dictionary. It changes nothing
// if the catalogue entry lists or renames columns, or if the columns of such an edition are not known.
func (h Home) asFrozen(s Source, table, dictionary string) Source {
	if newest, err := h.Editions().Newest(table, dictionary); err == nil && newest.Compared != nil && s.Columns.IsZero() {
		s.Columns.Offered = newest.Compared.Columns
	}
	return s
}

// heldItem is the name under which an edition stores one flag for each row: 1 if the row is held
// out.
const heldItem vault.Item = "held"

func keepHeld(e *vault.Artifacts, id job.ID, held method.Bits, rows int) error {
	return e.Write(id, heldItem, func(to io.Writer) error {
		w := bufio.NewWriter(to)
		for i := range rows {
			flag := byte(0)
			if held.Has(i) {
				flag = 1
			}
			if err := w.WriteByte(flag); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

// heldOut returns the indices of the held-out rows of an edition.
func heldOut(e *vault.Artifacts, id job.ID, rows int) ([]int, error) {
	flags, err := e.Get(id, heldItem)
	if err != nil {
		return nil, err
	}
	if len(flags) != rows {
		return nil, fault.BadInputf("the edition has %d rows, but the catalogue's entry now reads %d; undo the change of the entry, or freeze the table again", len(flags), rows)
	}
	held := []int{}
	for i, flag := range flags {
		if flag == 1 {
			held = append(held, i)
		}
	}
	return held, nil
}

// holdsOut returns the rows that every job with the same dictionary holds out, unless the job holds out a party or the
// rows after a bound. It chooses rows by their groups, their ids, or all cells that the dictionary reads, whatever
// columns and label a job uses. For a dictionary without columns, the cells are those that a simulated job reads,
// including the label if the catalogue offers exactly one.
func (h Home) holdsOut(c *Config, s Source, d *job.Dictionary, table string, rows snapshot.Store, set *dataset.Set, key dataset.SplitKey) ([]int, error) {
	if d.Columns == nil {
		data := d.Of(c.Name)
		data.Source, data.Spread = table, true
		if list := s.describedLabels(d); len(list) == 1 {
			data.Label = list[0].Name
		}
		plain, err := h.readFrom(c, s, data, rows)
		if err != nil {
			return nil, err
		}
		set = plain
	}
	_, held, err := key.Split(set, d.Fraction)
	return append([]int{}, held...), err
}

// readAll parses frozen rows with a dictionary. It reads them once without a label, and once with
// each label that both the dictionary and the catalogue offer. It returns the labels as read and as the dictionary
// merges them. The weights that both offer are the last of the labels: editions are compared by them in the same way.
// The operator sees the error of an unreadable label or weight now, instead of in a later job.
func (h Home) readAll(c *Config, s Source, d *job.Dictionary, table string, rows snapshot.Store) (set *dataset.Set, labels, merged [][]string, err error) {
	data := d.Of(c.Name)
	data.Source = table
	if d.Columns == nil {
		if data.Schema, err = h.describe(c, s, data, rows); err != nil {
			return nil, nil, nil, err
		}
		data.Read = data.Schema
	}
	if len(s.CutDates) > 0 {
		data.Test = job.Test{Column: s.Cut, From: s.CutDates[0]}
	}
	if w, offered := s.describedWeight(d); offered {
		data.DescribeWeight(w)
	}
	if set, err = h.readFrom(c, s, data, rows); err != nil {
		return nil, nil, nil, err
	}
	for _, l := range s.describedLabels(d) {
		data.DescribeLabel(l)
		data.Spread = d.IsNumbers() // keep rows without a label, because each job decides whether to use them
		labelled, err := h.readFrom(c, s, data, rows)
		if err != nil {
			return nil, nil, nil, err
		}
		raw := slices.Clone(labelled.Labels)
		taken, err := data.Take(labelled)
		if err != nil {
			return nil, nil, nil, err
		}
		labels, merged = append(labels, raw), append(merged, taken.Labels)
	}
	if set.Weights != nil {
		texts := weightTexts(set.Weights)
		labels, merged = append(labels, texts), append(merged, texts)
	}
	return set, labels, merged, nil
}

// weightTexts returns weights as texts. All weights of 0 or less have one text, because none of their
// rows trains.
func weightTexts(weights []float64) []string {
	texts := make([]string, len(weights))
	for i, w := range weights {
		texts[i] = strconv.FormatFloat(max(0, w), 'g', -1, 64)
	}
	return texts
}

// describe returns a schema for frozen rows whose dictionary describes no columns. Every column
// holds numbers, without gaps.
func (h Home) describe(c *Config, s Source, data job.Data, rows snapshot.Store) (prepare.Schema, error) {
	set, err := h.readFrom(c, s, data, rows)
	if err != nil {
		return nil, err
	}
	return schemaOfNumbers(set.Columns)
}

// describedLabels returns the dictionary's labels that the catalogue offers. For the implied
// dictionary of numbers, it returns all labels of the entry.
func (s Source) describedLabels(d *job.Dictionary) (list []job.LabelColumn) {
	if d.IsNumbers() {
		for _, name := range slices.Sorted(slices.Values(s.Label.columns())) { // sorted: the order in the entry must not matter
			list = append(list, job.LabelColumn{Name: name})
		}
		return list
	}
	for _, l := range d.Labels {
		if slices.Contains(s.Label.Columns, l.Name) {
			list = append(list, l)
		}
	}
	return list
}

// describedWeight returns the column of weights that both the dictionary and the catalogue offer. The
// implied dictionary of numbers offers every column.
func (s Source) describedWeight(d *job.Dictionary) (w job.WeightColumn, offered bool) {
	if d.IsNumbers() {
		return job.WeightColumn{Name: s.Weight}, s.Weight != ""
	}
	at := slices.IndexFunc(d.Weights, func(w job.WeightColumn) bool { return w.Name == s.Weight })
	if at < 0 {
		return w, false
	}
	return d.Weights[at], true
}

// offeredLabels returns the names of the dictionary's labels that the catalogue offers, and last the
// column of weights, if it offers one.
func (s Source) offeredLabels(d *job.Dictionary) (names []string) {
	for _, l := range s.describedLabels(d) {
		names = append(names, l.Name)
	}
	if w, offered := s.describedWeight(d); offered {
		names = append(names, w.Name)
	}
	return names
}

// dictionary returns an approved dictionary, or the built-in dictionary of plain numbers.
func (h Home) dictionary(name, hash string) (*job.Dictionary, error) {
	if numbers := job.OfNumbers(); hash == numbers.Hash() {
		return numbers, nil
	}
	return h.Dictionaries().Find(name, hash)
}

// copyRows copies all rows of a table, sorted by their ids. The cells are not parsed, except those of a file without
// column names. The rows of a file with column names keep their order if the dictionary describes no columns, like the
// tables of a simulated job, so that results can be compared.
func (h Home) copyRows(ctx context.Context, s Source, d *job.Dictionary, to snapshot.Store) (err error) {
	if s.Given() {
		return live.Copy(ctx, to, live.Source{Origin: s.Origin, Folder: h.folder, Mapping: s.mapping(), IDs: s.ID.Columns})
	}
	library := catalogue.New("") // the entry has the path of its file, so no data folder is needed
	rows, found, err := library.Open(s.Path, s.mapping(), slices.Concat(s.ID.Columns, s.Label.Columns))
	if err != nil {
		return err
	}
	if !found {
		return h.copyNumbers(library, s, to)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	readable, err := dataset.WithoutUnreadable(rows)
	switch {
	case err != nil:
		return err
	case d.Columns == nil:
		return snapshot.Keep(to, readable)
	}
	return snapshot.Write(to, readable, s.ID.Columns)
}

// copyNumbers copies all rows of a table of plain numbers.
func (h Home) copyNumbers(library catalogue.Library, s Source, to snapshot.Store) error {
	label := job.NoLabel
	if list := s.Label.columns(); len(list) > 0 {
		label = list[0]
	}
	set, err := library.Load(s.Path, catalogue.Columns{Label: label, ID: s.ID.Name()})
	if err != nil {
		return err
	}
	return snapshot.Write(to, dataset.RecordsOf(set, label, s.ID.Name()), s.ID.Columns)
}

// readFrom reads frozen rows with the columns and the label of a job's data.
func (h Home) readFrom(c *Config, s Source, data job.Data, from snapshot.Store) (*dataset.Set, error) {
	columns, err := s.pickColumns(data.Source, data, c.Name)
	if err != nil {
		return nil, err
	}
	t := s.table(columns, data)
	t.Name = s.tableName()
	set, err := live.Table(from, t)
	if err == nil && s.ID.IsZero() {
		set.IDs = nil // a table has no ids if its entry declares none
	}
	return set, err
}

// editionOf returns the edition that a job uses. It is the edition that was the newest when the job
// first read the table. Later editions and restarts do not change it.
func (h Home) editionOf(data job.Data, k jobRows) (job.ID, error) {
	id, err := k.edition()
	if !errors.Is(err, vault.ErrNoState) {
		return id, err
	}
	newest, err := h.Editions().Newest(data.Source, dictionaryOf(data).Hash())
	if err != nil {
		return job.ID{}, err
	}
	if id, err = job.ParseID(newest.ID); err != nil {
		return job.ID{}, err
	}
	return id, k.use(id)
}

// checkBound refuses a job whose held-out rows start at a bound that the edition does not list. The
// difference of two jobs could reveal the people between two bounds.
func (h Home) checkBound(data job.Data, id job.ID) error {
	if data.Test.Column == "" {
		return nil
	}
	list, err := h.Editions().List()
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.ID == id.String() && e.CutColumn == data.Test.Column && slices.Contains(e.Cuts, data.Test.From) {
			return nil
		}
	}
	return fault.Public(fault.Forbiddenf("the edition of this table does not list the bound %s for held-out rows; ask the table's operator to add the bound to \"cut_dates\" in the catalogue, and to freeze the table again", data.Test.From))
}

// dictionaryOf returns the dictionary with which a job reads a table.
func dictionaryOf(data job.Data) *job.Dictionary {
	if data.Dictionary == nil {
		return job.OfNumbers()
	}
	return data.Dictionary
}

// hasColumnNames reports whether the table is a file with column names.
func (s Source) hasColumnNames() bool { return !s.Given() && catalogue.New("").Heads(s.Path) }

// largeTable is the least number of rows of a large table. If a large table has groups or bounds and cannot be frozen,
// a job without a dictionary gets no rows of it; see seesEdition.
const largeTable = 4 * edition.Least

// seesEdition reports whether a job reads an edition of a table instead of the table itself. A job
// without a dictionary uses an edition if the table is a file with column names; the first such job
// makes the first edition. Rows for which a trained model predicts come from the table itself. The job uses
// the table itself if the table is too small to be frozen and was never frozen. For such a small table the
// policy's limits apply, and the ledger compares single rows. A table of at least largeTable rows with groups or
// bounds is not small, even if it has few patients or few rows after a bound. A check of a job makes no edition,
// and reads the table until the table has one.
func (h Home) seesEdition(ctx context.Context, c *Config, s Source, data job.Data, k jobRows) (sees bool, err error) {
	if data.Dictionary != nil {
		return true, nil
	}
	if data.Schema != nil || data.Asks() || !s.hasColumnNames() {
		return false, nil
	}
	if sees, _, err = h.frozenAsNumbers(data.Source); sees || err != nil || !k.freezes() {
		return sees, err // do not wait for the lock, which a freeze of another table might hold
	}
	err = h.exclusively(func() (err error) {
		var ever bool
		if sees, ever, err = h.frozenAsNumbers(data.Source); sees || err != nil {
			return err
		}
		_, err = h.freeze(ctx, c, job.OfNumbers(), data.Source)
		var few *edition.LackError
		if errors.As(err, &few) { // no error: the list of editions shows why the table was not frozen
			sees = ever || few.Rows >= largeTable && (s.Group != "" || s.CutDates != nil)
			return nil
		}
		sees = true
		return err
	})
	return sees, err
}

// frozenAsNumbers reports whether the table has an edition for the dictionary of plain numbers, and
// whether it has any edition.
func (h Home) frozenAsNumbers(table string) (numbers, ever bool, err error) {
	frozen, err := h.Editions().Dictionaries(table)
	_, numbers = frozen[job.OfNumbers().Hash()]
	return numbers, len(frozen) > 0, err
}

// loadEdition reads the edition of a table that a job uses, with the job's dictionary.
func (h Home) loadEdition(c *Config, s Source, data job.Data, k jobRows) (t method.Table, err error) {
	id, err := h.editionOf(data, k)
	if errors.Is(err, edition.ErrNone) {
		return t, fault.Public(fault.Forbiddenf("this home has no edition of the table for dictionary %s yet; its operator approves the dictionary (mercer federation dictionary approve) for a table of at least ten people in training and ten held out, and makes an edition with mercer data freeze TABLE --dictionary %[1]s", dictionaryOf(data).Name))
	}
	if err != nil {
		return t, err
	}
	if err := h.checkBound(data, id); err != nil {
		return t, err
	}
	seed, err := h.identity()
	if err != nil {
		return t, err
	}
	artifacts := vault.ReadArtifacts(h.editions(), seed.KEMKey())
	t.Set, err = h.readFrom(c, s, data, snapshots{artifacts, id})
	if err == nil {
		t.Held, err = heldOut(artifacts, id, t.Set.X.Rows())
	}
	if errors.Is(err, vault.ErrNoState) {
		return t, fmt.Errorf("the key of the job's edition of %s is lost or erased; remove the edition with mercer edition erase", data.Source)
	}
	if err != nil {
		return t, err
	}
	t.Edition, err = h.describeEdition(s, id, data, t.Set)
	return t, err
}

// errOtherReading refuses an edition if the catalogue entry's rules for reading cells have changed
// since the freeze. Otherwise two jobs could reveal the difference between the two readings.
var errOtherReading = errors.New("the catalogue entry's rules for reading cells have changed since the table was frozen; restore the rules, or freeze the table again")

// describeEdition describes an edition for the ledger of releases. For the columns and the label of
// a job, it lists the earlier editions whose differences from this edition are safe to reveal. An
// edition that was removed while a job uses it has a zero description.
func (h Home) describeEdition(s Source, id job.ID, data job.Data, set *dataset.Set) (method.Edition, error) {
	list, err := h.Editions().List()
	if err != nil {
		return method.Edition{}, err
	}
	at := slices.IndexFunc(list, func(e edition.Edition) bool { return e.ID == id.String() })
	if at < 0 {
		return method.Edition{}, nil
	}
	if reading, err := s.mappingDigest(); err != nil || list[at].Reading != "" && reading != list[at].Reading {
		return method.Edition{}, errors.Join(err, errOtherReading)
	}
	of := method.Edition{ID: list[at].ID, Number: list[at].Number, IDs: set.IDs}
	label, err := s.label(data.Source, data.Label)
	if err != nil {
		return method.Edition{}, err
	}
	columns := set.Columns
	if data.Schema != nil {
		columns = data.Schema.Names()
	}
	for _, b := range list[at].Beside {
		for _, c := range []struct {
			clear bool
			list  *[]string
		}{
			{b.ClearRows(columns, label) && b.ClearRows(nil, data.Weight), &of.Clear.Rows}, {b.ClearSums(columns), &of.Clear.Sums},
			{b.ClearClasses(columns, label), &of.Clear.Classes}, {b.ClearNumbers(columns, label), &of.Clear.Numbers},
			{b.ClearHeldOutClasses(columns, label), &of.Clear.HeldOut},
		} {
			if c.clear {
				*c.list = append(*c.list, b.ID)
			}
		}
	}
	return of, nil
}
