package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// site is a member's home with its daemon.
type site struct {
	t       *testing.T
	name    string
	home    Home
	metrics string // host:port
	run     func(context.Context, Home, Options) error
	log     *logBuffer
	stop    context.CancelFunc
	ended   chan error
	reload  chan os.Signal
	seed    func(string) [32]byte // nil: random seeds
	report  ReportWriter          // nil: the home has no page
}

// logBuffer is a log that a test reads while a daemon writes it.
type logBuffer struct {
	drops bool // keeps nothing
	mu    sync.Mutex
	b     bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drops {
		return len(p), nil
	}
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// sites makes the homes of a coordinator boss and of parties, which have joined one federation.
func sites(t *testing.T, parties ...string) map[string]*site {
	t.Helper()
	dir, err := os.MkdirTemp("", "m") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	unused := func() string {
		address, err := endpoint.Unused()
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	broker, list, members := unused(), make(map[string]*site), &roster.Roster{Federation: "clinics"}
	for _, name := range append([]string{"boss"}, parties...) {
		s := &site{t: t, name: name, home: At(filepath.Join(dir, name)), metrics: unused(), run: RunParty, log: &logBuffer{}, reload: make(chan os.Signal, 1)}
		c, role := &Config{Name: name, Coordinator: "nats://" + broker, Metrics: s.metrics}, roster.Party
		if name == "boss" {
			c, role, s.run = &Config{Name: name, Listen: broker, Metrics: s.metrics}, roster.Coordinator, RunCoordinator
		}
		m, err := s.home.Create(all.Reader(), c, role, coordinator.RandomSeed(""))
		if err != nil {
			t.Fatal(err)
		}
		members.Members = append(members.Members, m)
		list[name] = s
	}
	for _, s := range list {
		if err := s.home.Join(all.Reader(), members); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.halt)
	}
	return list
}

func (s *site) start() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.ended = stop, make(chan error, 1)
	o := Options{Reader: all.Reader(), Logger: slog.New(slog.NewTextHandler(s.log, nil)), Version: "v9.9.9", Reload: s.reload, Seed: s.seed, Report: s.report}
	go func() { s.ended <- s.run(ctx, s.home, o) }()
}

// halt ends the daemon, if it runs.
func (s *site) halt() {
	if s.stop == nil {
		return
	}
	s.stop()
	if err := <-s.ended; err != nil {
		s.t.Errorf("%s: %v", s.name, err)
	}
	s.stop = nil
	if s.t.Failed() {
		s.t.Logf("%s:\n%s", s.name, s.log)
	}
}

// get returns a page of the daemon's monitor, or status 0 if it does not answer.
func (s *site) get(path string) (status int, body string) {
	res, err := http.Get("http://" + s.metrics + path)
	if err != nil {
		return 0, ""
	}
	b, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// metric returns a sample of the daemon, or "" if there is none.
func (s *site) metric(sample string) string {
	_, body := s.get("/metrics")
	for line := range strings.Lines(body) {
		if value, is := strings.CutPrefix(line, sample+" "); is {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (s *site) overview() (o overview.Overview, err error) {
	c := admin.NewClient(s.home.Socket())
	defer c.Close()
	return c.Overview(s.t.Context())
}

// within waits until a condition holds, and returns how long it took.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began)
}

// noticed is the time within which a lost member must be named.
const noticed = 10 * time.Second

// A party that is off is named in the overview, the log and the metrics of the coordinator. A daemon is
// ready as long as it can take part in jobs, and it is alive before.
func TestAPartyThatIsOffIsNamed(t *testing.T) {
	of := sites(t, "north", "east")
	boss, north := of["boss"], of["north"]
	north.start()
	within(t, noticed, "north is alive", func() bool { status, _ := north.get("/healthz"); return status == http.StatusOK })
	if status, body := north.get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "north has no connection to boss since") {
		t.Errorf("/readyz of a party without coordinator: %d %q", status, body)
	}
	if o, err := north.overview(); err != nil || len(o.Members) != 1 || o.Members[0].Connected || o.Name != "north" {
		t.Errorf("overview of a party without coordinator: %+v, %v", o, err)
	}
	c := admin.NewClient(north.home.Socket())
	defer c.Close()
	if err := c.Drop(t.Context(), strings.Repeat("0", 32)); err == nil || !strings.Contains(err.Error(), "does not run now (north has no connection to boss") {
		t.Errorf("a command for a party without coordinator: %v", err)
	}
	boss.start()
	within(t, noticed, "boss is ready", func() bool { status, _ := boss.get("/readyz"); return status == http.StatusOK })
	within(t, 2*noticed, "north is ready", func() bool { status, _ := north.get("/readyz"); return status == http.StatusOK })
	within(t, noticed, "boss sees north", func() bool { return boss.metric(`mercer_member_connected{member="north"}`) == "1" })
	o, err := boss.overview()
	if err != nil || len(o.Members) != 2 || o.Members[0].Name != "north" || o.Members[0].Version != "v9.9.9" || o.Members[1].Connected {
		t.Errorf("%+v, %v", o, err)
	}
	within(t, noticed, "the log names east", func() bool { return strings.Contains(boss.log.String(), `msg="a member is not connected" member=east`) })

	north.halt()
	began := time.Now()
	within(t, noticed, "the metrics", func() bool { return boss.metric(`mercer_member_connected{member="north"}`) == "0" })
	within(t, noticed, "the log", func() bool {
		return strings.Contains(boss.log.String(), `msg="a member is not connected" member=north`)
	})
	within(t, noticed, "the overview", func() bool { o, err := boss.overview(); return err == nil && !o.Members[0].Connected })
	if took := time.Since(began); took > noticed {
		t.Errorf("named after %v", took)
	}
	north.start()
	within(t, 2*noticed, "north is back", func() bool { return boss.metric(`mercer_member_connected{member="north"}`) == "1" })
	boss.halt()
	within(t, noticed, "north sees that boss is away", func() bool { return north.metric(`mercer_member_connected{member="boss"}`) == "0" })
	if status, _ := north.get("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz without coordinator: %d", status)
	}
}

const waitingJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: secretname}
spec:
  data: {source: small, label: label}
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`

// A job that waits is counted for each member that it waits for. Neither its id nor its name is in the
// metrics, and a failed job is an event.
func TestMetricsOfAJob(t *testing.T) {
	boss := sites(t, "north", "east")["boss"]
	boss.start()
	within(t, noticed, "boss is ready", func() bool { status, _ := boss.get("/readyz"); return status == http.StatusOK })
	c := admin.NewClient(boss.home.Socket())
	defer c.Close()
	j, err := c.Submit(t.Context(), "job.yaml", []byte(waitingJob))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"north", "east"} {
		within(t, noticed, "the job waits for "+name, func() bool { return boss.metric(fmt.Sprintf("mercer_member_awaited{member=%q}", name)) == "1" })
	}
	if o, err := boss.overview(); err != nil || len(o.Awaiting) != 1 || o.Awaiting[0].Job != j.ID || !slices.Equal(o.Awaiting[0].Members, []string{"north", "east"}) || o.Awaiting[0].Since.IsZero() {
		t.Errorf("%+v, %v", o.Awaiting, err)
	}
	if got := boss.metric(`mercer_jobs{state="running"}`); got != "1" {
		t.Errorf("%q running jobs", got)
	}
	if err := c.Abort(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	within(t, 3*noticed, "the job has failed", func() bool { return boss.metric(`mercer_jobs{state="failed"}`) == "1" })
	for sample, want := range map[string]string{
		`mercer_events_total{event="failed"}`: "1", `mercer_events_total{event="aborted"}`: "1", `mercer_events_total{event="submitted"}`: "1",
		`mercer_member_awaited{member="north"}`: "0", `mercer_broker_accepting`: "1",
	} {
		if got := boss.metric(sample); got != want {
			t.Errorf("%s is %q, want %s", sample, got, want)
		}
	}
	if _, body := boss.get("/metrics"); strings.Contains(body, j.ID) || strings.Contains(body, "secretname") {
		t.Error("the metrics name a job")
	}
}

// still describes a daemon in which nothing happens.
type still struct{ now overview.Overview }

func (s still) Overview() (overview.Overview, error) { return s.now, nil }
func (still) Events() *overview.History              { return overview.NewHistory() }

// At a party, a job that waits for approval is counted by its state, and not among the releases.
func TestMetricsOfApprovals(t *testing.T) {
	north := still{overview.Overview{
		Name: "north", Role: roster.Party,
		Jobs:     []overview.Job{{ID: "1", State: overview.AwaitsApproval}},
		Awaiting: []overview.Awaiting{{Job: "1", Members: []string{"north"}}, {Release: "a", Members: []string{"north"}}, {Release: "b", Members: []string{"north"}}},
	}}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics{source: north})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetGauge().GetValue()
		}
	}
	if jobs, releases := values["mercer_jobs awaiting approval"], values["mercer_releases_awaiting_approval"]; jobs != 1 || releases != 2 {
		t.Errorf("%v jobs and %v releases await approval, want 1 and 2", jobs, releases)
	}
}

var (
	metricName = regexp.MustCompile(`\b(?:mercer|process|go)_[a-z_]+`)
	matcher    = regexp.MustCompile(`\{(\w+)="([\w ]+)"\}`)
)

// queries reads the queries of the dashboard and of the alert rules, by the names of panels and alerts.
func queries(t *testing.T) map[string]string {
	t.Helper()
	read := func(name string, decode func([]byte, any) error, into any) {
		b, err := os.ReadFile(filepath.Join("..", "..", "docs", "monitoring", name))
		if err == nil {
			err = decode(b, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	read("dashboard.json", json.Unmarshal, &dashboard)
	read("alerts.yaml", yaml.Unmarshal, &alerts)
	list := make(map[string]string)
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			list[p.Title] = target.Expr
		}
	}
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			if list[r.Alert] != "" {
				t.Errorf("two rules are called %s", r.Alert)
			}
			list[r.Alert] = r.Expr
		}
	}
	if len(dashboard.Panels) < 10 || len(list) != len(dashboard.Panels)+10 {
		t.Fatalf("%d panels, %d queries", len(dashboard.Panels), len(list))
	}
	return list
}

// Each metric of the dashboard and of the alerts is one that a daemon serves, with the label and value that
// the query asks for. Each metric of the daemons stands on the dashboard or in an alert, and in the manual.
func TestDashboardAndAlerts(t *testing.T) {
	of := sites(t, "north")
	var served strings.Builder
	for _, name := range []string{"boss", "north"} {
		of[name].configure(t, "audit: {syslog: \"unix:///nobody/listens\"}\n")
		of[name].start()
		within(t, 2*noticed, name+" is ready", func() bool { status, _ := of[name].get("/readyz"); return status == http.StatusOK })
		_, body := of[name].get("/metrics")
		served.WriteString(body)
	}
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "operate.md"))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(map[string]bool)
	for of, query := range queries(t) {
		for _, name := range metricName.FindAllString(query, -1) {
			asked[name] = true
			if !strings.Contains(served.String(), "\n# TYPE "+name+" ") {
				t.Errorf("%s asks for %s, which no daemon serves", of, name)
			}
		}
		for _, m := range matcher.FindAllStringSubmatch(query, -1) {
			if m[1] != "job" && !strings.Contains(served.String(), fmt.Sprintf("{%s=%q}", m[1], m[2])) {
				t.Errorf("%s asks for %s=%q, which no daemon serves", of, m[1], m[2])
			}
		}
	}
	own := regexp.MustCompile(`(?m)^# TYPE (mercer_\w+) `).FindAllStringSubmatch(served.String(), -1)
	if len(own) < 10 {
		t.Fatalf("the daemons serve %d metrics of their own", len(own))
	}
	for _, m := range own {
		if !asked[m[1]] {
			t.Errorf("neither the dashboard nor an alert asks for %s", m[1])
		}
		if !bytes.Contains(manual, []byte("`"+m[1])) {
			t.Errorf("docs/operate.md does not explain %s", m[1])
		}
	}
}

// Metrics are served on loopback only, and refused before anything runs.
func TestMetricsStayOnTheMachine(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:9464": "", `"[::1]:9464"`: "", "localhost:9464": "",
		"0.0.0.0:9464":   `config.yaml:2: the setting "metrics" is "0.0.0.0:9464", which other machines can reach; write 127.0.0.1:9464`,
		`":9464"`:        "which other machines can reach",
		"10.0.0.1:9464":  "which other machines can reach",
		"host:9464":      "which other machines can reach",
		"9464":           "write a port on loopback, such as 127.0.0.1:9464",
		`"127.0.0.1:"`:   "write a port on loopback",
		"127.0.0.1:none": "write a port on loopback",
		"127.0.0.1:0":    "write a port on loopback",
	} {
		_, err := config(t, "name: north\nmetrics: "+text+"\n")
		if want == "" && err != nil || want != "" && (fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want)) {
			t.Errorf("metrics: %s: %v, want %q", text, err, want)
		}
	}
	taken := sites(t, "north")["boss"]
	l, err := endpoint.Listen(taken.metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test's
	err = taken.run(t.Context(), taken.home, Options{Reader: all.Reader(), Logger: slog.New(slog.DiscardHandler)})
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "cannot listen on "+taken.metrics) {
		t.Errorf("a port that is taken: %v", err)
	}
	if _, err := os.Stat(taken.home.path("queues")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a daemon that could not start has made queues: %v", err)
	}
}
