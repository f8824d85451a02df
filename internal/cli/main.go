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
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/method/local"
)

// app holds everything that all commands share.
type app struct {
	reader         *job.Reader
	local          []local.LocalSupport
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string

	json      bool
	logLevel  string
	logFormat string
	chatty    bool         // a log level was asked for
	log       *slog.Logger // to stderr
}

// Main runs mercer with the arguments that follow its name and returns the
// exit code. The reader has the methods whose jobs it reads. own lists the support of these
// methods for one process with the data of all parties.
func Main(reader *job.Reader, own []local.LocalSupport, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	a := &app{reader: reader, local: own, stdin: stdin, stdout: stdout, stderr: stderr, env: env, log: slog.New(slog.DiscardHandler)}
	a.json = asksForJSON(args) // before parsing, for errors in the arguments
	return a.execute(a.root(), args)
}

// Commands returns the tree of commands for the documents. It cannot be run.
func Commands(reader *job.Reader, env func(string) string) *cobra.Command {
	return (&app{reader: reader, env: env, log: slog.New(slog.DiscardHandler)}).root()
}

// execute runs one command. The first SIGINT or SIGTERM cancels it, so that it
// can clean up; the second kills the process.
func (a *app) execute(root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(a.leashed(ctx))
	if err == nil {
		return Done
	}
	e := classify(err)
	if err := a.fail(name(cmd), e); err != nil {
		a.complain(err)
	}
	return e.Exit
}

func (a *app) fail(command string, e *Error) error {
	if a.json {
		return a.print(document{
			Schema: schema, Command: command, Result: e.Result,
			Error: &complaint{Code: e.Code, Message: e.Error(), Hint: e.Hint},
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

// asksForJSON looks for --json where arguments did not parse.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// library returns the place in which commands find data.
func (a *app) library() catalogue.Library { return catalogue.New(catalogue.Folder(a.env)) }

// grace is the time that an interrupted command waits for the work that it runs.
const grace = time.Second

// orAbandon returns the results of f. Once ctx has ended it waits for f no longer than
// grace: work that does not watch ctx, such as computing a large matrix, ends with the
// process.
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

// leashed returns a context that also ends when standard input ends, if the program that
// started this one asks for it. So the processes of a demonstration stop even if the
// demonstration is killed.
func (a *app) leashed(ctx context.Context) context.Context {
	if a.env(demo.StopWithStdin) == "" {
		return ctx
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, a.stdin) // an error is an end too
	}()
	return ctx
}
