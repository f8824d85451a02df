package bench

import (
	"context"
	"errors"
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// course is a training mode with its settings. Each iteration takes the given numbers of rows
// and of new directions, by the paper's step or, with a rho, by Newton's. Without rows it is
// mode cached.
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
	*fdskl.Book
	table    diary
	gradient *linear.Stochastic // nil in mode cached
	drawn    bool               // rows of an iteration, which have been asked for
	made     int                // iterations
	begun    float64            // processor time
	learned  []snapshot
	failed   error
}

// snapshot holds the model that was learned by some moment.
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
	bits := params.Spec().Bits
	p := &pupil{lesson: l, course: c, Book: fdskl.NewBook(l.x.Rows, bits), table: newDiary(l.x.Rows, c.directions, bits, amplitude)}
	if c.rows > 0 {
		if p.gradient, err = c.iterations(l); err != nil {
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

func newDiary(rows, directions, bits int, amplitude float64) diary {
	stride := directions * bits / 8
	return diary{feature.NewWave[float64](bits).Times(amplitude), make([]byte, rows*stride), stride}
}

// iterations are the course's, on the training rows.
func (c course) iterations(l lesson) (*linear.Stochastic, error) {
	return linear.NewStochastic(linear.Course{
		DSGParams: linear.DSGParams{Loss: c.loss, Rate: c.rate, Lambda: c.lambda, PerDirection: 2},
		Batch:     c.rows, Block: 2 * c.block, Features: 2 * c.directions, Rho: c.rho,
	}, l.trainingTargets(), prg.New(seedOf(c.mode, 0), "bench/batches"))
}

// trainingTargets returns the targets of the training rows.
func (l lesson) trainingTargets() linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: 1, Cols: l.train, Stride: l.train, Data: l.targets.Data[:l.train]}
}

// Next implements [fdskl.Schedule].
func (p *pupil) Next() (fdskl.Request, bool) {
	if q, more := p.Book.Next(); more || p.failed != nil {
		return q, more
	}
	if p.drawn {
		if p.failed = p.learn(); p.failed != nil {
			return fdskl.Request{}, false
		}
	}
	rows, directions := p.draw()
	if p.drawn = rows != nil; !p.drawn {
		rows, directions = upTo(p.train, p.x.Rows), p.directions
	}
	p.Want(rows, directions)
	return p.Book.Next()
}

// draw returns the needs of the next iteration: rows, and a number of directions counted from
// the first.
func (p *pupil) draw() ([]int, int) {
	switch {
	case p.gradient != nil:
		rows, features := p.gradient.Draw()
		return rows, features / 2
	case p.made == 0:
		return upTo(0, p.train), p.directions
	}
	return nil, 0
}

func upTo(first, end int) []int {
	rows := make([]int, end-first)
	for i := range rows {
		rows[i] = first + i
	}
	return rows
}

// Answer implements [fdskl.Schedule].
func (p *pupil) Answer(rows []int, words []byte) {
	width := len(words) / len(rows)
	for i, r := range rows {
		p.table.put(words[i*width:(i+1)*width], r, p.Directions().First)
	}
}

// learn makes the iteration that was asked for. Mode cached learns all at once.
func (p *pupil) learn() error {
	p.made++
	if p.gradient == nil {
		return p.passes()
	}
	if err := p.gradient.Learn(p.table); err != nil {
		return err
	}
	if n := p.made; n&(n-1) == 0 || p.gradient.Features() == 2*p.directions {
		return p.note(n, 0, p.gradient.Coefficients())
	}
	return nil
}

// note keeps the model that was learned after the given number of iterations. Time that was
// spent on the curve alone does not count.
func (p *pupil) note(iterations int, apart float64, w linalg.Matrix[float64]) error {
	now, err := cpuSeconds()
	p.learned = append(p.learned, snapshot{iterations, now - p.begun - apart, w, 0})
	return err
}

// passes learns from the beginning each time, with more passes than before: a training does
// not show its state in between.
func (p *pupil) passes() error {
	const most = 8
	apart := 0.0
	for passes := 1; passes <= most; passes *= 2 {
		var f *linear.Fitted
		var failed error
		took, err := stopwatch(func() {
			f, failed = linear.Fit[float64](p.rowsOf(0, p.train, 2*p.directions), p.trainingTargets(), linear.Params{Loss: p.loss, Lambda: p.lambda, Tol: 1e-12, MaxPasses: passes})
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

// diary is a table of phases, row after row, because mode faithful reads one row
// in all directions; [linear.Phases] has direction after direction.
type diary struct {
	wave   *feature.Wave[float64]
	words  []byte
	stride int // bytes of a row
}

// put sets phases of a row, from a direction on.
func (d diary) put(words []byte, row, first int) {
	copy(d.words[row*d.stride+first*d.wave.Bits()/8:], words)
}

// ReadAt implements [linear.Sampler].
func (d diary) ReadAt(dst linalg.Matrix[float64], first int, rows []int) {
	for i, r := range rows {
		d.turn(dst, i, first, r)
	}
}

// turn sets a column of dst to features of a row.
func (d diary) turn(dst linalg.Matrix[float64], column, first, row int) {
	size, half := d.wave.Bits()/8, dst.Rows/2
	linalg.Scratch(2*half, func(room []float64) {
		d.wave.Turn(room[:half], room[half:], d.words[row*d.stride+first/2*size:][:half*size])
		for j := range half {
			dst.Row(2 * j)[column], dst.Row(2*j + 1)[column] = room[j], room[half+j]
		}
	})
}

// excerpt is some rows of a diary, and the first features: a [linear.Table].
type excerpt struct {
	diary
	first, count, features int
}

// Rows implements [linear.Table].
func (e excerpt) Rows() int { return e.count }

// Features implements [linear.Table].
func (e excerpt) Features() int { return e.features }

// Read implements [linear.Table].
func (e excerpt) Read(dst linalg.Matrix[float64], first, row int) {
	for i := range dst.Cols {
		e.turn(dst, i, first, e.first+row+i)
	}
}
