package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/control"
)

func (a *app) jobAbort() *cobra.Command {
	return a.asking(&cobra.Command{
		Use:   "abort ID",
		Short: "Abort a job that is queued or running",
		Long: `Abort a job that is queued or running, and wait until every party has destroyed
what belonged to it, or has been told to. The job fails and stays in the list;
the next one begins. A job that has its result is left alone.`,
		Example: "  mercer job abort 0123456789abcdef0123456789abcdef --home ./c",
		Args:    args("ID"),
	}, func(ctx context.Context, c *control.Client, args []string) (Result, error) {
		if err := c.Abort(ctx, args[0]); err != nil {
			return nil, err
		}
		j, err := c.Wait(ctx, args[0])
		return jobResult{j, a.reader}, err
	})
}
