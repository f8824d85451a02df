package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/examples"
	"github.com/mercer-fl/mercer/internal/demo"
	"github.com/mercer-fl/mercer/internal/disk"
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
		Short: "Three hospitals train one classifier, as processes on this machine",
		Long: `Start one coordinator and three hospitals as processes on this machine, each
with a fresh identity and its own share of bundled real data, and let them train
one classifier by OKRA over sockets on loopback. Then compare: each hospital
alone, all together by Mercer, and all rows pooled without privacy. The homes
are removed afterwards; report, result and model stay in the folder --out.

NAME is hospitals, the only demonstration of this version.`,
		Example: "  mercer demo\n  mercer demo --json --wire float64",
		Args:    cobra.MaximumNArgs(1),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if len(args) == 1 && args[0] != "hospitals" {
				return nil, usage("no demonstration is called %q; this version has hospitals", args[0])
			}
			return a.hospitals(ctx, f)
		}),
	}
	cmd.Flags().StringVar(&f.out, "out", "mercer-demo", "folder of the results")
	cmd.Flags().StringVar(&f.wire, "wire", string(job.Float32), "how encoded numbers travel: float32 or float64")
	f.seed.flag(cmd)
	return cmd
}

func (a *app) hospitals(ctx context.Context, f demoFlags) (Result, error) {
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
	result, decided, err := a.runDemo(ctx, j, shares, f)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := launch.Compare(j, shares, decided, result); err != nil {
		return nil, err
	}
	result.Timings["compare"] = time.Since(began).Seconds()
	return a.finish(j, result, f.out)
}

// runDemo runs the federation in a temporary folder, which is gone afterwards.
func (a *app) runDemo(ctx context.Context, j *job.Job, shares []launch.Share, f demoFlags) (r *stage.Result, o *stage.Outcome, err error) {
	dir, err := os.MkdirTemp("", "mercer-demo-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := demo.Config{Program: []string{program}, Job: j, Shares: shares, Dir: dir}
	if f.seed.given() {
		c.InsecureSeed = &f.seed.seed
	}
	fed, err := demo.Found(c)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, fed.Stop()) }()
	if err := fed.Start(ctx); err != nil {
		return nil, nil, err
	}
	r, o, err = a.demonstrate(ctx, fed)
	if err != nil {
		return nil, nil, err
	}
	return r, o, adopt(r, f.out)
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

// adopt copies the models out of the homes that are about to go.
func adopt(r *stage.Result, out string) error {
	for i := range r.Models {
		m := &r.Models[i]
		b, err := os.ReadFile(m.Path)
		if err != nil {
			return fmt.Errorf("the model: %w", err)
		}
		m.Path = filepath.Join(out, m.Party, "model")
		if err := os.MkdirAll(filepath.Dir(m.Path), 0o700); err != nil {
			return fmt.Errorf("the folder of the results: %w", err)
		}
		if err := disk.Replace(m.Path, b); err != nil {
			return err
		}
	}
	return nil
}
