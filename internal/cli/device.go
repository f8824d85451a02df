package cli

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/anonymous/simulator"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// deviceFlags holds the flags of mercer device.
type deviceFlags struct {
	home, configuration, rows, label, proxy, authorities string
	relayKey, issuerKey                                  string
	fleet                                                simulator.Config
	seed                                                 insecureSeed
}

func (a *app) device() *cobra.Command {
	f := deviceFlags{fleet: simulator.Config{Limits: secvm.DefaultLimits()}}
	cmd := &cobra.Command{
		Use:   "device",
		Short: "Join a training of many devices, whose server does not learn whose data it gets",
		Long: `Join a job of protocol secvm with one record. For tests and demonstrations, one
process can run a device for each of several rows of a table. Each device has its own
credential, tokens and secrets. A feature of a row is a column that is not zero. The
command ends after the last window.

The configuration is the gateway's. Relay and issuer must countersign it and every
later statement of the gateway. The keys --relay-key and --issuer-key check this. Get
these keys from relay and issuer (the file witness-key of their homes) or from someone
you trust, not from the gateway. A device sends nothing before relay and issuer
confirm the gateway's statements. Both must also count as many ready devices as the
job's cohort has.

Packages go through the relay. With --proxy, everything goes through a SOCKS5 proxy
such as Tor's.`,
		Example: "  mercer device credentials --home me --count 1\n  mercer device --home me --configuration configuration --relay https://relay.example/ --relay-key 6f1c... --issuer https://issuer.example/ --issuer-key 03ab... --rows me.csv --label label",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			return a.serveDevices(ctx, f)
		}),
	}
	a.homeFlag(cmd, &f.home)
	flags := cmd.Flags()
	flags.StringVar(&f.configuration, "configuration", "", "file of the gateway's configuration")
	flags.StringVar(&f.fleet.Relay, "relay", "", "address of the relay")
	flags.StringVar(&f.fleet.Issuer, "issuer", "", "address of the issuer")
	flags.StringVar(&f.relayKey, "relay-key", "", "public key that checks the relay's statements, in hexadecimal digits")
	flags.StringVar(&f.issuerKey, "issuer-key", "", "public key that checks the issuer's statements, in hexadecimal digits")
	flags.BoolVar(&f.fleet.Limits.Paper, "paper", false, "join a job of mode: paper, whose gateway can read single records")
	flags.StringVar(&f.rows, "rows", "", "table with a row for each device")
	flags.StringVar(&f.label, "label", "", "column of the labels")
	flags.IntVar(&f.fleet.First, "first", 0, "first row with a device in this process, from 0")
	flags.IntVar(&f.fleet.Count, "count", 1, "number of rows with a device in this process")
	flags.StringVar(&f.proxy, "proxy", "", "SOCKS5 proxy, such as socks5h://127.0.0.1:9050")
	authoritiesFlag(cmd, &f.authorities)
	flags.IntVar(&f.fleet.Early, "early", 1, "number of iterations whose tokens are fetched before the first window")
	flags.IntVar(&f.fleet.Limits.Bins, "max-bins", f.fleet.Limits.Bins, "refuse models with more bins than this: many bins single out people")
	flags.IntVar(&f.fleet.Limits.Cohort, "min-cohort", f.fleet.Limits.Cohort, "refuse models that take a step with fewer devices than this")
	f.seed.flag(cmd)
	require(cmd, "configuration")
	cmd.AddCommand(a.deviceCredentials(), a.deviceSums())
	return daemonCommand(cmd)
}

// deviceRequestTime is the longest time for one request of a device.
const deviceRequestTime = 30 * time.Second

func (a *app) serveDevices(ctx context.Context, f deviceFlags) (r Result, err error) {
	c := f.fleet
	if c.Configuration, err = regular.Read(f.configuration); err != nil {
		return nil, usage("the gateway's configuration cannot be read: %w", err)
	}
	if !c.Limits.Paper {
		if c.RelayKey, err = daemon.ParseKey(f.relayKey); err != nil {
			return nil, fmt.Errorf("--relay-key: %w", err)
		}
		if c.IssuerKey, err = daemon.ParseKey(f.issuerKey); err != nil {
			return nil, fmt.Errorf("--issuer-key: %w", err)
		}
	}
	roots, err := endpoint.Authorities(f.authorities)
	if err != nil {
		return nil, err
	}
	if c.HTTP, err = ohttp.Dial(f.proxy, roots, deviceRequestTime); err != nil {
		return nil, usage("%w", err)
	}
	if c.Rows, err = a.library().Load(f.rows, catalogue.Columns{Label: f.label}); err != nil {
		return nil, err
	}
	id, lock, err := a.at(f.home).Own(f.seed.orNil())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	c.Home, c.Identity, c.Seed, c.Logger = f.home, id, f.seed.orNil(), a.log
	done, err := simulator.Run(ctx, c)
	switch {
	case isStop(ctx, err):
		return a.stopped(f.home, nil)
	case err != nil:
		return nil, err
	}
	return tookPart{done}, nil
}

// tookPart is the result of devices whose job has ended: how often they took part.
type tookPart struct{ *simulator.Result }

// Print writes how many devices and packages took part.
func (t tookPart) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s answered %s: %d packages acknowledged, %d refused, %d lost",
		humanize.Count(t.Devices, "device"), humanize.Count(t.Answers, "time"), t.Acknowledged, t.Refused, t.Lost)
	if t.TooFew > 0 {
		p.linef("%s not answered, because too few devices were ready", humanize.Count(t.TooFew, "window"))
	}
	return p.err
}

func (a *app) deviceCredentials() *cobra.Command {
	var home string
	var first, count int
	cmd := &cobra.Command{
		Use:     "credentials",
		Short:   "Print the public keys of devices, for an issuer's roster",
		Example: "  mercer device credentials --home me",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (r Result, err error) {
			id, lock, err := a.at(home).Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			var list credentials
			for i := range max(0, count) {
				key := simulator.Credential(id, first+i).Public().(ed25519.PublicKey)
				list.Devices = append(list.Devices, hex.EncodeToString(key))
			}
			return list, nil
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().IntVar(&first, "first", 0, "row of the first device, from 0")
	cmd.Flags().IntVar(&count, "count", 1, "number of devices")
	return cmd
}

// credentials holds one line for each device, for the roster of an issuer.
type credentials struct {
	Devices []string `json:"devices"`
}

// Print writes the lines.
func (c credentials) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, d := range c.Devices {
		p.linef("%s", d)
	}
	return p.err
}
