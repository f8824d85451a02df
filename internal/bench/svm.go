package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// svmTask is the task of training a C-SVC with an RBF kernel on the rows of a LIBSVM text file.
type svmTask struct {
	name          string
	gamma, c, tol float64
	// open writes the text file into the folder dir, or finds an existing one. It returns the
	// file's path.
	open func(dir string) (path string, err error)
	// values returns a source that computes the kernel values of the table's rows when a solver
	// needs them.
	values func(dataset.Table, kernel.Kernel) kernel.Source
	// variants lists the memory limits for kernel values under which the task is measured.
	variants []svmVariant
}

// svmVariant is a memory limit for kernel values, with a target.
type svmVariant struct {
	name   string
	bytes  int64
	target float64 // least speed relative to the peer; 0 means no target
}

// Memory limits in bytes. All kernel values of the measured rows fit into plenty, but not into
// scarce.
const (
	plenty = 8 << 30
	scarce = 512e6
)

// SVM returns a benchmark of training a C-SVC, from the text file to the model. It uses generated
// rows and, if lib has it, a9a. The limit is the time of all inner products. If a peer is given,
// the benchmark also compares times and results with those of the peer.
func SVM(lib catalogue.Library, peer Peer) Benchmark {
	generated := svmTask{
		name: "20,000 x 100", gamma: .01, c: 1, tol: svm.DefaultTol,
		open:     func(dir string) (string, error) { return twoClouds(dir, 20000, 100) },
		values:   ofDense,
		variants: []svmVariant{{"", plenty, 6}, {", 512 MB for kernel values", scarce, 3}},
	}
	a9a := svmTask{
		name: "a9a", gamma: 1. / 123, c: 1, tol: svm.DefaultTol,
		open:     func(string) (string, error) { return find(lib, "a9a/a9a") },
		values:   ofSparse,
		variants: []svmVariant{{"", plenty, 4}, {", 512 MB for kernel values", scarce, 3}},
	}
	return svmOf([]svmTask{generated, a9a}, peer)
}

// ofDense returns a source of kernel values for a table with few zeros.
func ofDense(x dataset.Table, k kernel.Kernel) kernel.Source {
	return kernel.NewLazy(dataset.DenseOf(x).Matrix(), k)
}

// ofSparse returns a source of kernel values for a table that stores no zeros, such as LIBSVM text.
func ofSparse(x dataset.Table, k kernel.Kernel) kernel.Source {
	if rows, sparse := x.(*dataset.CSR); sparse {
		return kernel.NewLazySparse(rows, k)
	}
	return ofDense(x, k)
}

func svmOf(tasks []svmTask, peer Peer) Benchmark {
	var b Benchmark
	for _, t := range tasks {
		b.cases = append(b.cases, scene{t.name, func(context.Context) (race, error) { return raceSVM(t, peer) }})
	}
	return b
}

// fit reads the text file and trains. The peer also reads the file, so reading is part of the
// measured work.
func (t svmTask) fit(path string, bytes int64) (svmReport, error) {
	set, err := load(path)
	if err != nil {
		return svmReport{}, err
	}
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: t.gamma})
	if err != nil {
		return svmReport{}, err
	}
	classes, codes := dataset.Classes(set.Labels)
	p := svm.Params{C: t.c, Tol: t.tol, CacheBytes: bytes}
	c, err := svm.TrainSVC(t.values(set.X, k), codes, classes, p, nil)
	if err != nil {
		return svmReport{}, err
	}
	return svmReport{objective: c.Pairs[0].Report.Objective, support: len(c.Support())}, nil
}

// measuredFit runs fit and records the peak of the process's memory.
func (t svmTask) measuredFit(path string, bytes int64) (svmReport, error) {
	if err := resetPeak(); err != nil {
		return svmReport{}, err
	}
	r, err := t.fit(path, bytes)
	if err != nil {
		return svmReport{}, err
	}
	r.peak, err = peakMemory()
	return r, err
}

// contest holds a task under measurement and the results of all programs.
type contest struct {
	svmTask
	path    string
	ours    []svmReport // our reports, by variant
	theirs  *svmReport  // report of the peer; nil without a peer
	peerRun int         // index of the peer's run in the race
}

func raceSVM(t svmTask, peer Peer) (r race, err error) {
	dir, err := os.MkdirTemp("", "mercer-bench-")
	if err != nil {
		return race{}, err
	}
	r.close = func() error { return os.RemoveAll(dir) }
	c := &contest{svmTask: t, ours: make([]svmReport, len(t.variants))}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if c.path, err = t.open(dir); err != nil {
		return r, err
	}
	set, err := load(c.path)
	if err != nil {
		return r, err
	}
	r.runs = append(r.runs, allProducts(dataset.DenseOf(set.X).Matrix()))
	for i, v := range t.variants {
		r.runs = append(r.runs, func(context.Context) (err error) {
			c.ours[i], err = t.measuredFit(c.path, v.bytes)
			return err
		})
	}
	if peer != (Peer{}) {
		c.theirs, c.peerRun = new(svmReport), len(r.runs)
		r.runs = append(r.runs, func(ctx context.Context) (err error) {
			*c.theirs, err = peer.train(ctx, t, c.path, filepath.Join(dir, "model"))
			return err
		})
	}
	r.rows = c.rows
	return r, nil
}

// allProducts returns a run that computes the inner products of all pairs of rows. A training that
// reads all kernel values needs these products, or half of them by symmetry. The run multiplies
// panels of rows that stay in the cache.
func allProducts(x linalg.Matrix[float64]) run {
	const panel = 256
	dst := linalg.New[float64](panel, x.Rows)
	return pure(func() {
		for lo := 0; lo < x.Rows; lo += panel {
			rows := x.Panel(lo, min(x.Rows, lo+panel))
			linalg.MulTransB(dst.Panel(0, rows.Rows), rows, x)
		}
	})
}

func (c *contest) rows(best []span) []Row {
	var rows []Row
	for i, v := range c.variants {
		took, name := best[1+i], fmt.Sprintf("C-SVC on %s%s", c.name, v.name)
		rows = append(rows,
			figure(name, took.wall, "s").beside("inner products of all pairs", best[0].wall).byCPU(took.cpu/best[0].cpu),
			figure(name+", processor time", took.cpu, "s"),
			figure(name+", peak memory", c.ours[i].peak/(1<<20), "MiB"))
		if c.theirs != nil {
			rows = append(rows, c.beside(name, i, took, best[c.peerRun])...)
		}
	}
	return rows
}

// beside compares our training in variant i with that of the peer.
func (c *contest) beside(name string, i int, took, peer span) []Row {
	ours, theirs := c.ours[i], c.theirs
	speed := figure(name+", speed", took.wall, "s").outruns(SVMTrain, peer.wall).byCPU(peer.cpu / took.cpu)
	if c.variants[i].target > 0 {
		speed = speed.atLeast(c.variants[i].target)
	}
	return []Row{
		speed,
		figure(name+", objective", ours.objective, "").agrees(SVMTrain, theirs.objective).atMost(1e-6),
		figure(name+", support vectors", float64(ours.support), "").agrees(SVMTrain, float64(theirs.support)).atMost(.01),
	}
}

// find returns the path of a file in the data folder. If the file is missing, it returns an
// error of type unavailable.
func find(lib catalogue.Library, name string) (string, error) {
	path, err := lib.Find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", unavailable{fmt.Sprintf("%s is not in the data folder; set %s to one that has it", name, catalogue.Variable)}
	}
	return path, err
}

// twoClouds writes a file with the rows of overlapping.
func twoClouds(dir string, rows, columns int) (string, error) {
	path := filepath.Join(dir, "train")
	return path, create(path, overlapping(rows, columns))
}

// overlapping returns rows of two overlapping classes. The values are normally distributed around the
// mean of the class, and one label in fifty is wrong. The rows are the same on every machine.
func overlapping(rows, columns int) *dataset.Set {
	const apart, wrong = .25, .02
	s := prg.New([32]byte{}, "bench/svm")
	set := &dataset.Set{Labels: make([]string, rows)}
	x := linalg.New[float64](rows, columns)
	for i := range rows {
		side := float64(2*(i%2) - 1)
		for j := range x.Row(i) {
			// With four decimals, both programs read the same number from the text.
			x.Row(i)[j] = math.Round(1e4*(s.NormFloat64()+apart*side)) / 1e4
		}
		if s.Float64() < wrong {
			side = -side
		}
		set.Labels[i] = fmt.Sprint(side)
	}
	set.X = dataset.NewDense(x)
	return set
}

func create(path string, set *dataset.Set) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return dataset.WriteLIBSVM(f, set)
}

// load reads a LIBSVM text file.
func load(path string) (set *dataset.Set, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return dataset.ReadLIBSVM(f, dataset.LIBSVMOptions{Name: path})
}

// SVMTrain is the name of LIBSVM's training program, the only peer of [SVM].
const SVMTrain = "svm-train"

// Peer is another program that can do the same training. The zero value means no program.
type Peer struct{ path string }

// FindPeer returns the peer with the given name, or no peer for the name "". It returns an error
// if the name is unknown, and ErrNoPeer if the program is not installed.
func FindPeer(name string) (Peer, error) {
	switch name {
	case "":
		return Peer{}, nil
	case SVMTrain:
		path, err := exec.LookPath(SVMTrain)
		if err != nil {
			return Peer{}, fmt.Errorf("bench: %w: %s; on Debian: apt-get install libsvm-tools", ErrNoPeer, SVMTrain)
		}
		return Peer{path}, nil
	}
	return Peer{}, fmt.Errorf("bench: the peer %q is unknown; use %s", name, SVMTrain)
}

// ErrNoPeer is returned if the program to compare with is not installed.
var ErrNoPeer = errors.New("the program to compare with is not installed")

// svmReport holds the results of a training by Mercer or by the peer. The peak of the peer is not
// measured, because the peak of a child process includes the memory of the parent.
type svmReport struct {
	objective float64
	support   int
	peak      float64 // peak memory of Mercer's training in bytes; 0 for the peer
}

// train runs svm-train, with the task's parameters, for a C-SVC with an RBF kernel. svm-train
// runs on one core.
func (p Peer) train(ctx context.Context, t svmTask, data, model string) (svmReport, error) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	cmd := exec.CommandContext(ctx, p.path, "-s", "0", "-t", "2",
		"-g", number(t.gamma), "-c", number(t.c), "-e", number(t.tol), data, model)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return svmReport{}, errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", SVMTrain, err, bytes.TrimSpace(complaint.Bytes())))
	}
	return parseSVMTrain(out.Bytes())
}

// Lines of svm-train's output that hold the results:
//
//	obj = -5432.109876, rho = 0.123456
//	Total nSV = 6789
var (
	objectiveLine = regexp.MustCompile(`(?m)^obj = (\S+), rho = `)
	supportLine   = regexp.MustCompile(`(?m)^Total nSV = (\d+)$`)
)

// parseSVMTrain reads objective and number of support vectors from the output of svm-train on
// two classes.
func parseSVMTrain(out []byte) (svmReport, error) {
	objective, support := objectiveLine.FindAllSubmatch(out, -1), supportLine.FindAllSubmatch(out, -1)
	if len(objective) != 1 || len(support) != 1 {
		return svmReport{}, fmt.Errorf("%s printed %d objectives and %d counts of support vectors, but must print one of each; check that it is LIBSVM's program", SVMTrain, len(objective), len(support))
	}
	o, err := strconv.ParseFloat(string(objective[0][1]), 64)
	if err != nil {
		return svmReport{}, fmt.Errorf("%s printed an objective that is not a number: %w", SVMTrain, err)
	}
	n, err := strconv.Atoi(string(support[0][1]))
	if err != nil {
		return svmReport{}, fmt.Errorf("%s printed a count of support vectors that is not a number: %w", SVMTrain, err)
	}
	return svmReport{objective: o, support: n}, nil
}
