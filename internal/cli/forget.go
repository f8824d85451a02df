package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/control"
)

// forgetResult names the job of which nothing is left at a party.
type forgetResult struct {
	Job string `json:"job"`
}

// Print says what can no longer be done.
func (r forgetResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("nothing of job %s is left here; this party can ask its model nothing more", r.Job)
	return p.err
}

func (a *app) jobForget() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Destroy what a job with open predictions left at this party",
		Long: `Destroy the encoder's secret that a job with prediction: open left at this
party. It can then ask the job's model about no more rows. A job that left
nothing is no error.`,
		Example: "  mercer job forget 0123456789abcdef0123456789abcdef --home ./north",
		Args:    args("ID"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			return forgetResult{args[0]}, client(home, func(c *control.Client) error { return c.Forget(ctx, args[0]) })
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
