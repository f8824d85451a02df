package local

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// unhashed is the anonymous job on the columns themselves.
var unhashed = strings.Replace(anonymous, "bins: 64", "features: columns", 1)

func weightsOf(t *testing.T, r *method.Result) []float64 {
	t.Helper()
	b, err := os.ReadFile(r.Models[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := secvm.DecodeLinearModel(b)
	if err != nil {
		t.Fatal(err)
	}
	return m.Weights
}

// naive trains on explicit columns in one place: Pegasos with the projection, eq. 7 of the paper
// with the sign of its code, and the mean of the last two vectors.
func naive(rows [][]float64, labels []float64, lambda float64, iterations int) []float64 {
	width := len(rows[0])
	w, before := make([]float64, width), make([]float64, width)
	for step := 1; step <= iterations; step++ {
		sum := make([]float64, width)
		for i, x := range rows {
			margin := 0.
			for j := range x {
				margin += labels[i] * w[j] * x[j]
			}
			if margin < 1 {
				for j := range x {
					sum[j] += labels[i] * x[j]
				}
			}
		}
		next, norm := make([]float64, width), 0.
		for j := range next {
			next[j] = (1-1/float64(step))*w[j] + sum[j]/(lambda*float64(step)*float64(len(rows)))
			norm += next[j] * next[j]
		}
		if norm *= lambda; norm > 1 {
			for j := range next {
				next[j] /= math.Sqrt(norm)
			}
		}
		before, w = w, next
	}
	for j := range w {
		w[j] = (w[j] + before[j]) / 2
	}
	return w
}

// explicit lists the training rows of a job with a column for each word and one for the bias.
func explicit(t *testing.T, c people) (rows [][]float64, labels []float64) {
	t.Helper()
	roles, err := drawRoles(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, role := range roles {
		if role != secvmmachines.Train {
			continue
		}
		x := make([]float64, c.rows.X.Cols()+1)
		c.rows.X.Each(i, func(col int, _ float64) { x[col] = 1 })
		x[len(x)-1] = 1
		label := -1.
		if c.rows.Labels[i] == "+1" {
			label = 1
		}
		rows, labels = append(rows, x), append(labels, label)
	}
	return rows, labels
}

// Without hashing the model is the model of the table's columns: a weight for each, in their order.
func TestColumnsAreTheNaiveTwins(t *testing.T) {
	c := devicesConfig(t, unhashed)
	r := runDevices(t, c)
	rows, labels := explicit(t, c)
	want, got := naive(rows, labels, 0.01, 40), weightsOf(t, r)
	if len(got) != 41 {
		t.Fatalf("%d weights for 40 columns and the bias", len(got))
	}
	for j := range want {
		if math.Abs(got[j]-want[j]) > 1e-9 {
			t.Errorf("weight %d is %v, the twin's %v", j, got[j], want[j])
		}
	}
	f := figuresOf(t, r)
	if f.Bins != 40 || f.Features != secvm.ColumnFeatures || r.Metrics["accuracy"] < .8 || r.Metrics["accuracy"] < r.Pooled["accuracy"]-.02 {
		t.Errorf("%d %s, %v, pooled %v", f.Bins, f.Features, r.Metrics, r.Pooled)
	}
	shown, err := secvm.Protocol().Present(c.Job, r)
	if err != nil || !strings.Contains(fmt.Sprint(shown.Text), "40 columns, which are not hashed") {
		t.Errorf("%v, %v", shown, err)
	}
	if server := fmt.Sprint(r.Leakage["server"]); !strings.Contains(server, "The list of columns is public") || !strings.Contains(server, "each of 40 columns") {
		t.Errorf("%s", server)
	}
}

// The pooled machines are trained on the table's own columns.
func TestPooledColumns(t *testing.T) {
	c, err := devicesConfig(t, unhashed).withBins()
	if err != nil {
		t.Fatal(err)
	}
	roles, err := drawRoles(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := enlist(c, roles)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.featured()
	if err != nil {
		t.Fatal(err)
	}
	rowOf := func(x dataset.Table, i int) (list []string) {
		x.Each(i, func(col int, v float64) { list = append(list, fmt.Sprint(col, v)) })
		return list
	}
	for i := range c.rows.X.Rows() {
		if got, want := rowOf(all, i), rowOf(c.rows.X, i); !slices.Equal(got, want) {
			t.Fatalf("row %d is %v, want %v", i, got, want)
		}
	}
}

// Hashing changes nothing but the order where no two words share a bin.
func TestManyBinsAreColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	hashed := weightsOf(t, runDevices(t, devicesConfig(t, strings.Replace(anonymous, "bins: 64", "bins: 65536", 1))))
	columns := weightsOf(t, runDevices(t, devicesConfig(t, unhashed)))
	taken := make(map[int]bool)
	for c := range 40 {
		bin := secvmmachines.Bin(strconv.Itoa(c+1), 0, 1<<16)
		if taken[bin] {
			t.Fatalf("two words share bin %d", bin)
		}
		taken[bin] = true
		if math.Abs(hashed[bin]-columns[c]) > 1e-9 {
			t.Errorf("column %d has weight %v, its bin %v", c+1, columns[c], hashed[bin])
		}
	}
	if math.Abs(hashed[1<<16]-columns[40]) > 1e-9 {
		t.Errorf("bias %v, hashed %v", columns[40], hashed[1<<16])
	}
}

// Sums of columns give the model of packages of columns.
func TestSumsOfColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	summed := runDevices(t, summedConfig(t, "bins: 64", "features: columns"))
	sent := runDevices(t, summedConfig(t, "bins: 64", "features: columns", "aggregation: secagg, corrupted: 0.05, dropped: 0.1", "aggregation: packages"))
	if summed.ModelHash != sent.ModelHash || !*summed.Exact || len(weightsOf(t, summed)) != 41 {
		t.Errorf("sums give %s, packages %s; exact %v", summed.ModelHash, sent.ModelHash, *summed.Exact)
	}
	if server := fmt.Sprint(summed.Leakage["server"]); !strings.Contains(server, "The list of columns is public") || !strings.Contains(server, "each of 40 columns") {
		t.Errorf("%s", server)
	}
}

// The curve of a job without hashing is the curve of the same job with hashing.
func TestCurveBesideColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	few := strings.NewReplacer("iterations: 40}", "iterations: 4}\n  compare: [curve]")
	got := figuresOf(t, runDevices(t, devicesConfig(t, few.Replace(unhashed)))).BinCurve
	want := figuresOf(t, runDevices(t, devicesConfig(t, few.Replace(anonymous)))).BinCurve
	if len(want) != 11 || !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A job may name more columns than its table has, and no fewer. A table for tests may be wider.
func TestWidthOfColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	few := strings.NewReplacer("iterations: 40", "iterations: 2", "{fraction: 0.25}", "{source: more.svm}")
	wide := func(cols int) *dataset.Set {
		x, err := dataset.NewCSR(cols, []int{0, 1, 2}, []int32{7, int32(cols - 1)}, []float64{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		return &dataset.Set{Name: "more", X: x, Labels: []string{"+1", "-1"}}
	}
	for _, tt := range []struct {
		bins, says string
		cols, want int
	}{
		{"", "", 9, 40},
		{"", "", 50, 50},
		{", bins: 60", "", 50, 60},
		{", bins: 49", `words has 50 columns, but "bins" is only 49; raise "bins", or remove the key`, 50, 0},
		{"", `words has 65537 columns, but devices take part in models of at most 65536; remove "features: columns", so that the columns are hashed`, 65537, 0},
		{"", "", 65536, 65536},
	} {
		c := devicesConfig(t, strings.Replace(few.Replace(unhashed), "features: columns", "features: columns"+tt.bins, 1))
		c.heldOut = wide(tt.cols)
		r, err := c.play(t.Context())
		if tt.says != "" {
			if err == nil || err.Error() != tt.says {
				t.Errorf("%d columns%s: %v", tt.cols, tt.bins, err)
			}
			continue
		}
		if err != nil || figuresOf(t, r).Bins != tt.want || len(weightsOf(t, r)) != tt.want+1 {
			t.Errorf("%d columns%s: %v", tt.cols, tt.bins, err)
		}
	}
}
