// Package cli is the command line of mercer.
//
// A command is a function from its arguments to a [Result]. A result can print itself
// for people, and be marshalled to JSON for programs. One place decides which output
// goes where:
//
//   - stdout gets the result and nothing else; with --json exactly one document, except that a command which
//     follows events prints one for each event, and that fit answers the requests of another program
//   - stderr gets progress, logs, questions and, without --json, the error; it also gets the notices that the
//     result does not show
//   - the exit code is the kind of the error: see [Done] to [TimedOut]
//
// A command is added by a method of the application that returns it:
//
//	func (a *app) job() *cobra.Command {
//		return &cobra.Command{
//			Use:     "show ID",
//			Short:   "Show a job",
//			Example: "  mercer job show 3f2a",
//			Args:    args("ID"),
//			RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
//				...
//			}),
//		}
//	}
package cli
