package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/node/admin"
)

// decidedJob names a job about which a party's operator has decided.
type decidedJob struct {
	ID       string `json:"id"`
	Approved bool   `json:"approved"`
}

// Print says what happens next.
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
table says approve: each. In the party's home, mercer job list shows these jobs, and with
--json their files. The approval is for this job: the same file that is submitted again
awaits another one. The party's audit record has the Unix user.`,
		Example: "  mercer job list --home ./north\n  mercer job approve 0123456789abcdef0123456789abcdef --home ./north",
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
coordinator's operator and the other parties read the reason.`,
		Example: `  mercer job reject 0123456789abcdef0123456789abcdef --reason "no ethics vote for this label" --home ./north`,
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		return decidedJob{ID: args[0]}, c.Reject(ctx, args[0], reason)
	})
	cmd.Flags().StringVar(&reason, "reason", "", "reason, which the coordinator and the other parties read")
	require(cmd, "reason")
	return cmd
}
