package libsvm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Trained is the result of svm-train.
type Trained struct {
	Model    *Model
	Text     string // lines that svm-train prints
	Warnings []string
}

// Train trains a model. Errors about the content of a row name the text and the row.
func Train(p *Problem, t *Training) (*Trained, error) {
	tr, err := newTrainer(p, t)
	if err != nil {
		return nil, err
	}
	all := linalg.Range(0, len(p.Y))
	tr.warnAbout(all)
	f, err := tr.fit(all)
	if err != nil {
		return nil, err
	}
	return &Trained{Model: tr.model(f), Text: f.text, Warnings: tr.warnings}, nil
}

// trainer trains machines on rows of one problem.
type trainer struct {
	*Training
	problem  *Problem
	kernel   Kernel
	source   kernel.Source // kernel matrix of all rows, for training
	exact    kernel.Source // kernel matrix of all rows, for decisions
	labels   []int         // class of each row; nil if the machine does not classify
	random   *sequence
	warnings []string
}

func newTrainer(p *Problem, t *Training) (tr *trainer, err error) {
	tr = &trainer{Training: t, problem: p, kernel: t.Kernel.filled(p.X.Cols()), random: newSequence()}
	if t.Machine.Classifies() {
		if tr.labels, err = p.labels(); err != nil {
			return nil, err
		}
	}
	if t.Kernel.Name == Precomputed {
		tr.exact, err = precomputed(p)
		tr.source = rounded{tr.exact}
		return tr, err
	}
	tr.exact, err = tr.kernel.source(p.X)
	tr.source = tr.exact
	return tr, err
}

// warnAbout warns of weights of missing classes, and of a single class.
func (t *trainer) warnAbout(rows []int) {
	if t.labels == nil {
		return
	}
	classes, _, _ := group(rows, t.labels)
	if len(classes) == 1 {
		t.warnings = append(t.warnings, fmt.Sprintf("all rows have the label %d, so the model predicts %d for every row", classes[0], classes[0]))
	}
	for label := range t.Weights {
		if !slices.Contains(classes, label) {
			t.warnings = append(t.warnings, fmt.Sprintf("no row has the label %d, for which -w%d sets a weight", label, label))
		}
	}
	slices.Sort(t.warnings)
}

// fitted is a trained machine over rows of a problem.
type fitted struct {
	decider
	order   []int    // rows of the problem that were trained on, in the order of the solver
	support []int    // rows of the problem that are support vectors, in the order of a model file
	lines   []string // lines that svm-train prints about each pair of classes
	text    string   // all lines that svm-train prints
}

// linesOfPairs returns the lines about all pairs, and the number of support vectors.
func (f *fitted) linesOfPairs() string {
	return strings.Join(f.lines, "") + fmt.Sprintf("Total nSV = %d\n", len(f.support))
}

// fit trains on the given rows.
func (t *trainer) fit(rows []int) (*fitted, error) {
	if !t.Machine.Classifies() {
		return t.fitSingle(rows)
	}
	f, err := t.fitClasses(rows, classTask{labels: t.labels, c: t.C, weights: t.Weights})
	if err != nil || !t.Probability || f.pairs == nil {
		return f, err
	}
	return f, t.calibrate(f)
}

// classTask holds the labels that a classifier is to learn, and the costs of errors.
type classTask struct {
	labels  []int // label of each row of the problem
	c       float64
	weights map[int]float64
}

// fitClasses trains a classifier. If all rows have one label, it always answers this label.
func (t *trainer) fitClasses(rows []int, task classTask) (*fitted, error) {
	classes, grouped, codes := group(rows, task.labels)
	f := &fitted{decider: decider{machine: t.Machine, labels: classes}, order: grouped}
	if len(classes) == 1 {
		f.text = f.linesOfPairs()
		return f, nil
	}
	c, err := t.trainPairs(kernel.Subset(t.source, grouped), classes, codes, task)
	if err != nil && !errors.Is(err, svm.ErrNotConverged) {
		return nil, err
	}
	t.noteUnconverged(err)
	f.pairs, f.support = c, linalg.At(grouped, c.Support())
	for _, p := range c.Pairs {
		f.lines = append(f.lines, t.linesOfPair(p, classes, codes, task))
	}
	f.text = f.linesOfPairs()
	return f, nil
}

func (t *trainer) trainPairs(src kernel.Source, classes, codes []int, task classTask) (*svm.Classifier, error) {
	names := Names(classes)
	if t.Machine == NuSVC {
		return svm.TrainNuSVC(src, codes, names, t.nuParams(), nil)
	}
	p := svm.Params{C: task.c, Tol: t.Tol, CacheBytes: t.CacheBytes, Interrupt: t.Interrupt, Weights: make(map[string]float64)}
	for i, label := range classes {
		if w, is := task.weights[label]; is {
			p.Weights[names[i]] = w
		}
	}
	return svm.TrainSVC(src, codes, names, p, nil)
}

func (t *trainer) nuParams() svm.NuParams {
	return svm.NuParams{Nu: t.Nu, Tol: t.Tol, CacheBytes: t.CacheBytes, Interrupt: t.Interrupt}
}

// noteUnconverged adds a warning if err is not nil.
func (t *trainer) noteUnconverged(err error) {
	if err != nil {
		t.warnings = append(t.warnings, strings.TrimPrefix(err.Error(), "svm: "))
	}
}

// linesOfPair returns the lines that svm-train prints after it has trained a pair of classes.
func (t *trainer) linesOfPair(p svm.Pair, classes, codes []int, task classTask) string {
	rows := 0
	for _, code := range codes {
		if code == p.First || code == p.Second {
			rows++
		}
	}
	l := lines{size: rows, report: p.Report, rho: p.Rho}
	if t.Machine == NuSVC {
		l.more = fmt.Sprintf("C = %f\n", 1/p.Report.Margin)
	} else if weight := task.weight(classes[p.First]); weight == task.weight(classes[p.Second]) {
		l.more = nuLine(p.Coef, task.c*weight, rows)
	}
	return l.String()
}

// weight returns the weight of a class.
func (c classTask) weight(label int) float64 {
	if w, is := c.weights[label]; is {
		return w
	}
	return 1
}

// nuLine returns the line with the nu of the nu-SVM that has the same solution.
func nuLine(coef []float64, c float64, rows int) string {
	sum := 0.0
	for _, b := range coef {
		sum += math.Abs(b)
	}
	return fmt.Sprintf("nu = %f\n", sum/(c*float64(rows)))
}

// lines are the lines that svm-train prints for one optimisation.
type lines struct {
	size   int // number of coefficients of the problem
	report svm.Report
	rho    float64
	more   string // line about nu, C or epsilon
}

// String returns the lines. The first one has a dot for every thousand iterations, or for every size iterations
// if size is smaller.
func (l lines) String() string {
	dots := strings.Repeat(".", l.report.Iterations/max(1, min(l.size, 1000)))
	return fmt.Sprintf("%s*\noptimization finished, #iter = %d\n%sobj = %f, rho = %f\nnSV = %d, nBSV = %d\n",
		dots, l.report.Iterations, l.more, l.report.Objective, l.rho, l.report.Support, l.report.Bounded)
}

// fitSingle trains a regression or a one-class machine.
func (t *trainer) fitSingle(rows []int) (*fitted, error) {
	noise, before, err := t.noise(rows)
	if err != nil {
		return nil, err
	}
	m, err := t.trainSingle(kernel.Subset(t.source, rows), linalg.At(t.problem.Y, rows))
	if err != nil && !errors.Is(err, svm.ErrNotConverged) {
		return nil, err
	}
	t.noteUnconverged(err)
	f := &fitted{decider: decider{machine: t.Machine, single: m, noise: noise}, order: rows, support: linalg.At(rows, m.Support)}
	l := lines{size: 2 * len(rows), report: m.Report, rho: m.Rho}
	switch t.Machine {
	case OneClass:
		l.size = len(rows)
	case SVR:
		l.more = nuLine(m.Coef, t.C, len(rows))
	case NuSVR:
		l.more = fmt.Sprintf("epsilon = %f\n", -m.Report.Margin)
	}
	f.text = before + l.String()
	return f, nil
}

func (t *trainer) trainSingle(src kernel.Source, targets []float64) (*svm.Machine, error) {
	switch t.Machine {
	case OneClass:
		return svm.TrainOneClass(src, t.nuParams())
	case NuSVR:
		return svm.TrainNuSVR(src, targets, svm.NuSVRParams{C: t.C, Nu: t.Nu, Tol: t.Tol, CacheBytes: t.CacheBytes, Interrupt: t.Interrupt})
	}
	return svm.TrainSVR(src, targets, svm.SVRParams{C: t.C, Epsilon: t.Epsilon, Tol: t.Tol, CacheBytes: t.CacheBytes, Interrupt: t.Interrupt})
}

// cross calls use with the kernel values of some held rows with the support vectors. The first of these
// rows is held[lo].
func (t *trainer) cross(f *fitted, held []int, use func(lo int, cross linalg.Matrix[float64])) {
	kernel.Blocks(t.exact, held, f.support, use)
}

// answers returns the predictions for held rows.
func (t *trainer) answers(f *fitted, held []int) []float64 {
	out := make([]float64, len(held))
	t.cross(f, held, func(lo int, cross linalg.Matrix[float64]) {
		some, _ := f.answer(cross, t.Probability && t.Machine.Classifies())
		copy(out[lo:], some)
	})
	return out
}

// model returns the model of a fitted machine.
func (t *trainer) model(f *fitted) *Model {
	m := &Model{Machine: t.Machine, Kernel: t.kernel, Vectors: t.problem.X.Subset(f.support).(*dataset.CSR)}
	m.setFunctions(f)
	return m
}
