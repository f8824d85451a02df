package demo_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/demo"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/simulate"
)

const crowdJob = `apiVersion: mercer/v1
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

const crowdSeed = 5

func crowdConfig(t *testing.T, text string, devices int) demo.CrowdConfig {
	t.Helper()
	t.Setenv(beMercer, "yes")
	j, err := job.Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	digits, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := demo.OddDigits(digits, devices)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(crowdSeed)
	return demo.CrowdConfig{
		Program: []string{os.Args[0]}, Job: j, Rows: rows, Processes: 2, Dir: t.TempDir(),
		Window: 2500 * time.Millisecond, Grace: 1500 * time.Millisecond, Pause: 500 * time.Millisecond, Lead: time.Second,
		Least: 16, Batch: 4, Early: 1, InsecureSeed: &seed,
	}
}

// holdCrowd runs a crowd to its end, while disturb is told how long which window
// has been open.
func holdCrowd(t *testing.T, c demo.CrowdConfig, disturb func(f *demo.Crowd, window int, open time.Duration)) *demo.CrowdResult {
	t.Helper()
	f, err := demo.FoundCrowd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	if err := f.Start(ctx); err != nil {
		t.Fatalf("%v\n%s", err, f.Logs())
	}
	now, since := 0, time.Now().Add(c.Lead)
	r, err := f.Wait(ctx, func(windows int) {
		if windows > now {
			now, since = windows, time.Now().Add(c.Pause)
		}
		disturb(f, now, time.Since(since))
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Logs())
	}
	return r
}

func simulatedModel(t *testing.T, j *job.Job, rows *dataset.Set) string {
	t.Helper()
	r, err := simulate.Devices(t.Context(), simulate.DevicesConfig{Job: j, Rows: rows, Dir: t.TempDir(), Seed: daemon.InsecureSeeds(crowdSeed)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Models[0].SHA256
}

// Gateway, relay and issuer are killed in mid-window, one in each window, and
// started again. All packages are acknowledged, and the model is that of the
// simulation: none of them was lost, and none counted twice.
func TestCrowdSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	c := crowdConfig(t, crowdJob, 24)
	killed := map[string]bool{}
	kill := func(f *demo.Crowd, name string) {
		if killed[name] {
			return
		}
		killed[name] = true
		if err := f.Kill(name); err != nil {
			t.Fatal(err)
		}
		if err := f.StartProcess(name); err != nil {
			t.Fatal(err)
		}
	}
	r := holdCrowd(t, c, func(f *demo.Crowd, window int, open time.Duration) {
		if at := c.Window / 2; open > at && window < 3 {
			kill(f, []string{demo.Issuer, demo.Gateway, demo.Relay}[window])
		}
	})
	if len(killed) != 3 {
		t.Errorf("killed %v", killed)
	}
	if want := 24 * 5 * 3; r.Devices.Acknowledged != want || r.Devices.Refused+r.Devices.Lost != 0 {
		t.Errorf("%+v, where %d packages were to be acknowledged", r.Devices, want)
	}
	if want := simulatedModel(t, c.Job, c.Rows); r.Gateway.SHA256 != want {
		t.Errorf("model %s, simulated %s", r.Gateway.SHA256, want)
	}
}
