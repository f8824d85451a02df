package model

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Kind is the name of a model's learner, as in job files. A kind that is not listed below also
// states its [OutputShape], after a colon, so that a program without that learner can interpret the
// outputs: see [NewKind].
type Kind string

// These are the kinds of models.
const (
	SVC      Kind = "svc"
	NuSVC    Kind = "nu-svc"
	OneClass Kind = "one-class"
	SVR      Kind = "svr"
	Ridge    Kind = "ridge"
	GP       Kind = "gp"
	KPCA     Kind = "kpca"
	KMeans   Kind = "kmeans"
	// RidgeClassifier models hold random features and no rows.
	RidgeClassifier Kind = "ridge-classifier"
	// In models of these kinds, no member alone knows the directions of the random features.
	Logistic    Kind = "logistic"
	SmoothHinge Kind = "smooth-hinge"
	Squared     Kind = "squared"
	Huber       Kind = "huber"
)

// Kinds returns the kinds of models that can hold rows.
func Kinds() []Kind { return []Kind{SVC, NuSVC, OneClass, SVR, Ridge, GP, KPCA, KMeans} }

// OutputShape names the meaning of the numbers that a model returns for a row.
type OutputShape string

// These are the shapes of outputs.
const (
	// Pairs means one decision for each pair of classes. If the model is calibrated, the
	// probabilities of all classes follow.
	Pairs OutputShape = "pairs"
	// Side means one number, which is above 0 exactly for rows inside the learned region.
	Side OutputShape = "side"
	// Number means the predicted number, in the unit of the targets.
	Number OutputShape = "number"
	// Deviation means the predicted number, followed by the standard deviation of a measurement.
	Deviation OutputShape = "deviation"
	// Components means one score for each principal component.
	Components OutputShape = "components"
	// Distances means the squared distance to each mean, up to a constant that depends on the row.
	Distances OutputShape = "distances"
	// Each means one number for each class. The class with the largest number is predicted.
	Each OutputShape = "each"
	// Second means a single number for two classes; 0 or more predicts the second class. For more
	// classes, Second is like Each.
	Second OutputShape = "second"
	// Odds means, for two classes, the logarithm of the odds of the second class. For more classes,
	// Odds is like Each.
	Odds OutputShape = "odds"
)

// shapes returns the output shape of each kind of model.
func shapes() map[Kind]OutputShape {
	return map[Kind]OutputShape{
		SVC: Pairs, NuSVC: Pairs, OneClass: Side, SVR: Number, Ridge: Number, GP: Deviation, KPCA: Components, KMeans: Distances,
		RidgeClassifier: Each, Logistic: Odds, SmoothHinge: Second, Squared: Number, Huber: Number,
	}
}

// NewKind returns the kind of a learner's models, whose outputs have shape s. For a kind that is
// listed above, s is ignored.
func NewKind(learner string, s OutputShape) Kind {
	if k := Kind(learner); k.OutputShape() != "" {
		return k
	}
	return Kind(learner + ":" + string(s))
}

// OutputShape returns the shape of a kind's outputs; "" if there is no such kind.
func (k Kind) OutputShape() OutputShape {
	known := shapes()
	if s := known[k]; s != "" {
		return s
	}
	name, s, _ := strings.Cut(string(k), ":")
	for _, one := range known {
		if string(one) == s && name != "" && len(k) <= maxKind && known[Kind(name)] == "" {
			return one
		}
	}
	return ""
}

// holdsRows reports whether the format allows rows in a model of this kind. It allows rows in a kind
// that is not in the list above if the kind has a shape.
func (k Kind) holdsRows() bool {
	return slices.Contains(Kinds(), k) || shapes()[k] == "" && k.OutputShape() != ""
}

// Classifies reports whether a model predicts classes.
func (k Kind) Classifies() bool {
	return slices.Contains([]OutputShape{Pairs, Each, Second, Odds}, k.OutputShape())
}

// Regresses reports whether a model predicts numbers.
func (k Kind) Regresses() bool { return k.OutputShape() == Number || k.OutputShape() == Deviation }

// These are the predictions of a one-class machine, as in LIBSVM and scikit-learn.
const (
	Inside  = "1"
	Outside = "-1"
)

// Output defines the meaning of the numbers that a model returns for a row. It holds the model's
// kind, which has an [OutputShape], and its classes.
type Output struct {
	Kind    Kind
	Classes []string // class names of a classifier, by code; else nil
}

// Check returns an error if a model cannot have the given number of outputs.
func (r Output) Check(outputs int) error {
	classes := len(r.Classes)
	pairs, shape := classes*(classes-1)/2, r.Kind.OutputShape()
	fits := false
	switch {
	case shape == "":
		return fmt.Errorf("model: there is no kind of model called %q", string(r.Kind))
	case r.Kind.Classifies() != (classes > 0):
		return fmt.Errorf("model: %s model cannot have %d classes", humanize.A(string(r.Kind)), classes)
	case shape == Each:
		fits = classes > 1 && outputs == classes
	case shape == Pairs:
		fits = classes > 1 && (outputs == pairs || outputs == pairs+classes)
	case r.Kind.Classifies():
		fits = classes == 2 && outputs == 1 || classes > 2 && outputs == classes
	case shape == Components || shape == Distances:
		fits = outputs >= 1
	case shape == Deviation:
		fits = outputs == 2
	default:
		fits = outputs == 1
	}
	if !fits {
		return fmt.Errorf("model: %s model of %d classes cannot have %d outputs", humanize.A(string(r.Kind)), classes, outputs)
	}
	return nil
}

// Predict returns a prediction as text for each row of outputs. Depending on the kind of model, a
// prediction is a class, [Inside] or [Outside], a number, or the index of a cluster. Predict returns
// nil for shape Components, which has no predictions. The number of outputs must be one that Check accepts.
func (r Output) Predict(outputs linalg.Matrix[float64]) []string {
	shape := r.Kind.OutputShape()
	if shape == Components {
		return nil
	}
	out := make([]string, outputs.Rows)
	if shape == Pairs {
		for i, code := range r.vote(outputs) {
			out[i] = r.Classes[code]
		}
		return out
	}
	for i := range out {
		out[i] = r.read(shape, outputs.Row(i))
	}
	return out
}

// largest returns the code of the class with the largest number, or the first code among equal
// numbers. A single number of at least 0 means the second of two classes.
func largest(outputs []float64) int {
	if len(outputs) > 1 {
		return moments.Predict(outputs)
	}
	if outputs[0] < 0 {
		return 0
	}
	return 1
}

func (r Output) read(shape OutputShape, outputs []float64) string {
	switch {
	case r.Classes != nil:
		return r.Classes[largest(outputs)]
	case shape == Distances:
		return strconv.Itoa(slices.Index(outputs, slices.Min(outputs)))
	case r.Kind.Regresses():
		return strconv.FormatFloat(outputs[0], 'g', -1, 64)
	case outputs[0] > 0:
		return Inside
	}
	return Outside
}

// vote returns the class code of each row by the vote of all pairs of classes.
func (r Output) vote(outputs linalg.Matrix[float64]) []int {
	pairs := len(r.Classes) * (len(r.Classes) - 1) / 2
	c, err := svm.NewClassifier(r.Classes, make([]svm.Pair, pairs), 0)
	if err != nil {
		panic(err) // unreachable: Check has accepted the classes
	}
	return c.Predict(columns(outputs, 0, pairs))
}

// Decisions removes the probabilities and the standard deviations from the outputs. The remaining
// outputs are the decisions of pairs or of classes, the prediction, the scores or the distances.
func (r Output) Decisions(outputs linalg.Matrix[float64]) linalg.Matrix[float64] {
	switch r.Kind.OutputShape() {
	case Deviation:
		return columns(outputs, 0, 1)
	case Pairs:
		return columns(outputs, 0, len(r.Classes)*(len(r.Classes)-1)/2)
	}
	return outputs
}

// Probabilities returns the probabilities of the classes, rows x classes. The outputs contain the
// probabilities or, for two classes with the logistic loss, imply them. The result is rows x 0 for
// outputs without probabilities.
func (r Output) Probabilities(outputs linalg.Matrix[float64]) linalg.Matrix[float64] {
	if r.Kind.OutputShape() == Odds && len(r.Classes) == 2 {
		return logistic(outputs)
	}
	pairs := outputs.Cols
	if r.Kind.OutputShape() == Pairs {
		pairs = len(r.Classes) * (len(r.Classes) - 1) / 2
	}
	return columns(outputs, pairs, outputs.Cols)
}

// logistic returns the probabilities of both classes. Each output is the logarithm of the odds of
// the second class.
func logistic(outputs linalg.Matrix[float64]) linalg.Matrix[float64] {
	p := linalg.New[float64](outputs.Rows, 2)
	for i := range p.Rows {
		second := linear.Sigmoid(outputs.Row(i)[0])
		copy(p.Row(i), []float64{1 - second, second})
	}
	return p
}

// columns returns the view of the columns from lo to hi-1.
func columns(m linalg.Matrix[float64], lo, hi int) linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: m.Rows, Cols: hi - lo, Stride: m.Stride, Data: m.Data[min(lo, len(m.Data)):]}
}

// Predictor predicts rows; it is a [Model] or a [Random] model.
type Predictor interface {
	Width() int        // number of columns of a row; 0 if not known
	Columns() []string // names of a row's columns; nil if not known
	Output() Output
	Decisions(rows linalg.Matrix[float64]) (linalg.Matrix[float64], error)
}

// OpenPredictor reads a public model or a model of random features, under the default limits. It
// returns the errors of [Open].
func OpenPredictor(r io.Reader) (Predictor, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(len(randomMagic)); IsRandom(head) { // Peek fails on a short file, which Open then reports
		return predictor(OpenRandom(b))
	}
	return predictor(Open(b))
}

// predictor returns m as a Predictor, or nil on error. It never returns an interface that holds a
// nil pointer.
func predictor[P Predictor](m P, err error) (Predictor, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}
