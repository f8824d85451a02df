package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/transport/nats"
)

// Finding is the result of an examination of a part of a home. It is for the home's operator alone.
type Finding struct {
	Part   string // such as "table patients"
	Found  string
	Err    error  // nil if nothing is wrong
	Advice string // what to do about Err
	Minor  bool   // whether some or all jobs work in spite of Err
}

// Inspect examines a home whose configuration can be read: the modes of its files, every table of the
// catalogue with every dictionary that is approved for it, or as numbers if none is, and at a party the
// coordinator's address. It changes no setting and no stored data, but it runs the programs and queries of the
// catalogue.
func (h Home) Inspect(ctx context.Context, jobs *job.Reader) (list []Finding) {
	c, err := h.Config(jobs)
	if err != nil {
		return nil
	}
	list = append(list, h.inspectModes())
	approvals, err := h.Dictionaries().List()
	if err != nil {
		list = append(list, Finding{Part: "dictionaries", Err: err, Advice: "restore HOME/dictionaries from a backup"})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Data)) {
		list = append(list, h.inspectTable(ctx, c, name, approvals)...)
	}
	for _, a := range approvals {
		if _, there := c.Data[a.Table]; a.Table != "" && !there {
			list = append(list, Finding{
				Part: "dictionary " + a.Name, Err: fmt.Errorf("it is approved for table %s, which the catalogue does not have", a.Table), Minor: true,
				Advice: "add the table to config.yaml, or run mercer federation dictionary revoke " + a.Name,
			})
		}
	}
	if c.Coordinator != "" {
		list = append(list, h.inspectLine(c))
	}
	return list
}

// mostListed bounds the names that a text lists.
const mostListed = 5

// inspectModes looks for files that other users can write, and for secret files that they can read.
func (h Home) inspectModes() Finding {
	var open []string
	files := 0
	err := filepath.WalkDir(h.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a daemon has removed it meanwhile
		}
		if err != nil {
			return err
		}
		files++
		most := fs.FileMode(0o022)
		if path == h.IdentityPath() || path == h.SplitKeyPath() || filepath.Dir(path) == string(h.Releases()) {
			most = 0o077
		}
		if d.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&most != 0 {
			open = append(open, fmt.Sprintf("%s (%04o)", path, info.Mode().Perm()))
		}
		return nil
	})
	f := Finding{Part: "files", Found: humanize.Count(files, "file"), Err: err, Advice: "run the command as the user of the daemon"}
	if err == nil && open != nil {
		f.Err = fmt.Errorf("other users can change, or read the secrets in, %s", humanize.Names(open, mostListed))
		f.Advice = fmt.Sprintf("run: chmod -R go-w %s; chmod -R go-rwx %s %s %s", h, h.IdentityPath(), h.SplitKeyPath(), h.Releases())
	}
	return f
}

// inspectTable reads a table with each dictionary that is approved for it, or as numbers.
func (h Home) inspectTable(ctx context.Context, c *Config, name string, approvals []approved.Approval) (list []Finding) {
	part := "table " + name
	for _, a := range approvals {
		if a.Table != name {
			continue
		}
		d, err := h.dictionary(a.Name, a.Hash)
		if err == nil && d.Hash() != a.Hash {
			err = fmt.Errorf("the text of dictionary %s has changed since it was approved", a.Name)
		}
		if err != nil {
			list = append(list, Finding{Part: part, Err: fmt.Errorf("dictionary %s: %w", a.Name, err), Advice: "restore HOME/dictionaries from a backup, or approve the dictionary again"})
			continue
		}
		list = append(list, h.inspectReading(ctx, c, d, name, fmt.Sprintf("by dictionary %s (%s)", a.Name, a.Short())))
	}
	if list != nil {
		return list
	}
	f := h.inspectReading(ctx, c, job.OfNumbers(), name, "as numbers")
	var column *dataset.ColumnError // the entry names a column that the table does not have
	if f.Err != nil && !errors.As(f.Err, &column) && h.opens(ctx, c, name) {
		f.Minor = true
		f.Advice = "without a dictionary, jobs can read only numbers from a table; approve a dictionary for it with mercer federation dictionary approve"
	}
	return []Finding{f}
}

// opens reports whether the rows of a table can be read, whatever their cells hold.
func (h Home) opens(ctx context.Context, c *Config, name string) bool {
	s, err := c.source(h, name)
	if err != nil {
		return false
	}
	rows, err := h.scratch()
	if err != nil {
		return false
	}
	return errors.Join(h.copyRows(ctx, s, &job.Dictionary{}, rows), rows.Close()) == nil
}

// inspectReading reads a table with all labels that the catalogue offers.
func (h Home) inspectReading(ctx context.Context, c *Config, d *job.Dictionary, name, how string) Finding {
	f := Finding{Part: "table " + name, Advice: fmt.Sprintf("correct the table, or its entry in %s", h.ConfigPath())}
	set, held, err := h.readBy(ctx, c, d, name)
	if err != nil {
		f.Err = err
		return f
	}
	f.Found = fmt.Sprintf("%s and %s %s, %d held out, labels: %s", humanize.Count(set.X.Rows(), "row"), humanize.Count(set.X.Cols(), "column"), how, len(held), orNone(c.Data[name].Label.columns()))
	return f
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// inspectLine connects to the coordinator.
func (h Home) inspectLine(c *Config) Finding {
	f := Finding{
		Part: "coordinator", Found: "answers at " + c.Coordinator,
		Advice: fmt.Sprintf("check that the coordinator runs, that \"coordinator\" in %s has its address, and that this machine may connect to it", h.ConfigPath()),
	}
	members, err := roster.Load(h.RosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		f.Found = "not called: no roster yet"
		return f
	}
	var call nats.Options
	if err == nil {
		call, err = c.call(members)
	}
	if err == nil {
		err = nats.Probe(c.Coordinator, call)
	}
	f.Err = err
	return f
}
