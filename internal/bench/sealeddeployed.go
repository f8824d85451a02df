package bench

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/local/partition"
)

// sealedMemory is the target of a process's memory, in MB.
const sealedMemory = 120

// DeployedSealed returns a benchmark of a job of protocol sealed whose members are processes of the given program, on
// this machine. It measures the job's time, and the processor time and largest memory of each process. All files are in
// a folder, which the caller removes.
func DeployedSealed(reader *job.Reader, j *job.Job, load partition.Loader, program []string, folder string) Benchmark {
	return Benchmark{cases: []scene{{j.Name, func(context.Context) (race, error) {
		d := &deployedSealed{reader: reader, job: j, program: program, folder: folder}
		var err error
		if d.shares, err = partition.Shares(j, load); err != nil {
			return race{}, err
		}
		return race{runs: []run{d.run}, rows: func([]span) []Row { return d.figures() }}, nil
	}}}}
}

// deployedSealed is a federation that runs a job, with the times of the shortest turn and the largest memory of all turns.
type deployedSealed struct {
	reader  *job.Reader
	job     *job.Job
	shares  []partition.Share
	program []string
	folder  string
	names   []string
	wall    float64
	spent   map[string]spent
}

// run runs the job once, by daemons with new home folders.
func (d *deployedSealed) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(d.folder, "run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f, err := demo.Found(demo.Config{Program: d.program, Reader: d.reader, Job: d.job, Shares: d.shares, Dir: dir, Dictionary: d.job.Data.Dictionary})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Stop()) }()
	if err := f.Start(ctx); err != nil {
		return err
	}
	ctx, stop := f.Watch(ctx)
	defer stop()
	return d.measure(ctx, f)
}

// measure runs the job.
func (d *deployedSealed) measure(ctx context.Context, f *demo.Federation) error {
	d.names = f.Names()
	before, err := spentByAll(f, d.names)
	if err != nil {
		return err
	}
	begun := time.Now()
	id, err := f.Submit(ctx, d.job)
	if err != nil {
		return err
	}
	if _, _, err := f.Wait(ctx, id, nil); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	wall := time.Since(begun).Seconds()
	after, err := spentByAll(f, d.names)
	if err != nil {
		return err
	}
	d.keep(wall, before, after)
	return nil
}

// keep takes the times of a turn if it is the shortest so far, and for each process its largest memory of all turns.
func (d *deployedSealed) keep(wall float64, before, after map[string]spent) {
	best := d.spent == nil || wall < d.wall
	if best {
		d.wall = wall
	}
	kept := make(map[string]spent)
	for name, s := range after {
		old := d.spent[name]
		s.cpu -= before[name].cpu
		if !best {
			s.cpu = old.cpu
		}
		kept[name] = spent{peak: max(s.peak, old.peak), cpu: s.cpu}
	}
	d.spent = kept
}

// spentByAll returns the peak of memory and the processor time of each process so far.
func spentByAll(f *demo.Federation, names []string) (map[string]spent, error) {
	all := make(map[string]spent)
	for _, name := range names {
		s, err := spentBy(f.PID(name))
		if err != nil {
			return nil, err
		}
		all[name] = s
	}
	return all, nil
}

func (d *deployedSealed) figures() []Row {
	rows, cpu := []Row{figure("time of the job", d.wall, "s")}, 0.0
	for _, name := range d.names {
		s := d.spent[name]
		rows = append(rows,
			figure(name+": processor time of the job", s.cpu, "CPU s"),
			figure(name+": largest memory", s.peak/1e6, "MB").within(sealedMemory))
		cpu += s.cpu
	}
	return append(rows, figure("all processes", cpu, "CPU s"))
}
