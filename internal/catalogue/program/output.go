package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Output holds the text that a program writes to stdout. It ends once the program has ended well;
// otherwise reading fails, with the program's words on stderr.
type Output struct {
	command Command
	ctx     context.Context
	stop    context.CancelFunc
	process *exec.Cmd
	mark    string
	out     io.ReadCloser
	said    head
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
	if !endMarked(o.mark) {
		o.failed = fmt.Errorf("%s has started processes that cannot be ended; end them", name)
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
