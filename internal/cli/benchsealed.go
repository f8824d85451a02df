package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/bench"
)

// sealedRuns is the default number of repetitions. It is small, because a repetition takes some ten
// seconds.
const sealedRuns = 2

// sealedFlags holds the flags of mercer bench sealed.
type sealedFlags struct {
	benchOptions
	size     bench.SealedSize
	deployed bool
	peers    []string
	python   string
}

func (a *app) benchSealed() *cobra.Command {
	f := sealedFlags{size: bench.DigitsSealed}
	cmd := &cobra.Command{
		Use:   "sealed",
		Short: "Measure the three keepers of protocol sealed, in this process or as daemons",
		Long: `Run a session of protocol sealed, which opens nothing but a model: three parties are
its keepers, in this process and one at a time. Rows are generated, alpha is a
ten-thousandth of their number. Measure each keeper's processor time for uploads,
computation and check, and count bytes and messages in a row. The time over a link of
20 ms a message is computed from these, without the time of the bytes.

With --deployed, coordinator and three parties run the example sealed-digits as
processes. Measure the time of the job, the processor time of each process, and its
largest memory of all turns.

With --peer spu, also compute a hundred steps of the same size by SPU, in the Python
of --python. A package that it lacks is not measured. Mercer's sessions have more
steps, and a check.

Targets are for the default size.`,
		Example: "  mercer bench sealed\n  mercer bench sealed --features 2048 --targets 1 --runs 1\n  mercer bench sealed --deployed --check\n  mercer bench sealed --peer spu --python venv/bin/python",
		Args:    args(),
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) (Result, error) {
		if err := f.check(cmd); err != nil {
			return nil, err
		}
		if f.deployed {
			return a.measureDeployedSealed(ctx, f)
		}
		var peer *bench.SealedPeer
		if len(f.peers) > 0 {
			peer = bench.FindSealedPeer(f.python)
		}
		return a.measure(ctx, "sealed", bench.Sealed(f.size, peer), f.benchOptions)
	})
	f.flags(cmd, sealedRuns)
	cmd.Flags().IntVar(&f.size.Features, "features", f.size.Features, "number of features")
	cmd.Flags().IntVar(&f.size.Targets, "targets", f.size.Targets, "number of targets")
	cmd.Flags().IntVar(&f.size.Rows, "rows", f.size.Rows, "number of rows of all three parties")
	cmd.Flags().BoolVar(&f.deployed, "deployed", false, "measure the daemons of a job on the bundled digits")
	cmd.Flags().StringSliceVar(&f.peers, "peer", nil, "package to compare with: "+strings.Join(bench.SealedPeers(), " or "))
	cmd.Flags().StringVar(&f.python, "python", "python3", "Python interpreter that has the package")
	return cmd
}

// check refuses values that cannot be measured, and the flags --rows, --targets and --peer beside --deployed.
func (f *sealedFlags) check(cmd *cobra.Command) error {
	if err := among("--peer", f.peers, bench.SealedPeers()); err != nil {
		return err
	}
	if f.deployed {
		for _, name := range []string{"rows", "targets", "peer"} {
			if cmd.Flags().Changed(name) {
				return usage("--%s is not for --deployed, which runs an example; remove it", name)
			}
		}
		return nil
	}
	if err := f.size.Check(); err != nil {
		return usage("%w", err)
	}
	return nil
}

// measureDeployedSealed measures the example sealed-digits with the chosen number of features.
func (a *app) measureDeployedSealed(ctx context.Context, f sealedFlags) (r Result, err error) {
	j, err := a.exampleJob("sealed-digits")
	if err != nil {
		return nil, err
	}
	reader := a.reader.Knowing(exampleDictionary)
	if j, err = reader.With(j, map[string]string{"protocol.features": strconv.Itoa(f.size.Features)}); err != nil {
		return nil, usage("--features is %d: %w", f.size.Features, err)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the daemons cannot be started, because the path of this program is unknown: %w", err)
	}
	dir, err := os.MkdirTemp("", "mercer-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return a.measure(ctx, "sealed", bench.DeployedSealed(reader, j, a.loader(ctx), []string{program}, dir), f.benchOptions)
}
