package demo_test

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	played "github.com/mercer-fl/mercer/internal/method/secvm/local"
)

const devicesJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: odd-digits}
spec:
  data:
    source: rows.csv
    label: label
    partition: {by: devices}
    test: {fraction: 0.25}
  protocol: {name: secvm, classes: [even, odd], bins: 64, packages: 5, cohort: 8}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.1, iterations: 2}
  compare: []
`

const devicesSeed = 5

func devicesConfig(t *testing.T, text string, devices int) demo.DevicesConfig {
	t.Helper()
	t.Setenv(beMercer, "yes")
	j := jobtest.Parse(t, text)
	digits, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := demo.OddDigits(digits, devices)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(devicesSeed)
	return demo.DevicesConfig{
		Program: []string{os.Args[0]}, Job: j, Rows: rows, Processes: 2, Dir: t.TempDir(),
		Least: 16, Batch: 4, Early: 1, InsecureSeed: &seed,
	}
}

func simulatedModel(t *testing.T, j *job.Job, rows *dataset.Set) string {
	t.Helper()
	r, err := played.Support().Play(t.Context(), local.Play{
		Job: j, Rows: func(string) (*dataset.Set, error) { return rows, nil }, Dir: t.TempDir(), Seed: daemon.InsecureSeeds(devicesSeed),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Models[0].SHA256
}

// killer kills a process in the middle of each window, and starts it again.
type killer struct {
	*onlooker
	window time.Duration
	opens  []time.Time
	whole  []int           // progress of each window: see progress
	begun  int             // announced windows
	before int             // progress when the last window was announced
	killed map[string]bool // by name
}

// victim returns the process to kill in a window.
func (k *killer) victim(window int) string {
	return []string{demo.Issuer, demo.Gateway, demo.Relay}[window]
}

// progress returns the number of recorded packages or, if the issuer is to be killed, of
// the devices and iterations with issued tokens.
func (k *killer) progress(window int) int {
	if k.victim(window) == demo.Issuer {
		return k.outcome(demo.Issuer, "given")
	}
	return k.metric(demo.Gateway, "mercer_gateway_packages_total")
}

// watch kills when one part of a window's packages has been acknowledged and another part
// has not.
func (k *killer) watch(windows int) {
	if windows >= len(k.whole) || k.killed[k.victim(windows)] {
		return
	}
	if len(k.opens) <= windows {
		k.opens = k.onlooker.opens()
	}
	if len(k.opens) <= windows {
		return
	}
	if k.begun == windows {
		k.begun, k.before = windows+1, k.progress(windows)
	}
	name, open, done := k.victim(windows), time.Since(k.opens[windows]), k.progress(windows)-k.before
	if open < k.window/3 || open > k.window*3/4 || done == 0 || done >= k.whole[windows] {
		return
	}
	check(k.t, k.devices.Kill(name))
	k.killed[name] = true
	k.t.Logf("%s killed after %.2f of window %d: %d done of %d", name, open.Seconds()/k.window.Seconds(), windows, done, k.whole[windows])
	check(k.t, k.devices.StartProcess(name))
}

// errSlow reports a machine on which processes took longer to restart than the time of
// grace allows; nothing else may end a run early.
var errSlow = errors.New("not all was sent or killed in time")

// survive runs many devices whose processes are killed. It checks the properties that hold on
// every machine, and returns errSlow for a loss that only a slow machine suffers.
func survive(t *testing.T, pace time.Duration) error {
	t.Helper()
	const devices = 24
	c := devicesConfig(t, devicesJob, devices)
	c.Window, c.Grace, c.Pause, c.Lead = 5*pace, 3*pace, 5*pace, 5*pace
	c.Certificate, c.Key = selfSigned(t, c.Dir)
	f, err := demo.FoundDevices(c)
	check(t, err)
	defer func() { check(t, f.Stop()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+30*pace)
	defer cancel()
	if err := f.Start(ctx); err != nil {
		t.Fatalf("%v\n%s", err, f.Logs())
	}
	packages := devices * job.As[*secvm.Keys](c.Job.Protocol).Packages
	k := &killer{onlooker: onlook(t, f), window: c.Window, killed: map[string]bool{}, whole: []int{devices, packages, packages}}
	r, err := f.Wait(ctx, k.watch)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Logs())
	}
	if sent := r.Devices.Acknowledged + r.Devices.Lost; sent != 3*packages || r.Devices.Refused != 0 {
		t.Errorf("%+v, where %d packages were to be sent", r.Devices, 3*packages)
	}
	if r.Devices.Lost != 0 || len(k.killed) != 3 {
		return fmt.Errorf("%w: windows of %v, %d packages lost, killed %v", errSlow, c.Window, r.Devices.Lost, k.killed)
	}
	if want := simulatedModel(t, c.Job, c.Rows); r.Gateway.SHA256 != want {
		t.Errorf("model %s, simulated %s", r.Gateway.SHA256, want)
	}
	return nil
}

// Gateway, relay and issuer, which speak HTTPS, are killed in mid-window, one in each window,
// and started again. All packages are acknowledged, and the model equals the simulation's
// model: none of them was lost, and none counted twice. A machine that is too busy is given
// more time.
func TestDevicesSurviveKills(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	err := survive(t, 500*time.Millisecond)
	if errors.Is(err, errSlow) {
		t.Logf("once more with longer windows: %v", err)
		err = survive(t, 5*time.Second)
	}
	if err != nil {
		t.Error(err)
	}
}

// selfSigned makes a certificate for this machine.
func selfSigned(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	check(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "crowd"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(nil, c, c, public, private)
	check(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	certificate, key = filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	check(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600))
	check(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600))
	return certificate, key
}

// A gateway whose address is taken says so, although with --json it prints its errors.
func TestGatewayWithoutItsAddressSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	c := devicesConfig(t, devicesJob, 24)
	c.Window, c.Grace, c.Pause, c.Lead = time.Second, time.Second, time.Second, time.Second
	f, err := demo.FoundDevices(c)
	check(t, err)
	defer func() { check(t, f.Stop()) }()
	l, err := net.Listen("tcp", f.Divert(demo.Gateway, ""))
	check(t, err)
	defer func() { check(t, l.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check(t, f.Prepare(ctx))
	check(t, f.StartProcess(demo.Gateway))
	if _, err := f.Wait(ctx, nil); err == nil || !strings.Contains(err.Error(), "cannot listen on") {
		t.Errorf("%v, where the address is taken", err)
	}
}
