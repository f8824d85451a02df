package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/regular"
)

const about = `Mercer trains kernel machines, such as SVMs, on data that must stay where it is.

Each party keeps its rows. A coordinator learns one model from encoded rows, from
sums or from anonymous packages.

With --json, every command prints one JSON document. Exit codes: 0 done,
1 failed, 2 wrong usage, job or data, 3 refused by policy, 4 a peer misbehaved,
5 timed out.`

// root returns the root command with all commands.
func (a *app) root() *cobra.Command {
	root := commandGroup("mercer", "Train kernel machines on data that must stay where it is")
	root.Long = about
	root.Example = "  mercer data info bundled:digits\n  mercer doctor --json"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true // a completion script cannot be a JSON document
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)

	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", a.json, "print one JSON document on stdout")
	flags.StringVar(&a.logLevel, "log-level", a.env("MERCER_LOG_LEVEL"), "level of the log: debug, info, warn or error; default info for daemons and warn for other commands; or set MERCER_LOG_LEVEL")
	flags.StringVar(&a.logFormat, "log-format", a.envOr("MERCER_LOG_FORMAT", "text"), "format of the log: text or json; or set MERCER_LOG_FORMAT")
	flags.StringVar(&a.passphraseFile, "passphrase-file", "", "file with the passphrase of the home's identity as its only line, such as /dev/fd/3")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.chatty = a.logLevel != ""
		if !a.chatty {
			a.logLevel = defaultLogLevel(cmd)
		}
		return cmp.Or(checkFlags(cmd), a.setLog())
	}

	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpFunc(a.help(root.HelpFunc()))
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		a.demo(), a.simulate(), a.plan(), a.federation(), a.coordinator(), a.party(), a.backup(), a.restore(), a.gateway(), a.relay(), a.issuer(), a.device(), a.status(), a.page(), a.job(), a.release(), a.budget(), a.audit(), a.edition(), a.erase(), a.predict(), a.model(), a.cell(), a.fit(), a.svmTrain(), a.svmPredict(),
		a.data(), a.bench(), a.doctor(), a.version())
	return root
}

// requiredFlag marks a flag that must be given.
const requiredFlag = "required"

// require marks flags that must be given.
func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		cmd.Flags().Lookup(name).Annotations = map[string][]string{requiredFlag: nil}
	}
}

// checkFlags returns an error if a required flag is missing, if the whole number or the time of a flag is
// negative, or if a text is "~" or begins with "~/". No flag of whole numbers or times has a negative value.
func checkFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) { err = cmp.Or(err, checkFlag(cmd, f)) })
	return err
}

func checkFlag(cmd *cobra.Command, f *pflag.Flag) error {
	_, required := f.Annotations[requiredFlag]
	value, kind := f.Value.String(), f.Value.Type()
	negative := strings.HasPrefix(value, "-")
	switch {
	case kind == "string" && (value == "~" || strings.HasPrefix(value, "~/")):
		return usage("--%s is %s, but %s", f.Name, value, regular.Tilde(value))
	case required && value == "":
		return usage("--%s is missing for %s; it is the %s", f.Name, commandName(cmd), f.Usage)
	case negative && strings.HasPrefix(kind, "int"):
		return usage("--%s is %s; write a number that is not negative", f.Name, value)
	case negative && kind == "duration":
		return usage("--%s is %s; write a time that is not negative, such as 10m", f.Name, value)
	}
	return nil
}

// setLog creates the log according to the flags.
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

// envOr returns the value of an environment variable, or the given default if the variable is not
// set.
func (a *app) envOr(variable, otherwise string) string {
	if v := a.env(variable); v != "" {
		return v
	}
	return otherwise
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version, the build and the processor",
		Example: "  mercer version --json",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			return buildVersion(), nil
		}),
	}
}

// defaultLogLevel returns the default log level of a command.
func defaultLogLevel(cmd *cobra.Command) string {
	if cmd.Annotations[annotationDaemon] != "" {
		return "info"
	}
	return "warn"
}

// commandName returns the name of a command without the program, such as "data info".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), "mercer ")
}

// commandGroup returns a command that has only subcommands. Without a subcommand it prints its
// help.
func commandGroup(use, short string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// unknownCommand returns an error if there is an argument, because it is not the name of a subcommand.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	e := usage("unknown command %q", strings.Join(append(strings.Fields(cmd.CommandPath())[1:], args[0]), " "))
	e.Hint = fmt.Sprintf("%s --help lists the commands", cmd.CommandPath())
	near, ok := fuzzymatch.Nearest(args[0], known...)
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) {
			near, ok = c.Name(), true
		}
	}
	if ok {
		e.Hint = fmt.Sprintf("did you mean %q?", cmd.CommandPath()+" "+near)
	}
	return e
}

// wrongFlag adds a suggestion to the error of an unknown flag. It suggests the most similar flag,
// or a command with the name of the flag. For a flag with a wrong value, it says which values the flag has.
func wrongFlag(cmd *cobra.Command, err error) error {
	e := usage("%w", err)
	e.Hint = helpHint(cmd)
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &value):
		e.Err = fmt.Errorf("--%s is %q; write %s", value.GetFlag().Name, value.GetValue(), valueOf(value.GetFlag()))
		return e
	case !errors.As(err, &unknown):
		return e
	}
	if name := unknown.GetSpecifiedName(); !cmd.HasParent() && isCommand(cmd, name) {
		e.Hint = fmt.Sprintf("did you mean mercer %s?", name)
		return e
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near, ok := fuzzymatch.Nearest(unknown.GetSpecifiedName(), known...); ok {
		e.Hint = fmt.Sprintf("did you mean --%s?", near)
	}
	return e
}

// valueOf describes the values of a flag.
func valueOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number from 0"
	case "float64":
		return "a number"
	case "duration":
		return "a time such as 90s or 10m"
	case "bool":
		return "true or false"
	}
	return "another value"
}

func isCommand(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
}

func helpHint(cmd *cobra.Command) string { return cmd.CommandPath() + " --help shows how to use it" }

// args requires exactly one argument for each name.
func args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		var e *Error
		switch {
		case len(given) < len(names):
			e = usage("%s needs %s", commandName(cmd), strings.Join(names[len(given):], " and "))
		case len(given) > len(names):
			e = usage("%s does not take %q", commandName(cmd), given[len(names)])
		default:
			return nil
		}
		e.Hint = helpHint(cmd)
		return e
	}
}

// help returns a function that prints the help of a command. With --json it prints a document.
func (a *app) help(plain func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if !a.json {
			plain(cmd, args)
			return
		}
		t := plainText{Text: strings.TrimSpace(cmd.Long+"\n\n"+cmd.UsageString()) + "\n"}
		if err := a.succeed(commandName(cmd), t); err != nil {
			a.complain(err)
		}
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show the help of a command",
		Example: "  mercer help data info",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usage("%w", err)
			}
			if len(rest) > 0 {
				return unknownCommand(target, rest)
			}
			return target.Help()
		},
	}
}
