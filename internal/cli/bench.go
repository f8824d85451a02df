package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/bench"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

const aboutBench = `Measure the speed of this machine against its own limit, or against a peer, in the
same run. Limit and measurement alternate, and the best of --runs turns counts. Only
the ratios can be compared between machines.

Targets are for two cores with AVX-512. A missed target is reported and is no failure;
with --check the exit code is 1. Run no other programs meanwhile. If others must run,
look at "by cpu", the ratio of processor times.`

func (a *app) bench() *cobra.Command {
	cmd := commandGroup("bench", "Measure the speed of this machine and compare it with its limits")
	cmd.Long = aboutBench
	cmd.Example = "  mercer bench gemm\n  mercer bench kpca --json"
	cmd.AddCommand(
		a.benchmark("gemm", "Measure matrix products against multiply-adds in registers", benchRuns, bench.Gemm),
		a.benchmark("gram", "Measure kernel matrices against a copy of as much memory", benchRuns, bench.Gram),
		a.benchSVM(),
		a.benchPeers(),
		a.benchmark("grid", "Measure a grid of C-SVCs against each cell by itself", benchRuns, bench.Grid),
		a.benchmark("kpca", "Measure kernel PCA against reading the matrix, and its eigenvalues", benchRuns, bench.KPCA),
		a.benchmark("encode", "Measure OKRA's encoders against passes over the rows and dgemm", benchRuns, bench.Encode),
		a.benchmark("secagg", "Measure secure aggregation against the cipher and a count of operations", benchRuns, bench.SecAgg),
		a.benchmark("devices", "Measure a session of secure aggregation with 6,040 clients, complete except for its segments", devicesRuns, bench.Devices),
		a.benchPSI(),
		a.benchFDSKL(),
		a.benchGateway(),
		a.benchStream(),
		a.benchSealed(),
		a.benchPaper(),
	)
	return cmd
}

// benchResult holds the measurements of a benchmark and a description of the machine.
type benchResult struct {
	Machine benchMachine `json:"machine"`
	bench.Result
}

// benchMachine describes the properties of a machine that affect measurements.
type benchMachine struct {
	OS    string   `json:"os"`
	Arch  string   `json:"arch"`
	Cores int      `json:"cores"`
	CPU   []string `json:"cpu_features"`
	Path  string   `json:"path"` // CPU instructions for matrix products
	Go    string   `json:"go"`
}

func thisMachine() benchMachine {
	return benchMachine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0),
		CPU: features(), Path: linalg.Paths()[0].String(), Go: runtime.Version(),
	}
}

// benchRuns is the default number of repetitions of a benchmark. The best repetition counts, and of peers the median.
// devicesRuns is the default for repetitions that take minutes.
const (
	benchRuns   = 5
	devicesRuns = 1
)

// benchmark returns a command that runs a benchmark. The argument repeats is the command's default
// number of repetitions.
func (a *app) benchmark(name, short string, repeats int, make func() bench.Benchmark) *cobra.Command {
	return a.addBenchmark(&cobra.Command{
		Use:     name,
		Short:   short,
		Example: fmt.Sprintf("  mercer bench %s\n  mercer bench %s --json --check", name, name),
	}, repeats, func() (bench.Benchmark, error) { return make(), nil })
}

// addBenchmark adds the flags and the code of a benchmark to a command.
func (a *app) addBenchmark(cmd *cobra.Command, runs int, make func() (bench.Benchmark, error)) *cobra.Command {
	var o benchOptions
	o.flags(cmd, runs)
	cmd.Args = args()
	cmd.RunE = a.run(func(ctx context.Context, _ []string) (Result, error) {
		b, err := make()
		if err != nil {
			return nil, err
		}
		return a.measure(ctx, cmd.Name(), b, o)
	})
	return cmd
}

// rowsFlag describes the flag --rows of a benchmark: its default and its range.
type rowsFlag struct {
	fallback, least, most int
	means                 string
}

// rowsBenchmark returns the command of a benchmark that takes a number of rows.
func (a *app) rowsBenchmark(cmd *cobra.Command, runs int, f rowsFlag, make func(rows int) bench.Benchmark) *cobra.Command {
	var rows int
	cmd = a.addBenchmark(cmd, runs, func() (b bench.Benchmark, err error) {
		if rows < f.least || rows > f.most {
			return b, usage("--rows is %d; choose a number from %d to %d", rows, f.least, f.most)
		}
		return make(rows), nil
	})
	cmd.Flags().IntVar(&rows, "rows", f.fallback, f.means)
	return cmd
}

// svmRuns is the default number of repetitions. It is small, because LIBSVM's program, with --peer, needs half a
// minute for each repetition.
const svmRuns = 2

func (a *app) benchSVM() *cobra.Command {
	var peerName string
	cmd := a.addBenchmark(&cobra.Command{
		Use:   "svm",
		Short: "Measure the training of a C-SVC against the inner products of all rows, or LIBSVM",
		Long: `Train a C-SVC with an RBF kernel on 20,000 generated rows of 100 columns and, where
the data folder has it, on a9a. Then train again with 512 MB for kernel values.
Reading the file is part of the work.

With --peer svm-train, LIBSVM's program alternates with Mercer, with svm-train's own
defaults. The command compares time, objective, support vectors and memory. svm-train
uses one core and takes about half a minute a turn; Mercer uses both of two cores.`,
		Example: "  mercer bench svm\n  mercer bench svm --peer svm-train --json",
	}, svmRuns, func() (b bench.Benchmark, err error) {
		peer, err := bench.FindPeer(peerName)
		switch {
		case errors.Is(err, bench.ErrNoPeer):
			return b, err
		case err != nil:
			return b, usage("%w", err)
		}
		return bench.SVM(a.library(), peer), nil
	})
	cmd.Flags().StringVar(&peerName, "peer", "", "another program to compare with: svm-train")
	return cmd
}

func (a *app) benchPeers() *cobra.Command {
	var o bench.PeersOptions
	var b benchOptions
	cmd := &cobra.Command{
		Use:   "peers",
		Short: "Measure the Python package's SVC against scikit-learn and scikit-learn-intelex",
		Long: `Train a C-SVC with an RBF kernel from arrays in Python, by turns with the package
mercer, scikit-learn-intelex and scikit-learn. Each turn is a process of its own, which
trains on 200 rows before. Mercer's child process ends within the measurement, so that
its processor time counts. Ratios are of both trainings of a turn; median and range of
--runs turns are printed, as is the share of the cores that other programs used.

The interpreter of --python needs the package mercer. A package that it lacks is not
measured. Data sets: ` + strings.Join(bench.PeerSets(), ", ") + `.`,
		Example: "  mercer bench peers --python venv/bin/python\n  mercer bench peers --only a9a --peer scikit-learn-intelex --json",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			if err := among("--only", o.Sets, bench.PeerSets()); err != nil {
				return nil, err
			}
			if err := among("--peer", o.Libraries, bench.PeerLibraries()); err != nil {
				return nil, err
			}
			peers, err := bench.Peers(ctx, a.library(), o)
			if err != nil {
				return nil, err
			}
			return a.measure(ctx, "peers", peers, b)
		}),
	}
	b.flags(cmd, benchRuns)
	cmd.Flags().Lookup("runs").Usage = "number of turns; the median counts"
	cmd.Flags().StringVar(&o.Python, "python", "python3", "Python interpreter that has the packages")
	cmd.Flags().StringSliceVar(&o.Sets, "only", nil, "data sets, such as a9a or phishing,mnist-4000; default all")
	cmd.Flags().StringSliceVar(&o.Libraries, "peer", nil, "packages to compare with: "+strings.Join(bench.PeerLibraries(), " or ")+"; default both")
	return cmd
}

// among returns an error if a flag has a value that is not allowed.
func among(flag string, values, allowed []string) error {
	for _, v := range values {
		if !slices.Contains(allowed, v) {
			return usage("%s is %q; choose from %s", flag, v, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// psiRuns is the default number of repetitions. It is small, because a session of the default size
// takes some seconds.
const psiRuns = 2

func (a *app) benchPSI() *cobra.Command {
	return a.rowsBenchmark(&cobra.Command{
		Use:   "psi",
		Short: "Measure the alignment of tables by their ids against its multiplications",
		Long: `Align the tables of two parties, and of three parties with a comparer. Each has
--rows ids, half of them in common. All parties run in this process. Time grows with
the number of ids; with fewer than a million, figures with a target are
extrapolated.`,
		Example: "  mercer bench psi\n  mercer bench psi --rows 1000000 --runs 1 --json",
	}, psiRuns, rowsFlag{20_000, 2, bench.MaxPSIRows, "number of ids of each party"}, bench.PSI)
}

// fdsklRuns is the default number of repetitions. It is small, because a repetition of the default
// size takes about twenty seconds.
const fdsklRuns = 2

func (a *app) benchFDSKL() *cobra.Command {
	return a.rowsBenchmark(&cobra.Command{
		Use:   "fdskl",
		Short: "Measure how the training time of protocol fdskl grows, up to a million rows",
		Long: `Train on generated rows. Four workers in this process hold a quarter of the columns
each. Protocol fdskl gives the phases, then block Newton trains (training: cached).
Time must grow in proportion to rows, directions and columns. With fewer than a
million rows, figures with a target are extrapolated; a million rows take some
minutes and 3.2 GB.`,
		Example: "  mercer bench fdskl\n  mercer bench fdskl --rows 1000000 --json",
	}, fdsklRuns, rowsFlag{50_000, 100, bench.MaxFDSKLRows, "number of rows of the whole task"}, bench.FDSKL)
}

// streamRuns is the default number of repetitions. It is small, because ten million rows take some
// minutes.
const streamRuns = 1

func (a *app) benchStream() *cobra.Command {
	var o benchOptions
	var rows int
	var deployed bool
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Measure a party of protocol moments whose table is never in memory as a whole",
		Long: `Write a table of 20 columns into ten parquet shards, in a temporary folder that is
removed at the end: 84 bytes a row, and 60 MB beside. Measure the three passes of a
party with 256 features on one core: held-out rows and counts, sums, and errors on
held-out rows. The limit of the sums are the multiply-adds of their products. Add the
same sums up once more, shard by shard in other blocks, and compare them. Read up to
100,000 of the rows from a CSV text, from SQLite, and from a sorted snapshot.

Equal numbers of rows give equal rows and, as a rule, the same digest of the sums on
every machine.

With --deployed, a party freezes the same shards, and its daemon takes part in a job,
with a coordinator and a party of 10,000 rows as further processes. Measure the memory
and the processor time of the large party's two processes. A row takes some 1,100 bytes
of the temporary folder.`,
		Example: "  mercer bench stream\n  mercer bench stream --rows 10000000 --check\n  mercer bench stream --deployed",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (r Result, err error) {
			if rows < bench.MinStreamRows || rows > bench.MaxStreamRows {
				return nil, usage("--rows is %d; choose a number from %d to %d", rows, bench.MinStreamRows, bench.MaxStreamRows)
			}
			dir, err := os.MkdirTemp("", "mercer-bench-")
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			if !deployed {
				return a.measure(ctx, "stream", bench.Stream(a.reader, dir, rows), o)
			}
			program, err := os.Executable()
			if err != nil {
				return nil, fmt.Errorf("the daemons cannot be started, because the path of this program is unknown: %w", err)
			}
			return a.measure(ctx, "stream", bench.DeployedStream(a.reader, []string{program}, dir, rows), o)
		}),
	}
	o.flags(cmd, streamRuns)
	cmd.Flags().IntVar(&rows, "rows", 1_000_000, "number of rows of the table")
	cmd.Flags().BoolVar(&deployed, "deployed", false, "measure the daemon of a party in a job")
	return cmd
}

// gatewayRuns is the default number of repetitions. It is small, because a repetition of the
// default size takes about ten seconds.
const gatewayRuns = 2

func (a *app) benchGateway() *cobra.Command {
	var o benchOptions
	var packages int
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Measure SecVM's gateway as a process against opening and verifying alone",
		Long: `Seal packages, each with a token, and post them over loopback to mercer gateway, a
separate process whose processor time counts. Most packages have tokens of blind RSA,
fewer have tokens of VOPRF. The limit is the time that this process needs to open a
package and verify a token. Then measure processor time and memory of each package in
windows of 10,000 to a million packages, without cryptography and network.

Making tokens takes the most time, so all turns use one set of tokens.`,
		Example: "  mercer bench gateway\n  mercer bench gateway --packages 100000 --json --check",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (r Result, err error) {
			if packages < bench.MinGatewayPackages || packages > bench.MaxGatewayPackages {
				return nil, usage("--packages is %d; choose a number from %d to %d", packages, bench.MinGatewayPackages, bench.MaxGatewayPackages)
			}
			program, err := os.Executable()
			if err != nil {
				return nil, fmt.Errorf("the gateway cannot be started, because the path of this program is unknown: %w", err)
			}
			dir, err := os.MkdirTemp("", "mercer-bench-")
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			return a.measure(ctx, "gateway", bench.Gateway(a.reader, []string{program}, dir, packages), o)
		}),
	}
	o.flags(cmd, gatewayRuns)
	cmd.Flags().IntVar(&packages, "packages", 20_000, "number of packages with tokens of blind RSA")
	return cmd
}

// benchOptions holds the flags --runs and --check of a benchmark.
type benchOptions struct {
	runs  int
	check bool
}

func (o *benchOptions) flags(cmd *cobra.Command, runs int) {
	cmd.Flags().IntVar(&o.runs, "runs", runs, "number of turns; the best of them counts")
	cmd.Flags().BoolVar(&o.check, "check", false, "end with exit code 1 if a target is missed")
}

func (a *app) measure(ctx context.Context, name string, b bench.Benchmark, o benchOptions) (Result, error) {
	if o.runs < 1 {
		return nil, usage("--runs is %d; it must be at least 1", o.runs)
	}
	shown := a.progress()
	defer shown.Close()
	found, err := orAbandon(ctx, func() (bench.Result, error) {
		return b.Measure(ctx, o.runs, func(done, total int) {
			shown.Step(protocol.Progress{Stage: name, Done: int64(done), Total: int64(total)})
		})
	})
	if err != nil {
		return nil, err
	}
	r := benchResult{thisMachine(), found}
	if o.check {
		return r, r.err()
	}
	return r, nil
}

// err returns an error if a measurement misses its target. The error carries all measurements.
func (r benchResult) err() error {
	missed := r.Missed()
	if missed == nil {
		return nil
	}
	return &Error{
		Code: codeFailed, Exit: Failed, Result: r,
		Err:  errors.New("target missed: " + strings.Join(missed, "; ")),
		Hint: "close other programs and measure again",
	}
}

// Print writes a table of measurements and targets.
func (r benchResult) Print(w io.Writer) error {
	p := &printer{w: w}
	m := r.Machine
	p.linef("%s/%s, %s, %s, products by %s; %s of %s", m.OS, m.Arch, humanize.Count(m.Cores, "core"), m.Go, m.Path, r.Counts, humanize.Count(r.Runs, "turn"))
	p.linef("")
	t := &tableOf{header: []string{"measured", "value", "unit", "limit", "ratio", "range", "by cpu", "target", "reached", "limit is"}}
	for _, row := range r.Rows {
		t.add(row.Name, threeDigits(row.Value), row.Unit, optional(row.Limit), optional(row.Ratio), formatRange(row.Range), optional(row.CPURatio), formatTarget(row), reached(row.Pass), row.Against)
	}
	p.join(t.print(w))
	for _, note := range r.Notes {
		p.linef("\n%s", paragraph("not measured: "+note))
	}
	return p.err
}

// threeDigits formats a number with three significant digits, or with all digits before the decimal
// point.
func threeDigits(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return threeDigits(*v)
}

// formatRange formats the least and the greatest ratio of the turns.
func formatRange(r *[2]float64) string {
	if r == nil {
		return ""
	}
	return threeDigits(r[0]) + " to " + threeDigits(r[1])
}

// formatTarget formats the target of a measurement, such as "ratio >= 0.62".
func formatTarget(r bench.Row) string {
	if r.Target == nil {
		return ""
	}
	return strings.Replace(r.Rule, "target", threeDigits(*r.Target), 1)
}

func reached(pass *bool) string {
	if pass == nil {
		return ""
	}
	return map[bool]string{true: "yes", false: "NO"}[*pass]
}
