package gateway_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/device"
	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/anonymous/issuer"
	"github.com/mercer-fl/mercer/internal/anonymous/relay"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	played "github.com/mercer-fl/mercer/internal/method/secvm/local"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

const jobText = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data:
    source: words.svm
    label: label
    partition: {by: devices}
    test: {fraction: 0.25}
  protocol: {name: secvm, classes: ["-1", "+1"], bins: 16, packages: 5, cohort: 10}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.1, iterations: 1}
  compare: []
`

const seed = 7

// testbed is issuer, relay, gateway and devices in a test's bubble.
type testbed struct {
	t         *testing.T
	job       *job.Job
	home      string
	rows      *dataset.Set
	config    gateway.Config
	gateway   *gateway.Gateway
	issuer    *issuer.Issuer
	relay     *relay.Relay
	net       *network
	atGateway http.Handler // a test may put something before it
}

// Names in the network.
const (
	atGateway = "gateway"
	atRelay   = "relay"
	atIssuer  = "issuer"
)

func words(rows int) *dataset.Set {
	r := rand.New(rand.NewPCG(1, 2))
	start, cols, values, labels := []int{0}, []int32{}, []float64{}, []string{}
	for range rows {
		label := []string{"-1", "+1"}[r.IntN(2)]
		for c := range int32(12) {
			chance := .2
			if c == 7 && label == "+1" || c == 3 && label == "-1" {
				chance = .9
			}
			if r.Float64() < chance {
				cols, values = append(cols, c), append(values, 1)
			}
		}
		start, labels = append(start, len(cols)), append(labels, label)
	}
	x, err := dataset.NewCSR(12, start, cols, values)
	if err != nil {
		panic(err)
	}
	return &dataset.Set{Name: "words", X: x, Labels: labels}
}

func parse(t testing.TB, text string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, text)
}

func newIdentity(t testing.TB, name string) *identity.Identity {
	t.Helper()
	id, err := identity.FromSeed(daemon.InsecureSeeds(seed)(name))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func credential(row int) ed25519.PrivateKey {
	s := prg.Derive(daemon.InsecureSeeds(seed)("credential"), fmt.Sprint(row))
	return ed25519.NewKeyFromSeed(s[:])
}

// newTestbed sets up issuer, gateway and relay, with the default times of the commands.
func newTestbed(t *testing.T, kind privacypass.Type, devices int, change func(*gateway.Config)) *testbed {
	t.Helper()
	return newTestbedOf(t, jobText, kind, devices, change)
}

// newTestbedOf sets them up for another job.
func newTestbedOf(t *testing.T, text string, kind privacypass.Type, devices int, change func(*gateway.Config)) *testbed {
	t.Helper()
	if kind == privacypass.VOPRF { // the gateway is its own issuer
		text = strings.Replace(text, "{name: secvm,", "{name: secvm, mode: paper,", 1)
	}
	w := &testbed{t: t, job: parse(t, text), home: t.TempDir(), rows: words(devices), net: newNetwork(t)}
	var keys []ed25519.PublicKey
	for i := range devices {
		keys = append(keys, credential(i).Public().(ed25519.PublicKey))
	}
	issuing := issuer.Config{
		Name: "issuer.example", Home: w.folder("issuer"), Identity: newIdentity(t, "issuer"), Type: kind,
		Iterations: learner.StepsOf(w.job).Iterations + 1, Quota: secvmmachines.Tokens(w.settings().Packages), Devices: keys, Gateway: newIdentity(t, "gateway").Public().Sign, Logger: slog.New(slog.DiscardHandler),
	}
	var err error
	if w.issuer, err = issuer.Open(issuing); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, w.issuer.Close()) })
	w.config = gateway.Config{
		Home: w.folder("gateway"), Identity: newIdentity(t, "gateway"), Job: w.job,
		Window: 10 * time.Minute, Grace: 20 * time.Second, Pause: 10 * time.Minute, Lead: 10 * time.Minute,
		Least: 8, Hold: 5 * time.Second, Tokens: w.issuer.Public(), Logger: slog.New(slog.DiscardHandler),
		Witnesses: []string{"http://" + atRelay, "http://" + atIssuer}, HTTP: w.client("gateway"),
	}
	if kind == privacypass.VOPRF {
		w.config.Witnesses = nil
		w.config.Verifiers, err = w.issuer.Verifiers()
		check(t, err)
	}
	if change != nil {
		change(&w.config)
	}
	w.open()
	t.Cleanup(func() { check(t, w.gateway.Close()) })
	w.connect()
	return w
}

func (w *testbed) folder(name string) string {
	dir := filepath.Join(w.home, name)
	check(w.t, os.MkdirAll(dir, 0o700))
	return dir
}

func (w *testbed) open() {
	w.t.Helper()
	var err error
	if w.gateway, err = gateway.Open(w.config); err != nil {
		w.t.Fatal(err)
	}
	w.atGateway = w.gateway.Handler()
}

// connect opens the servers of all three.
func (w *testbed) connect() {
	w.net.serve(atGateway, http.HandlerFunc(func(r http.ResponseWriter, q *http.Request) { w.atGateway.ServeHTTP(r, q) }))
	w.net.serve(atIssuer, w.issuer)
	kept := w.net.over(relay.Transport(nil), atRelay)
	w.t.Cleanup(kept.CloseIdleConnections)
	var err error
	w.relay, err = relay.Open(relay.Config{
		Home: w.folder("relay"), Identity: newIdentity(w.t, "relay"), Gateway: "http://" + atGateway, GatewayKey: newIdentity(w.t, "gateway").Public().Sign,
		Batch: 4, Wait: time.Second, Timeout: 20 * time.Second, Transport: kept, Logger: slog.New(slog.DiscardHandler),
	})
	check(w.t, err)
	w.t.Cleanup(func() { check(w.t, w.relay.Close()) })
	w.net.serve(atRelay, w.relay)
}

// client returns the HTTP client of a named process.
func (w *testbed) client(name string) *http.Client {
	w.t.Helper()
	c, err := ohttp.Dial("", nil, 30*time.Second)
	check(w.t, err)
	c.Transport = w.net.over(c.Transport.(*http.Transport), name)
	return c
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// memory is a device's store.
type memory struct{ state []byte }

func (m *memory) Load() ([]byte, error) { return m.state, nil }
func (m *memory) Save(b []byte) error   { m.state = b; return nil }

// device returns the device of a row.
func (w *testbed) device(row int, change func(*device.Config)) *device.Device {
	w.t.Helper()
	signed, err := os.ReadFile(filepath.Join(w.config.Home, "configuration"))
	check(w.t, err)
	limits := secvmmachines.Limits{Cohort: 10, Paper: w.job.Protocol.Mode() == job.Paper}
	seeds := secvm.SeedsOf(daemon.InsecureSeeds(seed), row)
	c := device.Config{
		Configuration: signed, Relay: "http://" + atRelay, Issuer: "http://" + atIssuer, Credential: credential(row),
		RelayKey: newIdentity(w.t, "relay").Public().Sign, IssuerKey: newIdentity(w.t, "issuer").Public().Sign,
		HTTP: w.client(fmt.Sprint("device ", row)), Store: &memory{}, Limits: limits, Early: learner.StepsOf(w.job).Iterations + 1, Seeds: &seeds,
	}
	if change != nil {
		change(&c)
	}
	d, err := device.New(c, secvm.Features(w.rows.X, row), w.rows.Labels[row])
	check(w.t, err)
	return d
}

// tally sums reports.
type tally struct {
	mu sync.Mutex
	device.Report
}

func (s *tally) add(r device.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Acknowledged, s.Refused, s.Lost = s.Acknowledged+r.Acknowledged, s.Refused+r.Refused, s.Lost+r.Lost
	s.TooFew = s.TooFew || r.TooFew
}

// run has all devices fetch their tokens, and then holds all windows.
func (w *testbed) run(meanwhile func(context.Context)) (*gateway.Result, *tally) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 24*time.Hour)
	defer cancel()
	said := &tally{}
	devices := make([]*device.Device, w.rows.X.Rows())
	var preparing, running sync.WaitGroup
	errs := make([]error, len(devices))
	for i := range devices {
		devices[i] = w.device(i, func(c *device.Config) { c.Report = said.add })
		preparing.Go(func() { errs[i] = devices[i].Prepare(ctx) })
	}
	preparing.Wait()
	check(w.t, errors.Join(errs...))
	var r *gateway.Result
	var failed error
	running.Go(func() { r, failed = w.gateway.Run(ctx) })
	for w.gateway.Iteration() != 0 && ctx.Err() == nil {
		time.Sleep(time.Second)
	}
	for i, d := range devices {
		running.Go(func() { errs[i] = d.Run(ctx) })
	}
	if meanwhile != nil {
		running.Go(func() { meanwhile(ctx) })
	}
	running.Wait()
	check(w.t, errors.Join(append(errs, failed)...))
	return r, said
}

// simulated returns the hash of the simulation's model, and its tests of the classes.
func (w *testbed) simulated() (model string, classes []secvm.ClassTest) {
	w.t.Helper()
	r, err := played.Support().Play(context.Background(), local.Play{
		Job: w.job, Rows: func(string) (*dataset.Set, error) { return w.rows, nil }, Dir: w.t.TempDir(), Seed: daemon.InsecureSeeds(seed),
	})
	check(w.t, err)
	d, err := method.DetailsOf[secvm.Details](r)
	check(w.t, err)
	return r.Models[0].SHA256, d.SecVM.Classes
}

// metric returns the number of requests with an outcome.
func (w *testbed) metric(outcome string) int { return w.outcomes()[outcome] }

// outcomes returns the number of requests with each outcome.
func (w *testbed) outcomes() map[string]int {
	w.t.Helper()
	r := prometheus.NewRegistry()
	check(w.t, w.gateway.Collect(r))
	families, err := r.Gather()
	check(w.t, err)
	counts := map[string]int{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "mercer_gateway_requests_total" {
				counts[m.GetLabel()[0].GetValue()] = int(m.GetCounter().GetValue())
			}
		}
	}
	return counts
}

func lineWith(text, prefix string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(strings.TrimPrefix(line, prefix))
		}
	}
	return ""
}

// settings returns the SecVM settings of the job.
func (w *testbed) settings() *secvm.Keys { return job.As[*secvm.Keys](w.job.Protocol) }
