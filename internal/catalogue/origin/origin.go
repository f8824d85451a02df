// Package origin describes tables that can differ at the next reading. Such a table is the output
// of a program, or the rows of a query. Package live reads these tables.
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

// Origin describes a table that a program writes or a query returns. The zero value means that the
// table is a file.
type Origin struct {
	// Command is a program with its arguments, which writes the table as CSV. A source with a
	// command has no path.
	Command []string `yaml:"command,omitempty"`
	// Env lists the environment variables of this process that the program gets in addition to
	// PATH, HOME and LANG.
	Env []string `yaml:"env,omitempty"`
	// SQL is a query whose rows are the table. A source with a query has no path.
	SQL *SQL `yaml:"sql,omitempty"`
	// Timeout and MaxBytes limit a program or a query. The defaults are 10 minutes and 16 GiB.
	Timeout  strictyaml.Days     `yaml:"timeout,omitempty"`
	MaxBytes strictyaml.Positive `yaml:"max_bytes,omitempty"`
}

// SQL is a query in a file, with its database. The database is a SQLite file, or the PostgreSQL
// server that an environment variable describes.
type SQL struct {
	DSNEnv    string `yaml:"dsn_env,omitempty"`
	SQLite    string `yaml:"sqlite,omitempty"` // relative to the source's folder
	QueryFile string `yaml:"query_file"`       // relative to the source's folder
}

// Given reports whether the table comes from a program or a query.
func (o Origin) Given() bool { return o.Command != nil || o.SQL != nil }

// Name returns the table's name in messages.
func (o Origin) Name() string {
	if o.SQL != nil {
		return o.SQL.QueryFile
	}
	return o.Command[0]
}

// Check returns an error if the settings of a source contradict each other. The path and the CSV
// format are arguments, because they are not part of the origin.
func (o Origin) Check(path string, form prepare.CSV) error {
	switch {
	case o.Command != nil && o.SQL != nil, o.Given() && path != "":
		return errors.New(`the source has more than one of "path", "command" and "sql"; give only one of these keys`)
	case !o.Given() && (!o.Timeout.IsZero() || o.MaxBytes != 0):
		return errors.New(`"timeout" and "max_bytes" apply only to "command" and "sql"; remove both keys for a file`)
	case o.Command == nil && o.Env != nil:
		return errors.New(`"env" lists variables for a command, but there is no "command"; remove "env", or add "command"`)
	case o.Command != nil:
		return CheckCommand(o.Command, o.Env)
	case o.SQL != nil:
		return o.SQL.check(form)
	}
	return nil
}

// variableName matches the name of an environment variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckCommand returns an error if the arguments cannot be run, or if the variables cannot be
// passed on. It does not look for the program.
func CheckCommand(args, env []string) error {
	switch {
	case len(args) == 0:
		return errors.New(`"command" is empty; write "command: [./extract.sh]"`)
	case !strings.ContainsRune(args[0], filepath.Separator):
		if strings.ContainsAny(args[0], " |<>;&") {
			return fmt.Errorf("command %q is a line for a shell, and there is no shell; write the program and each argument by itself, as in [./extract.sh, \"2024\"]", args[0])
		}
		return fmt.Errorf("command %q is not a path; write ./%s for a file of this folder, or an absolute path", args[0], args[0])
	}
	for _, name := range env {
		switch {
		case !variableName.MatchString(name):
			return fmt.Errorf("env lists %q, which is not the name of a variable; list names only, because the values come from the environment of this process", name)
		case name == "PATH" || name == "HOME" || name == "LANG" || name == "MERCER_PROGRAM":
			return fmt.Errorf("env lists %s, but every program gets this variable; remove it from env", name)
		}
	}
	return nil
}

func (s *SQL) check(form prepare.CSV) error {
	form.Missing = nil
	switch {
	case (s.DSNEnv == "") == (s.SQLite == ""):
		return errors.New(`"sql" requires exactly one database: "dsn_env" (the environment variable with the connection string of PostgreSQL) or "sqlite" (the path of a file)`)
	case s.QueryFile == "":
		return errors.New(`"sql" has no "query_file"; write the SELECT to a file, and add "query_file" with the path of this file`)
	case !(&prepare.Mapping{CSV: form}).Empty():
		return errors.New(`the key "csv" describes a text, but a query returns cells; remove everything in "csv" except the key "missing"`)
	}
	return nil
}
