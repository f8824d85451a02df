package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
)

// Trial holds the counts of rows, cells and people of a home's table as a dictionary reads it. They are
// for the operator alone.
type Trial struct {
	Table      string         // "" at a coordinator, which has no table
	Rows       int            // number of rows that jobs can use
	Left       int            // number of rows left out because a required cell is missing
	Unlabelled int            // number of rows left out because they have no label
	Outside    []prepare.Rare // numbers of cells outside the range of their column
	Rare       []prepare.Rare // for each column, the number of training rows whose value occurs in fewer than ten of them
	Former     string         // hash of the approved dictionary that the new one would replace; "" if there is none
	Changes    []string       // differences of the new dictionary from the former, one in a line
	People     int            // number of rows whose label or cells the two dictionaries read differently; all rows, at least 1, if the former reads none
}

// Try reads a home's table with a dictionary, and also with the approved dictionary of the same
// name. table can be "" if the catalogue has a single table. A table that does not fit the
// dictionary is an error. At a coordinator, Try returns an empty trial.
func (h Home) Try(ctx context.Context, jobs *job.Reader, d *job.Dictionary, table string) (*Trial, error) {
	c, err := h.Config(jobs)
	if err != nil {
		return nil, err
	}
	if c.Coordinator == "" {
		return &Trial{}, nil
	}
	if table, err = c.chosenTable(table); err != nil {
		return nil, fault.BadInput(err)
	}
	t := &Trial{Table: table}
	now, held, err := h.readBy(ctx, c, d, table)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if err := t.count(now, held); err != nil {
		return nil, err
	}
	former, err := h.formerDictionary(d, table)
	if former == nil || err != nil {
		return t, err
	}
	t.Former, t.Changes = former.Hash(), former.Changes(d)
	then, _, err := h.readBy(ctx, c, former, table)
	if err != nil { // the table cannot be read with the former dictionary, so every row might differ
		t.People = max(now.X.Rows(), 1)
		return t, nil //nolint:nilerr // the new dictionary reads it
	}
	t.People = readOtherwise(then, now)
	return t, nil
}

// TableOf returns the given name of a table of a party's catalogue, or the name of its only table if the
// given name is "". It returns "" for a coordinator.
func (h Home) TableOf(jobs *job.Reader, table string) (string, error) {
	c, err := h.Config(jobs)
	if err != nil || c.Coordinator == "" {
		return "", err
	}
	if table, err = c.chosenTable(table); err == nil {
		_, err = c.source(h, table)
	}
	if err != nil {
		return "", fault.BadInput(err)
	}
	return table, nil
}

// chosenTable returns the given name of a table, or the name of the catalogue's only table if the
// given name is "".
func (c *Config) chosenTable(name string) (string, error) {
	names := slices.Sorted(maps.Keys(c.Data))
	switch {
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "" && len(names) == 0:
		return "", errors.New("the catalogue has no table; add a table to config.yaml first")
	case name == "":
		return "", fmt.Errorf("the catalogue has several tables; choose a table with --table: %s", strings.Join(names, ", "))
	}
	return name, nil
}

// formerDictionary returns the dictionary that d would replace for a table, or nil. It has the same
// name and was approved last.
func (h Home) formerDictionary(d *job.Dictionary, table string) (former *job.Dictionary, err error) {
	list, err := h.Dictionaries().List()
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.Name != d.Name || a.Table != table || a.Hash == d.Hash() {
			continue
		}
		if former, err = h.Dictionaries().Find(a.Name, a.Hash); err != nil {
			return nil, err
		}
	}
	return former, nil
}

// readBy parses a home's table with a dictionary. It checks the labels and returns the indices of
// the held-out rows.
func (h Home) readBy(ctx context.Context, c *Config, d *job.Dictionary, table string) (set *dataset.Set, held []int, err error) {
	s, err := c.source(h, table)
	if err != nil {
		return nil, nil, err
	}
	key, err := h.peekSplitKey()
	if err != nil {
		return nil, nil, err
	}
	rows, err := h.scratch()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if err := h.copyStaying(ctx, s, d, table, rows); err != nil {
		return nil, nil, err
	}
	if set, _, _, err = h.readAll(c, s, d, table, rows); err != nil {
		return nil, nil, err
	}
	held, err = h.holdsOut(c, s, d, table, rows, set, key)
	return set, held, err
}

// count counts the rows and cells that the operator should know about.
func (t *Trial) count(set *dataset.Set, held []int) error {
	f, is := set.X.(*prepare.Frame)
	if !is {
		return fmt.Errorf("daemon: table %s was read without a dictionary; counts of its cells require a dictionary", t.Table)
	}
	t.Rows, t.Left, t.Unlabelled = f.Rows(), f.Dropped, set.Unlabelled
	for j, c := range f.Schema() {
		if n := f.Outside[j]; n > 0 {
			t.Outside = append(t.Outside, prepare.Rare{Column: c.Name, Rows: n})
		}
	}
	training := dataset.Complement(f.Rows(), held)
	made, err := prepare.FitAlone(f, training, prepare.Unscaled)
	if err != nil {
		return fault.BadInput(err)
	}
	t.Rare = made.Rare(f, training)
	return nil
}

// readOtherwise returns the number of rows whose label or cells two dictionaries read differently. It
// compares only the columns that both dictionaries have. The order of the rows does not matter.
func readOtherwise(then, now *dataset.Set) int {
	var common []string
	for _, name := range then.Columns {
		if slices.Contains(now.Columns, name) {
			common = append(common, name)
		}
	}
	more := make(map[[sha256.Size]byte]int)
	for _, row := range rowDigests(then, common) {
		more[row]++
	}
	for _, row := range rowDigests(now, common) {
		more[row]--
	}
	gone, came := 0, 0
	for _, n := range more {
		gone, came = gone+max(n, 0), came+max(-n, 0)
	}
	return max(gone, came)
}

// rowDigests returns a digest of each row's id, label and cells in the given columns.
func rowDigests(set *dataset.Set, columns []string) [][sha256.Size]byte {
	f, _ := set.X.(*prepare.Frame)
	rows := make([][sha256.Size]byte, set.X.Rows())
	var b []byte
	for i := range rows {
		b = b[:0]
		for _, part := range []string{at(set.IDs, i), at(set.Labels, i)} {
			b = append(append(b, part...), 0)
		}
		for _, name := range columns {
			b = f.AppendCell(b, i, slices.Index(set.Columns, name))
		}
		rows[i] = sha256.Sum256(b)
	}
	return rows
}

func at(list []string, i int) string {
	if list == nil {
		return ""
	}
	return list[i]
}
