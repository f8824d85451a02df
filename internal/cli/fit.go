package cli

import (
	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/fitserver"
)

// fit is the command that does what the program mercer-fit does, for a package that has only the program mercer. It is
// hidden, because no person types its requests.
func (a *app) fit() *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:     "fit --stdio",
		Short:   "Train kernel machines for a program that starts this one",
		Example: "  mercer fit --stdio",
		Hidden:  true,
		Args:    args(),
		RunE: func(*cobra.Command, []string) error {
			if !stdio {
				return usage("--stdio is missing for fit; give it, since fit only answers the requests of a program on stdin")
			}
			return fitserver.Serve(a.stdin, a.stdout)
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "read requests from stdin, and write answers to stdout")
	return cmd
}
