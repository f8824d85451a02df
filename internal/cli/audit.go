package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/node/audit"
)

func (a *app) audit() *cobra.Command {
	cmd := commandGroup("audit", "Show and verify the record of a home: who consented to what, and what left it")
	cmd.Example = "  mercer audit show --home ./north\n  mercer audit verify --home ./north"
	cmd.AddCommand(a.auditShow(), a.auditVerify(), a.auditAcceptLoss())
	return cmd
}

// auditRecord is a record with its head.
type auditRecord struct {
	Lines  int           `json:"lines"`
	Head   string        `json:"head"`              // SHA-256 of the last line; "" without lines, or if the chain of lines is broken
	Torn   int           `json:"torn,omitempty"`    // number of bytes of an unfinished last line, which a crash has left
	Cut    int           `json:"removed,omitempty"` // number of lines that were removed after their retention time; Lines counts them, too
	Events []audit.Event `json:"events,omitempty"`
}

// Print writes one line for each event, and the head.
func (r auditRecord) Print(w io.Writer) error {
	p := &printer{w: w}
	if r.Cut > 0 {
		p.linef("lines 1 to %d were removed after their retention time", r.Cut)
	}
	for _, e := range r.Events {
		p.linef("%6d  %s  %s", e.Number, stamp(e.Time), eventText(e))
	}
	if r.Lines == 0 {
		p.linef("nothing is recorded")
		return p.err
	}
	if r.Head == "" {
		p.linef("lines %d to %d are as they were written", r.Cut+1, r.Lines)
		return p.err
	}
	if r.Torn > 0 {
		p.linef("and %d bytes of an unfinished line, which a crash has left", r.Torn)
	}
	p.linef("head of %d lines: %s", r.Lines, r.Head)
	return p.err
}

// eventText describes an event in a line.
func eventText(e audit.Event) string {
	parts := []string{string(e.Kind)}
	add := func(format, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("job %s", strings.TrimSpace(e.Job+" "+e.Name))
	add("stage %s", e.Stage)
	add("table %s", e.Table)
	study, _, _ := strings.Cut(e.Study, " ") // without the hash
	add("study %s", study)
	add("with %s", strings.Join(e.Parties, ", "))
	for _, r := range e.Releases {
		add("release %s", r.Kind+" "+r.ID+guarantee(r.Epsilon, r.Delta))
	}
	if e.Sent+e.Received > 0 {
		add("%s", fmt.Sprintf("%d bytes sent, %d received", e.Sent, e.Received))
	}
	if e.UID != nil {
		add("by user %s", fmt.Sprint(*e.UID))
	}
	if e.By != nil {
		add("by %s", e.By.String())
	}
	if e.Submitter != nil {
		add("submitted by %s", e.Submitter.String())
	}
	switch {
	case e.Alone && e.Kind == audit.ReleaseApproved:
		add("%s", "these may be one person")
	case e.Alone:
		add("%s", "the submitter approved, since roles says alone: true")
	}
	if e.Skipped > 0 {
		add("after %s refusals without a line", fmt.Sprint(e.Skipped))
	}
	add("%s", e.Outcome)
	return strings.Join(parts, "; ")
}

// guarantee returns the guarantee of a release with noise, to be written after its name; "" for other releases.
func guarantee(epsilon, delta float64) string {
	if epsilon == 0 {
		return ""
	}
	return fmt.Sprintf(" (epsilon %g at delta %g)", epsilon, delta)
}

func (a *app) auditShow() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the events that a home has recorded",
		Long: `Show what a party has consented to, what it refused, what left it and how many bytes,
how each session ended, and who submitted and approved what. In a coordinator's home,
show who submitted which job. The last line is the head: the hash of
the last event. Write it down elsewhere, with its number. mercer audit verify --head
compares the record with it later.`,
		Example: "  mercer audit show --home ./north\n  mercer audit show --home ./north --json",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			r := auditRecord{Events: []audit.Event{}}
			h := a.at(home)
			if err := hasRecord(h); err != nil && !h.IsParty(a.reader) {
				return nil, err
			}
			s, err := audit.Verify(h.AuditPath(), func(e audit.Event, _ string) error {
				r.Events = append(r.Events, e)
				return nil
			})
			r.Lines, r.Head, r.Torn, r.Cut = s.Lines, s.Head, s.Torn, s.Cut
			r = r.upTo(err)
			return r, brokenRecord(err, r)
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

func (a *app) auditVerify() *cobra.Command {
	var home, head string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no line of a home's record was changed or removed",
		Long: `Check the chain of a home's record: each line has the hash of the line before it. The
command names the first line that breaks the chain; that one or the line before it was
changed. It prints the head: the hash of the last line. Without a head that was written
down elsewhere nobody can find out that the end of the record was cut off, that its last
line was changed, or that all of it was written anew; with --head the record must
contain the line of that hash. The exit code is 1 if the record is broken.`,
		Example: "  mercer audit verify --home ./north\n  mercer audit verify --home ./north --head 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Args:    args(),
	}
	cmd.RunE = a.run(func(context.Context, []string) (Result, error) {
		if _, err := hex.DecodeString(head); cmd.Flags().Changed("head") && (err != nil || len(head) != 2*sha256.Size) {
			return nil, fault.BadInputf("--head is %q, which is no hash; write the %d digits that an earlier audit show or audit verify printed", head, 2*sha256.Size)
		}
		h := a.at(home)
		if err := hasRecord(h); err != nil {
			return nil, err
		}
		found := 0
		s, err := audit.Verify(h.AuditPath(), func(e audit.Event, hash string) error {
			if strings.EqualFold(hash, head) {
				found = e.Number
			}
			return nil
		})
		r := auditRecord{Lines: s.Lines, Head: s.Head, Torn: s.Torn, Cut: s.Cut}
		switch {
		case err != nil:
			return nil, brokenRecord(err, r.upTo(err))
		case head != "" && found == 0:
			return nil, brokenRecord(fmt.Errorf("no line of the record has the hash %s; its end was cut off, or it was written anew: compare it with a backup", head), r)
		}
		return r, nil
	})
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&head, "head", "", "hash that an earlier audit show or audit verify printed; default none")
	return cmd
}

// hasRecord returns an error if a folder has no record.
func hasRecord(h daemon.Home) error {
	if err := checkFolder(h.String()); err != nil {
		return err
	}
	_, err := os.Stat(h.AuditPath())
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Code: codeFailed, Exit: Failed, Err: fmt.Errorf("there is no audit record: %w", err), Hint: "give a home whose daemon has run, or a folder with a copy of its file audit; if this is one, somebody has removed the record"}
	}
	return err
}

// upTo returns the part of a record before the line at which its chain breaks. It also leaves out the line before
// that one, because either of the two might have been changed. If err is no [audit.BrokenError], upTo returns the whole
// record.
func (r auditRecord) upTo(err error) auditRecord {
	var broken *audit.BrokenError
	if !errors.As(err, &broken) {
		return r
	}
	r.Lines, r.Head = max(0, broken.Line-2), ""
	r.Events = r.Events[:min(max(0, r.Lines-r.Cut), len(r.Events))]
	return r
}

// brokenRecord returns the error of a record whose chain is broken, with what was read before.
func brokenRecord(err error, r auditRecord) error {
	if err == nil {
		return nil
	}
	return &Error{Code: codeFailed, Exit: Failed, Err: err, Result: r}
}
