package gateway

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/anonymous/counter"
	"github.com/mercer-fl/mercer/internal/anonymous/issuer"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// Config holds the description of a gateway's job, its schedule and its resources.
type Config struct {
	Home     string // folder of the gateway's files
	Identity *identity.Identity
	Job      *job.Job
	// Window is the time in which devices send their packages. Grace is the further time in which
	// the gateway still accepts packages. Pause is the time between publishing weights and opening
	// the window. Lead replaces Pause before the first window, because devices fetch their first
	// tokens then. All are whole milliseconds.
	Window, Grace, Pause, Lead time.Duration
	// Least is the smallest number of packages in a record; the records at the end of a window and
	// in its time of grace can hold fewer.
	Least int
	// Hold is the longest time that a device waits for an answer before it must send again.
	Hold   time.Duration
	Tokens issuer.Public
	// Verifiers holds, for each iteration, the verifier of tokens that only their issuer can
	// verify. It is nil for blind RSA, whose tokens the public key verifies. If it is set, the
	// gateway is its own issuer.
	Verifiers []*privacypass.Verifier
	// Witnesses holds the addresses of relay and issuer, which countersign the history. It is empty
	// if the gateway is its own issuer.
	Witnesses []string
	HTTP      *http.Client // client for requests to the witnesses; nil means the default client
	Logger    *slog.Logger
}

// Gateway is the server of a SecVM job.
type Gateway struct {
	Config
	configuration *secvmmachines.Configuration
	published     []byte // encoded configuration with its signature
	challenges    map[[sha256.Size]byte]uint32
	tokenSize     int
	server        *secvm.Training
	chain         secvmmachines.Chain
	tests         [2]secvmmachines.Outcome // test results of the last closed iteration, by class
	curve         []tested                 // test results of closed iterations with enough testing devices
	windows       int                      // number of closed windows
	participants  int                      // number of participants of the first iteration
	rare          int                      // result of [secvm.Rare] for the first iteration

	window       atomic.Pointer[window]        // data of the open iteration; nil if none is open
	inbox        atomic.Pointer[ohttp.Gateway] // opens requests sealed to the window's key
	announcement atomic.Pointer[[]byte]        // the announcement that devices receive now
	metrics      *metrics
}

// Open opens a gateway's folder of files, writes the configuration, and prepares to continue from
// the saved state.
func Open(c Config) (*Gateway, error) {
	g := &Gateway{Config: c, tokenSize: c.Tokens.Type.Size(), metrics: newMetrics()}
	if err := Check(c.Job); err != nil {
		return nil, err
	}
	if err := c.checkMode(); err != nil {
		return nil, err
	}
	if c.Least < 1 {
		return nil, fault.BadInputf("the least number of packages in a record is %d; use 1 or more", c.Least)
	}
	var err error
	if g.server, err = secvm.NewTraining(c.Job, [2]string(secvm.KeysOf(c.Job).Classes)); err != nil {
		return nil, fault.BadInput(err)
	}
	if err := g.configure(); err != nil {
		return nil, err
	}
	if err := g.load(); err != nil {
		return nil, err
	}
	return g, g.open()
}

func newMetrics() *metrics {
	m := &metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mercer_gateway_requests_total", Help: "Requests with a package by their answer. A package that waits for its record may be sent again.",
		}, []string{"outcome"}),
		packages:  map[outcome]prometheus.Counter{},
		counted:   prometheus.NewCounter(prometheus.CounterOpts{Name: "mercer_gateway_packages_total", Help: "Packages that have been counted."}),
		records:   prometheus.NewCounter(prometheus.CounterOpts{Name: "mercer_gateway_records_total", Help: "Records of packages written."}),
		iteration: prometheus.NewGauge(prometheus.GaugeOpts{Name: "mercer_gateway_iteration", Help: "Iteration whose packages are accepted."}),
		windows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mercer_gateway_windows_total", Help: "Windows, by whether there were enough participants.",
		}, []string{"outcome"}),
		participants: prometheus.NewGauge(prometheus.GaugeOpts{Name: "mercer_gateway_participants", Help: "Participants of the last closed window and those before it of the same iteration."}),
	}
	for _, o := range outcomes() {
		m.packages[o] = m.outcomes.WithLabelValues(o.name)
	}
	return m
}

// Check refuses a job that a gateway cannot run.
func Check(j *job.Job) error {
	switch k, ok := j.Protocol.Values.(*secvm.Keys); {
	case !ok:
		return fault.BadInputf("a gateway cannot run this job, because its protocol is not secvm; write \"protocol: {name: secvm, classes: [MINUS, PLUS]}\"")
	case k.Aggregation != secvm.AnonymousPackages:
		return fault.BadInputf("this gateway cannot run a job with \"aggregation: secagg\"; run \"mercer gateway sums\"")
	case j.Timeout.Job > 0:
		return fault.BadInputf("the job has a deadline, which a gateway cannot keep; remove \"job\" from \"timeout\"")
	}
	return secvm.CheckUnseen(j, "a gateway")
}

// Spec returns the description of a job that devices receive. The job must have passed Check.
func Spec(j *job.Job) secvmmachines.Spec { return secvm.SpecOf(j) }

// checkMode requires the mode "paper" if the gateway is its own issuer, and otherwise the mode
// "hardened" and two witnesses. A gateway that is its own issuer could give tokens to a single
// device, and would then know the sender of the packages. Devices in the mode "hardened" refuse
// such a gateway.
func (c Config) checkMode() error {
	own, paper := c.Verifiers != nil, c.Job.Protocol.Mode() == job.Paper
	switch {
	case own && !paper:
		return fault.BadInputf("a gateway that is its own issuer can read single records, so devices in mode hardened refuse it; let another operator run \"mercer issuer\", or write \"mode: paper\" in \"protocol\"")
	case !own && paper:
		return fault.BadInputf("the job has \"mode: paper\", which a gateway with a separate issuer cannot run; remove \"mode: paper\", or simulate the job")
	case !own && len(c.Witnesses) != 2:
		return fault.BadInputf("the gateway has %d addresses of witnesses; give two, of the relay and of the issuer, which countersign the announcements to devices", len(c.Witnesses))
	}
	return nil
}

// configure builds the signed configuration. It writes the configuration to the home, or checks
// that it equals the published one.
func (g *Gateway) configure() (err error) {
	g.configuration = &secvmmachines.Configuration{
		Params: g.server.Params(), Classes: [2]string(secvm.KeysOf(g.Job).Classes), Testers: g.Job.Data.Test.Fraction, Iterations: learner.StepsOf(g.Job).Iterations,
		Window: milliseconds(g.Window), Grace: milliseconds(g.Grace), Pause: milliseconds(g.Pause),
		Issuer: g.Tokens.Name, TokenType: uint16(g.Tokens.Type), TokenKeys: g.Tokens.Keys,
		Signer: g.Identity.Public().Sign,
	}
	if g.published, err = g.configuration.Sign(g.sign); err != nil {
		return fault.BadInput(err)
	}
	g.challenges = make(map[[sha256.Size]byte]uint32)
	for i := range g.configuration.TokenKeys {
		g.challenges[g.configuration.PackageToken(uint32(i)).Digest()] = uint32(i)
	}
	path := g.path("configuration")
	before, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return disk.Replace(path, g.published)
	case err != nil:
		return fmt.Errorf("gateway: %w", err)
	case string(before) != string(g.published):
		return fault.BadInputf("the configuration that devices have, %s, differs in the job, the windows or the token keys; use the same settings, or another --home", path)
	}
	return nil
}

func milliseconds(d time.Duration) uint32 { return uint32(d.Milliseconds()) }

func (g *Gateway) sign(message []byte) []byte { return ed25519.Sign(g.Identity.SigningKey(), message) }

func (g *Gateway) path(name string) string { return filepath.Join(g.Home, name) }

// records returns the path of the file with an iteration's records.
func (g *Gateway) records(iteration uint32) string {
	return g.path("packages-" + strconv.FormatUint(uint64(iteration), 10))
}

// open starts to accept packages for the current iteration, if its window has been announced.
func (g *Gateway) open() error {
	if g.server.Done() || g.chain == nil {
		return nil
	}
	iteration, weights := g.server.Published()
	v, err := g.verifier(int(iteration))
	if err != nil {
		return err
	}
	c, err := counter.Open(g.server.Params(), g.records(iteration), g.Least)
	if err != nil {
		return err
	}
	if err := g.openInbox(); err != nil {
		return errors.Join(err, c.Close())
	}
	a := secvmmachines.Announcement{Chain: g.chain, Weights: secvmmachines.EncodeWeights(weights)}.Encode()
	g.announcement.Store(&a)
	g.window.Store(&window{iteration: iteration, verifier: v, challenge: g.configuration.PackageToken(iteration).Digest(), counter: c})
	g.metrics.iteration.Set(float64(iteration))
	return nil
}

func (g *Gateway) verifier(iteration int) (*privacypass.Verifier, error) {
	if g.Verifiers != nil {
		return g.Verifiers[iteration], nil
	}
	return privacypass.NewRSAVerifier(g.Tokens.Keys[iteration])
}

// Collect registers the gateway's metrics.
func (g *Gateway) Collect(r prometheus.Registerer) error { return g.metrics.collect(r) }

// Handler returns the handler for sealed packages, which the relay forwards, and for requests for
// public data, which anyone can send.
func (g *Gateway) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+secvmmachines.ConfigurationPath, func(w http.ResponseWriter, _ *http.Request) { endpoint.Answer(w, g.published) })
	mux.HandleFunc("GET "+secvmmachines.AnnouncementPath, g.serveAnnouncement)
	mux.Handle("POST /", endpoint.Timely(secvmmachines.RequestSize+ohttp.Overhead, http.HandlerFunc(g.servePackage)))
	return mux
}

// servePackage opens a sealed request and answers it.
func (g *Gateway) servePackage(w http.ResponseWriter, q *http.Request) {
	inbox := g.inbox.Load()
	if inbox == nil {
		http.Error(w, "the gateway has not announced a window", http.StatusServiceUnavailable)
		return
	}
	inbox.ServeHTTP(w, q)
}

// serveAnnouncement sends the announcement, which is equal for all devices.
func (g *Gateway) serveAnnouncement(w http.ResponseWriter, _ *http.Request) {
	a := g.announcement.Load()
	if a == nil {
		http.Error(w, "the gateway has not announced a window", http.StatusServiceUnavailable)
		return
	}
	endpoint.Answer(w, *a)
}

// Iteration returns the iteration whose packages are accepted, or -1 if there is none.
func (g *Gateway) Iteration() int {
	if d := g.window.Load(); d != nil {
		return int(d.iteration)
	}
	return -1
}

// History returns the announcements so far. It must not be called while the gateway runs.
func (g *Gateway) History() secvmmachines.Chain { return slices.Clone(g.chain) }

// metrics holds the gateway's metrics. None of them is about a single package.
type metrics struct {
	outcomes     *prometheus.CounterVec
	packages     map[outcome]prometheus.Counter
	counted      prometheus.Counter
	records      prometheus.Counter
	iteration    prometheus.Gauge
	windows      *prometheus.CounterVec
	participants prometheus.Gauge
}

func (m *metrics) collect(r prometheus.Registerer) error {
	var errs error
	for _, c := range []prometheus.Collector{m.outcomes, m.counted, m.records, m.iteration, m.windows, m.participants} {
		errs = errors.Join(errs, r.Register(c))
	}
	return errs
}

// keyID is the key identifier of every window's key. Because it is constant, it does not
// distinguish requests.
const keyID = 1

// keyPath returns the path of the file with the seed of a window's key. The parameter place is
// the window's index in the history.
func (g *Gateway) keyPath(place int) string { return g.path("key-" + strconv.Itoa(place)) }

// openInbox loads the last window's key, so that the gateway can open requests sealed to it.
func (g *Gateway) openInbox() error {
	place := len(g.chain) - 1
	seed, err := os.ReadFile(g.keyPath(place))
	if err != nil {
		return fmt.Errorf("gateway: the seed of the window's key cannot be read: %w", err)
	}
	key, err := ohttp.NewKey(keyID, seed)
	if err != nil {
		return err
	}
	if public := [secvmmachines.KeySize]byte(key.Config().Encode()); public != g.chain[place].Key {
		return fmt.Errorf("gateway: %s does not hold the announced key", g.keyPath(place))
	}
	g.inbox.Store(&ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: g.serve, Pad: pad, Limit: secvmmachines.RequestSize + ohttp.Overhead})
	return nil
}

// pad returns the padded size of an answer, so that all answers have equal sizes.
func pad(size int) int { return max(size, answerSize) }

// serve answers a request that the gateway has decrypted.
func (g *Gateway) serve(ctx context.Context, q *bhttp.Request) *bhttp.Response {
	switch {
	case q.Path != secvmmachines.PackagePath:
		return &bhttp.Response{Status: http.StatusNotFound}
	case q.Method != http.MethodPost:
		return &bhttp.Response{Status: http.StatusMethodNotAllowed}
	}
	o := g.admit(ctx, q.Content)
	g.metrics.packages[o].Inc()
	return &bhttp.Response{Status: o.status}
}

// eraseKeys erases the keys of all windows, except the key with index spared. The index -1 erases
// all keys.
func (g *Gateway) eraseKeys(spared int) error {
	files, err := filepath.Glob(g.path("key-*"))
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	var errs error
	for _, f := range files {
		if f == g.keyPath(spared) {
			continue
		}
		if err := disk.Erase(f); !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// answerSize is the padded length of the answers to packages.
const answerSize = 32
