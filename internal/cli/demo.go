package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/examples"
	"github.com/mercer-fl/mercer/internal/demo"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/launch"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/protocol"
)

// demoFlags are the flags of mercer demo.
type demoFlags struct {
	out  string
	wire string
	seed insecureSeed
}

func (a *app) demo() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo [NAME]",
		Short: "Three hospitals train one classifier, or a crowd recommends films",
		Long: `hospitals: start one coordinator and three hospitals as processes on this machine, each
with a fresh identity and its own share of bundled real data, and let them train
one classifier by OKRA over sockets on loopback. Then compare: each hospital
alone, all together by Mercer, and all rows pooled without privacy. The homes
are removed afterwards; report, result and model stay in the folder --out.

recommender: 250 devices in one process, each with keys and masks of its own, find
out by secure aggregation which films go together, without anybody seeing a list
of films; a tenth of them vanishes on the way. It takes the first people of
MovieLens if ml-100k is in the data folder (mercer data get ml-100k), or else
ratings that are made up, and says which.

NAME is hospitals unless given.`,
		Example: "  mercer demo\n  mercer demo recommender\n  mercer demo --json --wire float64",
		Args: func(cmd *cobra.Command, given []string) error {
			return args("NAME")(cmd, append(given, "hospitals")[:max(1, len(given))])
		},
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			switch {
			case len(args) == 0 || args[0] == "hospitals":
				return a.hospitals(ctx, f)
			case args[0] != "recommender":
				return nil, usage("no demonstration is called %q; this version has hospitals and recommender", args[0])
			case f.seed.cmd.Flags().Changed("wire"):
				return nil, usage("--wire is of the hospitals; leave it out")
			}
			return a.recommender(ctx, f)
		}),
	}
	cmd.Flags().StringVar(&f.out, "out", "mercer-demo", "folder of the results")
	cmd.Flags().StringVar(&f.wire, "wire", string(job.Float32), "how encoded numbers travel: float32 or float64")
	f.seed.flag(cmd)
	return cmd
}

func (a *app) hospitals(ctx context.Context, f demoFlags) (r Result, err error) {
	if !signal.Ignored(syscall.SIGHUP) { // a closed terminal must not leave processes behind
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	if err := folder(f.out); err != nil {
		return nil, err
	}
	file, err := examples.Read("digits-hospitals")
	if err != nil {
		return nil, err
	}
	j, err := job.Parse("digits-hospitals.yaml", file)
	if err != nil {
		return nil, err
	}
	j.Protocol.Wire = job.Wire(f.wire)
	if err := j.Validate(); err != nil {
		return nil, usage("--wire %s: use float32 or float64", f.wire)
	}
	shares, err := launch.Shares(j, a.loader())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mercer-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	result, decided, err := a.runDemo(ctx, j, shares, f.seed, dir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	_, err = orAbandon(ctx, func() (struct{}, error) { return struct{}{}, launch.Compare(j, shares, decided, result) })
	if err != nil {
		return nil, err
	}
	result.Timings["compare"] = time.Since(began).Seconds()
	return a.finish(j, result, f.out)
}

// runDemo runs the federation in a folder; its processes are gone afterwards.
func (a *app) runDemo(ctx context.Context, j *job.Job, shares []launch.Share, seed insecureSeed, dir string) (r *stage.Result, o *stage.Outcome, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := demo.Config{Program: []string{program}, Job: j, Shares: shares, Dir: dir}
	if seed.given() {
		c.InsecureSeed = &seed.seed
	}
	fed, err := demo.Found(c)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, fed.Stop()) }()
	if err := fed.Start(ctx); err != nil {
		return nil, nil, err
	}
	ctx, stop := fed.Watch(ctx)
	defer stop()
	if r, o, err = a.demonstrate(ctx, fed); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return r, o, err
}

// demonstrate submits the job and shows its stages.
func (a *app) demonstrate(ctx context.Context, fed *demo.Federation) (*stage.Result, *stage.Outcome, error) {
	bars := a.progress()
	defer bars.Close()
	id, err := fed.Submit(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := ""
	r, o, err := fed.Wait(ctx, id, func(stage string) {
		if stage != now {
			bars.Step("", protocol.Progress{Stage: now, Done: 1, Total: 1})
			bars.Step("", protocol.Progress{Stage: stage, Done: 0, Total: 1})
			now = stage
		}
	})
	bars.Step("", protocol.Progress{Stage: now, Done: 1, Total: 1})
	return r, o, err
}
