package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

func (a *app) federationDictionary() *cobra.Command {
	cmd := commandGroup("dictionary", "Approve, list and revoke the data dictionaries of jobs")
	cmd.Example = "  mercer federation dictionary approve cohort.yaml --home ./north\n  mercer federation dictionary list --home ./north"
	cmd.AddCommand(a.dictionaryApprove(), a.dictionaryList(), a.dictionaryRevoke())
	return cmd
}

// trialResult describes a dictionary and its effect on a home's table.
type trialResult struct {
	Name       string        `json:"name"`
	Hash       string        `json:"hash"`
	Table      string        `json:"table,omitempty"`
	Rows       int           `json:"rows"`
	Left       int           `json:"rows_left_out"`
	Unlabelled int           `json:"rows_without_label"` // also left out
	Outside    []columnCount `json:"cells_outside"`
	Rare       []columnCount `json:"rare_values"`
	Former     string        `json:"former,omitempty"`
	Changes    []string      `json:"changes"`
	People     int           `json:"people_read_otherwise"`
	Approved   bool          `json:"approved"`
	Edition    int           `json:"edition,omitempty"` // number of the edition that jobs use
	Lack       int           `json:"lack,omitempty"`    // number of people who are missing for the first edition
}

// columnCount counts cells of one column.
type columnCount struct {
	Column string `json:"column"`
	Rows   int    `json:"rows"`
}

func countsOf(list []prepare.Rare) []columnCount {
	counts := make([]columnCount, len(list))
	for i, r := range list {
		counts[i] = columnCount(r)
	}
	return counts
}

// Print shows the dictionary's hash and the effect on the table. Operators compare the hash with
// each other.
func (r trialResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("dictionary %s", r.Name)
	p.linef("hash %s", r.Hash)
	if r.Table != "" {
		r.printTable(p)
	}
	if r.Approved {
		p.linef("approved: jobs may name it")
	}
	switch {
	case r.Edition > 0:
		p.linef("jobs read edition %d of the table; mercer data freeze %s makes the next one", r.Edition, r.Table)
	case r.Lack > 0:
		p.linef("no job can read the table by it yet: it must add or remove no people or at least ten, both in training and held out, and %s missing; mercer data freeze %s tries again", areOf(r.Lack), r.Table)
	}
	return p.err
}

func (r trialResult) printTable(p *printer) {
	p.linef("table %s: %s; %s left out because of a gap in a complete column", r.Table, humanize.Count(r.Rows, "row"), humanize.Count(r.Left, "row"))
	if r.Unlabelled > 0 {
		p.linef("  left out %s without a label", humanize.Count(r.Unlabelled, "row"))
	}
	for _, c := range r.Outside {
		p.linef("  %s: %s outside the range", c.Column, humanize.Count(c.Rows, "cell"))
	}
	for _, c := range r.Rare {
		p.linef("  %s: %s with a value that fewer than ten have; no sum counts this value by itself", c.Column, humanize.Count(c.Rows, "training row"))
	}
	if r.Former == "" {
		return
	}
	p.linef("changes from the approved dictionary of that name (%s):", r.Former[:12])
	for _, line := range r.Changes {
		p.linef("  %s", line)
	}
	p.linef("  %s of this table would be read differently", humanize.Count(r.People, "row"))
}

func (a *app) dictionaryApprove() *cobra.Command {
	var home, table string
	var yes bool
	cmd := &cobra.Command{
		Use:   "approve FILE",
		Short: "Approve a data dictionary, after reading this home's table by it",
		Long: `Approve a data dictionary for a table of this home. Jobs that name it can then run,
as far as the table's policy allows.

First the command reads the table by the dictionary. It shows how many rows take part,
which cells are outside their range, and which values too few people have for sums to
show them. If a dictionary of that name is already approved, the command lists the
changes, and how many rows would be read differently.

All members approve the same file: compare its hash with theirs. A coordinator has no
table.`,
		Example: "  mercer federation dictionary approve cohort.yaml --home ./north\n  mercer federation dictionary approve cohort.yaml --home ./north --table admissions --yes",
		Args:    args("FILE"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			d, err := readDictionary(args[0])
			if err != nil {
				return nil, err
			}
			h := a.at(home)
			t, err := h.Try(ctx, a.reader, d, table)
			if err != nil {
				return nil, err
			}
			r := trialResult{
				Name: d.Name, Hash: d.Hash(), Table: t.Table, Rows: t.Rows, Left: t.Left, Unlabelled: t.Unlabelled, Outside: countsOf(t.Outside), Rare: countsOf(t.Rare),
				Former: t.Former, Changes: append([]string{}, t.Changes...), People: t.People,
			}
			if !yes {
				if err := a.askApproval(r); err != nil {
					return nil, err
				}
			}
			r.Approved = true
			if err := h.Dictionaries().Approve(d, t.Table, time.Now()); err != nil || t.Table == "" {
				return r, err
			}
			return a.firstEdition(ctx, h, d, r)
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&table, "table", "", "table of the catalogue; default the only one")
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without asking; you have read the figures and compared the hash")
	return cmd
}

// firstEdition freezes the table with a dictionary if the table has no edition for that dictionary.
func (a *app) firstEdition(ctx context.Context, h daemon.Home, d *job.Dictionary, r trialResult) (Result, error) {
	newest, err := h.Editions().Newest(r.Table, d.Hash())
	if errors.Is(err, edition.ErrNone) {
		newest, err = h.Freeze(ctx, a.reader, d, r.Table)
	}
	var few *edition.LackError
	if errors.As(err, &few) {
		r.Lack = few.Lack
		return r, nil
	}
	r.Edition = newest.Number
	return r, err
}

// askApproval shows the effect of a dictionary and asks the operator to approve the dictionary.
func (a *app) askApproval(r trialResult) error {
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		return err
	}
	a.tell(strings.TrimSuffix(b.String(), "\n"))
	return a.askYes("Do all members have this hash, and may jobs read the table in this way? Type yes:", "the dictionary is not approved", "compare the hash, then answer yes or use --yes")
}

// askYes asks the operator a question. It returns an error unless the answer is yes.
func (a *app) askYes(question, otherwise, hint string) error {
	a.tell(question)
	answer, err := bufio.NewReader(io.LimitReader(a.stdin, 100)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return refused(errors.New(otherwise), hint)
	}
	return nil
}

// readDictionary reads a dictionary file.
func readDictionary(path string) (*job.Dictionary, error) {
	b, err := regular.Read(path)
	if err != nil {
		return nil, usage("the dictionary cannot be read: %w", err)
	}
	return job.ParseDictionary(path, b)
}

// readerBeside returns the job reader that finds the dictionary or study NAME in the file NAME.yaml in
// the folder of a job file.
func (a *app) readerBeside(jobFile string) *job.Reader {
	dictionaries := func(name, _ string) (*job.Dictionary, error) {
		return documentBeside(jobFile, "dictionary", name, job.ParseDictionary)
	}
	studies := func(name, _ string) (*job.Study, error) {
		return documentBeside(jobFile, "study", name, a.reader.ParseStudy)
	}
	return a.reader.Knowing(dictionaries).KnowingStudies(studies)
}

// documentBeside reads a document, such as a dictionary, from the file NAME.yaml beside a job file.
func documentBeside[D any](jobFile, what, name string, parse func(path string, text []byte) (D, error)) (d D, err error) {
	if filepath.Base(name) != name || filepath.Ext(name) == ".yaml" {
		return d, fmt.Errorf("the name %q of the %s has a folder or an ending; write the name alone, such as %s, and put its file beside the job file", name, what, strings.TrimSuffix(filepath.Base(name), ".yaml"))
	}
	path := filepath.Join(filepath.Dir(jobFile), name+".yaml")
	b, err := regular.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, fmt.Errorf("there is no file %s; put the %s there, beside the job file, or correct the name", path, what)
	case err != nil:
		return d, fmt.Errorf("the %s's file beside the job file cannot be read: %w", what, err)
	}
	return parse(path, b)
}

// dictionaryList lists the approvals of dictionaries.
type dictionaryList struct {
	Dictionaries []approved.Approval `json:"dictionaries"`
}

// Print lists the approvals, with the newest last.
func (r dictionaryList) Print(w io.Writer) error {
	p := &printer{w: w}
	if len(r.Dictionaries) == 0 {
		p.linef("this home has approved no dictionary; jobs on tables of numbers without gaps need none")
	}
	for _, d := range r.Dictionaries {
		p.linef("%s  %s  %s  %s", d.Day, d.Name, d.Short(), d.Table)
	}
	return p.err
}

func (a *app) dictionaryList() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the data dictionaries that this home has approved",
		Example: "  mercer federation dictionary list --home ./north",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			list, err := a.at(home).Dictionaries().List()
			return dictionaryList{append([]approved.Approval{}, list...)}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// revokedResult lists the revoked approvals.
type revokedResult struct {
	Revoked []approved.Approval `json:"revoked"`
}

// Print lists the revoked dictionaries and explains the effects of the revocation.
func (r revokedResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, d := range r.Revoked {
		p.linef("dictionary %s (%s) is revoked for %s", d.Name, d.Short(), orHere(d.Table))
	}
	p.linef("no session of a job that names it starts here any more; running sessions continue to their end")
	p.linef("retained models still answer prediction queries, and read new rows by it; mercer job forget ends that")
	return p.err
}

func orHere(table string) string {
	if table == "" {
		return "new jobs of this coordinator"
	}
	return "table " + table
}

func (a *app) dictionaryRevoke() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "revoke NAME|HASH",
		Short: "Revoke the approval of a data dictionary",
		Long: `Revoke the approvals of all data dictionaries with this name, or of the one with this
hash. No session of a job that names it starts in this home any more. A running
session continues to its end. Retained models still answer prediction queries, and
read new rows by the dictionary of their training.`,
		Example: "  mercer federation dictionary revoke cohort --home ./north",
		Args:    args("NAME or HASH"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			list, err := a.at(home).Dictionaries().Revoke(args[0])
			if err == nil && len(list) == 0 {
				return nil, usage("this home has approved no dictionary %q; mercer federation dictionary list shows the approvals", args[0])
			}
			return revokedResult{list}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
