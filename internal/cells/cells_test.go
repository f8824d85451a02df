package cells

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/tune"
)

const build = "0123456789abcdef linux/amd64 avx2=true avx512=false"

// tumours returns the cross-validation of two kernels and two values of C on 120 rows, by three folds.
func tumours(t testing.TB) *learner.Validation {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, 0, 120)
	for i := range cap(rows) {
		rows = append(rows, 4*i)
	}
	set = set.Subset(rows)
	learners, err := all.Reader().DecodeLearners([]byte("{name: svc, C: [0.1, 10], class_weight: {\"1\": 2.5}}"))
	if err != nil {
		t.Fatal(err)
	}
	return &learner.Validation{
		Problem:  learner.Problem{Gram: kernel.LinearGram(dataset.DenseOf(set.X).Matrix()), Labels: set.Labels, Test: make([]bool, len(rows))},
		Kernels:  []kernel.Spec{{Name: "linear"}, {Name: "rbf", Gamma: 1e-5 / 3}},
		Learners: learners, Folds: 3, Seed: 7, Score: "accuracy",
	}
}

// log collects the lines of a log.
type log struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// coordinator is an offer in a new folder, with its log.
type coordinator struct {
	Offer
	log *log
}

func newCoordinator(t *testing.T, wait time.Duration) *coordinator {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "cells")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l := &log{}
	return &coordinator{Offer{Path: folder, Wait: wait, Build: build, Logger: slog.New(slog.NewTextHandler(l, nil))}, l}
}

// gathered holds the results of Trials.
type gathered struct {
	trials [][][]tune.Trial
	err    error
}

// begin starts to wait for results, and returns when the inputs are there.
func (c *coordinator) begin(t *testing.T, ctx context.Context, v *learner.Validation) <-chan gathered {
	t.Helper()
	done := make(chan gathered, 1)
	go func() {
		trials, err := c.Trials(ctx, v, nil)
		done <- gathered{trials, err}
	}()
	for range 500 {
		if names, err := Missing(c.Path, build); err == nil && len(names) > 0 {
			return done
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the coordinator wrote no inputs")
	return nil
}

// one computes one cell with a program of the given build.
func (c *coordinator) one(t *testing.T, name, build string) (computed bool, err error) {
	err = Compute(t.Context(), c.Path, []string{name}, build, all.Reader(), func(_ string, did bool) { computed = did })
	return computed, err
}

// compute computes the cells with the given names, and fails the test unless all are new.
func (c *coordinator) compute(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if did, err := c.one(t, name, build); err != nil || !did {
			t.Fatalf("%s: %t, %v", name, did, err)
		}
	}
}

func (c *coordinator) missing(t *testing.T) []string {
	t.Helper()
	names, err := Missing(c.Path, build)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// try computes one cell in this process.
func try(t *testing.T, v *learner.Validation, kernel, fold int) ([]tune.Trial, error) {
	compute, err := v.Trier(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return compute(kernel, fold)
}

// own computes all cells in this process.
func own(t *testing.T, v *learner.Validation) [][][]tune.Trial {
	t.Helper()
	all := make([][][]tune.Trial, len(v.Kernels))
	for k := range all {
		for f := range v.Folds {
			trials, err := try(t, v, k, f)
			if err != nil {
				t.Fatal(err)
			}
			all[k] = append(all[k], trials)
		}
	}
	return all
}

func same(a, b [][][]tune.Trial) bool {
	return slices.EqualFunc(a, b, func(x, y [][]tune.Trial) bool {
		return slices.EqualFunc(x, y, func(p, q []tune.Trial) bool { return bytes.Equal(encodeTrials(p), encodeTrials(q)) })
	})
}

// Two processes compute all cells, each once, and the coordinator gets the same bits as if it had
// computed them. Afterwards nothing but a lock is left.
func TestCellsEqualTheGrid(t *testing.T) {
	c, v := newCoordinator(t, time.Minute), tumours(t)
	done := c.begin(t, t.Context(), v)
	names := c.missing(t)
	if len(names) != 6 {
		t.Fatalf("%d cells", len(names))
	}
	var two sync.WaitGroup
	two.Go(func() { c.compute(t, names[:3]...) })
	two.Go(func() { // in any order, with one reading of the inputs
		some, did := []string{names[5], names[3], names[4], names[3]}, []string(nil)
		err := Compute(t.Context(), c.Path, some, build, all.Reader(), func(name string, computed bool) {
			if computed {
				did = append(did, name)
			}
		})
		if err != nil || !slices.Equal(did, some[:3]) {
			t.Errorf("computed %v, %v", did, err)
		}
	})
	two.Wait()
	got := <-done
	if got.err != nil || !same(got.trials, own(t, v)) {
		t.Fatalf("%v; the trials differ", got.err)
	}
	if err := c.Discard(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(c.Path)
	if err != nil || len(entries) != 1 || entries[0].Name() != lockFile {
		t.Errorf("left: %v, %v", entries, err)
	}
	if _, err := os.Stat(c.Path + keySuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key is left: %v", err)
	}
}

// When the wait is over the coordinator computes what is missing, and no process begins a cell.
func TestNobodyComes(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	done := c.begin(t, t.Context(), v)
	names := c.missing(t)
	c.compute(t, names[4])
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	for i := range names {
		if there := got.trials[i/3][i%3] != nil; there != (i == 4) {
			t.Errorf("cell %d: taken %t", i, there)
		}
	}
	if did, err := c.one(t, names[0], build); did || err == nil || !strings.Contains(err.Error(), "has no inputs") {
		t.Errorf("a process began a cell after the wait: %t, %v", did, err)
	}
}

// The coordinator waits beyond its time for a cell that a process is computing, and takes it.
func TestWaitsForRunningCells(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	done := c.begin(t, t.Context(), v)
	f, err := open(c.Path, build)
	if err != nil {
		t.Fatal(err)
	}
	name := c.missing(t)[2]
	lock, err := f.claim(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1300 * time.Millisecond)
	select {
	case <-done:
		t.Fatal("the coordinator left a running cell")
	default:
	}
	trials, err := try(t, v, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.put(name, encodeTrials(trials)), lock.Close()); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.trials[0][2] == nil {
		t.Errorf("the running cell was not taken: %v", got.err)
	}
}

// A cell is not computed twice, whether its processes come together or one after the other.
func TestNoCellTwice(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	done := c.begin(t, t.Context(), v)
	name := c.missing(t)[0]
	var all4 sync.WaitGroup
	computed := make([]bool, 4)
	for i := range computed {
		all4.Go(func() {
			var err error
			if computed[i], err = c.one(t, name, build); err != nil {
				t.Error(err)
			}
		})
	}
	all4.Wait()
	if n := len(slices.DeleteFunc(slices.Clone(computed), func(did bool) bool { return !did })); n != 1 {
		t.Errorf("%d of 4 processes computed the cell", n)
	}
	if did, err := c.one(t, name, build); did || err != nil {
		t.Errorf("computed again: %t, %v", did, err)
	}
	<-done
}

// After an interruption the next call takes the results that are there.
func TestResultsSurviveARestart(t *testing.T) {
	c, v := newCoordinator(t, time.Minute), tumours(t)
	ctx, stop := context.WithCancel(t.Context())
	done := c.begin(t, ctx, v)
	names := c.missing(t)
	c.compute(t, names[:5]...)
	stop()
	if got := <-done; !errors.Is(got.err, context.Canceled) {
		t.Fatal(got.err)
	}
	done = c.begin(t, t.Context(), v)
	if left := c.missing(t); !slices.Equal(left, names[5:]) {
		t.Fatalf("left after a restart: %v, want %v", left, names[5:])
	}
	c.compute(t, names[5])
	if got := <-done; got.err != nil || !same(got.trials, own(t, v)) {
		t.Errorf("%v; the trials differ", got.err)
	}
}

// Files that somebody without the key writes in place of results are refused, and so are results
// under another cell's name. Their cells are computed again.
func TestForgedResults(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	done := c.begin(t, t.Context(), v)
	names := c.missing(t)
	c.compute(t, names[0])
	good, err := os.ReadFile(filepath.Join(c.Path, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(good)
	changed[len(changed)-1] ^= 1
	foreign := &Folder{path: c.Path, key: make([]byte, keyBytes), build: build}
	trials, err := try(t, v, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(c.Path, names[1]), good, 0o600),
		os.WriteFile(filepath.Join(c.Path, names[2]), changed, 0o600),
		foreign.put(names[3], encodeTrials(trials)),
		os.WriteFile(filepath.Join(c.Path, names[4]), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if left := c.missing(t); !slices.Equal(left, names[1:]) {
		t.Errorf("missing: %v", left)
	}
	c.compute(t, names[4]) // what is there does not open, so it is computed again
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	for i := range names {
		if there := got.trials[i/3][i%3] != nil; there != (i == 0 || i == 4) {
			t.Errorf("cell %d: taken %t", i, there)
		}
	}
	if n := strings.Count(c.log.String(), "was not written under this folder's key"); n != 3 && n != 4 { // the fifth may be replaced before it is seen
		t.Errorf("%d refusals in the log:\n%s", n, c.log)
	}
}

// Another value of the drawn cell ends the job with an error that names the cell.
func TestAnotherValueIsAnError(t *testing.T) {
	c, v := newCoordinator(t, time.Minute), tumours(t)
	done := c.begin(t, t.Context(), v)
	f, err := open(c.Path, build)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range c.missing(t) { // whichever is drawn
		trials, err := try(t, v, i/3, i%3)
		if err != nil {
			t.Fatal(err)
		}
		trials[1].Outputs.Data[0] *= 1 + 1e-15
		if err := f.put(name, encodeTrials(trials)); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-done; got.err == nil || !strings.Contains(got.err.Error(), "another process computed other values for the cell of kernel ") {
		t.Errorf("error: %v", got.err)
	}
}

// Results that do not fit the grid are refused.
func TestUnfitResults(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	done := c.begin(t, t.Context(), v)
	f, err := open(c.Path, build)
	if err != nil {
		t.Fatal(err)
	}
	names := c.missing(t)
	trials, err := try(t, v, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	wide := slices.Clone(trials)
	wide[0].Outputs.Cols, wide[0].Outputs.Stride, wide[0].Outputs.Data = 2, 2, append(slices.Clone(wide[0].Outputs.Data), wide[0].Outputs.Data...)
	if err := errors.Join(f.put(names[0], encodeTrials(trials[:1])), f.put(names[1], encodeTrials(wide)), f.put(names[2], []byte("no trials"))); err != nil {
		t.Fatal(err)
	}
	c.compute(t, names[3:]...)
	got := <-done
	if got.err != nil && !strings.Contains(got.err.Error(), "other values") { // if the wide one was drawn
		t.Fatal(got.err)
	}
	for i := range 3 {
		if got.err == nil && got.trials[0][i] != nil {
			t.Errorf("cell %d was taken", i)
		}
	}
}

// The names of another build or processor are others, and its results are ignored.
func TestAnotherBuild(t *testing.T) {
	const other = "0123456789abcdef linux/amd64 avx2=true avx512=true"
	c, v := newCoordinator(t, time.Second), tumours(t)
	done := c.begin(t, t.Context(), v)
	theirs, err := Missing(c.Path, other)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range theirs {
		if did, err := c.one(t, name, other); err != nil || !did {
			t.Fatal(err)
		}
	}
	if _, err := c.one(t, c.missing(t)[0], other); err == nil || !strings.Contains(err.Error(), "for this program on this processor") {
		t.Errorf("error: %v", err)
	}
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	for _, folds := range got.trials {
		for _, trials := range folds {
			if trials != nil {
				t.Error("the result of another build was taken")
			}
		}
	}
}

// A folder or a key that other users can change or read is refused, by coordinators and others.
func TestOpenFoldersAreRefused(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		if err := os.Chmod(c.Path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := c.Trials(t.Context(), v, nil)
		if err == nil || !strings.Contains(err.Error(), "chmod go-w") || c.Check() == nil {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := os.Chmod(c.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	for text, make := range map[string]func(string) error{
		"chmod 600":            func(p string) error { return os.WriteFile(p, make([]byte, keyBytes), 0o640) },
		"not a key file of 32": func(p string) error { return os.WriteFile(p, make([]byte, 31), 0o600) },
		"not a key file":       func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		path := c.Path + keySuffix
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		_, err := c.Trials(t.Context(), v, nil)
		if _, missing := Missing(c.Path, build); err == nil || missing == nil || !strings.Contains(err.Error(), text) || err.Error() != missing.Error() {
			t.Errorf("%s: %v; %v", text, err, missing)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Two coordinators cannot use one folder.
func TestOneCoordinator(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	done := c.begin(t, t.Context(), v)
	if _, err := c.Trials(t.Context(), v, nil); err == nil || !strings.Contains(err.Error(), "another coordinator uses the folder") {
		t.Errorf("error: %v", err)
	}
	<-done
}

// No file in the folder has a label, a number of the Gram matrix or a name of a kernel in clear.
func TestInputsAreSealed(t *testing.T) {
	c, v := newCoordinator(t, time.Second), tumours(t)
	for i := range v.Problem.Labels {
		v.Problem.Labels[i] = map[string]string{"0": "benign-tumour", "1": "malignant-tumour"}[v.Problem.Labels[i]]
	}
	v.Learners, _ = all.Reader().DecodeLearners([]byte("{name: svc, C: [0.1, 10]}"))
	done := c.begin(t, t.Context(), v)
	c.compute(t, c.missing(t)[0])
	entries, err := os.ReadDir(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := encodeSettings(v)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{"-tumour", `"rbf"`, "accuracy"} // too long to occur by chance in megabytes of ciphertext
	for _, secret := range secrets {
		if !bytes.Contains(plain, []byte(secret)) {
			t.Errorf("the settings do not hold %q", secret)
		}
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(c.Path, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds %q", e.Name(), secret)
			}
		}
	}
	<-done
}

// The settings of every learner that a grid may have, and all parts of a problem, come back as they were.
func TestSettingsComeBack(t *testing.T) {
	v := tumours(t)
	v.Problem.Groups, v.Problem.Order = make([]string, len(v.Problem.Test)), []string{"1", "0"}
	for i := range v.Problem.Groups {
		v.Problem.Groups[i], v.Problem.Test[i] = string(rune('a'+i%7)), i%4 == 0
	}
	v.Kernels = append(v.Kernels, kernel.Spec{Name: "dot-product", Coefficients: []float64{0.1, 1.0 / 3}}, kernel.Spec{Name: "matern", LengthScale: 1e-300, Nu: 2.5})
	texts := []string{"{name: svc, C: [0.1, 1000000.0000000001], class_weight: balanced, tol: 1e-7}"}
	for _, l := range learner.Table() {
		if _, on := l.New().(learner.KernelLearner); on && l.Task().Score != "" {
			texts = append(texts, "{name: "+l.Name()+"}")
		}
	}
	for _, text := range texts {
		var err error
		if v.Learners, err = all.Reader().DecodeLearners([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		b, err := encodeSettings(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeSettings(b, all.Reader())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		gram := got.Problem.Gram
		got.Problem.Gram = v.Problem.Gram
		if !reflect.DeepEqual(got, v) || gram.Data != nil {
			t.Errorf("%s: got %+v, want %+v", text, got, v)
		}
	}
}

// Names reveal nothing to somebody without the key: another key gives other names.
func TestNamesNeedTheKey(t *testing.T) {
	h := header{work: gridWork, cells: 2}
	names := make(map[string]bool)
	for range 3 {
		key := make([]byte, keyBytes)
		rand.Read(key) //nolint:errcheck // never fails
		for _, name := range (&Folder{key: key, build: build}).names(h) {
			names[name] = true
			if b, err := hex.DecodeString(name); err != nil || len(b) != 32 || !isName(name) {
				t.Errorf("%q is no name", name)
			}
		}
	}
	if len(names) != 6 {
		t.Errorf("%d different names", len(names))
	}
}
