package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/daemon"
)

func (a *app) gatewayKey() *cobra.Command {
	var home string
	var seed insecureSeed
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the public key by which relay and issuer know a gateway",
		Long: `Print the public key of a gateway, and draw it the first time. Relay and issuer need it
before they start (--gateway-key): they countersign statements of this gateway only.`,
		Example: "  mercer gateway key --home g",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (r Result, err error) {
			id, lock, err := daemon.Home(home).Own(seed.orNil())
			if err != nil {
				return nil, err
			}
			return publicKey{hex.EncodeToString(id.Public().Sign)}, lock.Close()
		}),
	}
	a.homeFlag(cmd, &home)
	seed.flag(cmd)
	return cmd
}

// publicKey is a key in hexadecimal digits.
type publicKey struct {
	Key string `json:"key"`
}

// Print writes the digits.
func (k publicKey) Print(w io.Writer) error {
	_, err := fmt.Fprintln(w, k.Key)
	return err
}
