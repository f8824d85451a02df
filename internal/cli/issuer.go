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
		Long: `Give every device in the roster as many tokens for each iteration of a job as it
sends packages. Tokens are blind: the issuer knows the device and cannot recognise
its tokens. Another operator than the gateway's must run the issuer, because it
countersigns what the gateway tells devices and says how many have their tokens.

The first start draws a key for each iteration. It leaves the public keys in
HOME/public, which the gateway needs, and the key of its statements in
HOME/witness-key, which devices need. Of the gateway whose key is given it
countersigns the first configuration that names its keys, and no other. The roster
has a line for each device, as mercer device credentials prints it.`,
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
			id, lock, err := daemon.Home(home).Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			return served{home}, daemon.RunIssuer(ctx, issuer.Config{
				Name: label, Home: home, Identity: id, Type: privacypass.BlindRSA, Iterations: learner.StepsOf(j).Iterations + 1,
				Quota: secvm.Tokens(gateway.Spec(j).Packages), Devices: devices, Gateway: key, Logger: a.log,
			}, doors, a.ready(home))
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

// gatewayKeyFlag is for commands that countersign what one gateway says.
func gatewayKeyFlag(cmd *cobra.Command, digits *string) {
	cmd.Flags().StringVar(digits, "gateway-key", "", "public key of the gateway, as mercer gateway key prints it; its statements are countersigned, and nobody else's")
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
		Short: "Pass requests of devices on to a gateway without saying who sent them",
		Long: `Pass sealed requests of devices on to one gateway (Oblivious HTTP, RFC 9458). The
relay sees who sends and when, and nothing of the content. With --batch, requests
leave together in random order. Another operator than the gateway's must run the
relay: both together know everything.

The relay also countersigns what the gateway tells devices, and counts the devices
that are ready for a window. It does so for one job: the first of which the gateway
whose key is given shows it a history. HOME/witness holds what it has countersigned,
and nothing about devices. HOME/witness-key holds the key by which devices check its
statements.

Devices sign nothing at a relay. A request has a few seconds to come, and of too many
connections the address that has most loses its oldest. Behind a server with HTTPS
every device has that server's address, so that it must bound its callers itself.`,
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
			id, lock, err := daemon.Home(c.Home).Own(nil)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, lock.Close()) }()
			c.Identity, c.Transport, c.Logger = id, relay.Transport(roots), a.log
			return served{c.Home}, daemon.RunRelay(ctx, c, doors, a.ready(c.Home))
		}),
	}
	a.homeFlag(cmd, &c.Home)
	cmd.Flags().StringVar(&c.Gateway, "gateway", "", "address of the gateway")
	gatewayKeyFlag(cmd, &gatewayKey)
	cmd.Flags().IntVar(&c.Batch, "batch", 8, "number of requests that leave together")
	cmd.Flags().DurationVar(&c.Wait, "wait", time.Second, "longest time that a request waits for others to leave with")
	cmd.Flags().DurationVar(&c.Timeout, "timeout", 20*time.Second, "longest time that the gateway may take to answer")
	doorFlags(cmd, &doors, "127.0.0.1:8082")
	authoritiesFlag(cmd, &authorities)
	return daemonCommand(cmd)
}
