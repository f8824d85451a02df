package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one running daemon.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	err   error         // error of the ended process; nil if it succeeded
}

// StopWithStdin is an environment variable that makes mercer stop when its standard input ends.
// Every process of a demonstration has this variable, and a pipe from this process as its input.
// The operating system closes the pipe however this process ends.
const StopWithStdin = "MERCER_STOP_WITH_STDIN"

// processes holds the running programs of a demonstration. The log of a program is
// DIR/NAME.log, and its output DIR/NAME.out.
type processes struct {
	program []string // program and first arguments of the command that runs mercer
	dir     string
	running map[string]*process
}

func newProcesses(program []string, dir string) processes {
	return processes{program, dir, make(map[string]*process)}
}

// start starts a process that writes to its own log and output files.
func (f *processes) start(name string, arguments ...string) error {
	log, err := f.open(f.logPath(name))
	if err != nil {
		return err
	}
	out, err := f.open(f.outPath(name))
	if err != nil {
		return errors.Join(err, log.Close())
	}
	p := &process{cmd: exec.Command(f.program[0], append(f.program[1:len(f.program):len(f.program)], arguments...)...), ended: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Stdout = log, out
	p.cmd.Env = append(os.Environ(), StopWithStdin+"=yes")
	// The child stops when its standard input ends, at the latest when this process dies. The method
	// Wait of cmd closes the pipe.
	if _, err := p.cmd.StdinPipe(); err != nil {
		return errors.Join(fmt.Errorf("demo: %s: %w", name, err), log.Close(), out.Close())
	}
	// Start the child in its own process group, because Ctrl-C on a terminal interrupts a whole
	// group. So the child stops only when this process stops it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("demo: %s: %w", name, err), log.Close(), out.Close())
	}
	go func() {
		defer close(p.ended)
		p.err = errors.Join(p.cmd.Wait(), log.Close(), out.Close())
	}()
	f.running[name] = p
	return nil
}

// open opens a file for appending; it creates the file if necessary.
func (f *processes) open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return file, nil
}

// StartProcess starts the daemon of one member.
func (f *Federation) StartProcess(name string) error {
	verb := "party"
	if name == Coordinator {
		verb = "coordinator"
	}
	arguments := []string{verb, "--home", f.Home(name).String()}
	if f.InsecureSeed != nil {
		arguments = append(arguments, "--insecure-seed", strconv.FormatUint(*f.InsecureSeed, 10))
	}
	return f.start(name, arguments...)
}

// Watch returns a context that also ends when a process that is running now ends. The context's cause then
// names the process. The returned function stops the watch.
func (f *processes) Watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	for name, p := range f.running {
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

// grace is the time that this process waits for a Ctrl-C after a child has ended too early. The child
// might have ended because of the same Ctrl-C: a child that has just been forked can die of it before
// this process is interrupted.
const grace = 100 * time.Millisecond

// endedEarly returns the error of a process that ended too early. If this process is interrupted
// within the grace period, it returns ctx's error instead.
func (f *processes) endedEarly(ctx context.Context, name string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(grace):
	}
	how := f.running[name].err
	if how == nil {
		how = errors.New("without an error")
	}
	return fmt.Errorf("demo: the process of %s ended early (%w); its last lines: %s", name, how, f.lastWords(name))
}

// PID returns the number of a process.
func (f *processes) PID(name string) int { return f.running[name].cmd.Process.Pid }

// Kill kills one process, like a power cut, and waits until it has ended.
func (f *processes) Kill(name string) error {
	p := f.running[name]
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("demo: %s ended by itself before it was killed (%v): %s", name, p.cmd.ProcessState, f.lastWords(name))
	}
	return err
}

// stopTime is the time that processes have to end after a signal to stop.
const stopTime = 5 * time.Second

// Stop stops all processes.
func (f *Federation) Stop() error {
	if f.client != nil {
		f.client.Close()
	}
	return f.processes.Stop()
}

// Stop sends a termination signal to every process. It kills each process that does not end in
// time.
func (f *processes) Stop() error {
	var errs error
	for _, p := range f.running {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = errors.Join(errs, err)
		}
	}
	deadline, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	for name, p := range f.running {
		select {
		case <-p.ended:
		case <-deadline.Done():
			errs = errors.Join(errs, fmt.Errorf("demo: %s did not stop by itself", name), p.cmd.Process.Kill())
			<-p.ended
		}
	}
	return errs
}

func (f *processes) logPath(name string) string { return filepath.Join(f.dir, name+".log") }

func (f *processes) outPath(name string) string { return filepath.Join(f.dir, name+".out") }

// Logs returns the logs and outputs of all processes, to explain a failed test.
func (f *processes) Logs() string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.running)) {
		for _, path := range []string{f.logPath(name), f.outPath(name)} {
			b, err := os.ReadFile(path)
			fmt.Fprintf(&all, "== %s %v\n%s\n", filepath.Base(path), err, b)
		}
	}
	return all.String()
}

// lastWords returns the last lines of a process for an error message: the last line of its log, of which
// it reads the first MiB, and the error in its output. With --json a process prints its error instead of
// logging it.
func (f *processes) lastWords(name string) string {
	log, err := readHead(f.logPath(name))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(log)), "\n")
	out, err := readHead(f.outPath(name))
	if err != nil {
		return err.Error()
	}
	var printed struct{ Error struct{ Message string } }
	if json.Unmarshal(out, &printed) != nil { // the output contains no error, because it is empty or not JSON
		return lines[len(lines)-1]
	}
	return strings.TrimSpace(lines[len(lines)-1] + " " + printed.Error.Message)
}

// readHead reads the first MiB of a file.
func readHead(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // read only
	return io.ReadAll(io.LimitReader(file, 1<<20))
}
