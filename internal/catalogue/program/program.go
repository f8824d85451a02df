// Package program reads what an operator's own program writes: the door for every source that
// this program does not read itself.
//
//	out, err := program.Command{Args: []string{"./extract.sh"}, Folder: home, Timeout: 10 * time.Minute, MaxBytes: 16 << 30}.Start(ctx)
//
// No shell is between, and a program that others could have changed is not run. It is given few
// variables of the environment, and what it has started ends with it.
package program

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// Command describes a program and the limits on it.
type Command struct {
	Args     []string // a path, relative to the folder, and arguments
	Env      []string // names of variables of this process that the program is given
	Folder   string
	Timeout  time.Duration
	MaxBytes int64 // on stdout
}

// endTime limits a program that has closed its output.
const endTime = 5 * time.Second

// Start runs the program until the output is closed.
func (c Command) Start(ctx context.Context) (*Output, error) {
	if err := origin.CheckCommand(c.Args, c.Env); err != nil {
		return nil, err
	}
	path, err := c.find()
	if err != nil {
		return nil, err
	}
	mark := newMark()
	env, err := c.environment(mark)
	if err != nil {
		return nil, err
	}
	o := &Output{command: c, left: c.MaxBytes, mark: mark}
	ctx, o.stop = context.WithTimeout(ctx, c.Timeout)
	o.ctx, o.process = ctx, exec.CommandContext(ctx, path, c.Args[1:]...)
	o.process.Args[0] = c.within(c.Args[0]) // as it is written: some programs go by it
	o.process.Dir, o.process.Env, o.process.Stderr, o.process.WaitDelay = c.Folder, env, &o.said, endTime
	o.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if o.out, err = o.process.StdoutPipe(); err == nil {
		o.process.Cancel = o.kill
		err = o.process.Start()
	}
	if err != nil {
		o.stop()
		return nil, fmt.Errorf("%s cannot be run: %w", c.Args[0], err)
	}
	return o, nil
}

// find returns the path of the program without links. It refuses a program that another user could
// have written, and files that it is given by name: an interpreter runs what stands in them.
func (c Command) find() (string, error) {
	if _, err := trusted.Folder(c.Folder); err != nil {
		return "", fmt.Errorf("%s is not run in %s, since %w", c.Args[0], c.Folder, bare(err))
	}
	path, err := c.runnable(c.within(c.Args[0]))
	if err != nil {
		return "", err
	}
	if err := c.givenAll(c.Args[1:]); err != nil {
		return "", err
	}
	return path, c.follow(path, c.Args)
}

// newMark returns a variable by which a program and what it starts are recognised.
func newMark() string { return "MERCER_PROGRAM=" + rand.Text() }

// kill ends the program with everything that it has started, and the reading of what it writes.
func (o *Output) kill() error {
	err := syscall.Kill(-o.process.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrProcessDone
	}
	endMarked(o.mark) // end waits for them; here what they hold open is let go
	return errors.Join(err, o.out.Close())
}

// within returns a path of the command. A link before ".." counts, so nothing is shortened.
func (c Command) within(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return c.Folder + "/" + strings.TrimPrefix(path, "./")
}
