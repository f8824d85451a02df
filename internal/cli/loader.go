package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

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
// A source that can change is read only once, for all runs of the job.
func (a *app) loader(ctx context.Context) partition.Loader {
	read := make(map[string]*snapshot.Memory)
	load := func(s job.Source, d job.Data) (*dataset.Set, error) {
		t := d.Table(s)
		switch {
		case s.Given():
			if read[s.Party] == nil {
				rows, err := a.copyRows(ctx, s, t)
				if err != nil {
					return nil, &sourceError{s.Party, err}
				}
				read[s.Party] = rows
			}
			return live.Table(read[s.Party], t)
		case d.Schema == nil && t.Mapping.Empty() && s.ID.IsZero() && t.Cut == "" && t.Group == "" && t.Weight == "" && t.Labelled == nil:
			return a.library().Load(s.File, catalogue.Columns{Label: d.Label, ID: d.ID, Width: d.Features, Gaps: d.Spread, Classes: d.Accepted()})
		}
		return a.library().LoadTable(s.File, t)
	}
	return func(s job.Source, d job.Data) (*dataset.Set, error) {
		set, err := load(s, d)
		if err != nil {
			return nil, suggestInfo(err, s, d)
		}
		a.noteLeftOut(s, d, set)
		return d.Pick(set), nil
	}
}

// sourceError is the error of the program or the query that is a party's source.
type sourceError struct {
	party string
	error
}

func (e *sourceError) Error() string { return "the source of " + e.party + ": " + e.error.Error() }

func (e *sourceError) Unwrap() error { return e.error }

// noteLeftOut adds a notice of the rows of a source that are left out because they have no label, or
// a gap in a column that must be complete.
func (a *app) noteLeftOut(s job.Source, d job.Data, set *dataset.Set) {
	of := cmp.Or(s.File, s.Party)
	if n := set.Unlabelled; n > 0 {
		a.notices.add(fmt.Sprintf("notice: %s: left out %s without a value in %s", of, humanize.Count(n, "row"), dataset.Quote(d.Label)))
	}
	if f, is := set.X.(*prepare.Frame); is && f.Dropped > 0 {
		a.notices.add(fmt.Sprintf("notice: %s: left out %s with a gap in a column that must be complete", of, humanize.Count(f.Dropped, "row")))
	}
}

// suggestInfo adds a hint to an error about a cell: the command that lists all problems of the
// source's file.
func suggestInfo(err error, s job.Source, d job.Data) error {
	var cell *dataset.SyntaxError
	if s.File == "" || !errors.As(err, &cell) || cell.Line < 2 {
		return err
	}
	return &Error{Code: codeBadData, Exit: Usage, Err: err, Hint: infoHint(s.File, ownLabel(s, d), s.Mapping.CSV)}
}

// ownLabel returns the name that a source's file gives to the labels. It returns "" for a job by columns,
// in which the file might have no labels, and for a job that names no labels.
func ownLabel(s job.Source, d job.Data) string {
	if d.Partition.By == job.Columns || d.Label == job.NoLabel || d.Label == "" {
		return ""
	}
	return s.Mapping.OwnName(d.Label)
}

// infoHint names the command that lists all problems of a file whose text has the given form. The
// label can be "".
func infoHint(file, label string, form prepare.CSV) string {
	flags := flagsOf(form)
	if label != "" {
		flags = " --label " + shellWord(label) + flags
	}
	return fmt.Sprintf("mercer data info %s%s lists all problems of the table", shellWord(file), flags)
}

// flagsOf returns the flags that describe the format of a text, each after a blank, as a shell reads
// them.
func flagsOf(form prepare.CSV) (flags string) {
	for _, flag := range [][2]string{
		{"--encoding", form.Encoding},
		{"--csv-delimiter", form.Delimiter},
		{"--decimal", form.Decimal},
		{"--thousands", form.Thousands},
		{"--missing", strings.Join(form.Missing, ",")},
		{"--comment", form.Comment},
		{"--quote", form.Quote},
		{"--names", strings.Join(form.Names, ",")},
		{"--headers", strings.Join(form.Headers, ",")},
	} {
		if flag[1] != "" {
			flags += fmt.Sprintf(" %s %s", flag[0], quoted(flag[1]))
		}
	}
	return flags
}

// quoted returns a word in single quotes, as a shell reads it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// shellWord returns a word as a shell reads it, in quotes only if it needs them.
func shellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./,=:@+", r)
	}) {
		return word
	}
	return quoted(word)
}

// copyRows runs a program or a query and keeps the resulting rows in memory.
func (a *app) copyRows(ctx context.Context, s job.Source, t prepare.Table) (*snapshot.Memory, error) {
	if s.Command != nil {
		a.tell(fmt.Sprintf("the job runs %s for the table of %s", strings.Join(s.Command, " "), s.Party))
	}
	rows := &snapshot.Memory{}
	return rows, live.Copy(ctx, rows, live.Source{Origin: s.Origin, Folder: ".", Mapping: s.Mapping, IDs: t.ID.Columns})
}
