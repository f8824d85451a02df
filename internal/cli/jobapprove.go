package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// awaitingJob is a job that awaits the approval of a party's operator.
type awaitingJob struct {
	admin.Job
	home string // option --home of the next commands
}

// Print writes the job file as the coordinator has sent it, and how to decide.
func (j awaitingJob) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("job %s %s awaits this operator's approval since %s, with %s", j.ID, j.Name, minute(j.Submitted), strings.Join(j.Parties, ", "))
	if j.Submitter != nil {
		p.linef("%v submitted it, as the coordinator says", j.Submitter)
	}
	p.linef("")
	p.linef("%s", strings.TrimRight(j.File, "\n"))
	p.linef("")
	p.linef("next: mercer job approve %s%s", j.ID, j.home)
	p.linef("  or: mercer job reject %s --reason WHY%s", j.ID, j.home)
	return p.err
}

// awaitingAt returns the job with this id if it awaits approval at a home, and nil otherwise or if no daemon runs
// there.
func (a *app) awaitingAt(ctx context.Context, home, id string) (found *awaitingJob, err error) {
	err = callDaemon(home, func(c *admin.Client) error {
		list, err := c.Jobs(ctx)
		for _, j := range list {
			if j.ID == id && j.State == overview.AwaitsApproval {
				found = &awaitingJob{j, a.homeOption}
			}
		}
		return err
	})
	if errors.Is(err, admin.ErrNoDaemon) {
		return nil, nil
	}
	return found, err
}

// decidedJob names a job about which a party's operator has decided.
type decidedJob struct {
	ID       string `json:"id"`
	Approved bool   `json:"approved"`
}

// Print tells the operator the next step.
func (d decidedJob) Print(w io.Writer) error {
	p := &printer{w: w}
	if d.Approved {
		p.linef("job %s is approved; it begins within some seconds", d.ID)
	} else {
		p.linef("job %s is rejected; the coordinator reads the reason", d.ID)
	}
	return p.err
}

func (a *app) jobApprove() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "approve ID",
		Short: "Let a job begin that awaits approval at a party",
		Long: `Let a job begin that awaits the approval of a party's operator, since the policy of its
table says approve: each. In the party's home, mercer job list shows these jobs, and
mercer job show the file of each. The approval is for this job: the same file that is
submitted again awaits another one. It needs the role approver, and the submitter of a
job cannot approve it. The party's audit record has the user.`,
		Example: "  mercer job show 0123456789abcdef0123456789abcdef --home ./north\n  mercer job approve 0123456789abcdef0123456789abcdef --home ./north",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		return decidedJob{args[0], true}, c.Approve(ctx, args[0])
	})
}

func (a *app) jobReject() *cobra.Command {
	var reason string
	cmd := a.clientCommand(&cobra.Command{
		Use:   "reject ID",
		Short: "Refuse a job that awaits approval at a party",
		Long: `Refuse a job that awaits the approval of a party's operator. The job fails. The
coordinator's people read the reason, on its web page too, and the other parties have it
in their logs.`,
		Example: `  mercer job reject 0123456789abcdef0123456789abcdef --reason no-ethics-vote --home ./north`,
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		return decidedJob{ID: args[0]}, c.Reject(ctx, args[0], reason)
	})
	cmd.Flags().StringVar(&reason, "reason", "", "reason, which the coordinator's people and the other parties read")
	require(cmd, "reason")
	return cmd
}
