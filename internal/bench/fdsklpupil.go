package bench

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// course is a training mode with its settings: iterations of so many rows and so
// many new directions, by the paper's step or, with a rho, by Newton's. Without
// rows it is mode cached.
type course struct {
	mode         string
	rows, block  int
	directions   int
	length       float64 // of the kernel, in median distances
	loss         linear.Loss
	rate, lambda float64
	rho          float64
	reference    *float64 // the reference implementation's test error
}

// pupil is the active worker's schedule: it learns in the loop, and at the end
// asks for the rows that it is examined on.
type pupil struct {
	lesson
	course
	table    diary
	dsg      *linear.DSG
	draw     *prg.Stream
	seen     []int // directions in which each row is known
	batch    []int // of the iteration under way, ascending
	waiting  []fdskl.Request
	last     fdskl.Span // directions of the last request
	params   fdskl.Params
	made     int     // iterations
	begun    float64 // processor time
	learned  []snapshot
	finished bool
	failed   error
}

// snapshot is what was learned by some moment.
type snapshot struct {
	iterations   int
	cpu          float64 // of all workers, since the beginning
	coefficients linalg.Matrix[float64]
	wrong        float64 // share of the rows of the exam
}

// study runs a course on a lesson through the protocol.
func (l lesson) study(ctx context.Context, c course) ([]snapshot, error) {
	params, err := fdskl.NewParams(fdskl.Spec{Rows: l.x.Rows, Directions: c.directions})
	if err != nil {
		return nil, err
	}
	amplitude := 1.0
	if c.rows == 0 {
		amplitude = 1 / math.Sqrt(float64(c.directions))
	}
	p := &pupil{
		lesson: l, course: c, params: params, seen: make([]int, l.x.Rows), draw: prg.New(seedOf(c.mode, 0), "bench/batches"),
		table: newDiary(l.x.Rows, c.directions, params.Spec().Bits, amplitude),
	}
	if c.rows > 0 {
		if p.dsg, err = linear.NewDSG(1, linear.DSGParams{Loss: c.loss, Rate: c.rate, Lambda: c.lambda, PerDirection: 2}); err != nil {
			return nil, err
		}
	}
	length := c.length * l.distance
	f, err := federate(parts(l.x), 1/(2*length*length), params, p)
	if err != nil {
		return nil, err
	}
	if p.begun, err = cpuSeconds(); err != nil {
		return nil, err
	}
	if err := errors.Join(f.run(ctx), p.failed); err != nil {
		return nil, err
	}
	p.examine()
	return p.learned, nil
}

// Next implements [fdskl.Schedule].
func (p *pupil) Next() (fdskl.Request, bool) {
	if len(p.waiting) == 0 {
		p.iterate()
	}
	if len(p.waiting) == 0 || p.failed != nil {
		return fdskl.Request{}, false
	}
	q := p.waiting[0]
	p.waiting, p.last = p.waiting[1:], q.Directions
	return q, true
}

// iterate learns from the rows that were asked for and asks for the next.
func (p *pupil) iterate() {
	if p.batch != nil {
		p.failed = p.step()
		p.batch = nil
	}
	known := p.made * p.block
	switch {
	case p.finished:
	case p.rows == 0 && p.made == 0:
		p.batch = upTo(0, p.train)
		p.ask(p.batch, p.directions)
	case p.rows > 0 && known < p.directions:
		p.batch = p.drawn()
		p.ask(p.batch, min(known+p.block, p.directions))
	default:
		p.finished = true
		p.ask(upTo(p.train, p.x.Rows), p.directions)
	}
}

// drawn are different training rows, ascending.
func (p *pupil) drawn() []int {
	if p.rows == 1 {
		return []int{int(p.draw.Uint64n(uint64(p.train)))}
	}
	rows := p.draw.Perm(p.train)[:min(p.rows, p.train)]
	slices.Sort(rows)
	return rows
}

func upTo(first, end int) []int {
	rows := make([]int, end-first)
	for i := range rows {
		rows[i] = first + i
	}
	return rows
}

// ask asks for all directions before end in which rows are not known; those
// known in as many go together.
func (p *pupil) ask(rows []int, end int) {
	groups := make(map[int][]int)
	var firsts []int // in the order in which they are met
	for _, r := range rows {
		if groups[p.seen[r]] == nil {
			firsts = append(firsts, p.seen[r])
		}
		groups[p.seen[r]] = append(groups[p.seen[r]], r)
		p.seen[r] = end
	}
	for _, first := range firsts {
		for at := first; at < end; at += atOnce(p.params) {
			p.waiting = append(p.waiting, fdskl.Request{
				Rows: fdskl.Spans(groups[first]...), Directions: fdskl.Span{First: at, Count: min(atOnce(p.params), end-at)},
			})
		}
	}
}

// Answer implements [fdskl.Schedule].
func (p *pupil) Answer(rows []int, words []byte) {
	width := len(words) / len(rows)
	for i, r := range rows {
		p.table.put(words[i*width:(i+1)*width], r, p.last.First)
	}
}

// step is an iteration on the batch. Mode cached learns all at once.
func (p *pupil) step() error {
	p.made++
	if p.rows == 0 {
		return p.passes()
	}
	first := p.dsg.Features()
	phi, y := linalg.New[float64](min(2*p.block, 2*p.directions-first), len(p.batch)), linalg.New[float64](1, len(p.batch))
	for i, r := range p.batch {
		y.Data[i] = p.targets.Data[r]
	}
	u := p.dsg.Decide(p.table, p.batch)
	p.table.ReadAt(phi, first, p.batch)
	if p.rho == 0 {
		p.dsg.Step(phi, u, y)
	} else if err := p.dsg.StepNewton(phi, u, y, p.rho); err != nil {
		return err
	}
	if n := p.made; n&(n-1) == 0 || p.dsg.Features() == 2*p.directions {
		return p.note(n, 0, p.dsg.Coefficients())
	}
	return nil
}

// note keeps what was learned after so many iterations; time that was spent on
// the curve alone does not count.
func (p *pupil) note(iterations int, apart float64, w linalg.Matrix[float64]) error {
	now, err := cpuSeconds()
	p.learned = append(p.learned, snapshot{iterations, now - p.begun - apart, w, 0})
	return err
}

// passes are learned from the beginning each time, one more than before: a
// training does not tell what it has in between.
func (p *pupil) passes() error {
	const most = 8
	apart := 0.0
	y := linalg.Matrix[float64]{Rows: 1, Cols: p.train, Stride: p.train, Data: p.targets.Data[:p.train]}
	for passes := 1; passes <= most; passes *= 2 {
		var f *linear.Fitted
		var failed error
		took, err := stopwatch(func() {
			f, failed = linear.Fit[float64](p.rowsOf(0, p.train, 2*p.directions), y, linear.Params{Loss: p.loss, Lambda: p.lambda, Tol: 1e-12, MaxPasses: passes})
		})
		if err != nil || failed != nil && !errors.Is(failed, linear.ErrNotConverged) {
			return errors.Join(failed, err)
		}
		if err := p.note(passes, apart, f.Coefficients); err != nil {
			return err
		}
		apart += took.cpu
	}
	return nil
}

// examine decides about the held-out rows by all that was learned.
func (p *pupil) examine() {
	for i, s := range p.learned {
		u := linear.Decide[float64](p.rowsOf(p.train, p.x.Rows, s.coefficients.Cols), s.coefficients)
		p.learned[i].wrong = wrong(u.Data, p.targets.Data[p.train:])
	}
}

func (p *pupil) rowsOf(first, end, features int) excerpt {
	return excerpt{p.table, first, end - first, features}
}
