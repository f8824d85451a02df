package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/forecast"
	"github.com/mercer-fl/mercer/internal/job"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/runs"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
)

// bundledExamples are the examples on bundled data whose protocol has formulas for its costs.
func bundledExamples() []string {
	return []string{
		"breast-cancer-vertical", "digits-hospitals", "digits-kpca", "digits-sites", "digits-sums",
		"fdskl-digits", "fdskl-ten-digits", "fdskl-wdbc", "moments-digits", "sealed-digits", "wdbc", "wdbc-gp", "wdbc-nu-svc",
	}
}

// The plan of each example states, byte for byte, what each party sends and receives in a simulation.
func TestPlannedBytesAreTheBytesOfARun(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, name := range bundledExamples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := planAndRun(t, exampleAlone(t, name))
			one.checkBytes(t)
			t.Log(one.row(name))
		})
	}
}

// runAlone is the program mercer-alone: it runs a simulation without anything that mercer simulate adds
// to it, which no plan counts, and prints the result.
func runAlone() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, reader: all.Reader(), local: own.Local(), log: slog.New(slog.DiscardHandler), notices: new(notices), json: true}
	r, err := a.alone(context.Background(), os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"result": r})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(Failed)
	}
	os.Exit(0)
}

// alone runs the first run of a job, and measures the whole process until its end.
func (a *app) alone(ctx context.Context, path string) (*method.Result, error) {
	f, err := a.readSimulable(path)
	if err != nil {
		return nil, err
	}
	j := runs.Of(f.job)[0].Job
	shares, err := partition.Shares(j, a.loader(ctx))
	if err != nil {
		return nil, err
	}
	defer a.collectSooner(shares)()
	dir, err := os.MkdirTemp("", "mercer-alone-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of a test
	r, _, err := a.runSimulation(ctx, j, shares, dir, coordinator.RandomSeed)
	if err != nil {
		return nil, err
	}
	_, r.PeakRSS = daemon.Usage()
	return r, nil
}

// rehearsal is a plan beside the result of the same job.
type rehearsal struct {
	plan   planned
	result struct {
		Parties []method.Cost      `json:"parties"`
		Timings map[string]float64 `json:"timings_s"`
		PeakRSS int64              `json:"peak_rss_bytes"`
	}
}

// planAndRun plans a job and runs it, both as processes.
func planAndRun(t *testing.T, path string) rehearsal {
	t.Helper()
	var one rehearsal
	one.plan.Plan = new(forecast.Plan)
	run(t, &one.plan, "plan", path)
	run(t, &one.result, "alone", path)
	return one
}

// run starts mercer with --json and decodes the result.
func run(t *testing.T, result any, args ...string) {
	t.Helper()
	program := "mercer"
	if args[0] == "alone" {
		program, args = "mercer-alone", args[1:]
	}
	cmd := exec.CommandContext(t.Context(), program, append(args, "--json")...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("mercer %v: %v\n%s%s", args, err, complaints.Bytes(), out.Bytes())
	}
	document := struct{ Result any }{result}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatalf("mercer %v: %v", args, err)
	}
}

// exampleAlone writes an example without its comparisons, which no plan counts, and its dictionary
// beside it. It returns the path.
func exampleAlone(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dictionary, err := os.ReadFile(filepath.Join("..", "..", "examples", "digits-classes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^  compare: .*$`).ReplaceAll(text, []byte("  compare: []"))
	folder := t.TempDir()
	path := filepath.Join(folder, name+".yaml")
	for file, content := range map[string][]byte{path: text, filepath.Join(folder, "digits-classes.yaml"): dictionary} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// checkBytes compares the bytes of each party.
func (r rehearsal) checkBytes(t *testing.T) {
	t.Helper()
	if len(r.result.Parties) < 2 {
		t.Fatalf("the result names %d parties", len(r.result.Parties))
	}
	for _, ran := range r.result.Parties {
		at := slices.IndexFunc(r.plan.Members, func(m forecast.Member) bool { return m.Name == ran.Name })
		if at < 0 {
			t.Fatalf("the plan has no %s", ran.Name)
		}
		m := r.plan.Members[at]
		received := uint64(m.Received) == ran.Received
		if r.plan.Protocol == "sealed" {
			received = ran.Received <= uint64(m.Received) // a keeper that has the model does not wait for the others' last words
		}
		if uint64(m.Sent) != ran.Sent || !received {
			t.Errorf("%s is planned to send %d bytes and to receive %d; it has sent %d and received %d", ran.Name, m.Sent, m.Received, ran.Sent, ran.Received)
		}
	}
}

// sent returns the bytes that all parties were to send and have sent.
func (r rehearsal) sent() (planned, ran int64) {
	for _, m := range r.plan.Members {
		if m.Name != forecast.Coordinator {
			planned += m.Sent
		}
	}
	for _, m := range r.result.Parties {
		ran += int64(m.Sent)
	}
	return planned, ran
}

// row writes the plan beside the run: bytes that the parties send, memory and time of the process.
func (r rehearsal) row(name string) string {
	planned, ran := r.sent()
	one := r.plan.OneProcess
	return fmt.Sprintf("%-24s %12d %12d %7.0f MiB %7.0f MiB (%4.2f) %8.2f s %8.2f s (%4.2f)", name, planned, ran,
		mib(one.Memory), mib(r.result.PeakRSS), float64(one.Memory)/float64(r.result.PeakRSS),
		one.Seconds, r.result.Timings["total"], one.Seconds/r.result.Timings["total"])
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func TestStatedCounts(t *testing.T) {
	for _, tt := range []struct {
		text string
		want map[string]int
	}{
		{"2000", map[string]int{"": 2000}},
		{"north=2000,south=900", map[string]int{"north": 2000, "south": 900}},
		{"north=2000,900", map[string]int{"north": 2000, "": 900}},
		{"", nil}, {"0", nil}, {"-1", nil}, {"2e3", nil}, {"=5", nil}, {"north=", nil}, {"1,2", nil}, {"north=1,north=2", nil}, {"99999999999999999999", nil}, {"100000001", nil},
	} {
		got, err := statedCounts("--rows", tt.text)
		if (err != nil) != (tt.want == nil) || tt.want != nil && !maps.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v", tt.text, got, err)
		}
	}
}

func TestRate(t *testing.T) {
	for text, want := range map[string]float64{"100Mbit": 12.5e6, "1.5Gbit": 187.5e6, "64kbit": 8e3} {
		if v, ok := rate(text); !ok || v != want {
			t.Errorf("%s: %v, %v", text, v, ok)
		}
	}
	for _, text := range []string{"", "100", "100MB", "Mbit", "-1Mbit", "0Mbit", "NaNMbit", "InfMbit", "1e12Mbit"} {
		if v, ok := rate(text); ok {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

// A latency below 0 is a mistake of the user, and no latency of 0.
func TestNegativeLatency(t *testing.T) {
	f := planFlags{latency: -time.Millisecond}
	if _, err := f.line(job.Link{Latency: time.Second}); err == nil || classify(err).Exit != Usage {
		t.Errorf("got %v", err)
	}
}
