package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// blanks separate words for env. Other spaces belong to a word.
const blanks = " \t\n\v\f\r"

// envCall is a call of env, as far as it decides which program runs.
type envCall struct {
	left   []string
	others bool // it looks for programs in other folders than this process names
}

// runByEnv returns what env runs, with a path in place of a name. Nothing is what env without a
// program runs.
func (c Command) runByEnv(args []string) ([]string, error) {
	e := envCall{left: args}
	err := e.options()
	if err == nil {
		e.variables()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is not run, since what env runs cannot be seen: %w", c.Args[0], err)
	case len(e.left) == 0:
		return nil, nil
	case strings.ContainsRune(e.left[0], filepath.Separator):
		return e.left, nil
	case e.others:
		return nil, fmt.Errorf("%s is not run, since env looks for %s in other folders than this process; write its path", c.Args[0], e.left[0])
	}
	if strings.ContainsAny(e.left[0], blanks) {
		return nil, fmt.Errorf("%s is not run, since systems differ in what env runs by %q; write env -S", c.Args[0], e.left[0])
	}
	path, err := c.lookUp(e.left[0])
	return append([]string{path}, e.left[1:]...), err
}

// options takes the options away that stand before variables and the program.
func (e *envCall) options() error {
	for len(e.left) > 0 && strings.HasPrefix(e.left[0], "-") {
		word := e.left[0]
		e.left = e.left[1:]
		switch name, value, _ := strings.Cut(word, "="); {
		case word == "--":
			return nil
		case word == "-": // of what follows some systems take options, and some none
			e.others = true
			return nil
		case word == "--ignore-environment":
			e.others = true
		case word == "--debug":
		case name == "--unset" && word != name:
			e.others = e.others || value == "PATH"
		case name == "--split-string" && word != name:
			if err := e.split(value); err != nil {
				return err
			}
		case strings.HasPrefix(word, "--"):
			return fmt.Errorf("the option %s is not known here; leave it out", name)
		default:
			if err := e.letters(word[1:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// letters takes options of one letter each. The last one can have a value, here or in the next word.
func (e *envCall) letters(word string) error {
	for i, letter := range word {
		switch letter {
		case 'v':
		case 'i':
			e.others = true
		case 'u', 'S':
			value := word[i+1:]
			if value == "" && len(e.left) > 0 {
				value, e.left = e.left[0], e.left[1:]
			}
			if letter == 'S' {
				return e.split(value)
			}
			e.others = e.others || value == "PATH"
			return nil
		default:
			return fmt.Errorf("the option -%c is not known here; leave it out", letter)
		}
	}
	return nil
}

// split puts the words of a text before the other ones.
func (e *envCall) split(text string) error {
	if strings.ContainsAny(text, "\\'\"$#") {
		return fmt.Errorf("%q has quotes, escapes or variables; write plain words", text)
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blanks, r) })
	e.left = append(words, e.left...)
	return nil
}

// variables takes the variables away that env sets.
func (e *envCall) variables() {
	for len(e.left) > 0 && strings.Contains(e.left[0], "=") {
		e.others = e.others || strings.HasPrefix(e.left[0], "PATH=")
		e.left = e.left[1:]
	}
}

// lookUp returns the path of a program that is named without one, as the program's own search finds it.
func (c Command) lookUp(name string) (string, error) {
	for _, folder := range filepath.SplitList(searchPath(os.Getenv("PATH"))) {
		path := filepath.Join(folder, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			continue
		}
		found, err := c.runnable(path)
		if err != nil {
			return "", err
		}
		if syscall.Access(found, 1) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not run, since env finds no %s in the folders of PATH in which others may make no files; write its path", c.Args[0], name)
}

// always are the variables that every program is given, where this process has them.
var always = []string{"HOME", "LANG"}

// environment returns the variables of a program. All others stay here: one may hold the password
// of another table.
func (c Command) environment(mark string) ([]string, error) {
	env := []string{mark, "PATH=" + searchPath(os.Getenv("PATH"))}
	for _, name := range always {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range c.Env {
		value, ok := os.LookupEnv(name)
		if !ok {
			return nil, fmt.Errorf("%s is to be given %s, which is not set; set it, or leave it out of env", c.Args[0], name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// searchPath returns the folders of a path in which nobody else may put a program.
func searchPath(path string) string {
	var list []string
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if found, err := trusted.Folder(folder); err == nil {
			list = append(list, found)
		}
	}
	return strings.Join(list, string(filepath.ListSeparator))
}
