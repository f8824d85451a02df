package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// runnable returns the path of a program without links.
func (c Command) runnable(path string) (string, error) {
	found, err := trusted.Find(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be run: %w", path, bare(err))
	}
	if err != nil {
		return "", fmt.Errorf("%s is not run, since %w", path, bare(err))
	}
	info, err := os.Lstat(found)
	if err != nil {
		return "", fmt.Errorf("%s cannot be run: %w", path, bare(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s cannot be run: it is no file", path)
	}
	return found, nil
}

// givenAll refuses arguments that name files that others could have written.
func (c Command) givenAll(args []string) error {
	for _, arg := range args {
		for _, name := range fileNames(arg) {
			if err := c.given(c.within(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// given refuses a file or a folder that others could have written. Devices have nothing to run.
func (c Command) given(path string) error {
	if ownStreams[path] {
		return nil
	}
	_, foreign := trusted.Find(path)
	info, err := os.Stat(path)
	switch {
	case foreign == nil, !errors.Is(foreign, trusted.ErrProc) && (err != nil || info.Mode()&fs.ModeDevice != 0):
		return nil //nolint:nilerr // it is of this user, or names no file
	default:
		return fmt.Errorf("%s is not given %s, since %w", c.Args[0], path, bare(foreign))
	}
}

// ownStreams lead to what the program already has.
var ownStreams = map[string]bool{"/dev/stdin": true, "/dev/stdout": true, "/dev/stderr": true}

// between separates words of code, and a key from a value.
var between = regexp.MustCompile("[\\s\"'`()\\[\\]{}<>|&;,:=@$]+")

// fileNames returns what in an argument can name a file: all of it, and its words, in an option such
// as -fNAME or --file=NAME and in code too. Names that a program makes up itself are not seen.
func fileNames(arg string) []string {
	list := []string{arg}
	for _, word := range append(between.Split(arg, -1), arg) {
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

// bare leaves a path out of an error that names it before.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
