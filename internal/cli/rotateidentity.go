package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
)

// rotatedIdentity describes a home's new identity.
type rotatedIdentity struct {
	identityResult
	Sealed  int `json:"sealed"`           // number of keys of jobs and editions that the new identity opens
	Foreign int `json:"cannot_be_opened"` // number of keys that the earlier identity could not open either
}

// Print tells the operator the next steps.
func (r rotatedIdentity) Print(w io.Writer) error {
	p := &printer{w: w}
	p.join(r.identityResult.Print(w))
	p.linef("%s of jobs and editions now open with it; the earlier identity is destroyed, and nothing needs it", humanize.Count(r.Sealed, "key"))
	if r.Foreign > 0 {
		p.linef("%s could not be opened with the earlier identity either, and stay as they were", humanize.Count(r.Foreign, "key"))
	}
	p.linef("then join the new roster in this home, and start the daemon")
	return p.err
}

func (a *app) federationRotateIdentity() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "rotate-identity",
		Short: "Replace a home's identity by a new one, which the earlier one signs",
		Long: `Draw new keys for this home and destroy the earlier ones. The retained state of jobs and
the editions stay readable; split.key and all ledgers stay. Stop the daemon first, when no
job is open. The earlier key signs the new ones in member.yaml, so that federation diff and
join show the signature to other operators. They compare the new fingerprint all the same:
a thief of the earlier key can sign, too.`,
		Example: "  mercer federation rotate-identity --home ./north",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			h := a.at(home)
			done, err := h.RotateIdentity(a.reader, coordinator.RandomSeed(""))
			if err != nil {
				return nil, err
			}
			return rotatedIdentity{identityOf(h, done.Member), done.Sealed, done.Foreign}, nil
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
