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
	local          []local.Own
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
// exit code. It reads jobs of the methods that the reader knows; own lists the additions of
// these methods for one process that owns all data.
func Main(reader *job.Reader, own []local.Own, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	a := &app{reader: reader, local: own, stdin: stdin, stdout: stdout, stderr: stderr, env: env, log: slog.New(slog.DiscardHandler)}
	a.json = asksForJSON(args) // before parsing, for errors in the arguments
	return a.execute(a.root(), args)
}

// Commands returns the tree of commands, for documents. Nobody runs it.
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

// asksForJSON looks for --json where arguments did not parse.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// library returns the place in which commands find data.
func (a *app) library() catalogue.Library { return catalogue.New(catalogue.Folder(a.env)) }

// jobLog returns the log of daemons that a command runs within itself: everything that goes
// wrong with them becomes the command's own error, so that they only speak
// when asked to.
func (a *app) jobLog() *slog.Logger {
	if a.chatty {
		return a.log
	}
	return slog.New(slog.DiscardHandler)
}

// setLog makes the log that the flags ask for.
func (a *app) setLog() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usage("unknown log level %q; use debug, info, warn or error", a.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "text":
		a.log = slog.New(slog.NewTextHandler(a.stderr, options))
	case "json":
		a.log = slog.New(slog.NewJSONHandler(a.stderr, options))
	default:
		return usage("unknown log format %q; use text or json", a.logFormat)
	}
	return nil
}

// setting is an environment variable with a default.
func (a *app) setting(variable, otherwise string) string {
	if v := a.env(variable); v != "" {
		return v
	}
	return otherwise
}

// grace is the time that an interrupted command waits for the work that it runs.
const grace = time.Second

// orAbandon returns the results of f, but does not wait for it much longer than for
// the end of ctx: work that never looks up, such as the making of a large matrix, ends
// with the process.
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

// leashed returns a context that also ends with standard input, where the
// program that started this one asks for it: what a demonstration has started
// stops even if the demonstration cannot tell it to.
func (a *app) leashed(ctx context.Context) context.Context {
	if a.env(demo.Leash) == "" {
		return ctx
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, a.stdin) // an error is an end too
	}()
	return ctx
}
