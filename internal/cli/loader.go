package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/catalogue/live"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
)

// loader returns a function that reads a job's sources, for a process with the data of all parties.
// It reads a source that can change only once for all runs of the job.
func (a *app) loader(ctx context.Context) partition.Loader {
	read, told := make(map[string]*snapshot.Memory), make(map[string]bool)
	load := func(s job.Source, d job.Data) (*dataset.Set, error) {
		t := d.Table(s)
		switch {
		case s.Given():
			if read[s.Party] == nil {
				rows, err := a.copyRows(ctx, s, t)
				if err != nil {
					return nil, fmt.Errorf("the source of %s: %w", s.Party, err)
				}
				read[s.Party] = rows
			}
			return live.Table(read[s.Party], t)
		case d.Schema == nil && t.Mapping.Empty() && t.Cut == "" && t.Group == "" && t.Labelled == nil:
			return a.library().Load(s.File, catalogue.Columns{Label: d.Label, ID: d.ID, Width: d.Features, Gaps: d.Spread, Classes: d.Accepted()})
		}
		return a.library().LoadTable(s.File, t)
	}
	return func(s job.Source, d job.Data) (*dataset.Set, error) {
		set, err := load(s, d)
		if err != nil {
			return nil, suggestInfo(err, s.File)
		}
		a.tellUnlabelled(s, d, set.Unlabelled, told)
		return d.Pick(set), nil
	}
}

// tellUnlabelled prints how many rows of a source have no label and are left out, once for all runs
// of the job.
func (a *app) tellUnlabelled(s job.Source, d job.Data, rows int, told map[string]bool) {
	of := cmp.Or(s.File, s.Party)
	if rows == 0 || told[of] {
		return
	}
	told[of] = true
	a.tell(fmt.Sprintf("%s: left out %s without a value in %s", of, humanize.Count(rows, "row"), dataset.Quote(d.Label)))
}

// suggestInfo adds a hint to an error about a cell: the command that lists all problems of the
// file.
func suggestInfo(err error, file string) error {
	var cell *dataset.SyntaxError
	if file == "" || !errors.As(err, &cell) || cell.Line < 2 {
		return err
	}
	return &Error{Code: codeBadData, Exit: Usage, Err: err, Hint: fmt.Sprintf("mercer data info %s lists all problems of the table", file)}
}

// copyRows runs a program or a query and keeps the resulting rows in memory.
func (a *app) copyRows(ctx context.Context, s job.Source, t prepare.Table) (*snapshot.Memory, error) {
	if s.Command != nil {
		a.tell(fmt.Sprintf("the job runs %s for the table of %s", strings.Join(s.Command, " "), s.Party))
	}
	rows := &snapshot.Memory{}
	return rows, live.Copy(ctx, rows, live.Source{Origin: s.Origin, Folder: ".", Mapping: s.Mapping, IDs: t.ID.Columns})
}
