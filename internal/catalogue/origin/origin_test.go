package origin

import (
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
)

// Names that only a search path would find are refused: what they find is others' business.
func TestCheckCommand(t *testing.T) {
	if err := CheckCommand(nil, nil); err == nil {
		t.Error("no command is fine")
	}
	if err := CheckCommand([]string{"python3"}, nil); err == nil || err.Error() != `command "python3" is not a path; write ./python3 for a file of this folder, or an absolute path` {
		t.Errorf("got %v", err)
	}
	for _, line := range []string{"cat north.csv | head", "psql -f q.sql", "a;b", "a>b"} {
		if err := CheckCommand([]string{line}, nil); err == nil || err.Error() != `command "`+line+`" is a line for a shell, and there is no shell; write the program and each argument by itself, as in [./extract.sh, "2024"]` {
			t.Errorf("got %v", err)
		}
	}
}

// Values are no names: a secret does not belong into a catalogue.
func TestVariablesThatAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"PGPASSWORD=hush": `env lists "PGPASSWORD=hush", which is not the name of a variable; list names only, because the values come from the environment of this process`,
		"":                `env lists "", which is not the name of a variable; list names only, because the values come from the environment of this process`,
		"PATH":            "env lists PATH, but every program gets this variable; remove it from env",
	} {
		if err := CheckCommand([]string{"./x"}, []string{name}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if err := CheckCommand([]string{"./x"}, []string{"PGPASSWORD", "_x1"}); err != nil {
		t.Error(err)
	}
	if err := (Origin{SQL: &SQL{SQLite: "a", QueryFile: "b"}, Env: []string{"X"}}).Check("", prepare.CSV{}); err == nil || err.Error() != `"env" lists variables for a command, but there is no "command"; remove "env", or add "command"` {
		t.Errorf("got %v", err)
	}
}
