package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// homeFlag adds --home, which falls back on MERCER_HOME and then on a folder
// of the user's own.
func (a *app) homeFlag(cmd *cobra.Command, home *string) {
	cmd.Flags().StringVar(home, "home", a.defaultHome(), "folder of the identity and the journal; or set MERCER_HOME")
}

func (a *app) defaultHome() string {
	if home := a.env("MERCER_HOME"); home != "" {
		return home
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "mercer" // no user's folder on this system: beside the caller
	}
	return filepath.Join(dir, "mercer")
}
