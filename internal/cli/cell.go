package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/cells"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
)

// computedCells lists cells in the order in which they were computed.
type computedCells struct {
	Cells []computedCell `json:"cells"`
}

type computedCell struct {
	Name     string `json:"name"`
	Computed bool   `json:"computed"` // false: the result was there before
}

// Print writes what was done, one line for each cell.
func (c computedCells) Print(w io.Writer) error {
	for _, one := range c.Cells {
		said := "computed"
		if !one.Computed {
			said = "was there"
		}
		if _, err := fmt.Fprintln(w, said, one.Name); err != nil {
			return err
		}
	}
	return nil
}

// missingCells lists the cells without a result.
type missingCells struct {
	Missing []string `json:"missing"`
}

// Print writes one name a line.
func (m missingCells) Print(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(append(m.Missing, ""), "\n"))
	return err
}

func (a *app) cell() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "cell FOLDER NAME...",
		Short: "Compute cells of a coordinator's grid",
		Long: `Compute cells of a grid, each one kernel on one fold, whose inputs a coordinator has
written to a folder. With --list it prints the names of the cells without a result, one
a line: the folds of the first kernel, then those of the second. The program ends if
its stdin, a pipe, is closed, or if its parent ends.`,
		Example: "  mercer cell --list /shared/cells\n  mercer cell /shared/cells NAME",
		Args: func(cmd *cobra.Command, given []string) error {
			if list {
				return args("FOLDER")(cmd, given)
			}
			if len(given) > 2 {
				return nil
			}
			return args("FOLDER", "NAME")(cmd, given)
		},
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			build, err := daemon.Build()
			if err != nil {
				return nil, err
			}
			if list {
				missing, err := cells.Missing(args[0], build)
				return missingCells{append([]string{}, missing...)}, err
			}
			return a.computeCells(ctx, args[0], args[1:], build)
		}),
	}
	cmd.Flags().BoolVar(&list, "list", false, "print the names of the cells without a result")
	return cmd
}

func (a *app) computeCells(ctx context.Context, folder string, names []string, build string) (Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go a.followParent(ctx, stop)
	r, err := orAbandon(ctx, func() (r computedCells, err error) {
		err = cells.Compute(ctx, folder, names, build, a.reader, func(name string, computed bool) {
			r.Cells = append(r.Cells, computedCell{name, computed})
		})
		return r, err
	})
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return r, err
}

// errParentEnded is the error of a command that ends without a result because its parent process has ended.
var errParentEnded = errors.New("the process that started this one has ended")

// followParent calls stop when the parent process has ended: when stdin ends, if it is a pipe, or when
// the process has another parent. Programs such as xargs give their children /dev/null as stdin, which
// ends at once and says nothing.
func (a *app) followParent(ctx context.Context, stop context.CancelCauseFunc) {
	if f, is := a.stdin.(*os.File); is {
		if info, err := f.Stat(); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			go func() {
				_, _ = io.Copy(io.Discard, f) // a read error is an end, too
				stop(errParentEnded)
			}()
		}
	}
	for parent := os.Getppid(); os.Getppid() == parent && ctx.Err() == nil; {
		time.Sleep(parentPoll)
	}
	stop(errParentEnded)
}

// parentPoll is the time between two looks at the parent process.
const parentPoll = 250 * time.Millisecond

// offerFlags holds the flags by which a command lets other processes compute cells.
type offerFlags struct {
	folder string
	wait   time.Duration
}

func (o *offerFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.folder, "cells", "", "folder through which other processes may compute cells of the grid (mercer cell); default this process computes all")
	cmd.Flags().DurationVar(&o.wait, "cells-wait", time.Minute, "how long to wait for the first result in the folder --cells, and after each for the next")
}

// offerCells lets other processes compute cells of a job. It returns a function that removes all
// files of the offer.
func (a *app) offerCells(o offerFlags, j *job.Job) (end func() error, err error) {
	if o.folder == "" {
		return func() error { return nil }, nil
	}
	if j.Data.Folds == 0 {
		return nil, usage("the job %s has no folds, so it has no cells to offer; remove --cells", j.Name)
	}
	build, err := daemon.Build()
	if err != nil {
		return nil, err
	}
	offer := &cells.Offer{Path: o.folder, Wait: o.wait, Build: build, Logger: a.jobLog()}
	if err := offer.Check(); err != nil {
		return nil, err
	}
	a.workers = offer
	return offer.Discard, nil
}
