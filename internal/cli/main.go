package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/method/local"
)

// app holds the state that all commands share.
type app struct {
	reader         *job.Reader
	local          []local.LocalSupport
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string

	json           bool
	passphraseFile string // file with the passphrase of the home's identity
	logLevel       string
	logFormat      string
	chatty         bool         // the user set a log level
	verbose        bool         // print the details of a result
	explain        bool         // list what parties would refuse
	log            *slog.Logger // writes to stderr
	notices        *notices
	homeOption     string          // the option --home of this command, after a blank; "" for the usual home
	onlySocket     bool            // true if the home of this command has only a daemon's socket, for users with a role
	workers        learner.Workers // computes cells in other processes; nil: this process computes all
	task           string          // what the command is running now, such as "repeat 2 of 5"; progress names it
}

// Main runs mercer with the given arguments and returns the exit code. The reader can read the jobs
// of the methods that it knows. The list localSupport holds the support of these methods for a
// process that has the data of all parties.
func Main(reader *job.Reader, localSupport []local.LocalSupport, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	a := &app{reader: reader, local: localSupport, stdin: stdin, stdout: stdout, stderr: stderr, env: env, log: slog.New(slog.DiscardHandler), notices: new(notices)}
	a.json = asksForJSON(args) // set before parsing, so that errors of parsing can be printed as JSON
	return a.execute(a.root(), args)
}

// Commands returns all commands, for the documentation. They cannot be run.
func Commands(reader *job.Reader, env func(string) string) *cobra.Command {
	return (&app{reader: reader, env: env, log: slog.New(slog.DiscardHandler), notices: new(notices)}).root()
}

// execute runs one command. The first SIGINT or SIGTERM cancels the command, so that it can clean
// up; the second one kills the process.
func (a *app) execute(root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(a.untilStdinEnds(ctx))
	if err == nil {
		return Done
	}
	e := classify(err)
	if err := a.fail(commandName(cmd), e); err != nil {
		a.complain(err)
	}
	return e.Exit
}

func (a *app) fail(command string, e *Error) error {
	defer a.notices.told(a)
	if a.json {
		return a.print(document{
			Schema: schema, Command: command, Result: e.Result,
			Error: &complaint{Code: e.Code, Message: message(e), Hint: e.Hint},
		})
	}
	var err error
	if e.Result != nil {
		err = e.Result.Print(terminal{a.stdout})
	}
	a.complain(e)
	if e.Hint != "" {
		a.tell("hint: " + e.Hint)
	}
	return err
}

// asksForJSON reports whether the arguments contain --json. It is used before the arguments are
// parsed, so that an error of parsing can be printed as JSON.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// library returns the library in which commands find data.
func (a *app) library() catalogue.Library { return catalogue.New(catalogue.Folder(a.env)) }

// grace is the time that an interrupted command waits for its running work.
const grace = time.Second

// orAbandon runs f and returns its result. If ctx ends first, it waits for f at most the time grace, and returns the
// error of ctx. Work that ignores ctx, such as computing a large matrix, then ends with the process.
func orAbandon[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(grace):
	}
	var none T
	return none, ctx.Err()
}

// untilStdinEnds returns a context that ends when ctx ends or standard input ends. Standard input
// counts only if the parent process requests this. Processes of a demonstration thus stop even if
// the demonstration is killed.
func (a *app) untilStdinEnds(ctx context.Context) context.Context {
	if a.env(demo.StopWithStdin) == "" {
		return ctx
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, a.stdin) // a read error also ends the context
	}()
	return ctx
}
