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

// blanks are the characters that separate words for env. Other spaces are part of a word.
const blanks = " \t\n\v\f\r"

// envCall holds the parts of a call of the command env that decide which program runs.
type envCall struct {
	left   []string // words of the call that were not read yet
	others bool     // whether env searches other folders than those of this process's PATH
}

// runByEnv returns the command that env runs, with the path of its program. It returns nil if env
// runs no program.
func (c Command) runByEnv(args []string) ([]string, error) {
	e := envCall{left: args}
	err := e.dropOptions()
	if err == nil {
		e.dropVariables()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is not run, since the program behind env cannot be determined: %w", c.Args[0], err)
	case len(e.left) == 0:
		return nil, nil
	case strings.ContainsRune(e.left[0], filepath.Separator):
		return e.left, nil
	case e.others:
		return nil, fmt.Errorf("%s is not run, since env would search for %s in other folders than this process; write the path of the program", c.Args[0], e.left[0])
	}
	if strings.ContainsAny(e.left[0], blanks) {
		return nil, fmt.Errorf("%s is not run, since different systems run different programs for env %q; write env -S", c.Args[0], e.left[0])
	}
	path, err := c.lookUp(e.left[0])
	return append([]string{path}, e.left[1:]...), err
}

// dropOptions removes the options from the front of a call of env.
func (e *envCall) dropOptions() error {
	for len(e.left) > 0 && strings.HasPrefix(e.left[0], "-") {
		word := e.left[0]
		e.left = e.left[1:]
		switch name, value, _ := strings.Cut(word, "="); {
		case word == "--":
			return nil
		case word == "-": // only some systems read options after this word
			e.others = true
			return nil
		case word == "--ignore-environment":
			e.others = true
		case word == "--debug":
		case name == "--unset" && word != name:
			e.others = e.others || value == "PATH"
		case name == "--split-string" && word != name:
			if err := e.splitWords(value); err != nil {
				return err
			}
		case strings.HasPrefix(word, "--"):
			return fmt.Errorf("the option %s of env is not supported here; leave it out", name)
		default:
			if err := e.parseLetters(word[1:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseLetters parses a word of one-letter options. The last option can have a value, in this word
// or the next.
func (e *envCall) parseLetters(word string) error {
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
				return e.splitWords(value)
			}
			e.others = e.others || value == "PATH"
			return nil
		default:
			return fmt.Errorf("the option -%c of env is not supported here; leave it out", letter)
		}
	}
	return nil
}

// splitWords splits a text into words and inserts them before the remaining words.
func (e *envCall) splitWords(text string) error {
	if strings.ContainsAny(text, "\\'\"$#") {
		return fmt.Errorf("the text %q has quotes, escapes or variables; write plain words", text)
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blanks, r) })
	e.left = append(words, e.left...)
	return nil
}

// dropVariables removes the assignments of variables from the front of the call.
func (e *envCall) dropVariables() {
	for len(e.left) > 0 && strings.Contains(e.left[0], "=") {
		e.others = e.others || strings.HasPrefix(e.left[0], "PATH=")
		e.left = e.left[1:]
	}
}

// lookUp returns the path of a program by its name. It searches the trusted folders of PATH in
// order.
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
	return "", fmt.Errorf("%s is not run, since env finds no %s in the folders of PATH that only this user and root can write to; write the path of the program", c.Args[0], name)
}

// alwaysPassed lists the variables that every program gets if this process has them.
var alwaysPassed = []string{"HOME", "LANG"}

// environment returns the environment of the program. It leaves out all variables that neither this
// package nor c.Env lists, because such a variable can hold the password of another table.
func (c Command) environment(mark string) ([]string, error) {
	env := []string{mark, "PATH=" + searchPath(os.Getenv("PATH"))}
	for _, name := range alwaysPassed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range c.Env {
		value, ok := os.LookupEnv(name)
		if !ok {
			return nil, fmt.Errorf("env lists the variable %[2]s for %[1]s, but it is not set; set the variable, or remove it from env", c.Args[0], name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// searchPath returns those folders of a path list in which no other user can create files.
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
