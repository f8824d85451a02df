package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/protocol"
)

func testApp(out, err io.Writer) *app {
	return &app{reader: all.Reader(), local: own.Local(), stdin: strings.NewReader(""), stdout: out, stderr: err, env: func(string) string { return "" }, log: slog.New(slog.DiscardHandler), notices: new(notices)}
}

func TestClassify(t *testing.T) {
	cause := errors.New("cause")
	blame := func(k protocol.Kind) error {
		return fmt.Errorf("coordinator: session 1: %w", protocol.Blame("north", k, cause))
	}
	for _, c := range []struct {
		name string
		err  error
		code string
		exit int
	}{
		{"anything", cause, codeFailed, 1},
		{"file", fs.ErrPermission, codeFailed, 1},
		{"usage", usage("no"), codeUsage, 2},
		{"wrapped usage", fmt.Errorf("cli: %w", usage("no")), codeUsage, 2},
		{"job file", &job.Error{File: "job.yaml", Line: 1}, codeBadJob, 2},
		{"source", &catalogue.Error{}, codeBadData, 2},
		{"data", fmt.Errorf("party: %w", &dataset.SyntaxError{Err: cause}), codeBadData, 2},
		{"policy", refused(cause, ""), codeRefused, 3},
		{"coordinator: bad input", fmt.Errorf("cli: %w", fault.BadInput(cause)), codeBadInput, 2},
		{"coordinator: job file", fault.BadInput(&job.Error{File: "job.yaml", Line: 1}), codeBadJob, 2},
		{"coordinator: policy", fault.Forbidden(cause), codeRefused, 3},
		{"coordinator: misbehaved", &fault.Error{Code: fault.CodeMisbehaved, Blamed: "north", Err: cause}, codeMisbehaved, 4},
		{"coordinator: timed out", &fault.Error{Code: fault.CodeTimedOut, Blamed: "north", Err: cause}, codeTimedOut, 5},
		{"coordinator: failed", &fault.Error{Code: fault.CodeFailed, Err: cause}, codeFailed, 1},
		{"an error that claims to be none", &fault.Error{Code: fault.CodeDone, Err: cause}, codeFailed, 1},
		{"foreign", blame(protocol.KindForeign), codeMisbehaved, 4},
		{"malformed", blame(protocol.KindMalformed), codeMisbehaved, 4},
		{"unexpected", blame(protocol.KindUnexpected), codeMisbehaved, 4},
		{"inconsistent", blame(protocol.KindInconsistent), codeMisbehaved, 4},
		{"equivocation", blame(protocol.KindEquivocation), codeMisbehaved, 4},
		{"gave up", blame(protocol.KindAborted), codeFailed, 1},
		{"nobody's bytes", blame(protocol.KindTransport), codeFailed, 1},
		{"silent", blame(protocol.KindSilent), codeTimedOut, 5},
		{"deadline", fmt.Errorf("nats: %w", context.DeadlineExceeded), codeTimedOut, 5},
		{"Ctrl-C", fmt.Errorf("learner: %w", context.Canceled), codeInterrupted, 1},
	} {
		e := classify(c.err)
		if e.Code != c.code || e.Exit != c.exit {
			t.Errorf("%s: %s and exit code %d, want %s and %d", c.name, e.Code, e.Exit, c.code, c.exit)
		}
		if e.Error() == "" && c.name != "source" {
			t.Errorf("%s: no message", c.name)
		}
	}
	if e := classify(blame(protocol.KindMalformed)); !strings.Contains(e.Error(), "north") {
		t.Errorf("the peer is not named: %v", e)
	}
}

// TestEveryCommandHasHelp walks the whole tree, so that a new command cannot
// come without what the program promises of each.
func TestEveryCommandHasHelp(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s lacks a short description or an example", c.CommandPath())
		}
		if !strings.Contains(c.Example, "mercer") {
			t.Errorf("the example of %s is no command line: %q", c.CommandPath(), c.Example)
		}
		if c.RunE == nil || c.Run != nil {
			t.Errorf("%s must run by RunE, for exit codes and --json", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(testApp(io.Discard, io.Discard).root())
}

// TestExamplesParse keeps the examples in the help in step with flags and
// arguments; scripts run what they show.
func TestExamplesParse(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			_, line, ok := strings.Cut(line, "mercer ") // a variable may be set before
			if !ok {
				t.Errorf("%s: the example %q is no command", c.CommandPath(), line)
				continue
			}
			words := strings.Fields(line)
			root := testApp(io.Discard, io.Discard).root() // flags remember
			target, rest, err := root.Find(words)
			if err == nil && target == root {
				err = errors.New("no such command")
			}
			if err == nil {
				err = target.ParseFlags(rest)
			}
			if err == nil {
				err = target.ValidateArgs(target.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: the example %q: %v", c.CommandPath(), line, err)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(testApp(io.Discard, io.Discard).root())
}

func TestAsksForJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"data list --json":        true,
		"--json=true data":        true,
		"data list --json=false":  false,
		"data info --jsonp":       false,
		"data info -- --json":     false,
		"data info x --json -- y": true,
	} {
		if got := asksForJSON(strings.Fields(args)); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

// waiting runs a command that ends when it is cancelled.
func waiting(a *app, started chan<- struct{}) *cobra.Command {
	root := a.root()
	root.AddCommand(&cobra.Command{Use: "wait", RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
		close(started)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Second):
			return plainText{"nobody called"}, nil
		}
	})})
	return root
}

func TestSignalCancelsTheCommand(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var out, errs bytes.Buffer
		a := testApp(&out, &errs)
		a.json = true
		started := make(chan struct{})
		go func() {
			<-started
			if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
				t.Error(err)
			}
		}()
		if code := a.execute(waiting(a, started), []string{"wait", "--json"}); code != Failed {
			t.Errorf("%v: exit code %d", sig, code)
		}
		var d struct {
			OK    bool
			Error complaint
		}
		if err := json.Unmarshal(out.Bytes(), &d); err != nil || d.OK || d.Error.Code != codeInterrupted {
			t.Errorf("%v: %v in %s", sig, err, out.Bytes())
		}
	}
}

func TestOrAbandon(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ctx, interrupt := context.WithCancel(t.Context())
	busy := make(chan struct{})
	defer close(busy)
	if v, err := orAbandon(ctx, func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	interrupt()
	began := time.Now()
	if _, err := orAbandon(ctx, func() (int, error) { <-busy; return 7, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted computation gives %v", err)
	}
	if took := time.Since(began); took > grace+5*time.Second {
		t.Errorf("waited %v", took)
	}
}

// unmarshalable is a result that JSON cannot hold.
type unmarshalable struct{ F func() }

func (unmarshalable) Print(io.Writer) error { return nil }

func TestOneDocumentEvenWhenTheResultDoesNotMarshal(t *testing.T) {
	var out, errs bytes.Buffer
	a := testApp(&out, &errs)
	a.json = true
	root := a.root()
	root.AddCommand(&cobra.Command{Use: "odd", RunE: a.run(func(context.Context, []string) (Result, error) {
		return unmarshalable{F: func() {}}, nil
	})})
	if code := a.execute(root, []string{"odd", "--json"}); code != Failed {
		t.Errorf("exit code %d", code)
	}
	var d envelope
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || d.OK || d.Error == nil {
		t.Errorf("%v in %s", err, out.Bytes())
	}
}

type envelope struct {
	OK    bool
	Error *complaint
}

// broken is a pipe whose reader has gone.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestBrokenPipe(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"data", "info", "bundled:wdbc"}, {"data", "list"}} {
		var errs bytes.Buffer
		none := func(string) string { return "" }
		if code := Main(all.Reader(), nil, args, strings.NewReader(""), broken{}, &errs, none); code != Failed {
			t.Errorf("%v: exit code %d", args, code)
		}
		if !strings.Contains(errs.String(), "broken pipe") {
			t.Errorf("%v: %s", args, errs.String())
		}
	}
}

func TestGridOf(t *testing.T) {
	for _, c := range []struct {
		name string
		s    dataset.Summary
		want string
	}{
		{"pixels", dataset.Summary{Rows: 1797, Cols: 64, Varying: 61, OnGrid: 61, Step: 1}, attackApplies},
		{"as many rows as columns", dataset.Summary{Rows: 61, Cols: 64, Varying: 61, OnGrid: 61, Step: 1}, attackTooShort},
		{"one column off the grid", dataset.Summary{Rows: 1797, Cols: 64, Varying: 61, OnGrid: 60}, attackMixed},
		{"measurements", dataset.Summary{Rows: 1797, Cols: 64, Varying: 64}, attackNone},
		{"constants", dataset.Summary{Rows: 10, Cols: 2}, attackNone},
		{"wide one-hot", dataset.Summary{Rows: 32561, Cols: 123, Varying: 123, OnGrid: 123, Step: 1}, attackApplies},
	} {
		g := gridOf(c.s)
		if g.Attack != c.want {
			t.Errorf("%s: %q, want %q", c.name, g.Attack, c.want)
		}
		if wide := strings.Contains(g.Meaning, "up to about 100 columns"); wide != (c.name == "wide one-hot") {
			t.Errorf("%s: what was tried: %s", c.name, g.Meaning)
		}
	}
}

func TestTexts(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB"} {
		if got := humanize.Bytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	if humanize.Count(1, "row") != "1 row" || humanize.Count(0, "row") != "0 rows" {
		t.Error("counts")
	}
	for _, line := range strings.Split(paragraph(strings.Repeat("words and more ", 20)), "\n") {
		if len(line) > 80 || strings.HasSuffix(line, " ") {
			t.Errorf("a line of %d: %q", len(line), line)
		}
	}
}

// People read no names of packages.
func TestMessagesNameNoPackage(t *testing.T) {
	for text, want := range map[string]string{
		"model: unusable file":                                                "unusable file",
		"a.csv: model: unusable file":                                         "a.csv: unusable file",
		"learner: svm: nu is 2":                                               "nu is 2",
		"stage align: north reports: psi: no id is common":                    "stage align: north reports: no id is common",
		"disk: x cannot be written: no space left on device":                  "x cannot be written: no space left on device",
		"\"coordinator\" is missing; write \"coordinator: nats://HOST:4222\"": "\"coordinator\" is missing; write \"coordinator: nats://HOST:4222\"",
		"north: a.csv: label: no column is called \"y\"":                      "north: a.csv: label: no column is called \"y\"",
	} {
		if got := message(errors.New(text)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A class in a model from elsewhere may hold what a terminal obeys.
func TestTextForPeopleHasNoControlCharacters(t *testing.T) {
	var b bytes.Buffer
	a := testApp(&b, &b)
	if err := a.succeed("predict", plainText{"ill\x1b[2J\u009b0m\tx\n"}); err != nil {
		t.Fatal(err)
	}
	a.tell("mercer: \x1b]0;mine\a")
	if want := "ill\ufffd[2J\ufffd0m\tx\nmercer: \ufffd]0;mine\ufffd\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestTable(t *testing.T) {
	table := &tableOf{header: []string{"party", "rows", "size"}}
	table.add("north", 1200, "1.5 MiB")
	table.add("south-east", 7, "")
	var b bytes.Buffer
	if err := table.print(&b); err != nil {
		t.Fatal(err)
	}
	const want = "party       rows     size\nnorth       1200  1.5 MiB\nsouth-east     7\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
