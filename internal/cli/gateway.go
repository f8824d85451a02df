package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/anonymous/issuer"
	"github.com/mercer-fl/mercer/internal/anonymous/relay"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// gatewayFlags holds the flags of mercer gateway.
type gatewayFlags struct {
	home, job, tokens, roster  string
	relay, issuer, authorities string
	relayFrom                  []string
	doors                      daemon.Doors
	configure                  bool
	config                     gateway.Config // values of the flags for durations and numbers
	seed                       insecureSeed
}

func (a *app) gateway() *cobra.Command {
	var f gatewayFlags
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Run the server of many devices: publish weights and count anonymous packages",
		Long: `Run the server of a job of protocol secvm. The gateway publishes the same signed
weights for all devices. It counts the packages that come through a relay, each with a
token of the issuer, and takes a step after each window. It ends when the model is
trained and tested, and leaves the model in its home.

All devices need the same copy of HOME/configuration. --configure only writes that
file. Its job, windows and tokens cannot change afterwards. --tokens names the file
"public" of an issuer's home. Relay and issuer countersign the gateway's statements
before devices send anything; --relay and --issuer are their addresses. Start both
with the key that mercer gateway key prints. Between windows, devices send nothing
for the time --pause: relay and issuer countersign the weights, and devices get ready.

A gateway of mode: paper is its own issuer, for the devices in --roster, at the path
` + daemon.TokensPath + `. It can read single records, and devices join it only with --paper.

You can kill and restart the gateway at any time. With --tls-cert and --tls-key it
uses HTTPS.`,
		Example: "  mercer gateway --home g --job job.yaml --tokens issuer/public --configure\n  mercer gateway --home g --job job.yaml --tokens issuer/public --relay https://relay.example/ --issuer https://issuer.example/ --listen :8080 --window 10m",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			return a.serveGateway(ctx, f)
		}),
	}
	a.homeFlag(cmd, &f.home)
	flags := cmd.Flags()
	flags.StringVar(&f.job, "job", "", "job file, with protocol secvm")
	flags.StringVar(&f.tokens, "tokens", "", "public keys of the issuer: the file public in its home")
	flags.StringVar(&f.relay, "relay", "", "address of the relay, which countersigns statements")
	flags.StringSliceVar(&f.relayFrom, "relay-from", nil, "address or network of the relay, whose connections do not count; default the addresses of --relay")
	flags.StringVar(&f.issuer, "issuer", "", "address of the issuer, which countersigns statements")
	authoritiesFlag(cmd, &f.authorities)
	flags.StringVar(&f.roster, "roster", "", "file of the devices' public keys, for a gateway that is its own issuer")
	flags.BoolVar(&f.configure, "configure", false, "only write the configuration for devices")
	flags.DurationVar(&f.config.Window, "window", 10*time.Minute, "length of a window, in which devices send")
	flags.DurationVar(&f.config.Grace, "grace", 20*time.Second, "how long after a window the gateway accepts packages")
	flags.DurationVar(&f.config.Pause, "pause", 0, "time between publishing weights and opening their window; default the length of a window")
	flags.DurationVar(&f.config.Lead, "lead", 10*time.Minute, "time between publishing the first weights and opening the first window")
	flags.IntVar(&f.config.Least, "least", 256, "smallest number of packages written to disk together; the last batches of a window may be smaller")
	flags.DurationVar(&f.config.Hold, "hold", 5*time.Second, "how long a device waits for its package to be on disk before it must send it again")
	doorFlags(cmd, &f.doors, "127.0.0.1:8080")
	require(cmd, "job")
	f.seed.flag(cmd)
	cmd.AddCommand(a.gatewayKey(), a.gatewaySums())
	return daemonCommand(cmd)
}

func doorFlags(cmd *cobra.Command, d *daemon.Doors, listen string) {
	cmd.Flags().StringVar(&d.Listen, "listen", listen, "address, host:port")
	cmd.Flags().StringVar(&d.Metrics, "metrics", "", "address of the metrics for Prometheus, host:port, over HTTP; default none")
	cmd.Flags().StringVar(&d.Certificate, "tls-cert", "", "certificate in PEM, for HTTPS; default HTTP")
	cmd.Flags().StringVar(&d.Key, "tls-key", "", "private key of the certificate, in PEM")
}

// authoritiesFlag adds the flag for the certificate authorities that a client trusts.
func authoritiesFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "tls-ca", "", "further certificates in PEM to trust for https addresses, beside the system's")
}

func (a *app) serveGateway(ctx context.Context, f gatewayFlags) (r Result, err error) {
	j, err := a.readJob(f.job)
	if err != nil {
		return nil, err
	}
	if err := gateway.Check(j); err != nil {
		return nil, err
	}
	if f.doors.Trusted, err = a.relayAddresses(ctx, f); err != nil {
		return nil, err
	}
	h := a.at(f.home)
	id, lock, err := h.Own(f.seed.orNil())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	c := f.config
	c.Home, c.Identity, c.Job, c.Logger = f.home, id, j, a.log
	if c.Pause == 0 {
		c.Pause = c.Window
	}
	if c.HTTP, err = a.witnessClient(f.authorities); err != nil {
		return nil, err
	}
	own, err := a.tokensOf(f, &c, id)
	if err != nil {
		return nil, err
	}
	if f.configure {
		return configuredGateway{f.home}, daemon.Configure(c)
	}
	// Live memory stays small, so rare garbage collections save time and cost little memory.
	if a.env("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	done, err := daemon.RunGateway(ctx, c, own, f.doors, a.readyOptions(f.home))
	switch {
	case err != nil:
		return nil, err
	case done == nil:
		return a.stopped(f.home, nil)
	}
	return trainedModel{done}, nil
}

// tokensOf returns the configuration of the gateway's own issuer. For a separate issuer, it stores
// that issuer's keys in c and, without --configure, the addresses of relay and issuer, and returns nil.
func (a *app) tokensOf(f gatewayFlags, c *gateway.Config, id *identity.Identity) (*issuer.Config, error) {
	switch {
	case f.tokens != "" && f.roster != "":
		return nil, usage("--tokens and --roster are both given; give --tokens if the gateway has a separate issuer, or --roster if it is its own issuer")
	case f.tokens == "" && f.roster == "":
		return nil, usage("the gateway needs tokens; give --tokens with an issuer's keys, or --roster with the devices of a gateway that is its own issuer")
	case f.roster != "" && f.configure:
		return nil, usage("--configure cannot be used with --roster, because a gateway that is its own issuer writes its configuration when it starts; remove --configure")
	case f.roster != "":
		devices, err := daemon.ReadRoster(f.roster)
		if err != nil {
			return nil, err
		}
		return &issuer.Config{
			Name: c.Job.Name, Home: f.home, Identity: id, Iterations: learner.StepsOf(c.Job).Iterations + 1, Quota: secvm.Tokens(gateway.Spec(c.Job).Packages), Devices: devices, Logger: a.log,
		}, nil
	}
	if f.configure { // writing the configuration calls neither relay nor issuer
		c.Witnesses = []string{"", ""}
	} else if f.relay == "" || f.issuer == "" {
		return nil, usage("--relay or --issuer is missing; give both addresses, because relay and issuer countersign every statement to devices")
	} else {
		c.Witnesses = []string{f.relay, f.issuer}
	}
	b, err := regular.Read(f.tokens)
	if err != nil {
		return nil, usage("the issuer's keys cannot be read: %w", err)
	}
	if c.Tokens, err = issuer.DecodePublic(b); err != nil {
		return nil, usage("%s: %w", f.tokens, err)
	}
	return nil, nil
}

// witnessClient returns the HTTP client with which a gateway calls its witnesses, relay and issuer.
func (a *app) witnessClient(authorities string) (*http.Client, error) {
	roots, err := endpoint.Authorities(authorities)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: relay.Transport(roots)}, nil
}

// readyOptions returns options that make a daemon log when it is ready.
func (a *app) readyOptions(home string) daemon.Options {
	return daemon.Options{Reader: a.reader, Logger: a.log, Ready: func(addr string) { a.log.Info("ready", "home", home, "address", addr) }}
}

// configuredGateway is the result of a gateway that has written its configuration.
type configuredGateway struct {
	Home string `json:"home"`
}

// Print names the configuration file.
func (c configuredGateway) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "devices need a copy of %s/configuration\n", c.Home)
	return err
}

// trainedModel is the result of a gateway's finished job.
type trainedModel struct{ *gateway.Result }

// Print describes the outcome of the job.
func (t trainedModel) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s and %s", humanize.Count(t.Iterations, "step"), humanize.Count(t.Windows, "window"))
	for _, c := range t.Classes {
		p.linef("%s", c)
	}
	if t.Majority > 0 {
		p.linef("always predicting the larger class: accuracy %.4f", t.Majority)
	}
	t.printCurve(p)
	p.linef("model: %s\nmodel_sha256: %s", t.Model, t.SHA256)
	return p.err
}

// printCurve prints at most nineteen points of the learning curve, including the last. The JSON result has
// all points.
func (t trainedModel) printCurve(p *printer) {
	every := max(1, len(t.Curve)/10)
	for i, point := range t.Curve {
		if (len(t.Curve)-1-i)%every == 0 {
			p.linef("%s", point)
		}
	}
	if t.Withheld > 0 {
		p.linef("no curve for %s: fewer testing devices than the cohort", humanize.Count(t.Withheld, "iteration"))
	}
}

// relayAddresses returns the relay's addresses. They come from --relay-from, or else from the
// relay's host name. Without --relay-from, it returns none if there is no name, if the name does not resolve yet, or
// with --configure.
func (a *app) relayAddresses(ctx context.Context, f gatewayFlags) ([]netip.Prefix, error) {
	if len(f.relayFrom) > 0 || f.configure {
		return parsePrefixes(f.relayFrom)
	}
	u, err := url.Parse(f.relay)
	if err != nil || u.Hostname() == "" { // the relay's host name is missing or invalid
		return nil, nil //nolint:nilerr // the call to a bad address reports it
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil { // not fatal: the relay might start later
		a.log.Warn("the host name of --relay does not resolve yet; give the relay's addresses with --relay-from", "error", err)
		return nil, nil
	}
	list := make([]netip.Prefix, len(found))
	for i, at := range found {
		list[i] = singleAddress(at)
	}
	return list, nil
}

// parsePrefixes parses addresses and networks.
func parsePrefixes(texts []string) ([]netip.Prefix, error) {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		at, err := netip.ParseAddr(text)
		if err == nil {
			list[i] = singleAddress(at)
			continue
		}
		if list[i], err = netip.ParsePrefix(text); err != nil {
			return nil, usage("--relay-from: %q is not an address; write one such as 192.0.2.7, or a network such as 192.0.2.0/24", text)
		}
	}
	return list, nil
}

// singleAddress returns the network that contains only this address.
func singleAddress(at netip.Addr) netip.Prefix {
	at = at.Unmap().WithZone("")
	return netip.PrefixFrom(at, at.BitLen())
}

func (a *app) gatewayKey() *cobra.Command {
	var home string
	var seed insecureSeed
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print a gateway's public key, for its relay and issuer",
		Long: `Print the public key of a gateway. The first call draws it. Relay and issuer need it
to start (--gateway-key): they countersign statements of this gateway only.`,
		Example: "  mercer gateway key --home g",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (r Result, err error) {
			id, lock, err := a.at(home).Own(seed.orNil())
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

// publicKey is a public key, as hexadecimal digits.
type publicKey struct {
	Key string `json:"key"`
}

// Print writes the hexadecimal digits.
func (k publicKey) Print(w io.Writer) error {
	_, err := fmt.Fprintln(w, k.Key)
	return err
}
