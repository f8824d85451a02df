package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/anonymous/issuer"
	"github.com/mercer-fl/mercer/internal/anonymous/relay"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

func (a *app) issuer() *cobra.Command {
	var home, jobFile, roster, label, gatewayKey string
	var doors daemon.Doors
	cmd := &cobra.Command{
		Use:   "issuer",
		Short: "Issue tokens to devices",
		Long: `Issue tokens to every device in the roster: for each iteration of a job, as many as it
sends packages. Tokens are blind: the issuer knows the device but cannot recognise its
tokens. The issuer and the gateway must have different operators, because the issuer
countersigns the gateway's statements to devices and counts the devices with tokens.

The first start draws a key for each iteration. It writes the public keys to
HOME/public, which the gateway needs, and the key of its statements to
HOME/witness-key, which devices need. It countersigns the first configuration of the
gateway of --gateway-key that names its own keys, and no other. The roster has a line
for each device, as mercer device credentials prints it.`,
		Example: "  mercer issuer --home issuer --gateway-key 9d20... --job job.yaml --roster devices.txt --listen :8081",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (r Result, err error) {
			j, err := a.readJob(jobFile)
			if err != nil {
				return nil, err
			}
			if err := gateway.Check(j); err != nil {
				return nil, err
			}
			devices, err := daemon.ReadRoster(roster)
			if err != nil {
				return nil, err
			}
			key, err := parseGatewayKey(gatewayKey)
			if err != nil {
				return nil, err
			}
			id, lock, err := a.at(home).Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			return a.stopped(home, daemon.RunIssuer(ctx, issuer.Config{
				Name: label, Home: home, Identity: id, Type: privacypass.BlindRSA, Iterations: learner.StepsOf(j).Iterations + 1,
				Quota: secvm.Tokens(gateway.Spec(j).Packages), Devices: devices, Gateway: key, Logger: a.log,
			}, doors, a.readyOptions(home)))
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&jobFile, "job", "", "job file, with protocol secvm")
	cmd.Flags().StringVar(&roster, "roster", "", "file of the devices' public keys")
	gatewayKeyFlag(cmd, &gatewayKey)
	cmd.Flags().StringVar(&label, "name", "issuer", "name of the issuer, which every token carries")
	cmd.AddCommand(a.enrol())
	doorFlags(cmd, &doors, "127.0.0.1:8081")
	return daemonCommand(cmd)
}

// gatewayKeyFlag adds the flag --gateway-key to the command of a witness. The witness countersigns
// only the statements of the gateway with this key.
func gatewayKeyFlag(cmd *cobra.Command, digits *string) {
	cmd.Flags().StringVar(digits, "gateway-key", "", "public key of the gateway, as mercer gateway key prints it; only statements of this gateway are countersigned")
}

func parseGatewayKey(digits string) (ed25519.PublicKey, error) {
	key, err := daemon.ParseKey(digits)
	if err != nil {
		return nil, fmt.Errorf("--gateway-key: %w", err)
	}
	return key, nil
}

func (a *app) relay() *cobra.Command {
	var c relay.Config
	var doors daemon.Doors
	var authorities, gatewayKey string
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Relay requests of devices to a gateway without revealing their senders",
		Long: `Relay sealed requests of devices to one gateway (Oblivious HTTP, RFC 9458). The relay
sees who sends and when, but no content. With --batch, requests leave together in
random order. The relay and the gateway must have different operators: both together
know everything.

The relay also countersigns the gateway's statements to devices, and counts the
devices that are ready for a window. It does so for one job only: the first job whose
history the gateway of --gateway-key shows it. HOME/witness holds the countersigned
statements, and nothing about devices. HOME/witness-key holds the key by which devices
check the relay's statements.

Devices sign nothing at a relay. A request must arrive within a few seconds. With too
many connections, the address with the most loses its oldest. Behind a server with
HTTPS all devices have that server's address, so that server must limit its callers.`,
		Example: "  mercer relay --home relay --gateway-key 9d20... --gateway https://gateway.example/ --listen :8082 --batch 32 --tls-cert relay.pem --tls-key relay.key",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (r Result, err error) {
			roots, err := endpoint.Authorities(authorities)
			if err != nil {
				return nil, err
			}
			if c.GatewayKey, err = parseGatewayKey(gatewayKey); err != nil {
				return nil, err
			}
			id, lock, err := a.at(c.Home).Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			c.Identity, c.Transport, c.Logger = id, relay.Transport(roots), a.log
			return a.stopped(c.Home, daemon.RunRelay(ctx, c, doors, a.readyOptions(c.Home)))
		}),
	}
	a.homeFlag(cmd, &c.Home)
	cmd.Flags().StringVar(&c.Gateway, "gateway", "", "address of the gateway")
	gatewayKeyFlag(cmd, &gatewayKey)
	cmd.Flags().IntVar(&c.Batch, "batch", 8, "number of requests that leave together")
	cmd.Flags().DurationVar(&c.Wait, "wait", time.Second, "longest time that a request waits for its batch")
	cmd.Flags().DurationVar(&c.Timeout, "timeout", 20*time.Second, "longest time that the gateway may take to answer")
	doorFlags(cmd, &doors, "127.0.0.1:8082")
	authoritiesFlag(cmd, &authorities)
	return daemonCommand(cmd)
}
