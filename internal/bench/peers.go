package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
)

// Names of the Python packages whose SVC [Peers] compares with Mercer's.
const (
	mercerPackage = "mercer"
	scikitLearn   = "scikit-learn"
	intelex       = "scikit-learn-intelex"
)

// peersScript trains by one library in a process of its own, and prints the costs and the results as JSON.
//
//go:embed peers.py
var peersScript []byte

// installs names, for each package, what has to be installed.
var installs = map[string]string{
	mercerPackage: "the wheel that python/wheel.py builds",
	scikitLearn:   "it by pip install scikit-learn",
	intelex:       "it by pip install scikit-learn-intelex",
	spuPackage:    "it by pip install spu==0.9.5",
}

// PeerLibraries returns the names of the Python packages that [Peers] can compare with Mercer's.
func PeerLibraries() []string { return []string{intelex, scikitLearn} }

// PeerSets returns the names of the data sets of [Peers].
func PeerSets() []string {
	names := make([]string, len(peerSets))
	for i, s := range peerSets {
		names[i] = s.name
	}
	return names
}

// peerSet is a data set on which the libraries train a C-SVC with an RBF kernel and C = 1.
type peerSet struct {
	name    string
	gamma   float64
	targets map[string]peerTarget // targets by the library that Mercer is compared with
	load    func(catalogue.Library) (*dataset.Set, error)
}

// peerTarget holds targets for a fit: the least ratios of another library's times to Mercer's times.
type peerTarget struct{ cpu, wall float64 }

var peerSets = []peerSet{
	{"a9a", 1. / 123, map[string]peerTarget{intelex: {1.5, 1.3}, scikitLearn: {4, 4}}, fromText("a9a/a9a")},
	{"20000x100", .01, map[string]peerTarget{intelex: {1.5, 1.3}, scikitLearn: {4, 4}}, made(20000, 100)},
	{"mnist-4000", .01, map[string]peerTarget{intelex: {1.5, 1.3}, scikitLearn: {2, 3}}, firstImages(4000)},
	{"phishing", 1. / 68, map[string]peerTarget{intelex: {1.5, 1.1}, scikitLearn: {4, 4}}, fromText("phishing/phishing")},
	{"30000x54", 1. / 54, map[string]peerTarget{intelex: {1.5, 1.3}}, made(30000, 54)},
}

func fromText(name string) func(catalogue.Library) (*dataset.Set, error) {
	return func(lib catalogue.Library) (*dataset.Set, error) {
		path, err := find(lib, name)
		if err != nil {
			return nil, err
		}
		return load(path)
	}
}

func made(rows, columns int) func(catalogue.Library) (*dataset.Set, error) {
	return func(catalogue.Library) (*dataset.Set, error) { return overlapping(rows, columns), nil }
}

// firstImages loads the first images of MNIST, with pixels from 0 to 1.
func firstImages(count int) func(catalogue.Library) (*dataset.Set, error) {
	const name = "mnist/train-images-idx3-ubyte.gz"
	return func(lib catalogue.Library) (*dataset.Set, error) {
		if _, err := find(lib, name); err != nil {
			return nil, err
		}
		set, err := lib.Load(name, catalogue.Columns{})
		if err != nil {
			return nil, err
		}
		x := dataset.DenseOf(set.X).Matrix().Panel(0, count)
		for i := range x.Rows {
			for j := range x.Row(i) {
				x.Row(i)[j] /= 255
			}
		}
		return &dataset.Set{X: dataset.NewDense(x), Labels: set.Labels[:count]}, nil
	}
}

// PeersOptions selects what [Peers] measures.
type PeersOptions struct {
	Python    string   // interpreter that has the packages
	Sets      []string // names of data sets; nil: all
	Libraries []string // Python packages to compare with; nil: all
}

// Peers returns a benchmark of the Python package mercer. It trains a C-SVC from arrays, by turns
// with Mercer and with other Python packages. Each turn is a process of its own. The benchmark
// reports medians and ranges, and compares the objectives and the predicted labels. It returns an
// error if the interpreter lacks the package mercer; other packages that it lacks are noted.
func Peers(ctx context.Context, lib catalogue.Library, o PeersOptions) (Benchmark, error) {
	python := interpreter{o.Python, peersScript}
	b := Benchmark{counts: medianTurn}
	if err := python.has(ctx, mercerPackage); err != nil {
		return b, fmt.Errorf("bench: %w", err)
	}
	libraries := []string{mercerPackage}
	for _, name := range orAll(o.Libraries, PeerLibraries()) {
		if err := python.has(ctx, name); err != nil {
			b.cases = append(b.cases, scene{name, func(context.Context) (race, error) { return race{}, unavailable{err.Error()} }})
			continue
		}
		libraries = append(libraries, name)
	}
	sets := orAll(o.Sets, PeerSets())
	for _, s := range peerSets {
		if slices.Contains(sets, s.name) {
			b.cases = append(b.cases, scene{s.name, func(context.Context) (race, error) { return racePeers(s, lib, python, libraries) }})
		}
	}
	return b, nil
}

func orAll(chosen, all []string) []string {
	if len(chosen) == 0 {
		return all
	}
	return chosen
}

// interpreter is a Python program with a script.
type interpreter struct {
	path   string
	script []byte // the script that the interpreter runs
}

// run runs the script with arguments and decodes the JSON that the script prints.
func (p interpreter) run(ctx context.Context, into any, arguments ...string) error {
	cmd := exec.CommandContext(ctx, p.path, append([]string{"-"}, arguments...)...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.script), &out, &complaint
	if err := cmd.Run(); err != nil {
		said := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", p.path, err, said[len(said)-1]))
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return fmt.Errorf("%s printed no result in JSON: %w", p.path, err)
	}
	return nil
}

// has returns an error if the interpreter cannot import a package.
func (p interpreter) has(ctx context.Context, library string) error {
	var version struct{ Python, Version string }
	if err := p.run(ctx, &version, library); err != nil {
		return fmt.Errorf("package %s cannot be imported; install %s, or choose another Python by --python (%w)", library, installs[library], err)
	}
	return nil
}

// peerTask describes the arrays in a folder to the script.
type peerTask struct {
	Rows      int     `json:"rows"`
	Columns   int     `json:"columns"`
	Sparse    bool    `json:"sparse"`
	C         float64 `json:"C"`
	Gamma     float64 `json:"gamma"`
	Predicted int     `json:"predicted"` // number of rows to predict, from the first
}

// mostPredicted is the largest number of rows that are predicted.
const mostPredicted = 5000

// usage holds the cost of a step: seconds, and the share of the machine's cores that other programs used,
// nil if the system does not say.
type usage struct {
	Wall   float64  `json:"wall"`
	CPU    float64  `json:"cpu"`
	Others *float64 `json:"others"`
}

// peerReport is one turn of a library.
type peerReport struct {
	Import    usage    `json:"import"`
	Load      usage    `json:"load"`
	Fit       usage    `json:"fit"`
	Predict   usage    `json:"predict"`
	Support   int      `json:"support"`
	Objective *float64 `json:"objective"` // objective of the training; only in the first turn
}

// peerRace holds the turns of all libraries on one set.
type peerRace struct {
	set       peerSet
	task      peerTask
	dir       string
	libraries []string // names of the Python packages, Mercer's first
	turns     map[string][]peerReport
	labels    map[string][]byte // predicted labels of the first turn
}

func racePeers(s peerSet, lib catalogue.Library, python interpreter, libraries []string) (r race, err error) {
	set, err := s.load(lib)
	if err != nil {
		return race{}, err
	}
	dir, err := os.MkdirTemp("", "mercer-bench-")
	if err != nil {
		return race{}, err
	}
	p := &peerRace{set: s, dir: dir, libraries: libraries, turns: make(map[string][]peerReport), labels: make(map[string][]byte)}
	if p.task, err = writeArrays(dir, set, s.gamma); err != nil {
		return race{}, errors.Join(err, os.RemoveAll(dir))
	}
	for _, name := range libraries {
		r.runs = append(r.runs, func(ctx context.Context) error { return p.turn(ctx, python, name) })
	}
	r.rows = func([]span) []Row { return p.rows() }
	r.close = func() error { return os.RemoveAll(dir) }
	return r, nil
}

// writeArrays writes the rows and the codes of the labels as arrays for the script.
func writeArrays(dir string, set *dataset.Set, gamma float64) (peerTask, error) {
	_, codes := dataset.Classes(set.Labels)
	y := make([]int64, len(codes))
	for i, c := range codes {
		y[i] = int64(c)
	}
	csr, sparse := set.X.(*dataset.CSR)
	task := peerTask{len(y), set.X.Cols(), sparse, 1, gamma, min(mostPredicted, len(y))}
	text, err := json.Marshal(task)
	if err != nil {
		return task, err
	}
	err = errors.Join(os.WriteFile(filepath.Join(dir, "task.json"), text, 0o600), writeArray(dir, "y", y))
	if !sparse {
		return task, errors.Join(err, writeArray(dir, "x", dataset.DenseOf(set.X).Matrix().Data))
	}
	indptr, indices, data := []int32{0}, []int32(nil), []float64(nil)
	for i := range csr.Rows() {
		columns, values := csr.Entries(i)
		indices, data = append(indices, columns...), append(data, values...)
		indptr = append(indptr, int32(len(indices)))
	}
	return task, errors.Join(err, writeArray(dir, "indptr", indptr), writeArray(dir, "indices", indices), writeArray(dir, "data", data))
}

func writeArray(dir, name string, values any) error {
	text, err := binary.Append(nil, binary.NativeEndian, values)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), text, 0o600)
}

// turn lets a library train once. The first turn also gives its objective and its labels.
func (p *peerRace) turn(ctx context.Context, python interpreter, library string) error {
	arguments := []string{library, p.dir}
	first := len(p.turns[library]) == 0
	if first {
		arguments = append(arguments, "judge")
	}
	var r peerReport
	if err := python.run(ctx, &r, arguments...); err != nil {
		return fmt.Errorf("%s: %w", library, err)
	}
	p.turns[library] = append(p.turns[library], r)
	if !first {
		return nil
	}
	labels, err := os.ReadFile(filepath.Join(p.dir, library+".labels"))
	switch {
	case r.Objective == nil:
		return fmt.Errorf("%s printed no objective", library)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s wrote no labels", library)
	}
	p.labels[library] = labels
	return err
}

// of returns one figure of all turns of a library.
func (p *peerRace) of(library string, figure func(peerReport) float64) []float64 {
	values := make([]float64, len(p.turns[library]))
	for i, t := range p.turns[library] {
		values[i] = figure(t)
	}
	return values
}

func (p *peerRace) rows() []Row {
	rows := p.own()
	for _, library := range p.libraries[1:] {
		rows = append(rows, p.beside(library)...)
	}
	return rows
}

// own returns the rows without a comparison: for each library the time to import it and to load the arrays,
// and the share of the cores that other programs used.
func (p *peerRace) own() []Row {
	var rows []Row
	for _, library := range p.libraries {
		what := fmt.Sprintf("%s, %s: ", p.set.name, library)
		rows = append(rows,
			medianOf(what+"import", "s of CPU", p.of(library, func(r peerReport) float64 { return r.Import.CPU })),
			medianOf(what+"load arrays", "s of CPU", p.of(library, func(r peerReport) float64 { return r.Load.CPU })))
		if p.turns[library][0].Fit.Others != nil {
			rows = append(rows, medianOf(what+"share of the cores that other programs used during the fit", "",
				p.of(library, func(r peerReport) float64 { return *r.Fit.Others })))
		}
	}
	return rows
}

// beside returns the rows that compare Mercer with another library.
func (p *peerRace) beside(library string) []Row {
	against := func(what string, figure func(peerReport) float64) Row {
		return medianBeside(p.set.name+": "+what, library, p.of(mercerPackage, figure), p.of(library, figure))
	}
	cpu := against("fit, processor time", func(r peerReport) float64 { return r.Fit.CPU })
	wall := against("fit, wall time", func(r peerReport) float64 { return r.Fit.Wall })
	if target, ok := p.set.targets[library]; ok {
		cpu, wall = cpu.atLeast(target.cpu), wall.atLeast(target.wall)
	}
	ours, theirs := p.turns[mercerPackage][0], p.turns[library][0]
	return []Row{
		cpu, wall,
		against("predict "+fmt.Sprint(p.task.Predicted)+" rows, processor time", func(r peerReport) float64 { return r.Predict.CPU }),
		against("predict "+fmt.Sprint(p.task.Predicted)+" rows, wall time", func(r peerReport) float64 { return r.Predict.Wall }),
		figure(p.set.name+": objective", *ours.Objective, "").agrees(library, *theirs.Objective).atMost(1e-6),
		figure(p.set.name+": support vectors", float64(ours.Support), "").agrees(library, float64(theirs.Support)),
		figure(p.set.name+": labels unlike those of "+library, float64(p.unlike(library)), "of "+fmt.Sprint(p.task.Predicted)),
	}
}

// unlike returns the number of rows for which a library predicts another label than Mercer.
func (p *peerRace) unlike(library string) int {
	ours, theirs := p.labels[mercerPackage], p.labels[library]
	const size = 8
	count := max(len(ours), len(theirs)) / size
	for i := 0; i+size <= min(len(ours), len(theirs)); i += size {
		if bytes.Equal(ours[i:i+size], theirs[i:i+size]) {
			count--
		}
	}
	return count
}

// medianOf returns a row with the median and the range of the turns.
func medianOf(name, unit string, values []float64) Row {
	r := figure(name, median(values), unit)
	r.Range = &[2]float64{slices.Min(values), slices.Max(values)}
	return r
}

// medianBeside returns a row that compares seconds with those of a peer. The ratio is the median of
// the ratios of the turns, in each of which both ran.
func medianBeside(name, peer string, ours, theirs []float64) Row {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = theirs[i] / ours[i]
	}
	r := figure(name, median(ours), "s").compared(speedUp, peer, median(theirs), median(ratios))
	r.Range = &[2]float64{slices.Min(ratios), slices.Max(ratios)}
	return r
}

// median returns the middle value, or the mean of both middle values.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
