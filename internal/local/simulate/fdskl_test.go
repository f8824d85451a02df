package simulate

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/runs"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/linalg"
)

// randomJob runs the job by columns with random features.
func randomJob(t *testing.T, parties []string, protocol, learner string) *method.Result {
	t.Helper()
	text := strings.NewReplacer("{name: gram}", "{name: fdskl, "+protocol+"}", "gamma: 0.02", "gamma: 0.5, gamma_unit: median").Replace(columns)
	return runJob(t, fmt.Sprintf(text, strings.Join(parties, ", "), learner))
}

// Every training is close to all columns in one place, and the result states what the label
// holder could find out.
func TestFDSKLBesidePooled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	names := []string{"clinic", "laboratory", "imaging", "genetics"}
	for _, c := range []struct {
		protocol, learner string
		parties           int
		metric            string
		least             float64
	}{
		{"directions: 512", "name: logistic, lambda: 1e-4", 4, "accuracy", 0.88},
		{"directions: 512, training: precond", "name: smooth-hinge", 2, "accuracy", 0.88},
		{"directions: 512", "name: huber, delta: 0.5, lambda: 1e-3", 3, "r2", 0.5},
		{"directions: 512, training: faithful", "name: logistic", 2, "accuracy", 0.7},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.learner, c.parties), func(t *testing.T) {
			began := time.Now()
			r := randomJob(t, names[:c.parties], c.protocol, c.learner)
			checkTimings(t, r.Timings, time.Since(began).Seconds())
			t.Logf("%v, pooled %v, alone %v", r.Metrics, r.Pooled, r.Alone)
			if v := r.Metrics[c.metric]; v < c.least || r.Pooled[c.metric] < c.least {
				t.Errorf("%s is %v, pooled %v", c.metric, v, r.Pooled[c.metric])
			}
			if cmp.Diff(r.Metrics, r.Pooled) == "" {
				t.Error("the training in one place draws its own directions, and yet it has all figures of the federation")
			}
			if r.Timings["protocol"] <= 0 || r.Timings["learn"] <= 0 {
				t.Errorf("timings %v", r.Timings)
			}
			if len(r.Alone) != c.parties || r.Alone[0].Failure != "" || r.Alone[1].Failure == "" || r.Difference != nil || r.Exact != nil {
				t.Errorf("result %+v", r)
			}
			active := strings.Join(r.Leakage["active"], " ")
			if !strings.Contains(active, "Measured on 4096 pairs") || strings.Contains(active, "the passive worker's own phases") != (c.parties == 2) {
				t.Error(active)
			}
		})
	}
}

// checkTimings demands that the seconds of all steps add up to the total. The total must be at most
// the seconds that the job took, and at least a thousandth of them.
func checkTimings(t *testing.T, timings map[string]float64, took float64) {
	t.Helper()
	sum := 0.0
	for name, v := range timings {
		if name != "total" && name != "cpu_s" {
			sum += v
		}
	}
	if total := timings["total"]; math.Abs(sum-total) > 1e-9 || total > took || total < took/1000 {
		t.Errorf("timings %v add up to %v s, and the job took %v s", timings, sum, took)
	}
}

// Each of ten splits of a job by columns holds out a quarter of the common people, and others than the
// splits before it.
func TestRepeatsByColumnsHoldOutOtherPeople(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	text := strings.NewReplacer("{name: gram}", "{name: fdskl, directions: 16}", "scale: standard", "test: {fraction: 0.25}, scale: standard").Replace(columns) + "  compare: []\n  repeats: 10\n"
	list := runs.Of(jobtest.Parse(t, fmt.Sprintf(text, "clinic, laboratory", "name: logistic, lambda: 1e-3")))
	if len(list) != 10 {
		t.Fatalf("%d runs, want 10", len(list))
	}
	var before []map[string]bool
	for _, run := range list {
		r, o, _ := simulateAndCompare(t, run.Job, func(job.Source, job.Data) (*dataset.Set, error) {
			set, err := bundled.Load("wdbc")
			if err != nil {
				return nil, err
			}
			return set.Subset(dataset.Complement(120, nil)), nil
		})
		held := make(map[string]bool)
		for _, id := range o.Rows[r.Training:] {
			held[id] = true
		}
		if quarter := float64(len(o.Rows)) / 4; math.Abs(float64(len(held))-quarter) > .51 || len(held) != r.HeldOut {
			t.Errorf("%s: %d of %d people are held out, the result says %d", run.Name, len(held), len(o.Rows), r.HeldOut)
		}
		for i, other := range before {
			same := 0
			for id := range held {
				if other[id] {
					same++
				}
			}
			if same > len(held)*6/10 { // a quarter is expected
				t.Errorf("splits %d and %d both hold out %d of %d people", i+1, len(before)+1, same, len(held))
			}
		}
		before = append(before, held)
	}
}

// Columns of wdbc differ a thousandfold in size. Scaled, each counts alike in the kernel; unscaled,
// the largest column decides alone.
func TestFDSKLScalesColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	text := strings.NewReplacer("{name: gram}", "{name: fdskl, directions: 512}", "gamma: 0.02", "gamma: 0.5, gamma_unit: median", "coverage: 0.95", "aligned: true").Replace(columns)
	accuracy := func(scale string) float64 {
		j := jobtest.Parse(t, fmt.Sprintf(strings.Replace(text, "scale: standard", "scale: "+scale, 1), "clinic, laboratory", "name: logistic, lambda: 1e-4"))
		r, _, _ := simulateAndCompare(t, j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("wdbc") })
		return r.Metrics["accuracy"]
	}
	scaled, raw := accuracy("standard"), accuracy("none")
	t.Logf("accuracy %.3f scaled, %.3f unscaled", scaled, raw)
	if scaled < raw+.02 {
		t.Errorf("accuracy %v scaled, %v unscaled", scaled, raw)
	}
}

// Two parties with labels take turns; each alone learns from its own columns.
func TestFDSKLSeveralActive(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := randomJob(t, []string{"clinic", "laboratory", "imaging"}, "directions: 192, mode: paper, active: 2, training: faithful", "name: logistic")
	t.Logf("%v, pooled %v, alone %v", r.Metrics, r.Pooled, r.Alone)
	if r.Metrics["accuracy"] < 0.7 || r.Pooled["accuracy"] < 0.7 {
		t.Errorf("%v, pooled %v", r.Metrics, r.Pooled)
	}
	if a := r.Alone; len(a) != 3 || a[0].Failure != "" || a[1].Failure != "" || a[2].Failure == "" {
		t.Errorf("alone %+v", a)
	}
	if active := strings.Join(r.Leakage["active"], " "); !strings.Contains(active, "The active workers are clinic, laboratory") || !strings.Contains(active, "in up to 96 directions") {
		t.Error(active)
	}
}

// Two parties with a part of the labels each learn together, as one place does from all labels, and more
// than the party with few labels learns from its own.
func TestFDSKLSpreadLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	text := strings.NewReplacer("{name: gram}", "{name: fdskl, directions: 1280, active: 2, training: faithful, labels: spread}", "gamma: 0.02", "gamma: 0.5, gamma_unit: median",
		"coverage: 0.95", "coverage: 0.95, labels: {clinic: 0.9, laboratory: 0.1}").Replace(columns)
	r := runJob(t, fmt.Sprintf(text, "clinic, laboratory, imaging", "name: logistic, lambda: 1e-3"))
	t.Logf("%v, pooled %v, alone %v", r.Metrics, r.Pooled, r.Alone)
	if r.Metrics["accuracy"] < 0.75 || r.Pooled["accuracy"] < 0.75 || len(r.Warnings) > 0 {
		t.Errorf("%v, pooled %v, warnings %q", r.Metrics, r.Pooled, r.Warnings)
	}
	a := r.Alone
	if len(a) != 3 || a[0].Rows+a[1].Rows != r.Training || a[1].Rows > r.Training/5 || a[1].Metrics["accuracy"] >= r.Metrics["accuracy"] || a[2].Failure == "" {
		t.Errorf("alone %+v", a)
	}
}

// Ten digits are distinguished by one column of coefficients for each class.
func TestFDSKLTenClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const text = `apiVersion: mercer/v1
kind: Job
metadata: {name: ten}
spec:
  data: {source: bundled:digits, label: label, partition: {by: columns, parties: [top, middle, bottom], coverage: 0.95}, scale: none}
  protocol: {name: fdskl, directions: 512}
  kernel: {name: rbf, gamma: 1, gamma_unit: median}
  learner: {name: smooth-hinge, lambda: 1e-5}
  compare: [exact-kernel]
`
	j := jobtest.Parse(t, text)
	r := runAndCompare(t, j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("digits") })
	t.Logf("%v, exact kernel %v", r.Metrics, r.ExactKernel)
	if r.Metrics["accuracy"] < 0.96 || r.Metrics["accuracy"] < r.ExactKernel["accuracy"]-0.02 || r.Metrics["auc"] < 0.99 {
		t.Errorf("%v, exact kernel %v", r.Metrics, r.ExactKernel)
	}
}

// Regression is within 3 % of kernel ridge regression on the same rows, by the median of
// three splits.
func TestFDSKLDiabetes(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const text = `apiVersion: mercer/v1
kind: Job
metadata: {name: diabetes}
spec:
  seed: %d
  data: {source: diabetes, label: progression, partition: {by: columns, parties: [clinic, laboratory, pharmacy], coverage: 0.99}, scale: standard}
  protocol: {name: fdskl, directions: 2048}
  kernel: {name: rbf, gamma: 0.125, gamma_unit: median}
  learner: {name: squared, lambda: 6e-3}
  compare: [exact-kernel]
`
	set := diabetes(t)
	var ratios []float64
	for seed := 1; seed <= 3; seed++ {
		j := jobtest.Parse(t, fmt.Sprintf(text, seed))
		r := runAndCompare(t, j, func(job.Source, job.Data) (*dataset.Set, error) { return set, nil })
		t.Logf("root mean squared error %v, of kernel ridge %v", r.Metrics, r.ExactKernel)
		ratios = append(ratios, r.Metrics["rmse"]/r.ExactKernel["rmse"])
	}
	if slices.Sort(ratios); ratios[1] < 0.97 || ratios[1] > 1.03 {
		t.Errorf("root mean squared errors beside kernel ridge: %v", ratios)
	}
}

// diabetes reads the data set, or skips the test.
func diabetes(t *testing.T) *dataset.Set {
	t.Helper()
	rows, targets := lines(t, "diabetes_data_raw.csv.gz"), lines(t, "diabetes_target.csv.gz")
	x, labels := linalg.New[float64](len(rows), 10), make([]string, len(targets))
	for i, fields := range rows {
		for k, field := range fields {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			x.Row(i)[k] = v
		}
		labels[i] = targets[i][0]
	}
	return &dataset.Set{Name: "diabetes", X: dataset.NewDense(x), Labels: labels}
}

// lines returns the fields of a compressed file of the data folder.
func lines(t *testing.T, name string) [][]string {
	t.Helper()
	folder := os.Getenv(catalogue.Variable)
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(folder, "diabetes", name))
	if err != nil && os.Getenv("MERCER_REQUIRE_DATA") == "1" {
		t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
	}
	if err != nil {
		t.Skipf("set %s to the folder of the data sets: %v", catalogue.Variable, err)
	}
	t.Cleanup(func() { _ = f.Close() }) // read only
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var list [][]string
	scanner := bufio.NewScanner(plain)
	for scanner.Scan() {
		list = append(list, strings.Fields(scanner.Text()))
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
