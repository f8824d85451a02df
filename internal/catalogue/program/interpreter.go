package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// maxSteps bounds the programs of which each leads to the next. Linux follows as many scripts.
	maxSteps = 5
	// maxFirstLine is as much of a script's first line as Linux reads. It cuts a longer one.
	maxFirstLine = 255
)

// follow refuses a program that leads to one that another user could have written: a script to its
// interpreter, which can be a script too, and env to the program that it is told to run.
func (c Command) follow(path string, args []string) error {
	for range maxSteps + 1 {
		next, err := c.next(path, args)
		if err != nil || next == nil {
			return err
		}
		if path, err = c.runnable(c.within(next[0])); err != nil {
			return err
		}
		args = next
	}
	return fmt.Errorf("%s is not run, since it leads through more than %d programs; name the last one in the command", c.Args[0], maxSteps)
}

// next returns the arguments of the program to which another one leads, and none at the last one.
func (c Command) next(path string, args []string) ([]string, error) {
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

// interpreter returns the interpreter of a script, and the one argument that its first line can
// have. Whatever is no script has none.
func (c Command) interpreter(path string) ([]string, error) {
	line, err := firstLine(path)
	line, script := bytes.CutPrefix(line, []byte("#!"))
	text := strings.Trim(string(line), " \t")
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be run: %w", path, bare(err))
	case !script || text == "":
		return nil, nil
	case len(line)+len("#!") > maxFirstLine || strings.ContainsRune(text, 0):
		return nil, fmt.Errorf("%s is not run, since a system reads its first line in part; write at most %d bytes of text", path, maxFirstLine)
	}
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return []string{text}, nil
	}
	arg := strings.TrimLeft(text[end:], " \t")
	return []string{text[:end], arg}, c.givenAll([]string{arg})
}

// firstLine returns the beginning of a file. A file that runs can be unreadable, and a script all
// the same.
func firstLine(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, errors.New("whether it is a script cannot be seen; let the user of this process read it, or have a script call it")
	}
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(f, maxFirstLine+1))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line, errors.Join(err, f.Close())
}
