package devices_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	played "github.com/mercer-fl/mercer/internal/method/fedcfk/local"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/internal/node/devices"
	"github.com/mercer-fl/mercer/internal/node/devices/simulator"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

const people = 24

// films is a recommender on devices; dropout and the catalogue are filled in.
const films = `apiVersion: mercer/v1
kind: Job
metadata: {name: films}
spec:
  data:
    source: ratings
    like: 3
    partition: {by: devices%s}
    test: {every: 12}
  protocol: {name: fedcfk, dropped: 0.085, items: [%s]}
  kernel: {name: tanimoto}
  learner: {name: cf-komd, recommend: 3}
  timeout: {join: 30s, round: %s}
`

func ratings() *dataset.Ratings { return generated.Ratings(people, 24, 12, [32]byte{3}) }

func filmsJob(t testing.TB, r *dataset.Ratings, dropout, round string) *job.Job {
	return jobtest.Parse(t, fmt.Sprintf(films, dropout, strings.Join(r.Items, ", "), round))
}

// testbed is a federation of devices in one process.
type testbed struct {
	t         testing.TB
	dir       string
	enrolment *devices.Enrolment
	signed    []byte
	authority ed25519.PublicKey
	keys      []ed25519.PrivateKey
	people    []method.Table
	limits    method.Limits
	draw      func(device int) func(label string) [32]byte // may be nil
	address   string
	leaves    func(name, step, kind string) bool
	late      map[string]<-chan struct{} // when devices come that do not come at once
	vaults    []vault.Vault
	turns     chan struct{}
	patience  time.Duration  // of devices
	records   mortal         // of the server's last life
	begun     func(step int) // is called when a device is first told of a step; may be nil
	mu        sync.Mutex
	told      map[int][]byte // the announcements of steps
}

func newTestbed(t testing.TB, j *job.Job, people []method.Table) *testbed {
	t.Helper()
	w := &testbed{t: t, dir: t.TempDir(), people: people, limits: method.DefaultLimits(), turns: make(chan struct{}, 2), patience: time.Minute, leaves: func(string, string, string) bool { return false }}
	var public []ed25519.PublicKey
	for i := range people {
		seed := sha256.Sum256(fmt.Appendf(nil, "device %d", i))
		w.keys = append(w.keys, ed25519.NewKeyFromSeed(seed[:]))
		public = append(public, w.keys[i].Public().(ed25519.PublicKey))
		w.vaults = append(w.vaults, vault.NewMemory())
	}
	authority := ed25519.NewKeyFromSeed(make([]byte, 32))
	w.authority = authority.Public().(ed25519.PublicKey)
	var err error
	if w.signed, err = devices.Enrol(j, public, authority); err != nil {
		t.Fatal(err)
	}
	if w.enrolment, err = devices.Open(w.signed, w.authority, all.Reader()); err != nil {
		t.Fatal(err)
	}
	if w.address, err = endpoint.Unused(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *testbed) model() string { return filepath.Join(w.dir, "model") }

// sameModel compares the server's model with a simulation's.
func (w *testbed) sameModel(want []byte) {
	w.t.Helper()
	if got, err := os.ReadFile(w.model()); err != nil || !bytes.Equal(got, want) {
		w.t.Errorf("a model of %d bytes, simulated %d bytes, not the same; error %v", len(got), len(want), err)
	}
}

// life is one life of the server: it ends by itself, or before a journal gets a record that
// the test does not let pass.
func (w *testbed) life(ctx context.Context, dies func(appended int) bool) (*method.Result, error) {
	w.t.Helper()
	kept, err := vault.OpenDisk(filepath.Join(w.dir, "vault"), "test")
	if err != nil {
		w.t.Fatal(err)
	}
	defer kept.Close() //nolint:errcheck
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	w.records = mortal{Vault: kept, dies: dies, kill: kill}
	s, err := devices.New(devices.Config{Enrolment: w.enrolment, Vault: &w.records, Model: w.model(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	web := &http.Server{Handler: w.overheard(s.Handler()), ReadHeaderTimeout: time.Minute}
	defer web.Close() //nolint:errcheck // as a process that is gone
	go web.Serve(l)   //nolint:errcheck // until then
	r, err := s.Run(ctx)
	if err == nil {
		err = web.Shutdown(ctx)
	}
	return r, err
}

// overheard notes what devices are told when a step begins.
func (w *testbed) overheard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, q *http.Request) {
		step, err := strconv.Atoi(q.URL.Query().Get("index"))
		if err != nil {
			h.ServeHTTP(to, q)
			return
		}
		h.ServeHTTP(&listener{ResponseWriter: to, heard: func(b []byte) { w.hear(step, b) }}, q)
	})
}

func (w *testbed) hear(step int, announced []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.told[step]; known {
		return
	}
	if w.told == nil {
		w.told = make(map[int][]byte)
	}
	w.told[step] = bytes.Clone(announced)
	if w.begun != nil {
		w.begun(step)
	}
}

// listener hands on what is written with status 200.
type listener struct {
	http.ResponseWriter
	other bool // status
	heard func([]byte)
}

func (l *listener) Unwrap() http.ResponseWriter { return l.ResponseWriter }

func (l *listener) WriteHeader(status int) {
	l.other = status != http.StatusOK
	l.ResponseWriter.WriteHeader(status)
}

func (l *listener) Write(b []byte) (int, error) {
	if !l.other {
		l.heard(b)
	}
	return l.ResponseWriter.Write(b)
}

// client is the devices' way to the server.
func (w *testbed) client() *http.Client {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * len(w.keys)}}
	w.t.Cleanup(c.CloseIdleConnections)
	return c
}

// devices runs all devices to their ends.
func (w *testbed) devices(ctx context.Context) []*devices.Report {
	reports, client := make([]*devices.Report, len(w.keys)), w.client()
	var running sync.WaitGroup
	for i := range w.keys {
		running.Go(func() {
			name := devices.Name(i)
			if late := w.late[name]; late != nil {
				<-late
			}
			var err error
			if reports[i], err = w.device(ctx, i, client); err != nil {
				w.t.Errorf("%s: %v", name, err)
			}
		})
	}
	running.Wait()
	return reports
}

// device runs one device to its end.
func (w *testbed) device(ctx context.Context, i int, client *http.Client) (*devices.Report, error) {
	c := devices.DeviceConfig{
		Enrolment: w.enrolment, Server: "http://" + w.address, Key: w.keys[i], Table: w.people[i], Limits: w.limits,
		Vault: w.vaults[i], HTTP: client, Patience: w.patience, Turns: w.turns, Logger: slog.New(slog.DiscardHandler),
		Leaves: func(step, kind string) bool { return w.leaves(devices.Name(i), step, kind) },
	}
	if w.draw != nil {
		c.Draw = w.draw(i)
	}
	d, err := devices.NewDevice(c)
	if err != nil {
		return nil, err
	}
	return d.Run(ctx)
}

// mortal is a vault of a process that dies when it appends a record.
type mortal struct {
	vault.Vault
	dies     func(appended int) bool
	last     bool // that record is written, and no other
	kill     func()
	appended int
	open     int // sessions
	most     int // that were open at a time
}

// Create returns a session that dies with its server.
func (m *mortal) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (vault.Session, error) {
	s, err := m.Vault.Create(id, seed, proposal)
	m.opened(1)
	return &mortalSession{s, m}, err
}

func (m *mortal) opened(n int) {
	m.open += n
	m.most = max(m.most, m.open)
}

// Open returns such sessions too.
func (m *mortal) Open() ([]vault.Session, []vault.Lost, error) {
	open, lost, err := m.Vault.Open()
	m.opened(len(open))
	for i := range open {
		open[i] = &mortalSession{open[i], m}
	}
	return open, lost, err
}

type mortalSession struct {
	vault.Session
	of *mortal
}

var errDead = errors.New("the process has died")

// Append writes a record, or dies before or after it.
func (s *mortalSession) Append(r journal.Record) error {
	s.of.appended++
	dies := s.of.dies(s.of.appended)
	if !dies || s.of.last {
		if err := s.Session.Append(r); err != nil {
			return err
		}
		s.of.last = s.of.last && !dies
	}
	if dies {
		s.of.kill()
		return errDead
	}
	return nil
}

// Destroy erases the session.
func (s *mortalSession) Destroy(outcome string) error {
	s.of.open--
	return s.Session.Destroy(outcome)
}

func never(int) bool { return false }

// simulated runs the job in one process, and returns its kernel.
func simulated(t testing.TB, j *job.Job, r *dataset.Ratings) (*method.Result, []byte) {
	t.Helper()
	dir := t.TempDir()
	done, err := played.Support().Play(t.Context(), local.Play{
		Job: j, Ratings: func(string) (*dataset.Ratings, error) { return r, nil }, Dir: dir, Seed: daemon.InsecureSeeds(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := os.ReadFile(filepath.Join(dir, "items.kernel"))
	if err != nil {
		t.Fatal(err)
	}
	return done, kernel
}

// schedule draws who vanishes from which step, before which message, as a simulation of the
// job does.
func schedule(j *job.Job, n int) map[string]map[string]string {
	c := clients.New(j, n, daemon.InsecureSeeds(1), nil)
	first := c.Leavers(fedcfk.PurposePopularity, c.Names)
	stayed := slices.DeleteFunc(slices.Clone(c.Names), func(name string) bool { return first[name] != "" })
	return map[string]map[string]string{fedcfk.Popularity: first, fedcfk.Triangle: c.Leavers(fedcfk.PurposeTriangle, stayed)}
}

func figuresOf(t testing.TB, r *method.Result) []sums.Figures {
	t.Helper()
	d, err := method.DetailsOf[fedcfk.Details](r)
	if err != nil || d == nil {
		t.Fatalf("details %s, error %v", r.Details, err)
	}
	return d.Devices.Sums
}

// A job of devices over HTTP ends in the kernel of a simulation, byte for byte, and each device in the
// same recommendations: with all devices, and without those that vanish on the way. The server
// dies twice in the second case.
func TestDevicesEqualSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, tt := range map[string]struct {
		dropout, round string
		deaths         []int // records of a life after which the server dies
	}{
		"everybody stays, the server too":        {"", "20s", nil},
		"some vanish, and the server dies twice": {", dropout: 0.085", "2s", []int{60, 70}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ratings()
			played := filmsJob(t, r, tt.dropout, tt.round)
			want, kernel := simulated(t, played, r)
			w := newTestbed(t, filmsJob(t, r, "", tt.round), simulator.Ratings(r))
			going := schedule(played, people)
			w.leaves = func(name, step, kind string) bool { return going[step][name] == kind }
			var reports []*devices.Report
			var running sync.WaitGroup
			var left time.Time
			running.Go(func() {
				reports = w.devices(t.Context())
				left = time.Now()
			})
			for _, after := range tt.deaths {
				if _, err := w.life(t.Context(), func(n int) bool { return n > after }); !errors.Is(err, errDead) {
					t.Fatalf("the server lives on: %v", err)
				}
			}
			done, err := w.life(t.Context(), never)
			if err != nil {
				t.Fatal(err)
			}
			ended := time.Now()
			running.Wait()
			if lingered := ended.Sub(left); lingered > 10*time.Second {
				t.Errorf("the server ends %v after the last device", lingered)
			}
			w.sameModel(kernel)
			told, heard := figuresOf(t, want), figuresOf(t, done)
			if tt.dropout != "" { // a simulation counts no message to a device that is gone
				for i := range told {
					heard[i].ToServer, heard[i].FromServer = told[i].ToServer, told[i].FromServer
				}
			}
			if d := cmp.Diff(told, heard); d != "" {
				t.Errorf("the sums (- simulated): %s", d)
			}
			vanish := len(going[fedcfk.Popularity]) + len(going[fedcfk.Triangle])
			checkReports(t, reports, vanish)
		})
	}
}

func checkReports(t *testing.T, reports []*devices.Report, vanish int) {
	t.Helper()
	finished, vanished := 0, 0
	for i, one := range reports {
		switch {
		case one.Vanished && len(one.Recommended) == 0 && !one.Finished:
			vanished++
		case one.Finished && len(one.Recommended) == 3 && one.Sent > 1000 && one.Received > 1000:
			finished++
		default:
			t.Errorf("%s: %+v", devices.Name(i), one)
		}
	}
	if vanished != vanish || finished != people-vanish {
		t.Errorf("%d finished and %d vanished, of %d", finished, vanished, vanish)
	}
}
