package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/daemon"
)

// erasure lists the releases that have a person's rows, and the withdrawals. It names the person only in a withdrawal
// from a table none of whose editions has the person.
type erasure struct {
	Releases []takenRelease `json:"releases"`
	Unknown  []takenRelease `json:"undecided"` // releases that the home cannot judge: they may or may not have the rows
	Tables   []withdrawal   `json:"withdrawn"`
	Listed   bool           `json:"only_listed,omitempty"` // whether the command only lists, by --list
	Retained []string       `json:"retained"`              // ids of jobs that have left something that the home still keeps
	Remains  []string       `json:"remains"`
	home     string         // option --home of the next commands
}

// takenRelease is a release with the jobs that made it.
type takenRelease struct {
	ID      string       `json:"release"`
	Kind    string       `json:"kind"`
	State   string       `json:"state"`
	Table   string       `json:"table,omitempty"`
	Edition int          `json:"edition,omitempty"`
	Day     string       `json:"day,omitempty"`
	Name    string       `json:"name"`
	Peers   []string     `json:"peers"`
	Jobs    []daemon.Run `json:"jobs"`
}

func takenOf(list []daemon.Taken) []takenRelease {
	taken := []takenRelease{}
	for _, t := range list {
		taken = append(taken, takenRelease{
			t.ID, string(t.Kind), t.State.Words(), t.Table, t.Edition, t.Day, t.Job, append([]string{}, t.Peers...), append([]daemon.Run{}, t.Runs...),
		})
	}
	return taken
}

// line describes a release in a line.
func (t takenRelease) line() string {
	parts := []string{strings.TrimSpace(t.Day+"  "+t.Kind+" "+t.ID) + " (" + t.State + ")"}
	if t.Table != "" {
		parts = append(parts, "table "+t.Table)
	}
	if t.Edition > 0 {
		parts[len(parts)-1] += fmt.Sprintf(", edition %d", t.Edition)
	}
	for _, run := range t.Jobs {
		parts = append(parts, fmt.Sprintf("job %s %s of %s", run.ID, run.Name, run.Time.UTC().Format(time.DateOnly)))
	}
	if len(t.Jobs) == 0 {
		parts = append(parts, "job "+t.Name)
	}
	if len(t.Peers) > 0 {
		parts = append(parts, "with "+strings.Join(t.Peers, ", "))
	}
	return strings.Join(parts, "; ")
}

// Print lists the releases, the withdrawals and what remains.
func (e erasure) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("the person took part in %s of this home", humanize.Count(len(e.Releases), "release"))
	for _, t := range e.Releases {
		p.linef("    %s", t.line())
	}
	if len(e.Unknown) > 0 {
		p.linef("of %s this cannot be told, since the ledger knows rows there and no people, or the table is not in the catalogue any more", humanize.Count(len(e.Unknown), "release"))
		for _, t := range e.Unknown {
			p.linef("    %s", t.line())
		}
	}
	for _, t := range e.Tables {
		if err := t.Print(w); err != nil {
			return err
		}
	}
	if !e.Listed && len(e.Tables) == 0 {
		p.linef("no table or edition of this home has the person any more; nothing is withdrawn")
	}
	p.linef("what remains:")
	for _, s := range e.Remains {
		p.linef("  * %s", s)
	}
	for _, id := range e.Retained {
		p.linef("next: mercer job forget %s%s", id, e.home)
	}
	return p.err
}

// remains fills the field Remains with what is left after a withdrawal.
func (e *erasure) remains() {
	if e.Listed {
		e.Remains = append(e.Remains, "everything: nothing was withdrawn")
	} else {
		e.Remains = append(e.Remains, "the rows in the table itself, its backups and those of the home: remove them there")
	}
	if len(e.Releases)+len(e.Unknown) > 0 {
		e.Remains = append(e.Remains,
			"what has left this home: the other members have received it, and Mercer cannot call it back",
			"models that have learned from the rows, here, at the coordinator and wherever they were downloaded; forgetting a job erases what this home keeps of it, and the coordinator's operator can forget it everywhere")
	}
	e.Remains = append(e.Remains, "a digest of the id under this home's key in the ledger and in the list of those who left, so that later jobs and tables are compared with it; it names nobody without that key")
}

func (a *app) erase() *cobra.Command {
	var home, patient, file string
	var yes, list bool
	cmd := &cobra.Command{
		Use:   "erase",
		Short: "Find the jobs in which a person's rows took part, and withdraw the person",
		Long: `List the releases in which a person's rows took part, with their jobs, and withdraw the
person from every table of a party's home that has the person, as mercer data withdraw
does: no edition has the rows any more, and no later one will. Nine others may be
withdrawn too, so that the editions do not reveal whom you named. Then the command says
what remains.

The person is named as the tables write the id or the group. Other users of the machine
can read a command line while it runs: without --patient the command asks for the id,
or reads it from --patient-file.`,
		Example: "  mercer erase --home ./north\n  mercer erase --home ./north --patient-file id.txt --list\n  mercer erase --home ./north --patient p-1071 --yes",
		Args:    args(),
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) (Result, error) {
		a.useHome(home)
		person, err := a.readPerson(patient, file)
		if err != nil {
			return nil, err
		}
		h := a.at(home)
		trace, err := h.Trace(a.reader, person)
		if err != nil {
			return nil, err
		}
		e := erasure{Releases: takenOf(trace.Releases), Unknown: takenOf(trace.Unknown), Tables: []withdrawal{}, Listed: list, Retained: append([]string{}, trace.Retained...), home: a.homeOption}
		if list {
			e.remains()
			return e, nil
		}
		if !yes {
			a.tell(fmt.Sprintf("The person took part in %s of this home.", humanize.Count(len(e.Releases), "release")))
			if err := a.askYes("Withdrawing cannot be undone, and may withdraw others too. Type yes:", "no one is withdrawn", "answer yes, or use --yes; --list shows the releases"); err != nil {
				return nil, err
			}
		}
		done, err := h.WithdrawEverywhere(ctx, a.reader, person)
		if err == nil && len(done) == 0 && len(e.Releases) == 0 {
			return nil, usage("no table, edition or release of this home has this person; check how the tables write the id")
		}
		for _, table := range slices.Sorted(maps.Keys(done)) {
			t := withdrawalOf(table, done[table])
			t.Absent = []string{} // it would name the person
			e.Tables = append(e.Tables, t)
		}
		e.remains()
		if err != nil {
			return nil, &Error{Code: codeFailed, Exit: Failed, Err: err, Result: e, Hint: "repair the cause and run the command again; it goes on"}
		}
		return e, nil
	})
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&patient, "patient", "", "id of the person; other users of the machine can read it. Default: the command asks")
	cmd.Flags().StringVar(&file, "patient-file", "", "file with the id of the person; - reads standard input")
	cmd.Flags().BoolVar(&list, "list", false, "only list the releases")
	cmd.Flags().BoolVar(&yes, "yes", false, "withdraw without asking")
	cmd.MarkFlagsMutuallyExclusive("patient", "patient-file")
	return cmd
}

// maxPerson is the longest id of a person in bytes that a file or the answer to a question can have.
const maxPerson = 1 << 10

// readPerson returns the id that the options give, or asks for it.
func (a *app) readPerson(patient, file string) (person string, err error) {
	switch {
	case patient != "":
		person = patient
	case file == "-":
		person, err = readLine(a.stdin)
	case file != "":
		var b []byte
		if b, err = regular.Read(file); err == nil {
			person, err = readLine(strings.NewReader(string(b)))
		}
	default:
		a.tell("Id of the person, as the tables write it:")
		person, err = readLine(a.stdin)
	}
	if err != nil {
		return "", usage("the id of the person cannot be read: %w", err)
	}
	if person = strings.TrimSpace(person); person == "" {
		return "", usage("the id of the person is empty; give it by --patient-file or --patient, or type it")
	}
	return person, nil
}

// readLine reads a line byte by byte, so that the next question can be answered from the same input.
func readLine(from io.Reader) (string, error) {
	var line []byte
	b := make([]byte, 1)
	for len(line) <= maxPerson {
		n, err := from.Read(b)
		if n == 1 && b[0] == '\n' || errors.Is(err, io.EOF) {
			return string(line), nil
		}
		if err != nil {
			return "", err
		}
		line = append(line, b[:n]...)
	}
	return "", fmt.Errorf("it has more than %d bytes", maxPerson)
}
