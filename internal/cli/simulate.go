package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/runs"
	"github.com/mercer-fl/mercer/internal/local/simulate"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
)

// insecureSeed is a flag that makes random seeds of a command predictable.
type insecureSeed struct {
	seed uint64
	cmd  *cobra.Command
}

func (s *insecureSeed) flag(cmd *cobra.Command) {
	s.cmd = cmd
	cmd.Flags().Uint64Var(&s.seed, "insecure-seed", 0, "derive every secret from this number, to compare two runs; for tests only, because anyone who knows the number knows the secrets; default fresh secrets")
}

func (s *insecureSeed) given() bool { return s.cmd.Flags().Changed("insecure-seed") }

// orNil returns a source of predictable seeds, or nil if the flag was not given.
func (s *insecureSeed) orNil() func(string) [32]byte {
	if s.given() {
		return daemon.InsecureSeeds(s.seed)
	}
	return nil
}

// source returns the source of seeds: predictable ones if the flag was given, otherwise random
// ones.
func (s *insecureSeed) source() func(string) [32]byte {
	if s.given() {
		return s.orNil()
	}
	return coordinator.RandomSeed
}

func (a *app) simulate() *cobra.Command {
	var out string
	var seed insecureSeed
	var offer offerFlags
	cmd := &cobra.Command{
		Use:   "simulate JOB.yaml",
		Short: "Simulate a job with all its parties in one process",
		Long: `Simulate a job with its coordinator and all its parties in one process, over a
network in memory. Compare it with a model on pooled data and with each party alone.
The folder --out gets the model, the result and a report. Warnings, and notices that
each party's operator alone would read, come after the result.`,
		Example: "  mercer simulate examples/digits-hospitals.yaml\n  mercer simulate job.yaml --json --out run1",
		Args:    args("JOB.yaml"),
	}
	cmd.Flags().StringVar(&out, "out", "", "folder of the results; default mercer-out/NAME-OF-THE-JOB/PROTOCOL")
	seed.flag(cmd)
	offer.flags(cmd)
	a.detailFlags(cmd.Flags())
	a.explainFlag(cmd.Flags())
	cmd.RunE = a.run(func(ctx context.Context, args []string) (_ Result, err error) {
		file, err := a.readSimulable(args[0])
		if err != nil {
			return nil, err
		}
		j := file.job
		if j.Unshared() && j.Data.Folds == 0 && !file.names("test") {
			a.notices.add("notice: the job names no test, so a quarter of the rows is held out; write \"test: none\" to train on all")
		}
		if out == "" {
			out = filepath.Join("mercer-out", j.Name, j.Protocol.Name())
		}
		if err := folder(out); err != nil {
			return nil, err
		}
		end, err := a.offerCells(offer, j)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
		r, err := a.simulateJob(ctx, file, out, seed.source())
		a.notices.reword(file.words())
		if err != nil {
			return nil, file.words().inError(file.locate(err))
		}
		return r, nil
	})
	return cmd
}

// readSimulable reads a job file for a process that has the tables of all parties. The dictionaries
// and the study lie beside it.
func (a *app) readSimulable(path string) (*jobFile, error) {
	a.reader = a.readerBeside(path)
	f, err := a.readJobFile(path)
	if err != nil {
		return nil, err
	}
	if err := f.job.Simulable(); err != nil {
		return nil, badJob(err)
	}
	return f, nil
}

// simulateJob runs all runs of a job. It keeps only the models of the first run.
func (a *app) simulateJob(ctx context.Context, f *jobFile, out string, seed func(string) [32]byte) (Result, error) {
	return a.launch(f.job, out, func(dir string) (outcome, error) {
		o, err := a.simulateAll(ctx, f.job, dir, seed)
		if err == nil {
			o.described = f.tableFlags(o.Result)
		}
		return o, err
	})
}

// simulateAll runs all runs of a job in this process. It leaves the files of the first run in dir, and those of each
// other run in a folder of dir.
func (a *app) simulateAll(ctx context.Context, j *job.Job, dir string, seed func(string) [32]byte) (outcome, error) {
	all, load := runs.Of(j), a.loader(ctx)
	results, first := make([]*method.Result, len(all)), outcome{}
	task := a.task // set only between runs: an interrupted run can still be reading it
	for i, run := range all {
		a.task = runTask(task, j, i, len(all))
		own, secrets := dir, seed
		if i > 0 { // further runs have their own folder and secrets
			own, secrets = filepath.Join(dir, run.Name), func(label string) [32]byte { return seed(run.Name + "/" + label) }
			if err := os.Mkdir(own, 0o700); err != nil {
				return first, err
			}
		}
		o, err := a.simulateRun(ctx, run.Job, load, own, secrets)
		if err != nil && len(all) > 1 {
			return first, fmt.Errorf("run %d of %d: %w", i+1, len(all), err)
		} else if err != nil {
			return first, err
		}
		if results[i] = o.Result; i == 0 {
			first = o
		}
	}
	a.task = task
	runs.Collect(j, all, results)
	return first, nil
}

// runTask returns the name of run i of n of a job for the display of progress. The name begins with
// the task to which the run belongs.
func runTask(task string, j *job.Job, i, n int) string {
	name := fmt.Sprintf("repeat %d of %d", i+1, n)
	switch {
	case n == 1:
		return task
	case j.Data.Test.Parties != "":
		name = fmt.Sprintf("without %s (%d of %d)", j.Parties()[i], i+1, n)
	}
	return strings.TrimPrefix(task+", "+name, ", ")
}

// launch collects warnings, runs a job in a temporary folder, and writes the results into the folder
// target.
func (a *app) launch(j *job.Job, target string, run func(dir string) (outcome, error)) (_ Result, err error) {
	if warnings := local.Of(a.local, j).Warnings; warnings != nil {
		for _, line := range warnings(j) {
			a.notices.add("warning: " + line)
		}
	}
	dir, err := os.MkdirTemp("", "mercer-simulate-")
	if err != nil {
		return nil, fmt.Errorf("a temporary folder cannot be created: %w; set TMPDIR to a folder with free space", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	result, err := run(dir)
	if err != nil {
		return nil, err
	}
	return a.finish(j, result, target)
}

// simulateRun performs one run of a job and leaves its files in dir.
func (a *app) simulateRun(ctx context.Context, j *job.Job, load partition.Loader, dir string, seed func(string) [32]byte) (outcome, error) {
	if play := local.Of(a.local, j).Play; play != nil {
		return orAbandon(ctx, func() (outcome, error) { return a.play(ctx, j, play, a.library().Ratings, dir, seed) })
	}
	var shares []partition.Share
	err := a.during("read tables", func() (err error) { shares, err = partition.Shares(j, load); return err })
	if err != nil {
		return outcome{}, err
	}
	defer a.collectSooner(shares)()
	return orAbandon(ctx, func() (outcome, error) { return a.compared(ctx, j, shares, dir, seed) })
}

// play runs all members of a job in this process, with the method's own code. The result includes
// the CPU time and the memory of the process.
func (a *app) play(ctx context.Context, j *job.Job, play func(context.Context, local.Play) (*method.Result, error), ratings func(source string) (*dataset.Ratings, error), dir string, seed func(string) [32]byte) (outcome, error) {
	cpu, _ := daemon.Usage()
	shown := a.progress()
	defer shown.Close()
	load := a.loader(ctx)
	result, err := play(ctx, local.Play{
		Job: j, Rows: func(name string) (*dataset.Set, error) { return load(job.Source{File: name}, j.Data) }, Ratings: ratings,
		Dir: dir, Seed: seed, Progress: shown.Step,
	})
	if err != nil {
		return outcome{}, err
	}
	o := outcome{Result: result}
	o.object(partition.Refusals(j, nil, 0), nil, 0)
	used, peak := daemon.Usage()
	result.Timings["cpu_s"], result.PeakRSS, result.Processes = used-cpu, peak, []int{os.Getpid()}
	return o, nil
}

// collectSooner starts a garbage collection whenever memory has grown by a quarter, if rows and
// Gram matrix are large. Scanning such arrays of numbers is cheap. By default, the garbage of
// encoded messages could double the memory. It returns a function that restores the setting. It
// does nothing if the user sets GOGC.
func (a *app) collectSooner(shares []partition.Share) (undo func()) {
	rows := 0
	for _, s := range shares {
		rows += s.Table.Rows()
	}
	if a.env("GOGC") != "" || !large(rows, shares[0].Table.Set.X.Cols()) {
		return func() {}
	}
	before := debug.SetGCPercent(largeGarbage)
	return func() { debug.SetGCPercent(before) }
}

// largeGarbage is the share of the memory in use, in percent, by which the heap of a simulation with
// large arrays grows before garbage is collected.
const largeGarbage = 25

// large reports whether rows and Gram matrix have so many numbers that their garbage matters.
func large(rows, columns int) bool { return rows*(rows+columns) >= 1<<26 }

// compared runs a job and its comparisons with pooled and separate training.
func (a *app) compared(ctx context.Context, j *job.Job, shares []partition.Share, dir string, seed func(string) [32]byte) (outcome, error) {
	cpu, _ := daemon.Usage()
	result, decided, err := a.runSimulation(ctx, j, shares, dir, seed)
	if err != nil {
		return outcome{}, partition.Explain(j, shares, err)
	}
	runtime.GC() // free the federation's Gram matrix before the comparison computes its own
	began := time.Now()
	err = a.during("compare", func() error { return baseline.Compare(ctx, a.local, j, shares, decided, result) })
	if err != nil {
		return outcome{}, err
	}
	o := outcome{Result: result}
	if err := o.inspect(j, shares); err != nil {
		return o, err
	}
	// This process did the work of all members, so the parties' own measurements overlap.
	used, peak := daemon.Usage()
	result.Timings["cpu_s"], result.PeakRSS = used-cpu, peak
	addComparison(result, time.Since(began))
	result.Processes = []int{os.Getpid()}
	o.table, err = sheetOf(j, shares, decided)
	return o, err
}

// inspect adds to an outcome what only the owner of all rows can find. These are objections of the
// parties' policies, warnings about the rows, the number of columns, and the rows of each class.
func (o *outcome) inspect(j *job.Job, shares []partition.Share) error {
	withheld, err := partition.Withheld(j, shares, o.Figures)
	if err != nil {
		return err
	}
	o.object(partition.Refusals(j, shares, o.Training+o.HeldOut), withheld, len(j.Parties()))
	warnings, err := partition.Warnings(j, shares)
	if err != nil {
		return err
	}
	o.Warnings = append(o.Warnings, warnings...)
	o.columns = columnsOf(j, shares)
	o.classes, err = partition.Classes(j, shares)
	return err
}

// addComparison adds to the job's times the time that the comparisons took.
func addComparison(r *method.Result, took time.Duration) {
	r.Timings["compare"] = took.Seconds()
	r.Timings["total"] += took.Seconds()
}

func (a *app) runSimulation(ctx context.Context, j *job.Job, shares []partition.Share, dir string, seed func(string) [32]byte) (*method.Result, *method.Outcome, error) {
	if _, err := method.Of(j); err != nil { // method.Of knows only protocols that a coordinator and parties run
		if j.Link != (job.Link{}) {
			return nil, nil, fmt.Errorf("protocol %s sends no messages over a network; remove \"link\"", j.Protocol.Name())
		}
		if a.workers != nil {
			return nil, nil, usage("protocol %s has no coordinator, which --cells needs; remove --cells, or choose another protocol", j.Protocol.Name())
		}
		return baseline.RunPooled(ctx, j, shares, dir)
	}
	var causes causes
	shown := a.progress()
	defer shown.Close()
	result, decided, err := simulate.Run(ctx, simulate.Config{
		Reader: a.reader, Job: j, Shares: shares, Dir: dir, Seed: seed, Usage: daemon.Usage, Logger: a.jobLog(),
		Progress: shown.Step, Notified: a.notices.ofParty, Failed: causes.add, Workers: a.workers,
	})
	if err == nil && a.workers != nil && result.Outside == nil {
		a.notices.add("notice: no cells were offered, because protocol " + j.Protocol.Name() + " does not choose parameters on a Gram matrix at a coordinator")
	}
	return result, decided, causes.explain(err)
}

// causes collects why parties failed, in the words of their own logs.
type causes struct {
	mu    sync.Mutex
	lines []string
}

func (c *causes) add(party string, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, fmt.Sprintf("%s's own log: %v", party, cause))
}

// explain adds the causes to a job's error, for the user, who owns the tables of all parties.
func (c *causes) explain(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil || len(c.lines) == 0 {
		return err
	}
	slices.Sort(c.lines)
	return fmt.Errorf("%w\n%s", err, strings.Join(slices.Compact(c.lines), "\n"))
}

// jobLog returns the log for daemons in a command's own process. It discards all messages unless
// the user sets a log level, because the daemons' failures become the command's own error.
func (a *app) jobLog() *slog.Logger {
	if a.chatty {
		return a.log
	}
	return slog.New(slog.DiscardHandler)
}

// folder checks that results can later be written into a folder. It creates a file in the nearest
// folder that exists, and removes the file again.
func folder(out string) error {
	dir, err := existing(out)
	if err != nil {
		return notAFolder(out, err)
	}
	probe, err := os.CreateTemp(dir, ".mercer-*")
	if err != nil {
		return notAFolder(out, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// finish writes a run's files into its folder, with result.json as the last file. It writes nothing
// before the run has succeeded.
func (a *app) finish(j *job.Job, o outcome, out string) (r Result, err error) {
	err = inFolder(out, func() (err error) { r, err = a.saveRun(j, o, out); return err })
	return r, err
}

// saveRun writes a run's files into a folder that exists.
func (a *app) saveRun(j *job.Job, o outcome, out string) (_ Result, err error) {
	o.job = j
	r := o.Result
	r.About = learner.AboutRun(j, buildVersion().Version, time.Now())
	a.warnOfObjections(r, o.objections)
	if err := adopt(r, local.Of(a.local, j).Files, out); err != nil {
		return nil, err
	}
	if o.Predictions, err = saveTable(out, o.table); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("the result cannot be written as JSON: %w", err)
	}
	if o.shown, err = method.Presented(a.reader.Protocols, j, r); err != nil {
		return nil, err
	}
	o.next = nextOf(j, r) + o.described
	if o.Report, err = savePage(out, o); err != nil {
		return nil, err
	}
	o.verbose = a.verbose
	return o, disk.Replace(filepath.Join(out, "result.json"), append(text, '\n'))
}

// draftCommand is the command that writes a job for own tables.
const draftCommand = "mercer job new NORTH.csv SOUTH.csv --label COLUMN > job.yaml # a draft of a job on your own tables"

// nextOf returns the command that usually follows a simulation: mercer predict if the simulation
// left a usable model. If the job's tables are the user's own, it otherwise says which job would leave
// such a model, or that a deployment predicts. Else it returns mercer job new, which writes a job for own tables.
func nextOf(j *job.Job, r *method.Result) string {
	if m := usable(j, r); m != nil {
		return fmt.Sprintf("mercer predict %s TABLE.csv", m.Path)
	}
	private := func(m method.ModelFile) bool { return m.Private }
	part := func(m method.ModelFile) bool { return isPart(m.Path) }
	whole := func(m method.ModelFile) bool { return m.Path != "" && !isPart(m.Path) }
	switch {
	case j.Data.Sources == nil:
		return draftCommand
	case j.Data.Partition.By == job.Columns:
		return fmt.Sprintf("deploy the job%s to predict new rows (docs/tutorial.md, docs/operate.md); a model of %s needs all its parties, so this run leaves no whole one", openly(j, " "), j.Protocol.Name())
	case slices.ContainsFunc(r.Models, private):
		return fmt.Sprintf("to predict new rows here, write protocol: {name: pooled}, which trains without privacy, or draft a job by mercer job new --protocol moments; a model of %s predicts only in a deployment%s", j.Protocol.Name(), openly(j, ", "))
	case j.Prediction != job.Open && slices.ContainsFunc(r.Models, whole):
		return "with prediction: open the job leaves models with which mercer predict answers"
	case slices.ContainsFunc(r.Models, part):
		return fmt.Sprintf("between homes (docs/tutorial.md)%s, the members that hold the model's parts answer prediction queries together", openly(j, ", "))
	}
	return draftCommand
}

// openly returns the key that a deployed job needs to predict, after a separator, or "" if the job has
// it.
func openly(j *job.Job, separator string) string {
	if j.Prediction == job.Open {
		return ""
	}
	return separator + "with prediction: open"
}

// usable returns the first model that mercer predict can use by itself, or nil.
func usable(j *job.Job, r *method.Result) *method.ModelFile {
	for i, m := range r.Models {
		if m.Path != "" && (j.Unshared() || slices.Contains(j.Parties(), m.Party)) {
			return &r.Models[i]
		}
	}
	return nil
}

// tableFlags returns the flags of mercer predict that describe a table as the job file describes the
// training table of the model's party. It returns "" if the table needs no description.
func (f *jobFile) tableFlags(r *method.Result) string {
	m := usable(f.job, r)
	for _, s := range f.job.Data.Sources {
		if m != nil && (s.Party == m.Party || f.job.Unshared()) && !s.Plain() {
			return fmt.Sprintf(" --job-file %s --as %s%s", f.path, s.Party, f.otherSites(s.Party))
		}
	}
	return ""
}

// otherSites returns a comment for a command line, which says that new rows can be written like the tables of another
// site, too. It returns "" if the job has fewer than two sources.
func (f *jobFile) otherSites(site string) string {
	if len(f.job.Data.Sources) < 2 {
		return ""
	}
	return fmt.Sprintf(" # --as: the site that writes its tables as TABLE.csv is written; %s is one of %d", site, len(f.job.Data.Sources))
}

// saveTable writes the predictions of held-out rows into a folder and returns the path. If there
// are no predictions, it removes the table of an earlier run.
func saveTable(folder string, s *sheet) (string, error) {
	path := filepath.Join(folder, "predictions.csv")
	if s == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("an earlier run's predictions cannot be removed: %w", err)
		}
		return "", nil
	}
	text, err := s.encode()
	if err != nil {
		return "", err
	}
	return path, disk.Replace(path, text)
}

// adopt copies the models and the other files of a result from the run's temporary folder to the
// folder target.
func adopt(r *method.Result, files func(*method.Result) map[string]*string, target string) error {
	for i := range r.Models {
		m := &r.Models[i]
		from := m.Path
		if from == "" {
			continue // no member kept a whole model
		}
		m.Path = filepath.Join(target, filepath.Base(m.Path))
		if m.Private {
			m.Path = filepath.Join(target, m.Party, "model")
		}
		err := inFolder(filepath.Dir(m.Path), func() error { return copyFile(m.Path, from) })
		if err != nil {
			return fmt.Errorf("the model of %s cannot be copied into the results folder: %w", m.Party, err)
		}
	}
	if files == nil {
		return nil
	}
	for what, path := range files(r) {
		from := *path
		*path = filepath.Join(target, filepath.Base(from))
		if err := copyFile(*path, from); err != nil {
			return fmt.Errorf("the %s cannot be copied into the results folder: %w", what, err)
		}
	}
	return nil
}

func copyFile(to, from string) (err error) {
	f, err := regular.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return disk.ReplaceBy(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
