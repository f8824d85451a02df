package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"

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

// relayAddresses returns the addresses from which the relay calls: the ones that the operator names,
// or the ones to which the relay's address leads.
func (a *app) relayAddresses(ctx context.Context, f gatewayFlags) ([]netip.Prefix, error) {
	if len(f.relayFrom) > 0 || f.configure {
		return parsePrefixes(f.relayFrom)
	}
	u, err := url.Parse(f.relay)
	if err != nil || u.Hostname() == "" { // a gateway that is its own issuer does not ask its relay
		return nil, nil //nolint:nilerr // who asks at an address that is none says so
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil { // the relay may come later, and its packages are taken meanwhile as a stranger's
		a.log.Warn("the address of --relay is not known yet; name the addresses from which the relay calls with --relay-from", "error", err)
		return nil, nil
	}
	list := make([]netip.Prefix, len(found))
	for i, at := range found {
		list[i] = only(at)
	}
	return list, nil
}

// parsePrefixes reads addresses and networks.
func parsePrefixes(texts []string) ([]netip.Prefix, error) {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		at, err := netip.ParseAddr(text)
		if err == nil {
			list[i] = only(at)
			continue
		}
		if list[i], err = netip.ParsePrefix(text); err != nil {
			return nil, usage("--relay-from: %q is no address; write one such as 192.0.2.7, or a network such as 192.0.2.0/24", text)
		}
	}
	return list, nil
}

// only returns the network of one address.
func only(at netip.Addr) netip.Prefix {
	at = at.Unmap().WithZone("")
	return netip.PrefixFrom(at, at.BitLen())
}
