package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/forecast"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/runs"
	"github.com/mercer-fl/mercer/internal/local/simulate"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// planFlags holds the flags of mercer plan.
type planFlags struct {
	rows, columns, link string
	latency             time.Duration
}

func (a *app) plan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan JOB.yaml",
		Short: "Say what a job takes before it runs: bytes, rounds, memory and time of each member",
		Long: `Say what one run of a job takes before anything runs: for the coordinator and each
party the bytes of its messages, the rounds, the memory and the time. Bytes follow from
the job and from the sizes of its tables. Times are counts of operations, times the
speed of this machine. The command measures it first, in about a second: it runs a tiny
job on made-up numbers in this process, and repeats the operations of the protocols.

The command reads the job file and, without --rows, the tables that the job names, as
mercer simulate does. It uses of them the numbers of rows and columns, the lengths of the
labels and, for protocol gram, the greatest value. It asks no party and sends nothing.
If the tables lie elsewhere, state their sizes: --rows 2000 --columns 30 for all
parties, or --rows north=2000,south=900. The columns are those after a schema's
preparation.

Nobody knows before a run how many steps a solver needs: the plan says what it assumes. It
also assumes that no member fails. Comparisons (compare) are not in the plan.`,
		Example: "  mercer plan examples/digits-hospitals.yaml\n  mercer plan job.yaml --rows 2000 --columns 30\n  mercer plan job.yaml --rows north=2000,south=900 --columns 30 --link 100Mbit --latency 20ms --json",
		Args:    args("JOB.yaml"),
	}
	cmd.Flags().StringVar(&f.rows, "rows", "", "rows of every party's table, held-out rows included, such as 2000 or north=2000,south=900; default read from the tables")
	cmd.Flags().StringVar(&f.columns, "columns", "", "columns of every party's table, the label not included, such as 30 or north=10,south=20; with --rows")
	cmd.Flags().StringVar(&f.link, "link", "", "rate of each member's line in each direction, such as 100Mbit; default the link of the job, or no limit")
	cmd.Flags().DurationVar(&f.latency, "latency", 0, "time that a message takes besides its bytes, such as 20ms; default the latency of the job, or none")
	cmd.RunE = a.run(func(ctx context.Context, args []string) (Result, error) { return a.planJob(ctx, args[0], f) })
	return cmd
}

// planned is the result of mercer plan.
type planned struct {
	*forecast.Plan
	Runs int `json:"runs"` // number of runs of the job; the plan is of one run
}

// planJob plans a job, over the tables that it names or over stated sizes.
func (a *app) planJob(ctx context.Context, path string, f planFlags) (Result, error) {
	stated, err := f.counts()
	if err != nil {
		return nil, err
	}
	file, sizes, err := a.sizedJob(ctx, path, stated)
	if err != nil {
		return nil, err
	}
	all := runs.Of(file.job)
	line, err := f.line(file.job.Link)
	if err != nil {
		return nil, err
	}
	s, err := a.setting(ctx, sizes)
	if err != nil {
		return nil, err
	}
	s.Link = line
	p, err := forecast.Of(all[0].Job, sizes, s)
	if err != nil {
		return nil, file.words().inError(file.locate(err))
	}
	return planned{p, len(all)}, nil
}

// setting measures this machine: the memory of the program and the time of a session by a tiny job in
// this process, and then the speed of its operations, whose large arrays must not count as the
// program's.
func (a *app) setting(ctx context.Context, sizes method.Sizes) (forecast.Setting, error) {
	session, program, err := a.tinyJob(ctx)
	if err != nil {
		return forecast.Setting{}, fmt.Errorf("a session cannot be measured, because the tiny job for it failed: %w", err)
	}
	s := forecast.Setting{Program: program, Garbage: forecast.Garbage{Coordinator: daemonGarbage / 100., Party: daemonGarbage / 100., OneProcess: 1}}
	if large(sizes.All(func(t method.TableSize) int { return t.Rows }), sizes.Most(func(t method.TableSize) int { return t.Columns })) {
		s.Garbage.OneProcess = largeGarbage / 100.
	}
	s.Machine, err = forecast.Measure()
	s.Machine.Session = session
	return s, err
}

// tiny is a job of three sessions between two parties, over a few numbers.
const tiny = `apiVersion: mercer/v1
kind: Job
metadata: {name: tiny}
spec:
  data: {source: numbers, label: label, partition: {parties: [one, two]}, test: {fraction: 0.25}, scale: minmax}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 1}
  learner: {name: svc}
  compare: []
`

// tinyJob runs the tiny job. It returns the time of a session divided by the number of its parties, and the peak
// memory of this process.
func (a *app) tinyJob(ctx context.Context) (session float64, program int64, err error) {
	j, err := a.reader.Parse("tiny.yaml", []byte(tiny))
	if err != nil {
		return 0, 0, err
	}
	const n = 400
	rows, labels := linalg.New[float64](n, 2), make([]string, n)
	for i := range labels {
		rows.Row(i)[0], rows.Row(i)[1], labels[i] = float64(i), float64(i*i%7), strconv.Itoa(2*i/n)
	}
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) {
		return &dataset.Set{Name: "numbers", X: dataset.NewDense(rows), Labels: labels, Columns: []string{"x", "y"}}, nil
	})
	if err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "mercer-plan-")
	if err != nil {
		return 0, 0, fmt.Errorf("a temporary folder cannot be created: %w; set TMPDIR to a folder with free space", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	began := time.Now()
	r, _, err := simulate.Run(ctx, simulate.Config{
		Reader: a.reader, Job: j, Shares: shares, Dir: dir, Seed: coordinator.RandomSeed, Usage: daemon.Usage,
		Progress: func(protocol.Progress) {}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return 0, 0, err
	}
	_, peak := daemon.Usage()
	const sessions = 3 // the order of columns, the scaling, the rows
	return time.Since(began).Seconds() / float64(sessions*len(r.Parties)), int64(peak), nil
}

// sizedJob reads a job file, and the sizes of its tables unless they are stated.
func (a *app) sizedJob(ctx context.Context, path string, stated *forecast.Counts) (*jobFile, method.Sizes, error) {
	if stated != nil {
		a.reader = a.readerBeside(path)
		file, err := a.readJobFile(path)
		if err != nil {
			return nil, method.Sizes{}, err
		}
		j := runs.Of(file.job)[0].Job
		if !method.Federated(j) {
			return file, method.Sizes{}, nil // the forecast refuses it by its name
		}
		if j.Parties() == nil {
			return nil, method.Sizes{}, badJob(fmt.Errorf("the job names no parties, so a plan cannot count their messages; add \"partition: {parties: [north, south]}\" to \"data\""))
		}
		sizes, err := stated.Sizes(j)
		return file, sizes, err
	}
	file, err := a.readSimulable(path)
	if err != nil {
		return nil, method.Sizes{}, orStated(err)
	}
	j := runs.Of(file.job)[0].Job
	if !method.Federated(j) {
		return file, method.Sizes{}, nil // the forecast refuses it, and no table need be read
	}
	var sizes method.Sizes
	err = a.during("read tables", func() error {
		shares, err := partition.Shares(j, a.loader(ctx))
		if err != nil {
			return err
		}
		sizes, err = partition.SizesOf(j, shares)
		return err
	})
	a.notices.reword(file.words())
	if err != nil {
		return nil, method.Sizes{}, orStated(file.words().inError(file.locate(err)))
	}
	return file, sizes, nil
}

// orStated adds a hint to an error of reading tables: how to plan a job without the tables.
func orStated(err error) error {
	e := *classify(err)
	if e.Err = err; e.Hint == "" {
		e.Hint = "if the tables lie elsewhere, state their sizes: --rows 2000 --columns 30"
	}
	return &e
}

// counts returns the stated sizes, or nil if none are stated.
func (f planFlags) counts() (*forecast.Counts, error) {
	if f.rows == "" && f.columns == "" {
		return nil, nil
	}
	if f.rows == "" || f.columns == "" {
		return nil, usage("only one of --rows and --columns is given; give both, which state the sizes of tables together")
	}
	rows, err := statedCounts("--rows", f.rows)
	if err != nil {
		return nil, err
	}
	columns, err := statedCounts("--columns", f.columns)
	return &forecast.Counts{Rows: rows, Columns: columns}, err
}

// mostCount bounds a stated number of rows or columns, so that no product of them overflows.
const mostCount = 100_000_000

// statedCounts reads a number for all parties, or numbers of parties: "2000" or "north=2000,south=900".
func statedCounts(flag, text string) (map[string]int, error) {
	counts := make(map[string]int)
	for _, one := range strings.Split(text, ",") {
		party, number, named := strings.Cut(one, "=")
		if !named {
			party, number = "", one
		}
		n, err := strconv.Atoi(number)
		if _, twice := counts[party]; err != nil || n < 1 || n > mostCount || twice || named && party == "" {
			return nil, usage("%s is %q; write one number from 1 to %d, such as 2000, or a number for each party, such as north=2000,south=900", flag, text, mostCount)
		}
		counts[party] = n
	}
	return counts, nil
}

// rate reads a rate with its unit, and returns bytes a second.
func rate(text string) (float64, bool) {
	for _, unit := range []struct {
		name string
		bits float64
	}{{"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}} {
		if number, has := strings.CutSuffix(text, unit.name); has {
			v, err := strconv.ParseFloat(number, 64)
			return v * unit.bits / 8, err == nil && v > 0 && v < 1e9
		}
	}
	return 0, false
}

// line returns the link of each member to the network: rate and latency of the flags, or else those of the job.
func (f planFlags) line(l job.Link) (job.Link, error) {
	if f.latency < 0 {
		return l, usage("--latency is %s; write a time above 0, such as 20ms", f.latency)
	}
	if f.latency > 0 {
		l.Latency = f.latency
	}
	if f.link == "" {
		return l, nil
	}
	var ok bool
	if l.Rate, ok = rate(f.link); ok {
		return l, nil
	}
	return l, usage("--link is %q; write a rate such as 100Mbit, with the unit kbit, Mbit or Gbit", f.link)
}

// Print writes a table of the members, a table of the steps, and what the plan assumes.
func (p planned) Print(w io.Writer) error {
	out := &printer{w: w}
	out.linef("%s, protocol %s: what one run takes", p.Job, p.Protocol)
	out.linef("")
	members := &tableOf{header: []string{"member", "sends", "receives", "messages", "rounds", "memory", "time"}}
	for _, m := range p.Members {
		members.add(m.Name, humanize.Bytes(m.Sent), humanize.Bytes(m.Received), m.Messages, m.Rounds, humanize.Bytes(m.Memory), shortTime(m.Seconds))
	}
	out.join(members.print(w))
	out.linef("")
	steps := &tableOf{header: []string{"step", "bytes", "messages", "rounds", "time"}}
	for _, s := range p.Steps {
		steps.add(s.Name, humanize.Bytes(s.Bytes), s.Messages, s.Rounds, shortTime(s.Seconds))
	}
	out.join(steps.print(w))
	out.linef("")
	out.linef("on machines of this kind, one for each member: %s; in one process (mercer simulate): %s and %s of memory", shortTime(p.Seconds), shortTime(p.OneProcess.Seconds), humanize.Bytes(p.OneProcess.Memory))
	if p.Runs > 1 {
		out.linef("the job has %d runs, each of about this size", p.Runs)
	}
	for _, line := range p.Warnings {
		out.linef("warning: %s", line)
	}
	for _, line := range p.Assumed {
		out.linef("assumed: %s", line)
	}
	out.linef("speed of this machine, measured now: %s multiply-adds a second, %s a second of hashes, %s for a message",
		humanize.ThreeDigits(1/p.Machine.Product), humanize.Bytes(int64(1/p.Machine.Hashed)), shortTime(p.Machine.Sent+p.Machine.Received))
	return out.err
}

// shortTime returns a time in milliseconds, in seconds, or from two minutes on in whole minutes or hours and minutes.
func shortTime(seconds float64) string {
	switch {
	case seconds < .0995:
		return fmt.Sprintf("%.2g ms", 1000*seconds)
	case seconds < 10:
		return fmt.Sprintf("%.2f s", seconds)
	case seconds < 120:
		return fmt.Sprintf("%.1f s", seconds)
	}
	return humanize.Duration(time.Duration(seconds * float64(time.Second)))
}
