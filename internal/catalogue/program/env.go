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

// blanks separate words for env. Other spaces are part of a word.
const blanks = " \t\n\v\f\r"

// envCall is a call of env, reduced to what decides which program runs.
type envCall struct {
	left   []string
	others bool // it searches other folders than this process's PATH
}

// runByEnv returns the command that env runs, with a path instead of a name, or nil if env has no
// program to run.
func (c Command) runByEnv(args []string) ([]string, error) {
	e := envCall{left: args}
	err := e.options()
	if err == nil {
		e.variables()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is not run, since the program that env runs cannot be determined: %w", c.Args[0], err)
	case len(e.left) == 0:
		return nil, nil
	case strings.ContainsRune(e.left[0], filepath.Separator):
		return e.left, nil
	case e.others:
		return nil, fmt.Errorf("%s is not run, since env searches for %s in other folders than this process; write its path", c.Args[0], e.left[0])
	}
	if strings.ContainsAny(e.left[0], blanks) {
		return nil, fmt.Errorf("%s is not run, since systems differ in the program that env %q runs; write env -S", c.Args[0], e.left[0])
	}
	path, err := c.lookUp(e.left[0])
	return append([]string{path}, e.left[1:]...), err
}

// options removes the options before variables and the program.
func (e *envCall) options() error {
	for len(e.left) > 0 && strings.HasPrefix(e.left[0], "-") {
		word := e.left[0]
		e.left = e.left[1:]
		switch name, value, _ := strings.Cut(word, "="); {
		case word == "--":
			return nil
		case word == "-": // some systems read the rest as options, some do not
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
			return fmt.Errorf("the option %s of env is not supported here; leave it out", name)
		default:
			if err := e.letters(word[1:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// letters removes options of one letter each. The last one may have a value, in this word or the
// next.
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
			return fmt.Errorf("the option -%c of env is not supported here; leave it out", letter)
		}
	}
	return nil
}

// split inserts the words of a text before the remaining words.
func (e *envCall) split(text string) error {
	if strings.ContainsAny(text, "\\'\"$#") {
		return fmt.Errorf("the text %q has quotes, escapes or variables; write plain words", text)
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blanks, r) })
	e.left = append(words, e.left...)
	return nil
}

// variables removes the variables that env sets.
func (e *envCall) variables() {
	for len(e.left) > 0 && strings.Contains(e.left[0], "=") {
		e.others = e.others || strings.HasPrefix(e.left[0], "PATH=")
		e.left = e.left[1:]
	}
}

// lookUp returns the path of a program given by name, as the system's search finds it.
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
	return "", fmt.Errorf("%s is not run, since env finds no %s in those folders of PATH that only this user and root may write to; write its path", c.Args[0], name)
}

// always are the variables that every program gets, if this process has them.
var always = []string{"HOME", "LANG"}

// environment returns a program's variables. It leaves out all others: one may hold the password
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
			return nil, fmt.Errorf("env lists %[2]s for %[1]s, but the variable is not set; set it, or leave it out of env", c.Args[0], name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// searchPath returns the folders of a path in which no other user may place a program.
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
