package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mercer-fl/mercer/internal/bench"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// measured is a result with a row of every sort.
func measured() benchResult {
	limit, ratio, byCPU, least, most := 100., .7512, .8, .62, 1e-8
	yes, no := true, false
	return benchResult{
		Machine: thisMachine(),
		Result: bench.Result{
			Runs: 5, Counts: "best",
			Rows: []bench.Row{
				{Name: "copy", Value: 31.234, Unit: "GB/s"},
				{Name: "load", Value: 2, Unit: "s", Range: &[2]float64{1.5, 2.5}},
				{Name: "dgemm", Value: 75.12, Unit: "GFLOP/s", Against: "loop", Limit: &limit, Ratio: &ratio, RatioIs: "value/limit", CPURatio: &byCPU, Rule: "ratio >= target", Target: &least, Pass: &yes},
				{Name: "eigenvalues", Value: 3e-8, Rule: "value <= target", Target: &most, Pass: &no},
			},
			Notes: []string{"a9a: it is not there"},
		},
	}
}

func TestBenchPrints(t *testing.T) {
	var out bytes.Buffer
	if err := measured().Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`^linux|^darwin`, `best of 5 turns`,
		`(?m)^copy +31\.2 +GB/s$`,
		`(?m)^load +2 +s +1\.5 to 2\.5$`,
		`(?m)^dgemm +75\.1 +GFLOP/s +100 +0\.751 +0\.8 +ratio >= 0\.62 +yes +loop$`,
		`(?m)^eigenvalues +3e-08 +value <= 1e-08 +NO$`,
		`(?m)^not measured: a9a: it is not there$`,
	} {
		if !regexp.MustCompile(line).MatchString(out.String()) {
			t.Errorf("%s is not in\n%s", line, out.String())
		}
	}
	if err := measured().Print(broken{}); err == nil {
		t.Error("a broken pipe is no error")
	}
}

// A missed target is an error only for who asks, and the figures are not lost.
func TestBenchChecks(t *testing.T) {
	r := measured()
	var e *Error
	if err := r.err(); !errors.As(err, &e) || e.Exit != Failed || e.Result == nil || err.Error() != "target missed: eigenvalues" {
		t.Errorf("%v", err)
	}
	r.Rows = r.Rows[:2]
	if err := r.err(); err != nil {
		t.Errorf("nothing is missed, and yet %v", err)
	}
}

// The findings of a benchmark come as one document with the machine's facts.
func TestBenchDocument(t *testing.T) {
	var out bytes.Buffer
	a := testApp(&out, io.Discard)
	a.json = true
	r, err := a.measure(t.Context(), "nothing", bench.Benchmark{}, benchOptions{runs: 3, check: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.succeed("bench nothing", r); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Result struct {
			Machine struct {
				Cores        int
				Path, Go, OS string
				CPUFeatures  []string `json:"cpu_features"`
			}
			Runs  int
			Rows  []bench.Row
			Notes []string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	m := d.Result.Machine
	if m.Cores < 1 || m.Path == "" || m.OS == "" || !strings.HasPrefix(m.Go, "go") || m.CPUFeatures == nil {
		t.Errorf("machine %+v", m)
	}
	if d.Result.Runs != 3 || d.Result.Rows == nil || d.Result.Notes == nil {
		t.Errorf("%s", out.Bytes())
	}
}

func TestBenchPeerIsNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, errs bytes.Buffer
	none := func(string) string { return "" }
	if code := Main(all.Reader(), nil, []string{"bench", "svm", "--peer", "svm-train"}, strings.NewReader(""), &out, &errs, none); code != Failed {
		t.Errorf("exit code %d", code)
	}
	const want = "mercer: bench: the program to compare with is not installed: svm-train; on Debian: apt-get install libsvm-tools\n"
	if errs.String() != want || out.Len() > 0 {
		t.Errorf("%s%s", errs.String(), out.String())
	}
}

// Ctrl-C leaves the page and the table of the experiments that have ended.
func TestInterruptedBenchLeavesItsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	dir := filepath.Join(t.TempDir(), "papers")
	var out, errs bytes.Buffer
	a := testApp(&out, &errs)
	a.stderr = writerFunc(func(b []byte) (int, error) {
		if bytes.HasPrefix(b, []byte("1 of 2: hannemann figure3 took ")) {
			if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
		return errs.Write(b)
	})
	code := a.execute(a.root(), []string{"bench", "paper", "--only", "hannemann figure3,gu figure5", "--quick", "--out", dir})
	if code != interrupted || !strings.Contains(errs.String(), "interrupted in gu figure5; "+filepath.Join(dir, "report.html")+" has the 1 experiment before it") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	table, err := os.ReadFile(filepath.Join(dir, "figures.csv"))
	if err != nil || !strings.Contains(string(table), "hannemann,figure3") {
		t.Errorf("%v in %s", err, table)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil || !bytes.Contains(page, []byte("hannemann figure3")) {
		t.Errorf("no page: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// The parties of an experiment's job write the log for which the user asks.
func TestJobsOfAPaperKeepTheLog(t *testing.T) {
	var log bytes.Buffer
	a := testApp(io.Discard, io.Discard)
	a.log, a.chatty = slog.New(slog.NewTextHandler(&log, nil)), true
	j := jobtest.Parse(t, `apiVersion: mercer/v1
kind: Job
metadata: {name: j}
spec:
  data: {source: "bundled:wdbc", label: label, partition: {by: rows, parties: [north, south]}}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc}
  compare: []
`)
	if _, err := a.paperJob(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "accepted a session") {
		t.Errorf("the log is %q", log.String())
	}
}

func TestBenchPeersRefuses(t *testing.T) {
	none := func(string) string { return "" }
	for flag, want := range map[string]string{
		"--only=a8a":        `--only is "a8a"; choose from a9a, 20000x100, mnist-4000, phishing, 30000x54`,
		"--peer=thundersvm": `--peer is "thundersvm"; choose from scikit-learn-intelex, scikit-learn`,
	} {
		var out, errs bytes.Buffer
		if code := Main(all.Reader(), nil, []string{"bench", "peers", flag}, strings.NewReader(""), &out, &errs, none); code != Usage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, %s", flag, code, errs.String())
		}
	}
}

func TestBenchSealedRefuses(t *testing.T) {
	none := func(string) string { return "" }
	for flags, want := range map[string]string{
		"--rows=299":                 "there are 299 rows; three parties need at least 300",
		"--features=0":               "there are 0 features",
		"--targets=257":              "there are 257 targets",
		"--peer=secretflow":          `--peer is "secretflow"; choose from spu`,
		"--deployed --rows=1347":     "--rows is not for --deployed",
		"--deployed --targets=10":    "--targets is not for --deployed",
		"--deployed --peer=spu":      "--peer is not for --deployed",
		"--deployed --features=9999": "--features is 9999",
	} {
		var out, errs bytes.Buffer
		command := append([]string{"bench", "sealed"}, strings.Fields(flags)...)
		if code := Main(all.Reader(), nil, command, strings.NewReader(""), &out, &errs, none); code != Usage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, %s", flags, code, errs.String())
		}
	}
}
