package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one running daemon.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has been reaped
	err   error         // how it ended
}

// StartProcess starts the daemon of one member. Its log is appended to
// DIR/NAME.log.
func (f *Federation) StartProcess(name string) error {
	log, err := os.OpenFile(f.logPath(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	verb := "party"
	if name == Coordinator {
		verb = "coordinator"
	}
	arguments := append(f.Program[1:len(f.Program):len(f.Program)], verb, "--home", string(f.Home(name)))
	if f.InsecureSeed != nil {
		arguments = append(arguments, "--insecure-seed", strconv.FormatUint(*f.InsecureSeed, 10))
	}
	p := &process{cmd: exec.Command(f.Program[0], arguments...), ended: make(chan struct{})}
	p.cmd.Stderr = log
	// Ctrl-C on a terminal reaches whole groups of processes; these stop when
	// they are told to.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("demo: %s: %w", name, err), log.Close())
	}
	go func() {
		defer close(p.ended)
		p.err = errors.Join(p.cmd.Wait(), log.Close())
	}()
	f.processes[name] = p
	return nil
}

// Watch returns a context that also ends when a process ends by itself; its
// cause then says which one. The returned function stops the watch.
func (f *Federation) Watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	for name, p := range f.processes {
		go func() {
			select {
			case <-p.ended:
				cancel(f.endedEarly(ctx, name))
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// grace is how much later than its processes this one may learn of a Ctrl-C
// that reaches them all: a process that has just been forked dies of it.
const grace = 100 * time.Millisecond

// endedEarly says how a process ended that should have run on, unless it was
// interrupted together with this one.
func (f *Federation) endedEarly(ctx context.Context, name string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(grace):
	}
	how := f.processes[name].err
	if how == nil {
		how = errors.New("without an error")
	}
	return fmt.Errorf("demo: the process of %s ended early (%w); it said last: %s", name, how, f.lastWords(name))
}

// Kill ends one process as a power cut would, and waits until it is gone.
func (f *Federation) Kill(name string) error {
	p := f.processes[name]
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("demo: %s had ended by itself: %w: %s", name, p.err, f.lastWords(name))
	}
	return err
}

// stopTime is how long a process may take to stop by itself.
const stopTime = 5 * time.Second

// Stop stops all processes: politely, then not.
func (f *Federation) Stop() error {
	if f.client != nil {
		f.client.Close()
	}
	var errs error
	for _, p := range f.processes {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = errors.Join(errs, err)
		}
	}
	deadline := time.After(stopTime)
	for name, p := range f.processes {
		select {
		case <-p.ended:
		case <-deadline:
			errs = errors.Join(errs, fmt.Errorf("demo: %s did not stop by itself", name), p.cmd.Process.Kill())
			<-p.ended
		}
	}
	return errs
}

func (f *Federation) logPath(name string) string { return filepath.Join(f.Dir, name+".log") }

// Logs returns what all processes have logged, for a failed test.
func (f *Federation) Logs() string {
	var all strings.Builder
	for _, name := range f.Names() {
		b, err := os.ReadFile(f.logPath(name))
		fmt.Fprintf(&all, "== %s %v\n%s\n", name, err, b)
	}
	return all.String()
}

// lastWords returns the end of a process's log, for an error message.
func (f *Federation) lastWords(name string) string {
	file, err := os.Open(f.logPath(name))
	if err != nil {
		return err.Error()
	}
	defer file.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(io.LimitReader(file, 1<<20))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(b)), "\n")
	return lines[len(lines)-1]
}
