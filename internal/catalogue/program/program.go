// Package program reads what an operator's own program writes: the door for every source that
// this program does not read itself.
//
//	out, err := program.Command{Args: []string{"./extract.sh"}, Folder: home, Timeout: 10 * time.Minute, MaxBytes: 16 << 30}.Start(ctx)
//
// No shell is between, and a program that others could have changed is not run.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mercer-fl/mercer/internal/catalogue/origin"
)

// Command describes a program and the limits on it.
type Command struct {
	Args     []string // a path, relative to the folder, and arguments
	Folder   string
	Timeout  time.Duration
	MaxBytes int64 // on stdout
}

// endTime limits a program that has closed its output.
const endTime = 5 * time.Second

// Start runs the program until the output is closed.
func (c Command) Start(ctx context.Context) (*Output, error) {
	if err := origin.CheckCommand(c.Args); err != nil {
		return nil, err
	}
	path := c.within(c.Args[0])
	if err := c.trusted(path); err != nil {
		return nil, err
	}
	o := &Output{command: c, left: c.MaxBytes}
	ctx, o.stop = context.WithTimeout(ctx, c.Timeout)
	o.ctx, o.process = ctx, exec.CommandContext(ctx, path, c.Args[1:]...)
	o.process.Dir, o.process.Stderr, o.process.WaitDelay = c.Folder, &o.said, endTime
	o.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
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

// within returns a path of the command.
func (c Command) within(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Folder, path)
}

// trusted refuses a program that another user could have written, and files that it is given by
// name: an interpreter runs what stands in them.
func (c Command) trusted(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s cannot be run: %w", path, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s cannot be run: it is no file", path)
	}
	if err := foreign(path, info); err != nil {
		return fmt.Errorf("%s is not run, since %w", path, err)
	}
	for _, arg := range c.Args[1:] {
		file := c.within(arg)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue // it names no file
		} else if err := foreign(file, info); err != nil {
			return fmt.Errorf("%s is not given %s, since %w", c.Args[0], file, err)
		}
	}
	return nil
}

// foreign tells how another user could have written a file.
func foreign(path string, info fs.FileInfo) error {
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	switch owner := info.Sys().(*syscall.Stat_t).Uid; {
	case owner != 0 && int(owner) != os.Geteuid():
		return fmt.Errorf("user %d owns it; give it to the user of this process, or to root", owner)
	case info.Mode().Perm()&byOthers != 0:
		return fmt.Errorf("others may write to it; use chmod go-w %s", path)
	case folder.Mode().Perm()&byOthers != 0 && folder.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("others may write to its folder; use chmod go-w %s", filepath.Dir(path))
	}
	return nil
}

// byOthers are the rights of group and others to write.
const byOthers = 0o022

// Output holds the text that a program writes to stdout. It ends once the program has ended well;
// otherwise reading fails, with the program's words on stderr.
type Output struct {
	command Command
	ctx     context.Context
	stop    context.CancelFunc
	process *exec.Cmd
	out     io.ReadCloser
	said    head
	left    int64
	ended   bool
	failed  error
}

// kill ends the program with everything that it has started, and the reading of what it writes.
func (o *Output) kill() error {
	err := syscall.Kill(-o.process.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrProcessDone
	}
	return errors.Join(err, o.out.Close())
}

// Read implements [io.Reader].
func (o *Output) Read(b []byte) (int, error) {
	if o.ended {
		return 0, o.failed
	}
	n, err := o.out.Read(b)
	if o.left -= int64(n); o.left < 0 {
		o.stop()
		o.end()
		o.failed = fmt.Errorf("%s writes more than %d bytes; raise max_bytes, or have it write fewer rows", o.command.Args[0], o.command.MaxBytes)
		return 0, o.failed
	}
	if err != nil {
		o.end()
		return n, o.failed
	}
	return n, nil
}

// end waits for the program, and says how it ended.
func (o *Output) end() {
	o.ended = true
	err := o.process.Wait()
	name := o.command.Args[0]
	switch {
	case errors.Is(o.ctx.Err(), context.DeadlineExceeded):
		o.failed = fmt.Errorf("%s is not done after %v; raise timeout, or have it write fewer rows%s", name, o.command.Timeout, &o.said)
	case o.ctx.Err() != nil:
		o.failed = fmt.Errorf("%s was stopped: %w", name, o.ctx.Err())
	case err != nil:
		o.failed = fmt.Errorf("%s failed: %w%s", name, err, &o.said)
	default:
		o.failed = io.EOF
	}
	o.stop()
}

// Failure returns the reason why the program has not ended well, nil while nothing is known.
func (o *Output) Failure() error {
	if errors.Is(o.failed, io.EOF) {
		return nil
	}
	return o.failed
}

// Close ends the program, if it still runs.
func (o *Output) Close() error {
	if !o.ended {
		o.stop()
		o.end()
	}
	return nil
}

// maxSaid bounds what is kept of stderr.
const maxSaid = 2000

// head keeps the beginning of what is written.
type head struct {
	text []byte
	more bool
}

// Write implements [io.Writer].
func (h *head) Write(b []byte) (int, error) {
	fits := min(maxSaid-len(h.text), len(b))
	h.text, h.more = append(h.text, b[:fits]...), h.more || fits < len(b)
	return len(b), nil
}

// String returns the end of a sentence.
func (h *head) String() string {
	switch text := strings.TrimSpace(string(h.text)); {
	case text == "":
		return "; it said nothing on stderr"
	case h.more:
		return fmt.Sprintf("; on stderr it began with %q", text)
	default:
		return fmt.Sprintf("; on stderr it said %q", text)
	}
}
