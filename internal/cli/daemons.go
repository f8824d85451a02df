package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/daemon"
)

// stoppedDaemon is the result of a daemon that was stopped by the operator.
type stoppedDaemon struct {
	Home string `json:"home"`
}

// Print writes nothing, because the log says that the daemon stopped.
func (stoppedDaemon) Print(io.Writer) error { return nil }

// stopped returns the result of a daemon that was told to stop. It logs the last line of the daemon, unless the
// daemon ended with an error.
func (a *app) stopped(home string, err error) (Result, error) {
	if err != nil {
		return nil, err
	}
	a.log.Info("stopped", "home", home)
	return stoppedDaemon{home}, nil
}

func (a *app) coordinator() *cobra.Command {
	var home, listen string
	var abandon bool
	var seed insecureSeed
	cmd := &cobra.Command{
		Use:   "coordinator",
		Short: "Run the coordinator of a federation",
		Long: `Run the daemon that brokers messages, runs jobs and learns from the parties' encoded
rows and sums. Parties dial its address (listen in its config.yaml), or by WebSocket the
address listen_wss; other machines reach no other port of it. Its home needs an identity
(mercer federation init) and an approved roster (mercer federation join). SIGHUP makes it
read the roster again: members that the roster adds can connect, those that it removes are
turned out, and jobs of all others continue.`,
		Example: "  mercer coordinator --home /var/lib/mercer\n  mercer coordinator --home ./c --listen 127.0.0.1:4300",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			reload, end := hangUps()
			defer end()
			return a.serve(ctx, home, daemon.RunCoordinator, daemon.Options{Listen: listen, AbandonOpenSessions: abandon, Seed: seed.orNil(), Reload: reload})
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&listen, "listen", "", "address at which parties reach it, host:port; default the address in its configuration, or 127.0.0.1:4222")
	abandonFlag(cmd, &abandon)
	seed.flag(cmd)
	return daemonCommand(cmd)
}

// hangUps returns a channel with SIGHUP, by which operators ask a daemon to read its files again, and a function after
// which the channel gets no more.
func hangUps() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// abandonFlag adds the flag --abandon-open-sessions. The flag destroys the open sessions of a
// different build of the program.
func abandonFlag(cmd *cobra.Command, abandon *bool) {
	cmd.Flags().BoolVar(abandon, "abandon-open-sessions", false, "destroy the open sessions of another build of the program; their jobs fail")
}

func (a *app) party() *cobra.Command {
	var home string
	var abandon bool
	var seed insecureSeed
	cmd := &cobra.Command{
		Use:   "party",
		Short: "Run one party of a federation, which holds data",
		Long: `Run the daemon that holds one party's rows. It dials out to the coordinator, and
checks every job against the policy in its config.yaml. You can kill and restart it at
any time. SIGHUP makes it read the catalogue, the policies and the roster again; a file
with a mistake changes nothing, and the log names the line.`,
		Example: "  mercer party --home /var/lib/mercer",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			reload, end := hangUps()
			defer end()
			return a.serve(ctx, home, daemon.RunParty, daemon.Options{AbandonOpenSessions: abandon, Seed: seed.orNil(), Reload: reload})
		}),
	}
	a.homeFlag(cmd, &home)
	abandonFlag(cmd, &abandon)
	seed.flag(cmd)
	return daemonCommand(cmd)
}

// daemonCommand marks a command that runs a daemon until it is stopped or its job has ended. The operator of a daemon
// reads the log.
func daemonCommand(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{annotationDaemon: "yes"}
	return cmd
}

const annotationDaemon = "daemon"

// daemonGarbage is the share of the memory in use, in percent, by which a daemon's heap grows before it collects
// garbage. It is less than Go's default of 100, because a daemon waits most of the time, and because the database of a
// party or other services can run on the same machine.
const daemonGarbage = 70

// isStop reports whether an error only says that a daemon was told to stop.
func isStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// serve runs a daemon until the command is interrupted. An interruption counts as success, unless the daemon fails
// while it stops.
func (a *app) serve(ctx context.Context, home string, run func(context.Context, daemon.Home, daemon.Options) error, o daemon.Options) (Result, error) {
	if a.env("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(daemonGarbage))
	}
	says := a.readyOptions(home)
	o.Reader, o.Logger, o.Ready, o.Version = says.Reader, says.Logger, says.Ready, buildVersion().Version
	o.Report = reportWriter(a.at(home).Knowing(a.reader))
	if err := run(ctx, a.at(home), o); err != nil && ctx.Err() == nil {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("while stopping: %w", err)
	}
	return a.stopped(home, nil)
}

// homeFlag adds the flag --home. Its default is MERCER_HOME, or else a folder in the user's
// configuration folder.
func (a *app) homeFlag(cmd *cobra.Command, home *string) {
	cmd.Flags().StringVar(home, "home", a.defaultHome(), "home folder, which holds keys and state; or set MERCER_HOME")
}

func (a *app) defaultHome() string {
	if home := a.env("MERCER_HOME"); home != "" {
		return home
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "mercer" // this system has no configuration folder: use the working folder
	}
	return filepath.Join(dir, "mercer")
}
