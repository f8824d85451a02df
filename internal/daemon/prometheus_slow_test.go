//go:build slow

package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/node/admin"
)

// A real Prometheus accepts the configuration and the alert rules of docs/monitoring, scrapes every daemon, and
// answers each query of the dashboard and of the alerts. The queries about what is there have samples, and the
// alerts about members and jobs fire for what happens here.
func TestPrometheusAnswers(t *testing.T) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatalf("%v; install Debian's package prometheus", err)
	}
	of := sites(t, "north", "east")
	boss, north := of["boss"], of["north"]
	log := filepath.Join(filepath.Dir(boss.home.folder), "log")
	defer watchAt(t, log).stop()
	boss.configure(t, "audit: {syslog: \"unix://"+log+"\"}\n")
	var targets []string
	for _, s := range []*site{boss, north} {
		s.start()
		within(t, 2*noticed, s.name+" is ready", func() bool { status, _ := s.get("/readyz"); return status == http.StatusOK })
		targets = append(targets, fmt.Sprintf("%q", s.metrics))
	}
	at := startPrometheus(t, program, strings.Join(targets, ", "))
	within(t, time.Minute, "Prometheus has scraped both daemons twice", func() bool { return len(at.ask(t, `rate(process_cpu_seconds_total{job="mercer"}[1m])`)) == 2 })
	list := queries(t)
	for of, query := range list {
		samples := at.ask(t, query) // fails unless Prometheus understands the query
		t.Logf("%s: %d samples", of, len(samples))
		if isAlert := strings.HasPrefix(of, "Mercer"); !isAlert && len(samples) == 0 && !strings.HasPrefix(of, "Events") {
			t.Errorf("%s: %s has no sample", of, query)
		}
	}
	fires := func(alert string, members ...string) {
		within(t, time.Minute, alert+" fires", func() bool {
			var names []string
			for _, s := range at.ask(t, list[alert]) {
				names = append(names, s.Metric["member"])
			}
			return slices.Equal(slices.Sorted(slices.Values(names)), members)
		})
	}
	fires("MercerMemberDisconnected", "east")
	c := admin.NewClient(boss.home.Socket())
	defer c.Close()
	j, err := c.Submit(t.Context(), "job.yaml", []byte(strings.Replace(waitingJob, "label: label", "label: label, partition: {parties: [east, north]}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	fires("MercerJobFailed", "") // north has no such table and refuses the job
	if j, err = c.Wait(t.Context(), j.ID); err != nil || j.Failure == nil {
		t.Errorf("%+v, %v", j, err)
	}
	north.halt()
	fires("MercerDaemonDown", "")
	fires("MercerMemberDisconnected", "east", "north")
	if j, err = c.Submit(t.Context(), "job.yaml", []byte(waitingJob)); err != nil {
		t.Fatal(err)
	}
	fires("MercerStageWaits", "east", "north")
	if err := c.Abort(t.Context(), j.ID); err != nil {
		t.Error(err)
	}
}

// server is a running Prometheus.
type server struct{ address string }

// startPrometheus starts Prometheus with the configuration of docs/monitoring, on the targets, with short intervals.
func startPrometheus(t *testing.T, program, targets string) server {
	t.Helper()
	dir := t.TempDir()
	docs := filepath.Join("..", "..", "docs", "monitoring")
	config, err := os.ReadFile(filepath.Join(docs, "prometheus.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile(filepath.Join(docs, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("15s", "1s", `"127.0.0.1:9464"`, targets).Replace(string(config))
	file := filepath.Join(dir, "prometheus.yaml")
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "alerts.yaml"), rules, 0o600)); err != nil {
		t.Fatal(err)
	}
	address, err := endpoint.Unused()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		ended := cmd.Wait()
		if b, err := os.ReadFile(log.Name()); err == nil && (t.Failed() || ended != nil) {
			t.Logf("prometheus: %v\n%s", ended, b)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	s := server{address}
	within(t, time.Minute, "Prometheus is ready", func() bool {
		res, err := http.Get("http://" + address + "/-/ready")
		return err == nil && errors.Join(res.Body.Close()) == nil && res.StatusCode == http.StatusOK
	})
	return s
}

// sample is a sample of a query's answer.
type sample struct {
	Metric map[string]string
}

// ask returns the answer to a query.
func (s server) ask(t *testing.T, query string) []sample {
	t.Helper()
	res, err := http.Get("http://" + s.address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Status, Error string
		Data          struct{ Result []sample }
	}
	if err := json.Unmarshal(b, &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %v %s", query, err, b)
	}
	return answer.Data.Result
}
