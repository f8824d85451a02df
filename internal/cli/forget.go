package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/control"
)

// forgetResult names the job of which nothing is left, and where.
type forgetResult struct {
	Job string `json:"job"`
	control.Forgotten
}

// Print says what can no longer be done.
func (r forgetResult) Print(w io.Writer) error {
	p := &printer{w: w}
	switch {
	case !r.Everywhere:
		p.linef("nothing of job %s is left here; this party can ask its model nothing more", r.Job)
		p.linef("where the parties hold different columns, nobody can: each keeps a part that the others need")
	case len(r.Silent) == 0:
		p.linef("nothing of job %s is left at the coordinator, %s; nobody can ask its model anything", r.Job, strings.Join(r.Parties, ", "))
	default:
		p.linef("nothing of job %s is left at the coordinator; no word yet from %s, told as soon as its daemon runs", r.Job, strings.Join(r.Silent, ", "))
	}
	return p.err
}

func (a *app) jobForget() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Destroy what a job with open predictions left",
		Long: `Destroy what a job with prediction: open left: in a party's home that party's
encoder, model, or part of a model; in the coordinator's home everything that
questions need, there and at all parties. Where the parties hold different columns
(fdskl, gram) the model is of no use once one of them has forgotten its part. A job
that left nothing is no error.`,
		Example: "  mercer job forget 0123456789abcdef0123456789abcdef --home ./north",
		Args:    args("ID"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			r := forgetResult{Job: args[0]}
			err := client(home, func(c *control.Client) (err error) {
				r.Forgotten, err = c.Forget(ctx, args[0])
				return err
			})
			return r, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
