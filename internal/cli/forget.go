package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/node/admin"
)

// forgetResult lists what was erased of a job, and where.
type forgetResult struct {
	Job string `json:"job"`
	admin.Forgotten
}

// Print lists the erased items of each process, and the parties that have not answered.
func (r forgetResult) Print(w io.Writer) error {
	p := &printer{w: w}
	where := "here"
	if r.Everywhere {
		where = "at the coordinator"
	}
	p.linef("job %s", r.Job)
	p.linef("%s: %s", where, erasedText(r.Erased))
	for _, name := range slices.Sorted(maps.Keys(r.Parties)) {
		p.linef("at %s, as it says: %s", name, erasedText(r.Parties[name]))
	}
	if len(r.Silent) > 0 {
		p.linef("no word yet from %s: told as soon as its daemon runs", strings.Join(r.Silent, ", "))
	}
	if !r.Everywhere {
		p.linef("other members keep their parts of the job; mercer job forget in the home of the coordinator erases all parts")
	}
	return p.err
}

func erasedText(items []string) string {
	if len(items) == 0 {
		return "there was nothing to erase"
	}
	return "erased " + strings.Join(items, ", ")
}

// forgottenText describes how far a job is forgotten.
func forgottenText(silent []string) string {
	if len(silent) == 0 {
		return "what the job left is erased at the coordinator and, as they say, at all its parties"
	}
	return fmt.Sprintf("what the job left is erased at the coordinator; no word yet from %s", strings.Join(silent, ", "))
}

func (a *app) jobForget() *cobra.Command {
	return a.asking(&cobra.Command{
		Use:   "forget ID",
		Short: "Erase the secrets and the model that a finished job left",
		Long: `Erase what a finished job left. In a party's home, this is its encoder, its model or
part of a model, the order of its rows, and its recommendations. In the
coordinator's home, it is the model, the decisions on held-out rows, the data that
questions need, and everything at all parties. All of it is sealed under a key for
each job, and the key is overwritten. Where the parties hold different columns
(fdskl, gram), the model is of no use once one of them has forgotten its part. The
result stays; mercer job delete removes it. A job that left nothing is no error.`,
		Example: "  mercer job forget 0123456789abcdef0123456789abcdef --home ./north",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		erased, err := c.Forget(ctx, args[0])
		return forgetResult{args[0], erased}, err
	})
}

func (a *app) jobDelete() *cobra.Command {
	return a.asking(&cobra.Command{
		Use:   "delete ID",
		Short: "Forget a finished job everywhere, and remove its file, status and result",
		Long: `Let every party forget a job that is over (mercer job forget). Then remove the rest
that the coordinator has of it: the job file, the status and the result. With
retention: 30d in its config.yaml, the coordinator does so by itself 30 days after
the end of a job.`,
		Example: "  mercer job delete 0123456789abcdef0123456789abcdef --home ./c",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		erased, err := c.Delete(ctx, args[0])
		return forgetResult{args[0], erased}, err
	})
}

// dropped names a job that a party has ended.
type dropped struct {
	Job string `json:"job"`
}

// Print explains the consequence for the others.
func (r dropped) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("the secrets of job %s are destroyed here; it cannot go on without this party", r.Job)
	return p.err
}

func (a *app) jobDrop() *cobra.Command {
	return a.asking(&cobra.Command{
		Use:   "drop ID",
		Short: "Destroy the secrets of a job that the coordinator has not closed",
		Long: `Destroy what a party holds of a job that its coordinator has not closed: seeds, keys
and journals. The job cannot go on, and the coordinator is told. A party does this by
itself 30 days after a job began (unclosed: 30d in its config.yaml). mercer job list
shows the open jobs in the party's home.`,
		Example: "  mercer job list --home ./north\n  mercer job drop 0123456789abcdef0123456789abcdef --home ./north",
		Args:    args("ID"),
	}, func(ctx context.Context, c *admin.Client, args []string) (Result, error) {
		return dropped{args[0]}, c.Drop(ctx, args[0])
	})
}
