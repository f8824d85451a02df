package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/approved"
)

func (a *app) federationStudy() *cobra.Command {
	cmd := commandGroup("study", "Approve, list and revoke the studies of jobs")
	cmd.Example = "  mercer federation study approve kidney.yaml --home ./north\n  mercer federation study list --home ./north"
	cmd.AddCommand(a.studyApprove(), a.studyList(), a.studyRevoke())
	return cmd
}

// studyResult describes a study to the operator who approves it.
type studyResult struct {
	Name     string   `json:"name"`
	Hash     string   `json:"hash"`
	Table    string   `json:"table,omitempty"`
	Allows   []string `json:"allows"`
	Reveals  []string `json:"reveals"`
	Approved bool     `json:"approved"`
}

// Print shows the study's hash, its bounds, and what its jobs can reveal together.
func (r studyResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("study %s", r.Name)
	p.linef("hash %s", r.Hash)
	for _, line := range r.Allows {
		p.linef("  %s", line)
	}
	if r.Table != "" {
		p.linef("Its jobs read table %s without a question to this operator. Together they may reveal:", r.Table)
		for _, line := range r.Reveals {
			p.linef("  %s", line)
		}
	}
	if r.Approved {
		p.linef("approved: jobs may name it (study: %s)", r.Name)
	}
	return p.err
}

// allows lists a study's bounds in words.
func allows(s *job.Study) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if s.Purpose != "" {
		say("purpose: %s", s.Purpose)
	}
	say("%s of %s, the last one to begin on %s", humanize.Count(s.Jobs, "job"), strings.Join(s.Parties, ", "), s.Until)
	if s.Dictionary == "" {
		say("no data dictionary: every column is a number without gaps")
	} else {
		say("data dictionary %s", s.Dictionary)
	}
	say("protocols %s; learners %s; %s", strings.Join(s.Protocols, ", "), strings.Join(s.Learners, ", "), kernelsOf(s))
	if len(s.Labels) > 0 {
		say("labels %s", strings.Join(s.Labels, ", "))
	} else {
		say("no labels")
	}
	if len(s.Splits) > 0 {
		say("held-out rows that a job chooses by %s", strings.Join(s.Splits, " or "))
	} else {
		say("held-out rows that each party's key chooses")
	}
	say("each job chooses all else, as far as the table's policy allows it: columns, scaling, weights, and options of protocols, such as directions, deviations and histograms, and predictions that stay open")
	return lines
}

func kernelsOf(s *job.Study) string {
	text := "any kernel"
	if len(s.Kernels) > 0 {
		text = "kernels " + strings.Join(s.Kernels, ", ")
	}
	if s.Gamma != [2]float64{} {
		text += fmt.Sprintf(" with gamma from %g to %g of scaled columns", s.Gamma[0], s.Gamma[1])
	}
	return text
}

// reveals lists what the jobs of a study can reveal together without a question to the operator.
func reveals(s *job.Study) (lines []string) {
	if s.Numbers > 0 {
		lines = append(lines, fmt.Sprintf("%d numbers in sums over the rows; from as many numbers as the rows have cells, every row can be computed", s.Numbers),
			fmt.Sprintf("errors of solutions over the same held-out rows, of one solution for each of %s; from errors of many solutions, held-out rows can be computed", humanize.Count(s.Jobs, "job")))
	}
	if len(s.Protocols) > 1 {
		lines = append(lines, "what two protocols reveal of the same people; encoded rows (okra, flake) beside sums (moments) reveal every cell to the coordinator")
	}
	if len(s.Labels) > 1 {
		lines = append(lines, "the labels "+strings.Join(s.Labels, ", ")+" of the same people")
	}
	if len(s.Splits) > 0 {
		lines = append(lines, "sums over the rows that jobs hold out themselves; with one party held out after the other, each party's own sums")
	}
	if len(lines) == 0 {
		lines = append(lines, "no more than each of them by itself")
	}
	return append(lines, "Jobs with other columns, weights or people than an earlier job await this operator's approval as outside a study; so do jobs with another scaling, unless they add up sums.")
}

func (a *app) studyApprove() *cobra.Command {
	var home, table string
	var yes bool
	cmd := &cobra.Command{
		Use:   "approve FILE",
		Short: "Approve a study, after reading what its jobs may do and reveal",
		Long: `Approve a study for a table of this home. Jobs that name it and lie inside it then run
without a further question, as far as the table's policy allows. Every member refuses a
job outside it before it reads a row.

The command shows what the study allows, and what its jobs may reveal together. All
members approve the same file: compare its hash with theirs. A coordinator has no
table.`,
		Example: "  mercer federation study approve kidney.yaml --home ./north\n  mercer federation study approve kidney.yaml --home ./north --table admissions --yes",
		Args:    args("FILE"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			s, err := a.readStudy(args[0])
			if err != nil {
				return nil, err
			}
			h := a.at(home)
			if table, err = h.TableOf(a.reader, table); err != nil {
				return nil, err
			}
			r := studyResult{Name: s.Name, Hash: s.Hash(), Table: table, Allows: allows(s), Reveals: reveals(s)}
			if !yes {
				if err := a.askStudy(r); err != nil {
					return nil, err
				}
			}
			r.Approved = true
			return r, h.Studies(a.reader).Approve(s, table, time.Now())
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&table, "table", "", "table of the catalogue; default the only one")
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without asking; you have read the study and compared the hash")
	return cmd
}

// askStudy shows a study and asks the operator to approve it.
func (a *app) askStudy(r studyResult) error {
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		return err
	}
	a.tell(strings.TrimSuffix(b.String(), "\n"))
	return a.askYes("Do all members have this hash, and may its jobs run without a further question? Type yes:", "the study is not approved", "compare the hash, then answer yes or use --yes")
}

// readStudy reads a study file.
func (a *app) readStudy(path string) (*job.Study, error) {
	b, err := regular.Read(path)
	if err != nil {
		return nil, usage("the study cannot be read: %w", err)
	}
	return a.reader.ParseStudy(path, b)
}

// studyList lists the approvals of studies, with what their jobs have used.
type studyList struct {
	Studies []listedStudy `json:"studies"`
}

type listedStudy struct {
	approved.Approval
	Until       string `json:"until"`
	Jobs        int    `json:"jobs"` // number of jobs accepted here
	MostJobs    int    `json:"most_jobs"`
	Numbers     int64  `json:"numbers"` // count of numbers in the sums of these jobs
	MostNumbers int    `json:"most_numbers"`
}

// Print lists the approvals, with the newest last.
func (r studyList) Print(w io.Writer) error {
	p := &printer{w: w}
	if len(r.Studies) == 0 {
		p.linef("this home has approved no study; its policies say which jobs run")
	}
	for _, s := range r.Studies {
		p.linef("%s  %s  %s  %s  %d of %s, %d of %d numbers in sums, until %s", s.Day, s.Name, s.Short(), s.Table, s.Jobs, humanize.Count(s.MostJobs, "job"), s.Numbers, s.MostNumbers, s.Until)
	}
	return p.err
}

func (a *app) studyList() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the studies that this home has approved, and what their jobs have used",
		Example: "  mercer federation study list --home ./north",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			kept := a.at(home).Studies(a.reader)
			list, err := kept.List()
			if err != nil {
				return nil, err
			}
			r := studyList{make([]listedStudy, len(list))}
			for i, one := range list {
				s, err := kept.Find(one.Name, one.Hash)
				if err != nil {
					return nil, err
				}
				used, err := kept.Used(one.Hash)
				if err != nil {
					return nil, err
				}
				r.Studies[i] = listedStudy{one, s.Until, len(used.Jobs), s.Jobs, used.Numbers(), s.Numbers}
			}
			return r, nil
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// revokedStudies lists the revoked approvals.
type revokedStudies struct {
	Revoked []approved.Approval `json:"revoked"`
}

// Print lists the revoked studies and explains the effect.
func (r revokedStudies) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, s := range r.Revoked {
		p.linef("study %s (%s) is revoked for %s", s.Name, s.Short(), orHere(s.Table))
	}
	p.linef("no job that names it begins here any more; jobs that have begun continue to their end")
	return p.err
}

func (a *app) studyRevoke() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "revoke NAME|HASH",
		Short: "Revoke the approval of a study",
		Long: `Revoke the approvals of all studies with this name, or of the one with this hash. No job
that names it begins in this home any more. A job that has begun continues to its end.`,
		Example: "  mercer federation study revoke kidney --home ./north",
		Args:    args("NAME or HASH"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			list, err := a.at(home).Studies(a.reader).Revoke(args[0])
			if err == nil && len(list) == 0 {
				return nil, usage("this home has approved no study %q; mercer federation study list shows the approvals", args[0])
			}
			return revokedStudies{list}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
