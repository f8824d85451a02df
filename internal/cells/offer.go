package cells

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/tune"
)

// Offer lets other processes compute cells of a coordinator's grids. It must not be used by two
// goroutines at a time.
type Offer struct {
	Path  string        // path of the shared folder
	Wait  time.Duration // how long the coordinator waits for a first result, and after each result for the next
	Build string        // this program's build and the processor's instructions
	// Logger receives a line when an offer begins and ends, and for each file that is refused.
	Logger *slog.Logger
}

var _ learner.Workers = (*Offer)(nil)

// poll is the time between two looks at the folder.
const poll = 200 * time.Millisecond

// Check returns an error if the folder cannot be used.
func (o *Offer) Check() error {
	_, err := check(o.Path)
	return err
}

// Discard erases the folder's key, and removes the inputs, all results and the locks of cells.
func (o *Offer) Discard() error {
	found, err := check(o.Path)
	if err != nil {
		return err
	}
	return discard(found)
}

// Trials implements [learner.Workers]. When the wait is over, it removes the inputs, so that no
// process begins another cell, and waits once more for the cells that processes are computing. It
// computes one of the results again, drawn at random, and returns an error if they differ. After an
// interruption the folder keeps the results: the next call with equal inputs takes them.
func (o *Offer) Trials(ctx context.Context, v *learner.Validation, progress func(done, total int) error) (_ [][][]tune.Trial, err error) {
	f, err := create(o.Path, o.Build)
	if err != nil {
		return nil, err
	}
	lock, err := f.lockWork()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	tests, err := v.TestRows(ctx)
	if err != nil {
		return nil, learner.ExplainFailure(ctx, err)
	}
	h, err := f.publish(gridWork, len(v.Kernels)*v.Folds, func(to io.Writer) error { return writeGrid(to, v) })
	if err != nil {
		return nil, err
	}
	g := &gathering{Offer: o, folder: f, names: f.names(h), validation: v, tests: tests, progress: progress, trials: make([][]tune.Trial, h.cells), refused: make(map[int]bool)}
	o.Logger.Info("other processes may compute the cells of a grid", "folder", f.path, "cells", h.cells, "wait", o.Wait)
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	if err := g.verify(ctx); err != nil {
		return nil, err
	}
	o.Logger.Info("the coordinator computes the cells that have no result", "taken", g.taken, "cells", h.cells)
	return g.byKernel(), nil
}

// gathering collects the results of one grid.
type gathering struct {
	*Offer
	folder     *Folder
	names      []string // names of the results, by cell
	validation *learner.Validation
	tests      []int // number of test rows of each fold
	progress   func(done, total int) error
	trials     [][]tune.Trial // results by cell; nil: no result yet
	taken      int
	refused    map[int]bool // cells whose files were refused, each logged once
}

// gather waits for results.
func (g *gathering) gather(ctx context.Context) error {
	if err := g.await(ctx, func() (bool, error) { return true, nil }); err != nil {
		return err
	}
	if err := g.folder.withdraw(); err != nil {
		return err
	}
	return g.await(ctx, g.anyBusy)
}

// await takes results until all are there, until none came for the time Wait, or until worth
// reports false.
func (g *gathering) await(ctx context.Context, worth func() (bool, error)) error {
	last := time.Now()
	for {
		before := g.taken
		if err := g.take(); err != nil {
			return err
		}
		if g.taken > before {
			last = time.Now()
		}
		if g.taken == len(g.trials) || time.Since(last) >= g.Wait {
			return nil
		}
		if more, err := worth(); err != nil || !more {
			return errors.Join(err, g.take()) // a result that came before its lock was released
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cells: %w", ctx.Err())
		case <-time.After(poll):
		}
	}
}

// anyBusy reports whether a process is computing a cell that has no result.
func (g *gathering) anyBusy() (bool, error) {
	for i, t := range g.trials {
		if t != nil {
			continue
		}
		busy, err := g.folder.busy(g.names[i])
		if busy || err != nil {
			return busy, err
		}
	}
	return false, nil
}

// take takes the results that are there. It refuses those that were written under another key, or
// do not fit the grid.
func (g *gathering) take() error {
	present, err := g.folder.list()
	if err != nil {
		return err
	}
	for i, known := range g.trials {
		if known != nil || !present[g.names[i]] {
			continue
		}
		trials, err := g.read(i)
		if err != nil {
			if !g.refused[i] {
				g.Logger.Warn("a cell's result is refused", "cell", g.cellName(i), "error", err)
			}
			g.refused[i] = true
			continue
		}
		g.trials[i] = trials
		g.taken++
		if err := g.report(); err != nil {
			return err
		}
	}
	return nil
}

// read reads the result of a cell.
func (g *gathering) read(cell int) ([]tune.Trial, error) {
	b, err := g.folder.get(g.names[cell])
	if err != nil {
		return nil, err
	}
	return decodeTrials(b, len(g.validation.Learners), g.tests[cell%g.validation.Folds])
}

func (g *gathering) report() error {
	if g.progress == nil {
		return nil
	}
	settings := len(g.validation.Learners)
	return g.progress(g.taken*settings, len(g.trials)*settings)
}

// cellName names a cell for people.
func (g *gathering) cellName(cell int) string {
	k, f := cell/g.validation.Folds, cell%g.validation.Folds
	return fmt.Sprintf("kernel %d (%s), fold %d", k+1, g.validation.Kernels[k].Name, f+1)
}

// verify computes one of the taken cells, drawn at random, and compares the results bit by bit. It
// finds accidents, such as a processor that computes otherwise, but not the results of an adversary. It
// drops results whose number of outputs differs from that of the computed ones.
func (g *gathering) verify(ctx context.Context) error {
	if g.taken == 0 {
		return nil
	}
	var cells []int
	for i, t := range g.trials {
		if t != nil {
			cells = append(cells, i)
		}
	}
	drawn := cells[rand.IntN(len(cells))]
	try, err := g.validation.Trier(ctx)
	if err != nil {
		return learner.ExplainFailure(ctx, err)
	}
	own, err := try(drawn/g.validation.Folds, drawn%g.validation.Folds)
	if err != nil {
		return learner.ExplainFailure(ctx, err)
	}
	if !bytes.Equal(encodeTrials(own), encodeTrials(g.trials[drawn])) {
		return fmt.Errorf("cells: another process computed other values for the cell of %s than this coordinator; find the machine that computed %s, and run the job again without it", g.cellName(drawn), g.folder.file(g.names[drawn]))
	}
	for i, t := range g.trials {
		if t != nil && !sameShape(t, own) {
			g.Logger.Warn("a cell's result is refused", "cell", g.cellName(i), "error", "it has another number of outputs")
			g.trials[i] = nil
			g.taken--
		}
	}
	return nil
}

// byKernel returns the trials by kernel and fold.
func (g *gathering) byKernel() [][][]tune.Trial {
	all := make([][][]tune.Trial, len(g.validation.Kernels))
	for k := range all {
		all[k] = g.trials[k*g.validation.Folds : (k+1)*g.validation.Folds]
	}
	return all
}
