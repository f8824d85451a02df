package devices_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	summed "github.com/mercer-fl/mercer/internal/method/secvm/local"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/internal/node/devices"
	"github.com/mercer-fl/mercer/internal/node/devices/simulator"
)

// parity is a job whose windows are sums; iterations, dropout and rounds are filled in.
const parity = `apiVersion: mercer/v1
kind: Job
metadata: {name: parity}
spec:
  data:
    source: rows
    label: label
    partition: {by: devices%s}
    test: {fraction: 0.25}
  protocol: {name: secvm, aggregation: secagg, classes: [even, odd], bins: 64, packages: 24, cohort: 8, dropped: 0.13}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.1, iterations: %d, average: %d}
  compare: []
  timeout: {join: 30s, round: %s}
`

const steps = 3 // of the model, and a window more for the test

func parityJob(t testing.TB, dropout string, iterations, average int, round string) *job.Job {
	return jobtest.Parse(t, fmt.Sprintf(parity, dropout, iterations, average, round))
}

func digits(t testing.TB, n int) *dataset.Set {
	t.Helper()
	all, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := demo.OddDigits(all, n)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// newRows is a federation of devices with a record for each device, which draws as a simulation's.
func newRows(t testing.TB, j *job.Job, rows *dataset.Set) *testbed {
	t.Helper()
	w := newTestbed(t, j, simulator.Rows(rows))
	w.limits.Cohort = 8
	w.draw = func(device int) func(label string) [32]byte {
		return func(label string) [32]byte { return daemon.InsecureSeeds(1)(label + "/" + strconv.Itoa(device)) }
	}
	return w
}

// trained runs the job in one process, and returns its model.
func trained(t testing.TB, j *job.Job, rows *dataset.Set) (*method.Result, []byte) {
	t.Helper()
	dir := t.TempDir()
	done, err := summed.Support().Play(t.Context(), local.Play{
		Job: j, Rows: func(string) (*dataset.Set, error) { return rows, nil }, Dir: dir, Seed: daemon.InsecureSeeds(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(filepath.Join(dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	return done, model
}

// absences draws who vanishes from which window, as a simulation of the job does.
func absences(j *job.Job, n int) (going map[string]map[string]string, all int) {
	c, going := clients.New(j, n, daemon.InsecureSeeds(1), nil), make(map[string]map[string]string)
	for i := range steps + 1 {
		leavers := c.Leavers(fmt.Sprintf("secvm/iteration/%d", i), c.Names)
		going[secvm.WindowName(i)] = leavers
		all += len(leavers)
	}
	return going, all
}

func detailsOf(t testing.TB, r *method.Result) secvm.Figures {
	t.Helper()
	d, err := method.DetailsOf[secvm.Details](r)
	if err != nil || d == nil {
		t.Fatalf("details %v, error %v", r.Details, err)
	}
	return *d.SecVM
}

func weightsOf(t *testing.T, model []byte) []float64 {
	t.Helper()
	m, err := secvm.DecodeLinearModel(model)
	if err != nil {
		t.Fatal(err)
	}
	return m.Weights
}

// A job of devices over HTTP gives a simulation's model, byte for byte, and publishes its weights in
// each window: with all devices, and with some that vanish from each window and come back for
// the next, while the server dies in the first, in the second, and between them.
func TestSumsOfDevicesEqualSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, tt := range map[string]struct {
		dropout, round string
		deaths         []int
	}{
		"everybody stays, the server too":             {"", "20s", nil},
		"some vanish, and the server dies on its way": {", dropout: 0.13", "2s", []int{60, 40, 1, 80}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := digits(t, people)
			played := parityJob(t, tt.dropout, steps, 2, tt.round)
			want, model := trained(t, played, rows)
			w := newRows(t, parityJob(t, "", steps, 2, tt.round), rows)
			going, vanish := absences(played, people)
			w.leaves = func(name, step, kind string) bool { return going[step][name] == kind }
			var reports []*devices.Report
			var running sync.WaitGroup
			running.Go(func() { reports = w.devices(t.Context()) })
			for _, after := range tt.deaths {
				if _, err := w.life(t.Context(), func(n int) bool { return n > after }); !errors.Is(err, errDead) {
					t.Fatalf("the server lives on: %v", err)
				}
			}
			done, err := w.life(t.Context(), never)
			if err != nil {
				t.Fatal(err)
			}
			running.Wait()
			if w.records.most > 2 || w.records.open != 1 {
				t.Errorf("the server had %d sessions open at a time, and %d in the end", w.records.most, w.records.open)
			}
			w.sameModel(model)
			for i, v := range w.vaults {
				if open, _, err := v.Open(); err != nil || len(open) > 1 {
					t.Errorf("%s keeps %d sessions, %v", devices.Name(i), len(open), err)
				}
			}
			compareResults(t, want, done)
			checkTrained(t, reports, model, (steps+1)*people-vanish)
			for i := range steps {
				_, model := trained(t, parityJob(t, tt.dropout, i+1, 1, tt.round), rows)
				if d := cmp.Diff(weightsOf(t, model), w.published(i+1)); i+1 < steps && d != "" {
					t.Errorf("the weights of iteration %d (- simulated): %s", i+1, d)
				}
			}
		})
	}
}

// published returns the weights of a window, as devices were told.
func (w *testbed) published(window int) (list []float64) {
	b := w.told[window]
	for ; len(b) >= 8; b = b[8:] {
		list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return list
}

// compareResults compares what a server knows of a result with a simulation's.
func compareResults(t *testing.T, want, got *method.Result) {
	t.Helper()
	told, heard := detailsOf(t, want), detailsOf(t, got)
	if d := cmp.Diff(told.Classes, heard.Classes); d != "" || told.Majority != heard.Majority || want.Metrics["accuracy"] != got.Metrics["accuracy"] {
		t.Errorf("tests (- simulated): %s; majority %g and %g, accuracy %v and %v", d, told.Majority, heard.Majority, want.Metrics, got.Metrics)
	}
	if d := cmp.Diff(want.Leakage, got.Leakage); d != "" || !strings.Contains(fmt.Sprint(got.Leakage), "whenever a device drops out") {
		t.Errorf("leakage (- simulated): %s", d)
	}
	for i := range heard.Sums { // a simulation counts no message to a device that is gone
		heard.Sums[i].ToServer, heard.Sums[i].FromServer = told.Sums[i].ToServer, told.Sums[i].FromServer
	}
	if d := cmp.Diff(told.Sums, heard.Sums); d != "" {
		t.Errorf("the sums (- simulated): %s", d)
	}
}

// checkTrained compares what devices were told in the end, and counts the windows that they
// were in.
func checkTrained(t *testing.T, reports []*devices.Report, model []byte, sessions int) {
	t.Helper()
	took := 0
	for i, one := range reports {
		took += one.Sessions
		if !one.Finished { // it vanished from the last window
			continue
		}
		var b bytes.Buffer
		if err := one.Model(&b); err != nil || !bytes.Equal(b.Bytes(), model) {
			t.Errorf("%s keeps another model, %v", devices.Name(i), err)
		}
	}
	if took != sessions {
		t.Errorf("devices went through %d sessions, want %d", took, sessions)
	}
}

// A device that comes when a window is over takes part in the next, and does not ask for what
// is gone.
func TestALateDeviceTakesPartInTheNextWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	rows := digits(t, people)
	w := newRows(t, parityJob(t, "", steps, 2, "2s"), rows)
	second := make(chan struct{})
	w.late = map[string]<-chan struct{}{devices.Name(4): second}
	w.begun = func(window int) {
		if window == 1 {
			close(second)
		}
	}
	var reports []*devices.Report
	var running sync.WaitGroup
	running.Go(func() { reports = w.devices(t.Context()) })
	done, err := w.life(t.Context(), never)
	if err != nil {
		t.Fatal(err)
	}
	running.Wait()
	for i, s := range detailsOf(t, done).Sums {
		if want := people - 1 + min(i, 1); s.Added != want {
			t.Errorf("window %d has %d devices, want %d", i, s.Added, want)
		}
	}
	if late := reports[4]; !late.Finished || late.Sessions != steps {
		t.Errorf("%+v", late)
	}
}

// A device adds to an iteration of a model once: another enrolment for the same model gets
// nothing of it, and other weights neither.
func TestRule11_OneEnrolmentForEachModel(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	rows := digits(t, people)
	w := newRows(t, parityJob(t, "", 1, 1, "20s"), rows)
	var running sync.WaitGroup
	running.Go(func() { w.devices(t.Context()) })
	if _, err := w.life(t.Context(), never); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	again := newRows(t, parityJob(t, "", 1, 1, "19s"), rows)
	again.vaults = w.vaults
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := again.life(ctx, never)
		ended <- err
	}()
	for i := range people {
		if _, err := again.device(ctx, i, again.client()); err == nil || !strings.Contains(err.Error(), "has already contributed to this sum") {
			t.Errorf("%s: %v", devices.Name(i), err)
		}
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("a second job of the model is done")
	}
}

// foundRows is a town of people with a record each, whose devices draw as a simulation's.
func foundRows(t *testing.T, j *job.Job, rows *dataset.Set, processes, cohort int, going map[string]map[string]string) *town {
	t.Helper()
	w := newTown(t, processes, rows.X.Rows())
	var text bytes.Buffer
	if err := dataset.WriteCSV(&text, rows); err != nil {
		t.Fatal(err)
	}
	w.write("rows.csv", text.String())
	w.data = []string{"--rows", w.path("rows.csv"), "--label", "label", "--min-cohort", strconv.Itoa(cohort), "--insecure-seed", "1"}
	w.enrol(j, going)
	return w
}

// A server that is killed in each window, and a process of devices that is killed in two of
// them, leave the model of a simulation in which the same devices vanish, byte for byte, and
// no journal.
func TestKilledProcessesOfWindowsGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	rows := digits(t, people)
	played := parityJob(t, ", dropout: 0.13", steps, 2, "5s")
	_, model := trained(t, played, rows)
	going, vanish := absences(played, people)
	w := foundRows(t, parityJob(t, "", steps, 2, "5s"), rows, 2, 8, going)
	w.startServer()
	w.startHousehold(0)
	w.startHousehold(1)
	for window := range steps + 1 {
		w.until(window, 6<<10)
		w.kill(w.lives[window])
		if window < 2 {
			w.kill(w.households[window])
			w.startHousehold(window)
		}
		w.startServer()
	}
	all := w.end()
	w.same("server/model", model)
	if last := len(going[secvm.WindowName(steps)]); all.Devices != people || all.Finished != people-last || all.Vanished != last || all.Sessions > (steps+1)*people-vanish {
		t.Errorf("%+v, of whom %d vanish from the last window", all, last)
	}
	if server, device := w.bytes("server/vault"), w.bytes("household0/devices/0/vault"); server > 1<<10 || device > 2<<10 {
		t.Errorf("the server keeps %d bytes in the end, a device %d", server, device)
	} else {
		t.Logf("of %d windows the server keeps %d bytes, a device %d", steps+1, server, device)
	}
}
