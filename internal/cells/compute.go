package cells

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
)

// Missing returns the names of the cells in a folder that have no usable result, in the order of the cells.
// The text build names the program's build and the processor's instructions; each build has its own names.
func Missing(path, build string) ([]string, error) {
	f, err := open(path, build)
	if err != nil {
		return nil, err
	}
	in, err := f.inputs()
	if err != nil {
		return nil, err
	}
	in.close()
	var names []string
	for _, name := range f.names(in.header) {
		if _, err := f.get(name); err != nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// Compute computes the cells with the given names, one after the other, and writes their results. It reads
// all inputs for the first cell that it computes, and again only if the inputs have changed. After each cell
// it calls done with computed true if it computed the cell, and false if the cell already had a result. If
// another process is computing a cell, Compute waits until that process unlocks the cell. If ctx ends, it
// soon stops.
func Compute(ctx context.Context, path string, names []string, build string, reader *job.Reader, done func(name string, computed bool)) error {
	f, err := open(path, build)
	if err != nil {
		return err
	}
	c := &computing{folder: f, reader: reader}
	for _, name := range names {
		computed, err := c.compute(ctx, name)
		if err != nil {
			return err
		}
		done(name, computed)
	}
	return nil
}

// computing computes cells of one folder.
type computing struct {
	folder *Folder
	reader *job.Reader
	digest [sha256.Size]byte // SHA-256 of the inputs from which work was opened
	work   work              // nil until a cell must be computed
}

// work computes a cell and returns its encoded result.
type work func(cell int) ([]byte, error)

// compute computes one cell. It reads the header of the inputs while it holds the cell's lock, because a
// coordinator that has withdrawn the inputs computes cells without a lock itself.
func (c *computing) compute(ctx context.Context, name string) (computed bool, err error) {
	f := c.folder
	if _, err := f.find(name); err != nil { // check the name before a lock file of that name is made
		return false, err
	}
	lock, err := f.claim(ctx, name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := f.get(name); err == nil {
		return false, nil
	}
	in, err := f.inputs()
	if err != nil {
		return false, err
	}
	defer in.close()
	cell, err := f.cellOf(in.header, name)
	if err != nil {
		return false, err
	}
	if c.work == nil || c.digest != in.digest {
		if c.work, err = openWork(ctx, in, c.reader); err != nil {
			return false, err
		}
		c.digest = in.digest
	}
	result, err := c.work(cell)
	if err != nil {
		return false, err
	}
	return true, f.put(name, result)
}

// openWork reads the inputs of a type of work that this program knows.
func openWork(ctx context.Context, in *inputs, reader *job.Reader) (work, error) {
	if in.work == gridWork {
		return openGrid(ctx, in, reader)
	}
	return nil, fault.BadInputf("cells: the folder has work of type %q, which this program cannot do; use the coordinator's version of mercer", in.work)
}

// find returns the number of the cell with a name.
func (f *Folder) find(name string) (int, error) {
	in, err := f.inputs()
	if err != nil {
		return 0, err
	}
	in.close()
	return f.cellOf(in.header, name)
}

func (f *Folder) cellOf(h header, name string) (int, error) {
	if i := slices.Index(f.names(h), name); i >= 0 {
		return i, nil
	}
	return 0, fault.BadInputf("cells: the folder %s has no cell %s for this program on this processor; mercer cell --list %s lists the cells (program and processor: %s)", f.path, name, f.path, f.build)
}

// claim locks a cell. It waits as long as another process holds the lock, or until ctx ends.
func (f *Folder) claim(ctx context.Context, name string) (*os.File, error) {
	type locked struct {
		file *os.File
		err  error
	}
	done := make(chan locked, 1)
	go func() {
		file, err := disk.WaitLock(f.file(name) + lockSuffix)
		done <- locked{file, err}
	}()
	select {
	case l := <-done:
		return l.file, l.err
	case <-ctx.Done():
		go func() { // releases the lock that nobody waits for any more
			if l := <-done; l.err == nil {
				_ = l.file.Close()
			}
		}()
		return nil, fmt.Errorf("cells: %w", ctx.Err())
	}
}
