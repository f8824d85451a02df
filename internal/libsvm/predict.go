package libsvm

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// decider turns kernel values with support vectors into predictions.
type decider struct {
	machine     Machine
	labels      []int // classes of a classifier
	pairs       *svm.Classifier
	calibration *svm.Calibration
	single      *svm.Machine // machine that is no classifier
	noise       float64      // scale of a regression's errors; 0 if unknown
}

// answer returns the prediction for each row of cross, the kernel values of rows with the support
// vectors. With probable, the most probable class is predicted, and probabilities has the
// probability of each class.
func (d *decider) answer(cross linalg.Matrix[float64], probable bool) (answers []float64, probabilities linalg.Matrix[float64]) {
	answers = make([]float64, cross.Rows)
	switch {
	case d.single != nil:
		copy(answers, d.single.Decisions(cross))
		if d.machine == OneClass {
			for i, v := range answers {
				answers[i] = side(v)
			}
		}
		return answers, probabilities
	case d.pairs == nil:
		for i := range answers {
			answers[i] = float64(d.labels[0])
		}
		return answers, probabilities
	}
	decisions := d.pairs.Decisions(cross)
	codes := d.pairs.Predict(decisions)
	if probable && d.calibration != nil {
		probabilities = d.calibration.Probabilities(decisions)
		for i := range codes {
			row := probabilities.Row(i)
			codes[i] = slices.Index(row, slices.Max(row))
		}
	}
	for i, code := range codes {
		answers[i] = float64(d.labels[code])
	}
	return answers, probabilities
}

// side returns 1 for rows inside a one-class machine's region, and -1 for others.
func side(decision float64) float64 {
	if decision > 0 {
		return 1
	}
	return -1
}

// Predicted is the result of svm-predict.
type Predicted struct {
	Score Score
	// Text holds the lines that svm-predict prints.
	Text string
}

// ErrNoProbabilities is returned if a model without probabilities is to predict some.
var ErrNoProbabilities = errors.New("the model has no probabilities; train with -b 1, or predict without -b 1")

// Predict writes a line with the prediction for each row of p to w. With probable, it also writes the
// probabilities of all classes of a classifier, and Text has the distribution of a regression's errors.
func (m *Model) Predict(w io.Writer, p *Problem, probable bool) (*Predicted, error) {
	d, err := m.decider()
	if err != nil {
		return nil, err
	}
	text := ""
	switch {
	case probable && d.calibration == nil && d.noise == 0:
		return nil, ErrNoProbabilities
	case probable && d.machine.Regresses():
		text = "Prob. model for test data: target value = predicted value + z,\n" +
			fmt.Sprintf("z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma=%.6g\n", d.noise)
		probable = false
	case !probable && (d.calibration != nil || d.noise != 0):
		text = "Model supports probability estimates, but disabled in prediction.\n"
	}
	out := &printer{w: w}
	if probable {
		out.print(header(d.labels))
	}
	answers := make([]float64, len(p.Y))
	err = m.cross(p, func(lo int, cross linalg.Matrix[float64]) {
		some, probabilities := d.answer(cross, probable)
		copy(answers[lo:], some)
		for i, v := range some {
			var row []float64
			if probable {
				row = probabilities.Row(i)
			}
			out.print(answerLine(v, row))
		}
	})
	s := NewScore(m.Machine, p.Y, answers)
	return &Predicted{Score: s, Text: text + s.String()}, errors.Join(err, out.err)
}

// printer writes text and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) print(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

// header returns the first line of a file with probabilities, which lists the classes.
func header(labels []int) string { return "labels " + strings.Join(Names(labels), " ") + "\n" }

// answerLine returns the line with the prediction for a row, and its probabilities.
func answerLine(answer float64, probabilities []float64) string {
	var line strings.Builder
	fmt.Fprintf(&line, "%.17g", answer)
	for _, v := range probabilities {
		fmt.Fprintf(&line, " %.6g", v)
	}
	return line.String() + "\n"
}

// cross calls use with the kernel values of some rows of p with the support vectors. The first of these
// rows has index lo in p.
func (m *Model) cross(p *Problem, use func(lo int, cross linalg.Matrix[float64])) error {
	if m.Kernel.Name == Precomputed {
		return m.crossPrecomputed(p, use)
	}
	both, err := stack(m.Vectors, p.X)
	if err != nil {
		return err
	}
	source, err := m.Kernel.source(both)
	if err != nil {
		return err
	}
	n := m.Vectors.Rows()
	kernel.Blocks(source, linalg.Range(n, both.Rows()), linalg.Range(0, n), use)
	return nil
}

// crossPrecomputed takes the kernel values from the rows of p: each support vector states the index
// of its column.
func (m *Model) crossPrecomputed(p *Problem, use func(lo int, cross linalg.Matrix[float64])) error {
	const rows = 1024
	columns := make([]int, m.Vectors.Rows())
	for s := range columns {
		cols, values := m.Vectors.Entries(s)
		if len(cols) == 0 || cols[0] != 0 {
			return fmt.Errorf("support vector %d does not begin with 0:NUMBER; train the model again with -t 4", s+1)
		}
		columns[s] = int(values[0])
		if columns[s] >= p.X.Cols() || columns[s] < 1 {
			return fmt.Errorf("%s has no kernel values with training row %d; write one value for each training row", p.Name, columns[s])
		}
	}
	for lo := 0; lo < p.X.Rows(); lo += rows {
		cross := linalg.New[float64](min(rows, p.X.Rows()-lo), len(columns))
		valuesAt(cross, p.X, lo, columns)
		use(lo, cross)
	}
	return nil
}

// stack returns a table with the rows of a and then those of b.
func stack(a, b *dataset.CSR) (*dataset.CSR, error) {
	cols := max(a.Cols(), b.Cols())
	set, err := dataset.Append(&dataset.Set{X: a.Widened(cols)}, &dataset.Set{X: b.Widened(cols)})
	if err != nil {
		return nil, err
	}
	return set.X.(*dataset.CSR), nil
}
