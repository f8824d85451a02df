package demo

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/daemon"
)

// Start starts all processes. It starts the gateway last, when all devices have their first tokens.
func (f *Devices) Start(ctx context.Context) error {
	if err := f.Prepare(ctx); err != nil {
		return err
	}
	return f.StartProcess(Gateway)
}

// Prepare starts all processes except the gateway, and waits until all devices have their
// first tokens.
func (f *Devices) Prepare(ctx context.Context) error {
	if err := f.StartProcess(Issuer); err != nil {
		return err
	}
	if err := f.await(ctx, Issuer, func() bool { return f.listens(Issuer) }); err != nil {
		return err
	}
	if err := f.configure(); err != nil {
		return err
	}
	if err := f.StartProcess(Relay); err != nil {
		return err
	}
	if err := f.await(ctx, Relay, func() bool { return f.listens(Relay) }); err != nil {
		return err
	}
	for _, name := range f.deviceProcesses() {
		if err := f.StartProcess(name); err != nil {
			return err
		}
	}
	for _, name := range f.deviceProcesses() {
		if err := f.await(ctx, name, func() bool { return f.hasLogged(name, "have their first tokens") }); err != nil {
			return err
		}
	}
	return nil
}

// configure runs the gateway once to write its configuration file.
func (f *Devices) configure() error {
	const name = "configure"
	if err := f.start(name, append(f.gatewayArguments(), "--configure")...); err != nil {
		return err
	}
	<-f.running[name].ended
	if err := f.running[name].err; err != nil {
		return fmt.Errorf("demo: the gateway did not write its configuration (%w); its last lines: %s", err, f.lastWords(name))
	}
	delete(f.running, name)
	return nil
}

func (f *Devices) deviceProcesses() []string {
	var names []string
	for i := range f.Processes {
		names = append(names, deviceProcess(i))
	}
	return names
}

// StartProcess starts one process; it also restarts an ended process.
func (f *Devices) StartProcess(name string) error {
	switch name {
	case Issuer:
		return f.start(name, append([]string{"issuer", "--home", f.path(Issuer), "--gateway-key", f.gatewayKey, "--job", f.path("job.yaml"), "--roster", f.path("roster")}, f.serverArguments(name)...)...)
	case Relay:
		return f.start(name, slices.Concat([]string{"relay", "--home", f.path(Relay), "--gateway-key", f.gatewayKey, "--gateway", f.URL(Gateway), "--batch", strconv.Itoa(f.Batch), "--wait", "100ms"},
			f.serverArguments(name), f.clientArguments())...)
	case Gateway:
		return f.start(name, slices.Concat(f.gatewayArguments(), []string{"--json", "--relay", f.URL(Relay), "--issuer", f.URL(Issuer)}, f.serverArguments(name), f.clientArguments())...)
	}
	first, count := f.rowsOf(f.deviceNumber(name))
	relayKey, err := f.witnessKey(Relay)
	if err != nil {
		return err
	}
	issuerKey, err := f.witnessKey(Issuer)
	if err != nil {
		return err
	}
	arguments := []string{"device", "--home", f.path(name), "--configuration", f.path(Gateway, "configuration"),
		"--relay", f.URL(Relay), "--issuer", f.URL(Issuer), "--relay-key", relayKey, "--issuer-key", issuerKey, "--rows", f.path("rows.csv"), "--label", "label",
		"--first", strconv.Itoa(first), "--count", strconv.Itoa(count), "--early", strconv.Itoa(f.Early),
		"--min-cohort", strconv.Itoa(gateway.Spec(f.Job).Cohort), "--json"}
	if f.InsecureSeed != nil {
		arguments = append(arguments, "--insecure-seed", strconv.FormatUint(*f.InsecureSeed, 10))
	}
	return f.start(name, append(arguments, f.clientArguments()...)...)
}

// witnessKey returns the public key of a witness (relay or issuer). In a deployment, the witness's
// owner gives this key to the devices' owners.
func (f *Devices) witnessKey(name string) (string, error) {
	b, err := os.ReadFile(daemon.At(f.path(name)).WitnessKeyPath())
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// serverArguments returns the arguments that set a server's addresses and its TLS certificate.
func (f *Devices) serverArguments(name string) []string {
	arguments := []string{"--listen", f.address[name], "--metrics", f.address[metricsOf(name)]}
	if f.Certificate != "" {
		arguments = append(arguments, "--tls-cert", f.Certificate, "--tls-key", f.Key)
	}
	return arguments
}

// clientArguments returns the arguments that make a client trust the servers' TLS certificate.
func (f *Devices) clientArguments() []string {
	if f.Certificate == "" {
		return nil
	}
	return []string{"--tls-ca", f.Certificate}
}

func (f *Devices) deviceNumber(name string) int {
	if i := slices.Index(f.deviceProcesses(), name); i >= 0 {
		return i
	}
	panic("demo: no process is called " + name)
}

func (f *Devices) gatewayArguments() []string {
	return []string{"gateway", "--home", f.path(Gateway), "--job", f.path("job.yaml"), "--tokens", daemon.At(f.path(Issuer)).PublicPath(),
		"--window", f.Window.String(), "--grace", f.Grace.String(), "--pause", f.Pause.String(), "--lead", f.Lead.String(),
		"--least", strconv.Itoa(f.Least), "--hold", (f.Grace / 4).String()}
}

// URL returns the address at which other processes reach issuer, relay or gateway.
func (f *Devices) URL(name string) string {
	address := f.address[name]
	if through := f.reached[name]; through != "" {
		address = through
	}
	if f.Certificate != "" {
		return "https://" + address
	}
	return "http://" + address
}

// await waits until isDone returns true. It returns an error if the process ends first.
func (f *Devices) await(ctx context.Context, name string, isDone func() bool) error {
	for !isDone() {
		select {
		case <-f.running[name].ended:
			return f.endedEarly(ctx, name)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (f *Devices) listens(name string) bool {
	c, err := net.Dial("tcp", f.address[name])
	return err == nil && c.Close() == nil
}

func (f *Devices) hasLogged(name, text string) bool {
	b, err := os.ReadFile(f.logPath(name))
	return err == nil && strings.Contains(string(b), text)
}

func metricsOf(name string) string { return name + "-metrics" }
