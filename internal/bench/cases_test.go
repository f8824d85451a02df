package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/linalg"
)

// beMercer makes the test binary act as mercer: see TestMain.
const beMercer = "MERCER_TEST_IS_MERCER"

// small returns every benchmark at a size of milliseconds.
func small(t *testing.T) map[string]Benchmark {
	var gemm Benchmark
	for _, path := range linalg.Paths() {
		gemm.add(path, every(shape{48, 48, 20}, .01))
	}
	return map[string]Benchmark{
		"gemm":     gemm,
		"gram":     gramOf(gramShape{60, 8}),
		"grid":     gridOf(gridSize{rows: 150, folds: 3, gammas: []float64{1}, cs: []float64{1, 10}}),
		"kpca":     kpcaOf(kpcaSize{rows: 520, columns: 30, components: 5, small: 60}),
		"encode":   encodeOf(encodeSize{rows: 4, few: 64, many: 256, others: []int{128, 512}, blocked: 256, blockDgemm: 32, flaked: []int{48}}),
		"psi":      PSI(100),
		"fdskl":    fdsklOf(cachedSize{400, 60, 128, 16}, cachedSize{300, 60, 96, 16}),
		"secagg":   secaggOf(1<<20, []devicesSize{{30, 100}, {100, 1000}}),
		"gateway":  gatewayBenchmark(all.Reader(), []string{os.Args[0]}, t.TempDir(), gatewaySize{rsa: 40, voprf: 4, counted: []int{200, 3000}}),
		"stream":   Stream(all.Reader(), t.TempDir(), MinStreamRows),
		"deployed": DeployedStream(all.Reader(), []string{os.Args[0]}, t.TempDir(), MinStreamRows),
		"sealed":   Sealed(fewSealed, nil),
		"keepers":  deployedSealedOf(t),
		"devices":  devicesBenchmark(devicesRun{clients: 30, items: 40, liked: 9, parts: 4}),
	}
}

// Every benchmark gives complete rows: a figure with its name, a ratio if there is a limit,
// and a verdict if there is a target.
func TestBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Setenv(beMercer, "yes")
	for name, b := range small(t) {
		t.Run(name, func(t *testing.T) {
			r, err := b.Measure(t.Context(), 2, func(int, int) {})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Rows) == 0 || len(r.Notes) != 0 {
				t.Errorf("%d rows, notes %q", len(r.Rows), r.Notes)
			}
			checkRows(t, r.Rows)
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func checkRows(t *testing.T, rows []Row) {
	t.Helper()
	seen := make(map[string]bool)
	for _, r := range rows {
		if r.Name == "" || seen[r.Name] {
			t.Errorf("the name %q is empty or not the only one", r.Name)
		}
		seen[r.Name] = true
		if (r.Limit == nil) != (r.Against == "") || (r.Limit == nil) != (r.RatioIs == "") {
			t.Errorf("%s: limit %v, against %q, ratio is %q", r.Name, r.Limit, r.Against, r.RatioIs)
		}
		if (r.Target == nil) != (r.Pass == nil) || (r.Target == nil) != (r.Rule == "") {
			t.Errorf("%s: target %v, pass %v, rule %q", r.Name, r.Target, r.Pass, r.Rule)
		}
	}
}

// Each routine is measured on every path, on one core and on all.
func TestGemmIsWhole(t *testing.T) {
	var b Benchmark
	path := linalg.Paths()[0]
	b.add(path, every(shape{48, 48, 20}, .01))
	r, err := b.Measure(t.Context(), 1, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, routine := range routines {
		for _, cores := range coreCounts() {
			want = append(want, fmt.Sprintf("%s 48x48x20, %v, %s", routine, path, coresText(cores)))
		}
	}
	for _, row := range r.Rows {
		got = append(got, row.Name)
		if *row.Target != .01 || row.Rule != ratioAtLeast {
			t.Errorf("%s: %s, target %v", row.Name, row.Rule, *row.Target)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The promises of the project, word for word.
func TestPromises(t *testing.T) {
	want := map[string]float64{
		"dgemm 4096x4096x4096": .62, "dsyrk 4096x4096x4096": .62, "sgemm 4096x4096x4096": .58, "ssyrk 4096x4096x4096": .58,
	}
	for _, r := range routines {
		want[r+" 2000x2000x16384"], want[r+" 4096x4096x100"] = .5, .4
	}
	got := make(map[string]float64)
	for _, p := range promised {
		got[fmt.Sprintf("%s %v", p.routine, p.shape)] = p.target
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, c := range Gemm().cases {
		if linalg.Paths()[0] != linalg.Portable && strings.Contains(c.name, "portable") {
			t.Errorf("%s would take minutes", c.name)
		}
	}
}

// The measured work must be the work that the row names.
func TestWorkIsDone(t *testing.T) {
	path := linalg.Paths()[0]
	j := work[float64](path, product{"dsyrk", shape{3, 3, 4}, 0})
	if want := 3. * 4 * 4; j.flops != want {
		t.Errorf("%v operations, want %v", j.flops, want)
	}
	if got, want := j.fma(2, 10), 20*j.perTurn; got != want {
		t.Errorf("the loop did %v, want %v", got, want)
	}
	m := linalg.Matrix[float64]{Rows: 2, Cols: 3, Stride: 3, Data: []float64{1, -2, 3, 4, -5, 6}}
	readAndWrite(m)
	if d := cmp.Diff([]float64{-1, 2, -3, -4, 5, -6}, m.Data); d != "" {
		t.Error(d)
	}
	sums := make([]float64, 2)
	readAll(sums, linalg.Matrix[float64]{Rows: 2, Cols: 5, Stride: 5, Data: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}})
	if want := []float64{15, 40}; cmp.Diff(want, sums) != "" {
		t.Errorf("sums %v, want %v", sums, want)
	}
}

func TestNoise(t *testing.T) {
	a, b := noise[float64](40, 50, 1), noise[float32](40, 50, 1)
	least, most, mean := a.Data[0], a.Data[0], 0.
	for i, v := range a.Data {
		least, most, mean = min(least, v), max(most, v), mean+v/float64(len(a.Data))
		if float32(v) != b.Data[i] {
			t.Fatal("two types, two matrices")
		}
	}
	if least < -1 || most > 1 || least > -.95 || most < .95 || mean*mean > .01 {
		t.Errorf("from %v to %v, mean %v", least, most, mean)
	}
}
