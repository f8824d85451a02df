package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/local/partition"
)

// DeployedStream returns a benchmark of a party that freezes the table of [Stream] and then takes part
// in a job of protocol moments. Coordinator, two parties and the commands that freeze their tables are
// processes of the given program, on this machine. The other party has 10,000 rows. The benchmark
// measures the memory and the processor time of the large party's processes. All files are in a folder,
// which the caller removes.
func DeployedStream(reader *job.Reader, program []string, folder string, rows int) Benchmark {
	return Benchmark{cases: []scene{{fmt.Sprintf("%d rows", rows), func(ctx context.Context) (race, error) {
		d := &deployedStream{streamed: streamed{folder: folder, rows: rows}, program: program}
		if err := d.prepare(ctx, reader); err != nil {
			return race{}, err
		}
		return race{runs: []run{d.run}, rows: func([]span) []Row { return d.figures() }}, nil
	}}}}
}

// deployedStream is a federation with a large party.
type deployedStream struct {
	streamed
	reader     *job.Reader
	dictionary *job.Dictionary
	program    []string
	freeze     spent // cost of freezing the large party's table, in the last turn
	session    spent // cost of the large party's daemon, in the last turn
}

// spent holds the cost of a process: the peak of its memory, in bytes, and seconds.
type spent struct{ peak, cpu, wall float64 }

const (
	// streamDictionary says how the labels are read, and describes no columns, so the table is read in blocks.
	streamDictionary = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: shards}
spec: {labels: {label: {classes: ["0", "1"]}}}
`
	deployedJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: stream}
spec:
  data: {source: own, dictionary: shards, label: label, partition: {parties: [north, south]}, scale: none}
  protocol: {name: moments, directions: 256}
  kernel: {name: rbf, gamma: 0.01}
  learner: {name: ridge-classifier}
  compare: []
  timeout: {join: 24h, round: 24h}
`
	largeParty, smallParty = "north", "south"
)

func (d *deployedStream) prepare(ctx context.Context, reader *job.Reader) (err error) {
	if d.dictionary, err = job.ParseDictionary("shards.yaml", []byte(streamDictionary)); err != nil {
		return err
	}
	d.reader = reader.Knowing(func(string, string) (*job.Dictionary, error) { return d.dictionary, nil })
	if d.job, err = d.reader.Parse("bench.yaml", []byte(deployedJob)); err != nil {
		return err
	}
	if err := d.writeShards(ctx); err != nil {
		return err
	}
	few := streamed{folder: d.folder, rows: MinStreamRows}
	return few.writeText()
}

// run runs a job once, by daemons with new home folders.
func (d *deployedStream) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(d.folder, "run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f, err := demo.Found(demo.Config{
		Program: d.program, Reader: d.reader, Job: d.job, Dir: dir, Dictionary: d.dictionary,
		Shares: []partition.Share{{Party: largeParty}, {Party: smallParty}},
		Files:  map[string]string{largeParty: d.path("shard-*.parquet"), smallParty: d.path("table.csv")},
	})
	if err != nil {
		return err
	}
	for _, party := range []string{smallParty, largeParty} { // d.freeze keeps the cost of the last one, the large party
		if d.freeze, err = d.frozen(ctx, f.Home(party).String()); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, f.Stop()) }()
	if err := f.Start(ctx); err != nil {
		return err
	}
	ctx, stop := f.Watch(ctx)
	defer stop()
	begun := time.Now()
	id, err := f.Submit(ctx, d.job)
	if err != nil {
		return err
	}
	if _, _, err = f.Wait(ctx, id, nil); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	d.session, err = spentBy(f.PID(largeParty))
	d.session.wall = time.Since(begun).Seconds()
	return err
}

// frozen freezes the table of a home folder by a process, and returns the cost of the process.
func (d *deployedStream) frozen(ctx context.Context, home string) (s spent, err error) {
	begun := time.Now()
	cmd := exec.CommandContext(ctx, d.program[0], append(d.program[1:len(d.program):len(d.program)], "data", "freeze", "own", "--dictionary", d.dictionary.Name, "--home", home)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return s, fmt.Errorf("bench: the table cannot be frozen: %w: %s", err, out)
	}
	s.cpu, s.wall = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), time.Since(begun).Seconds()
	s.peak, err = peakOfEnded(cmd.ProcessState)
	return s, err
}

func (d *deployedStream) figures() []Row {
	const unit = "rows/CPU s"
	n := float64(d.rows)
	return []Row{
		figure("freezing", n/d.freeze.cpu, unit),
		figure("ledger, passes and session", n/d.session.cpu, unit),
		figure("whole", n/(d.freeze.cpu+d.session.cpu), unit),
		figure("time of freezing", d.freeze.wall, "s"),
		figure("time of the job", d.session.wall, "s"),
		figure("largest memory of freezing", d.freeze.peak/1e6, "MB").within(passesMemory + n/1e6),
		figure("largest memory of the daemon", d.session.peak/1e6, "MB").within(passesMemory + n/1e6),
	}
}
