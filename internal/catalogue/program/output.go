package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Output is the text that a program writes to stdout. If the program fails or is too slow, reading
// ends with an error that contains the beginning of the program's text on stderr.
type Output struct {
	command Command
	ctx     context.Context
	stop    context.CancelFunc
	process *exec.Cmd
	mark    string
	out     io.ReadCloser
	said    beginning
	left    int64
	ended   bool
	failed  error
}

// Read implements [io.Reader].
func (o *Output) Read(b []byte) (int, error) {
	if o.ended {
		return 0, o.failed
	}
	n, err := o.out.Read(b)
	if o.left -= int64(n); o.left < 0 {
		o.stop()
		o.waitForExit()
		o.failed = fmt.Errorf("%s writes more than %d bytes; raise max_bytes, or let the program write fewer rows", o.command.Args[0], o.command.MaxBytes)
		return 0, o.failed
	}
	if err != nil {
		o.waitForExit()
		return n, o.failed
	}
	return n, nil
}

// waitForExit waits for the program to exit, and records how it ended.
func (o *Output) waitForExit() {
	o.ended = true
	err := o.process.Wait()
	name := o.command.Args[0]
	switch {
	case errors.Is(o.ctx.Err(), context.DeadlineExceeded):
		o.failed = fmt.Errorf("%s did not finish within %v; raise \"timeout\", or let the program write fewer rows%s", name, o.command.Timeout, &o.said)
	case o.ctx.Err() != nil:
		o.failed = fmt.Errorf("%s was stopped: %w", name, o.ctx.Err())
	case err != nil:
		o.failed = fmt.Errorf("%s failed: %w%s", name, err, &o.said)
	default:
		o.failed = io.EOF
	}
	if !endMarked(o.mark) {
		o.failed = fmt.Errorf("%s has started processes that could not be stopped; stop these processes yourself", name)
	}
	o.stop()
}

// Failure returns the reason why the program failed, or nil if it has not failed.
func (o *Output) Failure() error {
	if errors.Is(o.failed, io.EOF) {
		return nil
	}
	return o.failed
}

// Close kills the program if it still runs.
func (o *Output) Close() error {
	if !o.ended {
		o.stop()
		o.waitForExit()
	}
	return nil
}

// maxStderr is the largest number of bytes of stderr that are kept.
const maxStderr = 2000

// beginning keeps only the beginning of a text.
type beginning struct {
	text []byte
	more bool
}

// Write implements [io.Writer].
func (h *beginning) Write(b []byte) (int, error) {
	fits := min(maxStderr-len(h.text), len(b))
	h.text, h.more = append(h.text, b[:fits]...), h.more || fits < len(b)
	return len(b), nil
}

// String returns the text as the end of an error message.
func (h *beginning) String() string {
	switch text := strings.TrimSpace(string(h.text)); {
	case text == "":
		return "; it wrote nothing to stderr"
	case h.more:
		return fmt.Sprintf("; its text on stderr begins with %q", text)
	default:
		return fmt.Sprintf("; it wrote %q to stderr", text)
	}
}
