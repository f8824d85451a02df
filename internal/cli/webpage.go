package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/node/admin"
)

// pageAddress prints the address at which a person opens a daemon's web page.
type pageAddress struct{ admin.Invitation }

// Print writes the address alone on its line, so that a terminal makes a link of it.
func (r pageAddress) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s", r.URL)
	if r.Login {
		p.linef("log in there")
		return p.err
	}
	p.linef("open it within a minute; it works once")
	return p.err
}

func (a *app) page() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "page",
		Short: "Print the address at which you open the web page of a daemon",
		Long: `Ask the daemon of a home for the address of its web page. The address works once and
within a minute; then the browser has a session of eight hours. The session is that of
the Unix user who ran this command. The home's config.yaml needs
page: {listen: 127.0.0.1:9470}. From another machine, forward the port by
ssh -L 9470:127.0.0.1:9470, and run this command there. If people log in to the page
(OpenID Connect), the command prints the page's address, which is the same for everybody.`,
		Example: "  mercer page --home ./north",
		Args:    args(),
	}, func(ctx context.Context, c *admin.Client, _ []string) (Result, error) {
		i, err := c.Invite(ctx)
		return pageAddress{i}, err
	})
}
