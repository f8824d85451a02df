package cells

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
)

// Missing returns the names of the cells in a folder that have no result, in the order of the cells.
// The names are for a program of the given build and instructions.
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

// Compute computes the cell with a name and writes its result. It reports false if the result was
// there before. If another process is computing the cell, it waits until that process ends. If ctx
// ends, it soon stops.
func Compute(ctx context.Context, path, name, build string, reader *job.Reader) (computed bool, err error) {
	f, err := open(path, build)
	if err != nil {
		return false, err
	}
	if _, err := f.find(name); err != nil {
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
	in, err := f.inputs() // again: the coordinator may have withdrawn them meanwhile
	if err != nil {
		return false, err
	}
	defer in.close()
	cell, err := f.cellOf(in.header, name)
	if err != nil {
		return false, err
	}
	result, err := computeCell(ctx, in, cell, reader)
	if err != nil {
		return false, err
	}
	return true, f.put(name, result)
}

// computeCell computes a cell of any type of work.
func computeCell(ctx context.Context, in *inputs, cell int, reader *job.Reader) ([]byte, error) {
	if in.work == gridWork {
		return computeGrid(ctx, in, cell, reader)
	}
	return nil, fault.BadInputf("cells: the folder has work of type %q, which this program cannot do", in.work)
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
	return 0, fault.BadInputf("cells: the folder %s has no cell %s for this program on this processor; mercer cell --list %s lists the cells (this is %s)", f.path, name, f.path, f.build)
}

// claim locks a cell. It waits as long as another process holds the lock.
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
		return nil, fmt.Errorf("cells: %w", ctx.Err())
	}
}
