package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/linalg"
)

// fakePython returns the path of a program that answers like Python with the script. It has the
// packages mercer and scikit-learn. Turn k of mercer takes k seconds of processor time, and
// scikit-learn takes as many more as factor says.
func fakePython(t *testing.T, factor int, objective string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	script := `#!/bin/sh
cat >/dev/null
case $2$3 in
scikit-learn-intelex) echo "Traceback" >&2; echo "ModuleNotFoundError: No module named 'sklearnex'" >&2; exit 1 ;;
mercer|scikit-learn) echo '{"python": "3", "version": "1"}'; exit ;;
esac
count=$(($(cat "$3/$2.count" 2>/dev/null || echo 0) + 1))
echo $count >"$3/$2.count"
cpu=$count
objective=
if [ $2 = scikit-learn ]; then cpu=$((count * FACTOR)); fi
if [ "$4" = judge ]; then
	objective=', "objective": -2.5'
	if [ $2 = scikit-learn ]; then objective=', "objective": OBJECTIVE'; printf 'aaaaaaaabbbbbbbb' >"$3/$2.labels"; else printf 'aaaaaaaacccccccc' >"$3/$2.labels"; fi
fi
used="{\"wall\": $cpu, \"cpu\": $cpu, \"others\": 0.25}"
echo "{\"import\": $used, \"load\": $used, \"fit\": $used, \"predict\": $used, \"support\": 7$objective}"
`
	script = strings.NewReplacer("FACTOR", string(rune('0'+factor)), "OBJECTIVE", objective).Replace(script)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func measurePeers(t *testing.T, o PeersOptions) (Result, map[string]Row) {
	t.Helper()
	b, err := Peers(t.Context(), catalogue.New(t.TempDir()), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Measure(t.Context(), 3, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, r.Rows)
	rows := make(map[string]Row)
	for _, row := range r.Rows {
		rows[row.Name] = row
	}
	return r, rows
}

// Medians of the turns and of their ratios count, an absent package is noted, and another objective
// or a slow fit misses its target.
func TestPeers(t *testing.T) {
	r, rows := measurePeers(t, PeersOptions{Python: fakePython(t, 3, "-2.6"), Sets: []string{"20000x100"}})
	fit := rows["20000x100: fit, processor time"]
	if fit.Value != 2 || *fit.Limit != 6 || *fit.Ratio != 3 || *fit.Range != [2]float64{3, 3} || fit.Pass == nil || *fit.Pass {
		t.Errorf("%+v", fit)
	}
	if wall := rows["20000x100: fit, wall time"]; wall.Pass == nil || *wall.Pass {
		t.Errorf("a slow wall time: %+v", wall)
	}
	if o := rows["20000x100: objective"]; o.Pass == nil || *o.Pass {
		t.Errorf("another objective: %+v", o)
	}
	if l := rows["20000x100: labels unlike those of scikit-learn"]; l.Value != 1 {
		t.Errorf("labels: %+v", l)
	}
	others := rows["20000x100, mercer: share of the cores that other programs used during the fit"]
	if others.Value != .25 || others.Range == nil {
		t.Errorf("other programs: %+v", others)
	}
	if r.Counts != medianTurn || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "pip install scikit-learn-intelex") || !strings.Contains(r.Notes[0], "No module named 'sklearnex'") {
		t.Errorf("%s %q", r.Counts, r.Notes)
	}
	_, rows = measurePeers(t, PeersOptions{Python: fakePython(t, 4, "-2.5"), Sets: []string{"20000x100"}, Libraries: []string{scikitLearn}})
	for _, name := range []string{"20000x100: fit, processor time", "20000x100: fit, wall time", "20000x100: objective"} {
		if row := rows[name]; row.Pass == nil || !*row.Pass {
			t.Errorf("%+v", row)
		}
	}
}

func TestPeersWithoutDataOrPackage(t *testing.T) {
	r, _ := measurePeers(t, PeersOptions{Python: fakePython(t, 4, "-2.5"), Sets: []string{"a9a", "mnist-4000"}, Libraries: []string{scikitLearn}})
	if len(r.Rows) != 0 || len(r.Notes) != 2 || !strings.Contains(r.Notes[1], catalogue.Variable) {
		t.Errorf("%+v", r)
	}
	_, err := Peers(t.Context(), catalogue.New(""), PeersOptions{Python: filepath.Join(t.TempDir(), "python")})
	if err == nil || !strings.Contains(err.Error(), "package mercer cannot be imported; install the wheel") {
		t.Errorf("%v", err)
	}
}

func TestPeersFail(t *testing.T) {
	python := filepath.Join(t.TempDir(), "python")
	for script, want := range map[string]string{
		"echo nothing":                   "printed no result",
		"echo '{}'":                      "printed no objective",
		"echo why >&2; exit 1":           "why",
		"echo '{\"objective\": \"no\"}'": "printed no result",
	} {
		text := "#!/bin/sh\ncat >/dev/null\nif [ -z \"$3\" ]; then echo '{}'; exit; fi\n" + script + "\n"
		if err := os.WriteFile(python, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := Peers(t.Context(), catalogue.New(""), PeersOptions{Python: python, Sets: []string{"20000x100"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Measure(t.Context(), 1, func(int, int) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// The script reads the arrays that are written.
func TestWriteArrays(t *testing.T) {
	dense := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 0, 4}}
	csr, err := dataset.NewCSR(2, []int{0, 2, 3}, []int32{0, 1, 1}, []float64{1, 2, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		x     dataset.Table
		sizes map[string]int64
	}{
		{dataset.NewDense(dense), map[string]int64{"x": 32, "y": 16}},
		{csr, map[string]int64{"indptr": 12, "indices": 12, "data": 24, "y": 16}},
	} {
		dir := t.TempDir()
		task, err := writeArrays(dir, &dataset.Set{X: test.x, Labels: []string{"no", "yes"}}, .5)
		if err != nil || task.Rows != 2 || task.Columns != 2 || task.Predicted != 2 || task.Gamma != .5 {
			t.Errorf("%+v, %v", task, err)
		}
		for name, size := range test.sizes {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() != size {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		given := slices.Clone(values)
		if got := median(values); got != want || !slices.Equal(given, values) {
			t.Errorf("median of %v is %v, now %v", given, got, values)
		}
	}
}
