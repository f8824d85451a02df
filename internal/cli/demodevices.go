package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// devicesJob is the job file of the demonstration: a small job with three windows in a minute.
const devicesJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: demo-devices}
spec:
  data:
    source: rows.csv
    label: label
    partition: {by: devices}
    test: {fraction: 0.25}
  protocol: {name: secvm, classes: [even, odd], bins: 128, packages: 8, cohort: 100}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.1, iterations: 2}
  compare: []
`

const (
	devicesDevices   = 200
	devicesProcesses = 4
)

// devicesDemo is the result of the devices' demonstration.
type devicesDemo struct {
	Devices      int                 `json:"devices"`
	Processes    []string            `json:"processes"`
	Windows      int                 `json:"windows"`
	Packages     int                 `json:"packages"`     // number of packages that each device sends in each window
	Acknowledged int                 `json:"acknowledged"` // number of acknowledged packages
	Refused      int                 `json:"refused"`
	Lost         int                 `json:"lost"`
	Accuracy     float64             `json:"accuracy"`
	Classes      []gateway.ClassTest `json:"classes"`
	Model        string              `json:"model"`
	SHA256       string              `json:"model_sha256"`
	Leakage      map[string][]string `json:"leakage"`
	Timings      map[string]float64  `json:"timings_s"`
	// Exposures says, by role, how much of others' records the role can reconstruct.
	Exposures map[string]protocol.Exposure `json:"row_exposure"`
	majority  float64
	notices   noticeList
	verbose   bool // also print the details
}

// outcome converts the accuracy, the counts and the leakage to the outcome of a job.
func (c devicesDemo) outcome() outcome {
	tested := 0
	for _, class := range c.Classes {
		tested += int(class.Tested)
	}
	return outcome{
		Result:  &method.Result{Metrics: learner.Metrics{"accuracy": c.Accuracy}, HeldOut: tested, Training: c.Devices - tested, Leakage: c.Leakage, Exposures: c.Exposures},
		shown:   &method.Presentation{Unit: "devices", Majority: c.majority},
		notices: c.notices, verbose: c.verbose,
	}
}

// Print writes the verdict, the scores, who can reconstruct records, the notices, and the model's
// path. With verbose, it writes the details too.
func (c devicesDemo) Print(w io.Writer) error {
	p, o := &printer{w: w}, c.outcome()
	o.printVerdict(p)
	o.printScores(p)
	o.printPrivacy(p)
	o.printNotices(p)
	if c.verbose {
		c.printDetails(p)
	}
	p.linef("\nmodel: %s", c.Model)
	return p.err
}

// printDetails prints the counts, the costs, and what each role learns.
func (c devicesDemo) printDetails(p *printer) {
	p.linef("\n%d devices sent %d packages each in %s; %d were acknowledged, %d refused, %d lost", c.Devices, c.Packages, humanize.Count(c.Windows, "window"), c.Acknowledged, c.Refused, c.Lost)
	for _, class := range c.Classes {
		p.linef("%s", class)
	}
	p.linef("time: %.1f s, of which tokens and start %.1f s; processors %.1f s", c.Timings["total"], c.Timings["start"], c.Timings["cpu_s"])
	p.printLeakage(c.Leakage)
	p.linef("%s", listItem("issuer", 0, "The issuer knows every device, and that it fetched its tokens for every window. It cannot recognise a token, and saw no package."))
	p.linef("\nmodel_sha256: %s", c.SHA256)
}

// devices runs issuer, relay, gateway and simulated devices as processes.
func (a *app) devices(ctx context.Context, f demoFlags) (r Result, err error) {
	if err := folder(f.out); err != nil {
		return nil, err
	}
	j, err := a.reader.Parse("devices.yaml", []byte(devicesJob))
	if err != nil {
		return nil, err
	}
	digits, err := bundled.Load("digits")
	if err != nil {
		return nil, err
	}
	rows, err := demo.OddDigits(digits, devicesDevices)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mercer-devices-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := demo.DevicesConfig{
		Program: []string{program}, Job: j, Rows: rows, Processes: devicesProcesses, Dir: dir,
		Window: 6 * time.Second, Grace: 3 * time.Second, Pause: 6 * time.Second, Lead: 6 * time.Second,
		Least: 64, Batch: 8, Early: learner.StepsOf(j).Iterations + 1,
	}
	if f.seed.given() {
		c.InsecureSeed = &f.seed.seed
	}
	return a.runDevices(ctx, c, f.out)
}

// runDevices runs the processes of the demonstration until they end, and writes the model into the
// folder target.
func (a *app) runDevices(ctx context.Context, c demo.DevicesConfig, target string) (r Result, err error) {
	began := time.Now()
	fed, err := demo.FoundDevices(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fed.Stop()) }()
	if err := fed.Start(ctx); err != nil {
		return nil, err
	}
	started := time.Since(began).Seconds()
	shown := a.progress()
	defer shown.Close()
	total := int64(learner.StepsOf(c.Job).Iterations + 1)
	done, err := fed.Wait(ctx, func(windows int) {
		shown.Step(protocol.Progress{Stage: "windows", Done: int64(windows), Total: total})
	})
	if err != nil {
		return nil, err
	}
	path, err := keepModel(done.Gateway.Model, target)
	if err != nil {
		return nil, err
	}
	if err := fed.Stop(); err != nil { // daemon.UsageOfChildren counts only processes that have ended
		return nil, err
	}
	cpu, _ := daemon.UsageOfChildren()
	d := devicesDemoOf(c, fed.Names(), done, path, map[string]float64{"start": started, "total": time.Since(began).Seconds(), "cpu_s": cpu})
	d.verbose = a.verbose
	return d, nil
}

func devicesDemoOf(c demo.DevicesConfig, processes []string, done *demo.DevicesResult, model string, timings map[string]float64) devicesDemo {
	d := devicesDemo{
		Devices: done.Devices.Devices, Processes: processes, Windows: done.Gateway.Windows, Packages: gateway.Spec(c.Job).Packages,
		Acknowledged: done.Devices.Acknowledged, Refused: done.Devices.Refused, Lost: done.Devices.Lost,
		Classes: done.Gateway.Classes, Model: model, SHA256: done.Gateway.SHA256, Leakage: done.Gateway.Leakage, Exposures: done.Gateway.Exposures, majority: done.Gateway.Majority,
		Timings: timings,
	}
	right, all := uint64(0), uint64(0)
	for _, class := range d.Classes {
		right, all = right+class.Correct, all+class.Tested
	}
	d.Accuracy = float64(right) / float64(max(all, 1))
	return d
}

// keepModel copies a model into the folder of the results.
func keepModel(from, out string) (string, error) {
	model, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	to := filepath.Join(out, "model")
	return to, inFolder(out, func() error { return disk.Replace(to, model) })
}
