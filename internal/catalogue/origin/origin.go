// Package origin describes tables that can be another one at the next reading: what a program
// writes, or the rows of a query. It opens none; package live does.
package origin

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
)

// Origin describes such a table. The zero value stands for none: the table is a file.
type Origin struct {
	// Command is a program that writes the table as CSV, in place of a path.
	Command []string `yaml:"command,omitempty"`
	// Env names variables of this process that the program is given, beside PATH, HOME and LANG.
	Env []string `yaml:"env,omitempty"`
	// SQL is a query that gives the table, in place of a path.
	SQL *SQL `yaml:"sql,omitempty"`
	// Timeout and MaxBytes limit a program or a query; by default 10 minutes and 16 GiB.
	Timeout  strictyaml.Days `yaml:"timeout,omitempty"`
	MaxBytes int64           `yaml:"max_bytes,omitempty"`
}

// SQL is a query, in a file: of the PostgreSQL that an environment variable of the process names,
// or of a file of SQLite.
type SQL struct {
	DSNEnv    string `yaml:"dsn_env,omitempty"`
	SQLite    string `yaml:"sqlite,omitempty"` // relative to the folder of the source
	QueryFile string `yaml:"query_file"`       // relative to the folder of the source
}

// Given reports whether the table comes from a program or a query.
func (o Origin) Given() bool { return o.Command != nil || o.SQL != nil }

// Name names the table in messages.
func (o Origin) Name() string {
	if o.SQL != nil {
		return o.SQL.QueryFile
	}
	return o.Command[0]
}

// Check refuses a source that says twice where its table is, or limits a file. The path and the
// form of a CSV text stand beside it.
func (o Origin) Check(path string, form prepare.CSV) error {
	switch {
	case o.Command != nil && o.SQL != nil, o.Given() && path != "":
		return errors.New("the table is in one place; give one of path, command and sql")
	case !o.Given() && (!o.Timeout.IsZero() || o.MaxBytes != 0):
		return errors.New("timeout and max_bytes limit command and sql; remove them, since a file is read as it is")
	case o.MaxBytes < 0:
		return fmt.Errorf("max_bytes is %d; write a number above 0", o.MaxBytes)
	case o.Command == nil && o.Env != nil:
		return errors.New("env names what a command is given; remove it, or add command")
	case o.Command != nil:
		return CheckCommand(o.Command, o.Env)
	case o.SQL != nil:
		return o.SQL.check(form)
	}
	return nil
}

// variable matches the name of a variable.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckCommand refuses arguments that cannot be run, and variables that cannot be given. It does
// not look for the program.
func CheckCommand(args, env []string) error {
	switch {
	case len(args) == 0:
		return errors.New("command is empty; write command: [./extract.sh]")
	case !strings.ContainsRune(args[0], filepath.Separator):
		return fmt.Errorf("command %q is no path; write ./%s for a file of this folder, or an absolute path", args[0], args[0])
	}
	for _, name := range env {
		switch {
		case !variable.MatchString(name):
			return fmt.Errorf("env names %q, which is no name of a variable; values stay in the environment of this process", name)
		case name == "PATH" || name == "HOME" || name == "LANG" || name == "MERCER_PROGRAM":
			return fmt.Errorf("env names %s, which every program is given; leave it out", name)
		}
	}
	return nil
}

func (s *SQL) check(form prepare.CSV) error {
	form.Missing = nil
	switch {
	case (s.DSNEnv == "") == (s.SQLite == ""):
		return errors.New("sql takes one of dsn_env, the environment variable that names a PostgreSQL, and sqlite, the path of a file")
	case s.QueryFile == "":
		return errors.New("sql has no query_file; write the SELECT to a file and name it")
	case !(&prepare.Mapping{CSV: form}).Empty():
		return errors.New("csv describes text, and a query gives cells; leave all of it out but missing")
	}
	return nil
}
