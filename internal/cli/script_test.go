package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/catalogue/query/querytest"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	testscript.Main(m, map[string]func(){
		"mercer": func() {
			os.Exit(Main(all.Reader(), own.Local(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
		},
		"mercer-alone": runAlone,
	})
}

// TestScript runs mercer as a process. Beside testscript's own commands a
// script may use
//
//	exits CODE mercer ARG...    the process ends with this exit code
//	json PATH [VALUE]           stdout is one JSON document; PATH is there and is VALUE, or with ! is not
//	nojson PATH                 the document has no PATH
//
// where PATH is written like result.data.0.name, and the commands of federationCommands,
// figureCommands, dataCommands, nameCommands, proxyCommands and databaseCommands.
func TestScript(t *testing.T) {
	fixtures, err := filepath.Abs(filepath.Join("..", "..", "dataset", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	params := testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Deadline:            time.Now().Add(5 * time.Minute),
		Setup: func(e *testscript.Env) error {
			e.Setenv("MERCER_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("FIXTURES", fixtures)
			e.Setenv("EXAMPLES", examples)
			e.Values[processKey("processes")] = make(map[string]*process)
			e.Values[serverKey{}] = make(map[string]*querytest.Server)
			return nil
		},
		Cmds: commands(),
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "postgres":
				return hasPostgres()
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
	}
	if testing.Short() {
		params.Files, params.Dir = quick(params.Dir, "budget", "jobfile", "policy", "usage", "version"), ""
	}
	testscript.Run(t, params)
}

// quick lists the scripts that take no time.
func quick(dir string, names ...string) (files []string) {
	for _, n := range names {
		files = append(files, filepath.Join(dir, n+".txtar"))
	}
	return files
}

// hasPostgres is the condition under which a script may start a server.
func hasPostgres() (bool, error) {
	err := querytest.Look()
	if errors.Is(err, querytest.ErrNoPostgres) {
		return false, nil
	}
	return err == nil, err
}

func commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits, "json": hasJSON, "nojson": hasNoJSON,
	}
	maps.Copy(all, federationCommands())
	maps.Copy(all, figureCommands())
	maps.Copy(all, dataCommands())
	maps.Copy(all, nameCommands())
	maps.Copy(all, proxyCommands())
	maps.Copy(all, databaseCommands())
	return all
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func hasJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 || neg && len(args) == 1 {
		ts.Fatalf("usage: json PATH [VALUE] or ! json PATH VALUE")
	}
	v, err := lookup(onlyDocument(ts), args[0])
	if err != nil {
		ts.Fatalf("%v", err)
	}
	if got := fmt.Sprint(v); len(args) == 2 && (got == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %t)", args[0], got, args[1], neg)
	}
}

func hasNoJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nojson PATH")
	}
	if v, err := lookup(onlyDocument(ts), args[0]); err == nil {
		ts.Fatalf("%s is there: %v", args[0], v)
	}
}

// onlyDocument decodes stdout, which must hold one document and nothing else.
func onlyDocument(ts *testscript.TestScript) any {
	d := json.NewDecoder(bytes.NewBufferString(ts.ReadFile("stdout")))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("stdout holds more than one document")
	}
	return doc
}

func lookup(v any, path string) (any, error) {
	for _, key := range strings.Split(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			inner, ok := at[key]
			if !ok {
				return nil, fmt.Errorf("no %s in the document", path)
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return nil, fmt.Errorf("no %s in the document: a list of %d", path, len(at))
			}
			v = at[i]
		default:
			return nil, fmt.Errorf("no %s in the document", path)
		}
	}
	return v, nil
}
