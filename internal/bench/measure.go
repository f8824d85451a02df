package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Benchmark is a list of cases, measured one after another.
type Benchmark struct {
	cases  []scene
	counts string // the turn whose figures are reported: bestTurn or medianTurn; "" means bestTurn
}

// Values of Result.Counts.
const (
	bestTurn   = "best"
	medianTurn = "median"
)

// scene is one case of a benchmark. It prepares its data only when it starts, so that two cases
// never hold their memory at once.
type scene struct {
	name    string
	prepare func(context.Context) (race, error)
}

// sceneOf returns a case that is prepared from a size alone.
func sceneOf[T any](name string, size T, prepare func(T) (race, error)) scene {
	return scene{name, func(context.Context) (race, error) { return prepare(size) }}
}

// race holds the runs of one case, and a function that converts their best times to rows. The runs
// alternate.
type race struct {
	runs []run
	// rows is called once after the last round, with the best time of each run.
	rows func(best []span) []Row
	// close frees resources other than memory. It can be nil.
	close func() error
}

// run is one timed piece of work. A measurement can be interrupted between runs. It can be
// interrupted within a run only if the run checks the context.
type run func(context.Context) error

// pure returns a run that only calls work. The function work cannot fail and does not check the
// context.
func pure(work func()) run {
	return func(context.Context) error {
		work()
		return nil
	}
}

// span holds the duration of a run in seconds. The processor time cpu, user and system, includes all cores
// and all child processes that have ended.
type span struct{ wall, cpu float64 }

// unavailable is the error of a case that cannot be measured on this machine. Measure reports it
// as a note, not as a failure.
type unavailable struct{ reason string }

func (u unavailable) Error() string { return u.reason }

// Result holds the rows of a measurement.
type Result struct {
	Runs   int      `json:"runs"`   // number of turns of each case
	Counts string   `json:"counts"` // the turn that counts: best or median
	Rows   []Row    `json:"rows"`   // empty, not nil, if there are no rows
	Notes  []string `json:"notes"`  // cases that could not be measured on this machine, with the reason
}

// Missed returns the names of the rows that miss their target.
func (r Result) Missed() []string {
	var names []string
	for _, row := range r.Rows {
		if row.Missed() {
			names = append(names, row.Name)
		}
	}
	return names
}

// Measure runs every case the given number of times, at least once, and keeps the best of each
// run. It calls step after each round with the number of finished rounds. If ctx is cancelled,
// it returns early with ctx's error.
func (b Benchmark) Measure(ctx context.Context, runs int, step func(done, total int)) (Result, error) {
	if runs < 1 {
		return Result{}, fmt.Errorf("bench: runs is %d; it must be at least 1", runs)
	}
	r := Result{Runs: runs, Counts: cmp.Or(b.counts, bestTurn), Rows: []Row{}, Notes: []string{}}
	done, total := 0, runs*len(b.cases)
	step(done, total)
	for _, c := range b.cases {
		rows, err := c.measure(ctx, runs, func() {
			done++
			step(done, total)
		})
		var missing unavailable
		switch {
		case errors.As(err, &missing):
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s", c.name, missing.reason))
			done += runs
			step(done, total)
		case err != nil:
			return Result{}, fmt.Errorf("bench: %s: %w", c.name, err)
		}
		r.Rows = append(r.Rows, rows...)
	}
	return r, nil
}

func (s scene) measure(ctx context.Context, rounds int, step func()) (rows []Row, err error) {
	r, err := s.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if r.close != nil {
		defer func() { err = errors.Join(err, r.close()) }()
	}
	best, err := inTurns(ctx, rounds, r.runs, step)
	if err != nil {
		return nil, err
	}
	return r.rows(best), nil
}

// inTurns alternates the runs for the given number of rounds, so that varying load affects all
// runs equally. It returns the least wall time and the least processor time of each run.
func inTurns(ctx context.Context, rounds int, runs []run, step func()) ([]span, error) {
	best := make([]span, len(runs))
	for i := range best {
		best[i] = span{math.Inf(1), math.Inf(1)}
	}
	for range rounds {
		for i, r := range runs {
			s, err := timed(ctx, r)
			if err != nil {
				return nil, err
			}
			best[i] = span{min(best[i].wall, s.wall), min(best[i].cpu, s.cpu)}
		}
		step()
	}
	return best, nil
}

// timed measures one run. It first returns the memory of earlier runs to the system, so that this
// run includes neither that memory nor the garbage collection of it.
func timed(ctx context.Context, r run) (span, error) {
	if err := ctx.Err(); err != nil {
		return span{}, err
	}
	debug.FreeOSMemory()
	return stopwatch(func() error { return r(ctx) })
}

// stopwatch measures the time of a function. It assumes that the process does nothing else
// meanwhile.
func stopwatch(do func() error) (span, error) {
	before, begin := cpuSeconds(), time.Now()
	err := do()
	wall := time.Since(begin)
	return span{max(wall, 1).Seconds(), cpuSeconds() - before}, err
}

// cpuSeconds returns the processor time of this process and of its child processes that have
// ended.
func cpuSeconds() float64 {
	own, _ := daemon.Usage()
	children, _ := daemon.UsageOfChildren()
	return own + children
}

// onCores runs work with GOMAXPROCS set to the given number of cores.
func onCores(cores int, work func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	work()
}

// coreCounts returns 1 and the number of all cores. If there is only one core, it returns only
// 1.
func coreCounts() []int {
	if all := runtime.GOMAXPROCS(0); all > 1 {
		return []int{1, all}
	}
	return []int{1}
}

func coresText(n int) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", n)
}

// spending holds the resources that state machines of a session have used. The field segments counts
// the work on segments of vectors. The field fixed counts all other work, which does not depend
// on the vector's length.
type spending struct {
	fixed, segments span
	sent, received  int // total size of message bodies in bytes
}

func (s *span) add(more span) { s.wall, s.cpu = s.wall+more.wall, s.cpu+more.cpu }

func (s span) less(part span) span       { return span{s.wall - part.wall, s.cpu - part.cpu} }
func (s span) times(factor float64) span { return span{s.wall * factor, s.cpu * factor} }

// meter wraps a state machine of a protocol and measures its steps. Machines with a common lock step one at a
// time, so that only the stepping machine uses the process's processor time.
type meter struct {
	protocol.Machine
	turns *sync.Mutex
	spent *spending
	long  func(protocol.Event) bool // reports whether the step for an event processes segments of vectors
}

// Step runs one step of the wrapped machine and adds its cost to spent.
func (m *meter) Step(e protocol.Event) (effects protocol.Effects, err error) {
	m.turns.Lock()
	defer m.turns.Unlock()
	took, err := stopwatch(func() (err error) {
		effects, err = m.Machine.Step(e)
		return err
	})
	if m.long(e) {
		m.spent.segments.add(took)
	} else {
		m.spent.fixed.add(took)
	}
	if err != nil {
		return protocol.Effects{}, err
	}
	if r, ok := e.(protocol.Received); ok {
		m.spent.received += len(r.Message.Body)
	}
	for _, out := range effects.Send {
		m.spent.sent += len(out.Body)
	}
	return effects, nil
}

// timedMasks is a masker that measures its own time.
type timedMasks struct {
	secagg.AESCTR
	spent span
}

// Add adds masks to dst and measures the time. It implements [secagg.Masker].
func (t *timedMasks) Add(dst []uint64, first int, masks []secagg.Mask) {
	took, _ := stopwatch(func() error {
		t.AESCTR.Add(dst, first, masks)
		return nil
	})
	t.spent.add(took)
}

// gramShape holds the size of a table: n rows of f features.
type gramShape struct{ n, f int }

// Gram returns a benchmark of Gram matrices. It compares the inner products of all rows with the
// rate of multiply-adds. It compares the computation of each kernel from the inner products with
// a copy of the same matrix.
func Gram() Benchmark { return gramOf(gramShape{6400, 784}) }

func gramOf(s gramShape) Benchmark {
	return Benchmark{cases: []scene{sceneOf(fmt.Sprintf("%d rows", s.n), s, raceGram)}}
}

// gramKernels returns all kernels, with parameters that suit rows of squared norm 1.
func gramKernels() ([]kernel.Kernel, error) {
	needGamma := map[string]bool{"rbf": true, "polynomial": true, "laplacian": true}
	var list []kernel.Kernel
	for _, name := range kernel.Names() {
		s := kernel.Spec{Name: name}
		switch {
		case needGamma[name]:
			s.Gamma = .5
		case name == "dot-product":
			s.Coefficients = []float64{0, 1, .5, .25}
		}
		k, err := kernel.New(s)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

func raceGram(s gramShape) (race, error) {
	kernels, err := gramKernels()
	if err != nil {
		return race{}, err
	}
	x := unit(noise[float64](s.n, s.f, 1))
	dot, values := linalg.New[float64](s.n, s.n), linalg.New[float64](s.n, s.n)
	path := linalg.Paths()[0]
	all := coreCounts()[len(coreCounts())-1]
	flops := float64(s.n) * float64(s.n+1) * float64(s.f)
	turns := int(flops/linalg.FMA[float64](path, all, 1)) + 1
	loop := 0.0
	r := race{runs: []run{
		pure(func() { loop = linalg.FMA[float64](path, all, turns) }),
		pure(func() { linalg.Syrk(dot, x) }),
		pure(func() { byRow(values, func(i int, dst []float64) { copy(dst, dot.Row(i)) }) }),
	}}
	const fixed = 3
	for _, k := range kernels {
		r.runs = append(r.runs, pure(func() { byRow(values, kernel.Of(dot, k).Row) }))
	}
	r.rows = func(best []span) []Row {
		pairs := float64(s.n) * float64(s.n)
		rows := []Row{
			figure(fmt.Sprintf("inner products of %d x %d", s.n, s.f), flops/best[1].wall/1e9, "GFLOP/s").
				beside("multiply-adds in registers", loop/best[0].wall/1e9).
				byCPU(flops / best[1].cpu / (loop / best[0].cpu)),
			figure("copy of the matrix, read and written", 16*pairs/best[fixed-1].wall/1e9, "GB/s"),
		}
		for i, k := range kernels {
			rows = append(rows, figure(k.Name()+" of ready inner products", best[fixed+i].wall*1e9/pairs, "ns/value").
				beside("copy of the matrix", best[fixed-1].wall*1e9/pairs).
				byCPU(best[fixed+i].cpu/best[fixed-1].cpu))
		}
		return rows
	}
	return r, nil
}

// byRow fills all rows of a matrix, on all cores.
func byRow(m linalg.Matrix[float64], row func(i int, dst []float64)) {
	linalg.Each(m.Rows, 16, func(i int) {
		row(i, m.Row(i))
	})
}

// unit scales every row of x to length 1, and returns x.
func unit(x linalg.Matrix[float64]) linalg.Matrix[float64] {
	for i, norm := range kernel.SquaredNorms(x) {
		for j := range x.Row(i) {
			x.Row(i)[j] /= math.Sqrt(norm)
		}
	}
	return x
}
