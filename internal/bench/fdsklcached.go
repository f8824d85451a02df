package bench

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// cachedSize holds the size of a job with "training: cached". The field bits is the number of bits of
// one phase.
type cachedSize struct{ rows, columns, directions, bits int }

func (c cachedSize) String() string {
	return fmt.Sprintf("%d rows, %d columns, %d directions, %d workers", c.rows, c.columns, c.directions, fdsklWorkers)
}

// cached is a schedule that requests every phase once and stores the phases in a table.
type cached struct {
	*fdskl.Book
	table    *linear.Phases[float32]
	requests []fdskl.Request
}

func newCached(p fdskl.Params) *cached {
	s := p.Spec()
	c := &cached{Book: fdskl.NewBook(s.Rows, s.Bits), table: linear.NewPhases[float32](s.Rows, s.Directions, s.Bits)}
	c.Want(linalg.Range(0, s.Rows), s.Directions)
	return c
}

// Next returns the next request and records it. It implements [fdskl.Schedule].
func (c *cached) Next() (fdskl.Request, bool) {
	q, more := c.Book.Next()
	if more {
		c.requests = append(c.requests, q)
	}
	return q, more
}

// Answer stores received phases in the table. It implements [fdskl.Schedule].
func (c *cached) Answer(rows []int, words []byte) {
	d := c.Directions()
	c.table.Put(words, rows[0], len(rows), d.First, d.Count)
}

// clouds holds generated rows. The columns of the rows are divided into parts, one for each worker.
type clouds struct {
	parts   []linalg.Rows
	targets linalg.Matrix[float64] // labels -1 or 1, in one row
}

func newClouds(rows, columns int) (clouds, error) {
	set, err := generated.Clouds(rows, columns)
	if err != nil {
		return clouds{}, err
	}
	shares, err := dataset.ByColumns(columns, fdsklWorkers)
	if err != nil {
		return clouds{}, err
	}
	c := clouds{targets: linalg.New[float64](1, rows)}
	for _, share := range shares {
		c.parts = append(c.parts, dataset.RowsOf(set.SelectColumns(share).X))
	}
	_, classes := dataset.Classes(set.Labels)
	for i, class := range classes {
		c.targets.Data[i] = float64(2*class - 1)
	}
	return c, nil
}

// cachedRun holds a finished training with its session and its table of phases.
type cachedRun struct {
	cachedFigures
	measuredSession measuredSession
	params          fdskl.Params
	schedule        *cached
}

// cachedFigures holds the measurements of a training. They are stored apart from the table, so
// that the table's memory is free for the next run.
type cachedFigures struct {
	size            cachedSize
	protocol, learn span
	wrong           float64 // share of the training rows that the model predicts wrongly
	passes          int
	peak            float64 // peak memory in bytes
}

// train runs a whole training as with "training: cached", from the exchange of keys to the coefficients.
func (c clouds) train(size cachedSize, p linear.Params) (r *cachedRun, err error) {
	r = &cachedRun{cachedFigures: cachedFigures{size: size}}
	if err := resetPeak(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if r.params, err = fdskl.NewParams(fdskl.Spec{Bits: size.bits, Rows: size.rows, Directions: size.directions}); err != nil {
		return nil, err
	}
	r.schedule = newCached(r.params)
	r.measuredSession = federate(c.parts, 1/float64(4*size.columns), r.params, r.schedule)
	if r.protocol, err = stopwatch(r.measuredSession.Run); err != nil {
		return nil, err
	}
	var f *linear.Fitted
	r.learn, err = stopwatch(func() (err error) {
		f, err = linear.Fit(r.schedule.table, c.targets, p)
		return err
	})
	if err != nil && !errors.Is(err, linear.ErrNotConverged) {
		return nil, err
	}
	if r.wrong = wrong(f.Decisions.Data, c.targets.Data); r.wrong > .3 {
		return nil, fmt.Errorf("bench: the trained model predicts a share of %v of its training rows wrongly; at most .3 is allowed", r.wrong)
	}
	r.passes = len(f.Objectives)
	r.peak, err = peakMemory()
	return r, err
}

// wrong returns the share of decisions u whose sign differs from the target y.
func wrong(u, y []float64) float64 {
	n := 0
	for i, v := range u {
		if linear.Sign(v) != y[i] {
			n++
		}
	}
	return float64(n) / float64(len(y))
}

// wholeTask is the training for which wholeWall and wholePeak set targets on two cores.
var wholeTask = cachedSize{rows: 1_000_000, columns: 100, directions: 1024, bits: 16}

const (
	wholeWall = 180     // target of the wall time, in seconds
	wholePeak = 4 << 10 // target of the peak memory, in MiB
	// percent limits uncollected garbage relative to the memory in use. The command simulate sets
	// the same limit for large tables.
	percent = 25
)

// rows returns the measurements of a training, and the costs extrapolated to the whole task.
func (r cachedFigures) rows(best span) []Row {
	name, as := r.size.String(), wholeTask
	more := float64(as.rows) / float64(r.size.rows)
	whole := as.String()
	if as != r.size {
		whole += ", extrapolated"
	}
	peak := r.peak + (more-1)*float64(r.size.held())*(1+percent/100.)
	return []Row{
		figure(name+", protocol, processor time", r.protocol.cpu, "s"),
		figure(name+", learning, processor time", r.learn.cpu, "s"),
		figure(name+", learning, passes", float64(r.passes), ""),
		figure(name+", wall on "+coresText(runtime.GOMAXPROCS(0)), best.wall, "s"),
		figure(name+", peak memory of all", r.peak/(1<<20), "MiB"),
		figure(whole+", target of wall", more*best.wall, "s").within(wholeWall),
		figure(whole+", processor time", more*best.cpu, "s"),
		figure(whole+", target of memory", peak/(1<<20), "MiB").within(wholePeak),
	}
}

// held returns the number of bytes of all data that grow with the number of rows. These are the
// columns in float32, the phases, the targets, the decisions, and each worker's mark of every row.
func (c cachedSize) held() int {
	return c.rows * (4*c.columns + c.directions*c.bits/8 + 2*8 + 4*fdsklWorkers)
}
