// Package program runs an operator's own program and reads its output. Operators use it for sources
// that Mercer cannot read itself.
//
//	out, err := program.Command{Args: []string{"./extract.sh"}, Folder: home, Timeout: 10 * time.Minute, MaxBytes: 16 << 30}.Start(ctx)
//
// No shell reads the command, and a program that another user could have changed is not run. A program
// gets few variables of the environment. On Linux, the processes that it has started end with it.
package program

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/catalogue/origin"
	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// Command describes a program and its limits.
type Command struct {
	Args     []string // path of the program, absolute or relative to Folder, and its arguments
	Env      []string // names of further environment variables that the program inherits from this process
	Folder   string
	Timeout  time.Duration
	MaxBytes int64 // largest size of the output, in bytes
}

// endTime is the longest wait for the exit of a program that was killed, and for the end of its text on stderr
// after its exit.
const endTime = 5 * time.Second

// Start starts the program. Closing the returned output ends it.
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
	o.process.Args[0] = c.resolve(c.Args[0]) // the name as the operator gave it, because some programs depend on it
	o.process.Dir, o.process.Env, o.process.Stderr, o.process.WaitDelay = c.Folder, env, &o.said, endTime
	o.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if o.out, err = o.process.StdoutPipe(); err == nil {
		o.process.Cancel = o.kill
		err = o.process.Start()
	}
	if err != nil {
		o.stop()
		return nil, notRun(c.Args[0], err)
	}
	return o, nil
}

// find returns the path of the program, with links resolved. It refuses a program that another user
// could have changed. It also refuses an argument that names such a file, because an interpreter
// can run the code in the file.
func (c Command) find() (string, error) {
	if _, err := trusted.Folder(c.Folder); err != nil {
		return "", fmt.Errorf("%s is not run in %s, since %w", c.Args[0], c.Folder, withoutPath(err))
	}
	path, err := c.runnable(c.resolve(c.Args[0]))
	if err != nil {
		return "", err
	}
	if err := c.checkArguments(c.Args[1:]); err != nil {
		return "", err
	}
	return path, c.checkChain(path, c.Args)
}

// newMark returns an environment variable with a random value. The variable marks the program and
// the processes that the program starts.
func newMark() string { return "MERCER_PROGRAM=" + rand.Text() }

// kill kills the program and the processes that it has started, so that reading its output ends. On systems
// other than Linux it misses processes that have left the program's group.
func (o *Output) kill() error {
	err := syscall.Kill(-o.process.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrProcessDone
	}
	endMarked(o.mark) // waitForExit would wait for descendants that hold the output open
	return errors.Join(err, o.out.Close())
}

// resolve returns a path of the command. A relative path starts at Folder. It does not clean the
// path, because a link before ".." matters.
func (c Command) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return c.Folder + "/" + strings.TrimPrefix(path, "./")
}

const (
	// maxSteps is the largest number of programs after the first one in a chain in which each program starts
	// the next. Linux allows the same number of nested scripts.
	maxSteps = 5
	// maxFirstLine is the largest length of a script's first line. Linux cuts off the rest of a
	// longer line.
	maxFirstLine = 255
)

// checkChain refuses a program that starts, directly or indirectly, a program that another user
// could have changed. A script starts its interpreter, which can be a script too, and env starts
// the program in its arguments.
func (c Command) checkChain(path string, args []string) error {
	for range maxSteps + 1 {
		next, err := c.nextCommand(path, args)
		if err != nil || next == nil {
			return err
		}
		if path, err = c.runnable(c.resolve(next[0])); err != nil {
			return err
		}
		args = next
	}
	return fmt.Errorf("%s is not run, since it starts a chain of more than %d programs; name the last program in the command", c.Args[0], maxSteps)
}

// nextCommand returns the command that a program starts. A script starts its interpreter, and env
// starts the program in its arguments. It returns nil if the program starts neither.
func (c Command) nextCommand(path string, args []string) ([]string, error) {
	words, err := c.interpreter(path)
	switch {
	case err != nil:
		return nil, err
	case words != nil:
		return append(words, append([]string{path}, args[1:]...)...), nil
	case filepath.Base(path) == "env" || filepath.Base(args[0]) == "env":
		return c.runByEnv(args[1:])
	default:
		return nil, nil
	}
}

// interpreter returns a script's interpreter, and the argument after it if the first line has one.
// It returns nil if the file is not a script.
func (c Command) interpreter(path string) ([]string, error) {
	line, err := firstLine(path)
	line, script := bytes.CutPrefix(line, []byte("#!"))
	text := strings.Trim(string(line), " \t")
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be run: %w", path, withoutPath(err))
	case !script || text == "":
		return nil, nil
	case len(line)+len("#!") > maxFirstLine || strings.ContainsRune(text, 0):
		return nil, fmt.Errorf("%s is not run, since its first line is too long; write at most %d bytes of text", path, maxFirstLine)
	}
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return []string{text}, nil
	}
	arg := strings.TrimLeft(text[end:], " \t")
	return []string{text[:end], arg}, c.checkArguments([]string{arg})
}

// firstLine returns the first line of a file. It refuses a file that this user is allowed to run but
// not to read, because the file might be a script.
func firstLine(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, errors.New("the file cannot be read, so it might be a script; let the user of this process read it, or start it from a script that this user can read")
	}
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(f, maxFirstLine+1))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line, errors.Join(err, f.Close())
}

// runnable returns the path of a program, with links resolved, if it is a file that only trusted
// users can change.
func (c Command) runnable(path string) (string, error) {
	found, err := trusted.Find(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be run: %w; %s", path, withoutPath(err), pathAdvice(path))
	}
	if err != nil {
		return "", fmt.Errorf("%s is not run, since %w", path, withoutPath(err))
	}
	info, err := os.Lstat(found)
	if err != nil {
		return "", fmt.Errorf("%s cannot be run: %w", path, withoutPath(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s cannot be run: the path is not a regular file", path)
	}
	return found, nil
}

// pathAdvice returns advice about the path of a program that does not exist.
func pathAdvice(path string) string {
	advice := "correct the path"
	if strings.ContainsRune(path, ' ') {
		advice = `correct the path, or write the program and each argument by itself, as in [./extract.sh, "2024"]`
	}
	return cmp.Or(regular.Tilde(path), advice)
}

// checkArguments refuses arguments that name files which another user could have changed.
func (c Command) checkArguments(args []string) error {
	for _, arg := range args {
		for _, name := range fileNames(arg) {
			if err := c.checkFile(c.resolve(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFile refuses a file or a folder that another user could have changed. It allows devices,
// which contain no code.
func (c Command) checkFile(path string) error {
	if ownStreams[path] {
		return nil
	}
	_, foreign := trusted.Find(path)
	info, err := os.Stat(path)
	switch {
	case foreign == nil, !errors.Is(foreign, trusted.ErrProc) && (err != nil || info.Mode()&fs.ModeDevice != 0):
		return nil //nolint:nilerr // this user's file, or no file name
	default:
		return fmt.Errorf("%s is not run with %s, since %w", c.Args[0], path, withoutPath(foreign))
	}
}

// ownStreams holds the paths of the standard streams, which every program has.
var ownStreams = map[string]bool{"/dev/stdin": true, "/dev/stdout": true, "/dev/stderr": true}

// wordBreaks matches the characters that separate words of code, or a key from its value.
var wordBreaks = regexp.MustCompile("[\\s\"'`()\\[\\]{}<>|&;,:=@$]+")

// fileNames returns the parts of an argument that might name a file. These are the argument, its
// words, and the values of options such as -fNAME and --file=NAME. It cannot find names that a
// program builds itself.
func fileNames(arg string) []string {
	list := []string{arg}
	for _, word := range append(wordBreaks.Split(arg, -1), arg) {
		list = append(list, word)
		if strings.HasPrefix(word, "-") && len(word) > 2 {
			list = append(list, word[2:])
		}
	}
	if _, value, cut := strings.Cut(arg, "="); cut {
		list = append(list, value)
	}
	return list
}

// withoutPath removes the path from a file error, because the message that wraps the error names
// the path.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// notRun returns the error that the system does not start a program.
func notRun(path string, err error) error {
	switch {
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s cannot be run, because it is not executable; use chmod u+x %s", path, path)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s cannot be run, because it is neither a program nor a script whose first line names one; begin a script with a line such as #!/bin/sh", path)
	}
	return fmt.Errorf("%s cannot be run: %w", path, err)
}
