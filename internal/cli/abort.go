package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/control"
)

func (a *app) jobAbort() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "abort ID",
		Short: "Abort a job that is queued or running",
		Long: `Abort a job that is queued or running, and wait until every party has destroyed
what belonged to it, or has been told to. The job fails and stays in the list;
the next one begins. A job that has its result is left alone.`,
		Example: "  mercer job abort 0123456789abcdef0123456789abcdef --home ./c",
		Args:    args("ID"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			r := jobResult{reader: a.reader}
			err := client(home, func(c *control.Client) (err error) {
				if err = c.Abort(ctx, args[0]); err != nil {
					return err
				}
				r.Job, err = c.Wait(ctx, args[0])
				return err
			})
			return r, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
