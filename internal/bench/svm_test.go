package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
)

// trained is the output of svm-train 3.24 on the task of tinyTask.
const trained = `*
optimization finished, #iter = 298
nu = 0.567852
obj = -135.536897, rho = 0.171575
nSV = 207, nBSV = 136
Total nSV = 207
`

func TestParseSVMTrain(t *testing.T) {
	r, err := parseSVMTrain([]byte(trained))
	if err != nil || r.objective != -135.536897 || r.support != 207 {
		t.Errorf("%+v, %v", r, err)
	}
	for name, out := range map[string]string{
		"nothing":           "",
		"another program":   "usage: svm-train [-x]\n",
		"no objective":      "Total nSV = 132\n",
		"no count":          "obj = -1.5, rho = 0\n",
		"cut off":           trained[:len(trained)/2],
		"three classes":     "obj = -1.5, rho = 0\nobj = -2.5, rho = 0\nTotal nSV = 3\n",
		"not a number":      "obj = minus, rho = 0\nTotal nSV = 3\n",
		"count beyond ints": "obj = -1, rho = 0\nTotal nSV = 99999999999999999999\n",
	} {
		if r, err := parseSVMTrain([]byte(out)); err == nil || !strings.Contains(err.Error(), SVMTrain) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestFindPeer(t *testing.T) {
	if p, err := FindPeer(""); err != nil || p != (Peer{}) {
		t.Errorf("no peer: %v, %v", p, err)
	}
	if _, err := FindPeer("svm_light"); err == nil || !strings.Contains(err.Error(), "use svm-train") {
		t.Errorf("unknown peer: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := FindPeer(SVMTrain); !errors.Is(err, ErrNoPeer) || !strings.Contains(err.Error(), "apt-get install libsvm-tools") {
		t.Errorf("not installed: %v", err)
	}
	fakeTrain(t, "echo")
	if p, err := FindPeer(SVMTrain); err != nil || filepath.Base(p.path) != SVMTrain {
		t.Errorf("installed: %v, %v", p, err)
	}
}

// fakeTrain puts a program called svm-train first on the path.
func fakeTrain(t *testing.T, script string) Peer {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, SVMTrain)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return Peer{path}
}

// tinyTask is a task of milliseconds.
func tinyTask(target float64) svmTask {
	return svmTask{
		name: "tiny", gamma: .1, c: 1, tol: 1e-3,
		open:     func(dir string) (string, error) { return twoClouds(dir, 300, 10) },
		values:   ofSparse,
		variants: []svmVariant{{"", 1 << 20, target}, {", little memory", 64 << 10, 0}},
	}
}

func measureSVM(t *testing.T, target float64, peer Peer) map[string]Row {
	t.Helper()
	r, err := svmOf([]svmTask{tinyTask(target)}, peer).Measure(t.Context(), 1, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, r.Rows)
	rows := make(map[string]Row)
	for _, row := range r.Rows {
		rows[strings.TrimPrefix(row.Name, "C-SVC on tiny")] = row
	}
	return rows
}

func TestSVMWithoutPeer(t *testing.T) {
	rows := measureSVM(t, 6, Peer{})
	if len(rows) != 6 {
		t.Errorf("%d rows, want three for each bound", len(rows))
	}
	for name, r := range rows {
		if r.Target != nil || !(r.Value > 0) {
			t.Errorf("%s: value %v, target %v", name, r.Value, r.Target)
		}
	}
	if peak := rows[", peak memory"]; peak.Value < 1 || peak.Value > 1<<20 {
		t.Errorf("a peak of %v MiB", peak.Value)
	}
}

// A peer that finds another optimum is refused, and a slow one is outrun.
func TestSVMBesideAnotherResult(t *testing.T) {
	other := strings.NewReplacer("-135.53", "-135.55", "207", "217").Replace(trained)
	rows := measureSVM(t, 1e-6, fakeTrain(t, "/bin/sleep 0.1\n/bin/cat <<END\n"+other+"END"))
	for name, pass := range map[string]bool{", speed": true, ", objective": false, ", support vectors": false} {
		if r := rows[name]; r.Pass == nil || *r.Pass != pass {
			t.Errorf("%s: %+v, want pass %v", name, r, pass)
		}
	}
	if r := rows[", little memory, speed"]; r.Pass != nil || r.Ratio == nil {
		t.Errorf("without a target: %+v", r)
	}
	if r := rows[", objective"]; *r.Limit != -135.556897 {
		t.Errorf("the peer's objective is %v", *r.Limit)
	}
}

func TestSVMPeerFails(t *testing.T) {
	b := svmOf([]svmTask{tinyTask(0)}, fakeTrain(t, "echo can\\'t open input file >&2; exit 1"))
	_, err := b.Measure(t.Context(), 1, func(int, int) {})
	if err == nil || !strings.Contains(err.Error(), "can't open input file") {
		t.Errorf("%v", err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if _, err := fakeTrain(t, "/bin/sleep 60").train(ctx, tinyTask(0), "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// The solver agrees with LIBSVM on one problem with equal parameters: once with LIBSVM's
// printed output, once with the program where it is installed.
func TestSVMAgreesWithLIBSVM(t *testing.T) {
	printed := fakeTrain(t, "/bin/cat <<END\n"+trained+"END")
	t.Run("printed", func(t *testing.T) { agree(t, printed) })
	t.Setenv("PATH", "/usr/bin:/usr/local/bin")
	installed, err := FindPeer(SVMTrain)
	t.Run("installed", func(t *testing.T) {
		if err != nil {
			t.Skip(err)
		}
		agree(t, installed)
	})
}

func agree(t *testing.T, peer Peer) {
	rows := measureSVM(t, 0, peer)
	for _, name := range []string{", objective", ", support vectors", ", little memory, objective", ", little memory, support vectors"} {
		// On 300 rows the tolerance allows more than on 20,000.
		if r := rows[name]; r.Ratio == nil || *r.Ratio > .01 {
			t.Errorf("%s: %v of ours, %v of LIBSVM's", name, r.Value, *r.Limit)
		}
	}
}

func TestTwoClouds(t *testing.T) {
	path, err := twoClouds(t.TempDir(), 200, 50)
	if err != nil {
		t.Fatal(err)
	}
	set, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	x, labels := dataset.DenseOf(set.X).Matrix(), set.Labels
	sides := map[string]int{}
	first := map[string]float64{} // mean of the class, over rows and columns
	for i, l := range labels {
		sides[l]++
		for _, v := range x.Row(i) {
			first[l] += v / (float64(x.Cols) * 100)
		}
	}
	if x.Rows != 200 || x.Cols != 50 || sides["1"]+sides["-1"] != 200 || sides["1"] < 80 || sides["1"] > 120 {
		t.Errorf("%d x %d, classes %v", x.Rows, x.Cols, sides)
	}
	if math.Abs(first["1"]-.24) > .06 || math.Abs(first["-1"]+.24) > .06 {
		t.Errorf("the classes' means are %v", first)
	}
}

// Missing data gives a note and no failure.
func TestWithoutData(t *testing.T) {
	_, err := find(catalogue.New(t.TempDir()), "a9a/a9a")
	var missing unavailable
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), catalogue.Variable) {
		t.Errorf("%v", err)
	}
	if _, err := find(catalogue.New(""), "a9a/a9a"); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}
