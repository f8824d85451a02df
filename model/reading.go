package model

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Kind names the learner of a model, as job files do.
type Kind string

// The kinds of models.
const (
	SVC      Kind = "svc"
	NuSVC    Kind = "nu-svc"
	OneClass Kind = "one-class"
	SVR      Kind = "svr"
	Ridge    Kind = "ridge"
	GP       Kind = "gp"
	KPCA     Kind = "kpca"
	KMeans   Kind = "kmeans"
	// RidgeClassifier is of random features only.
	RidgeClassifier Kind = "ridge-classifier"
	// Of random features whose directions nobody knows together.
	Logistic    Kind = "logistic"
	SmoothHinge Kind = "smooth-hinge"
	Squared     Kind = "squared"
	Huber       Kind = "huber"
)

// Kinds returns the kinds of models that hold rows.
func Kinds() []Kind { return []Kind{SVC, NuSVC, OneClass, SVR, Ridge, GP, KPCA, KMeans} }

// spreadKinds returns the kinds of models that several parties hold together.
func spreadKinds() []Kind { return []Kind{Logistic, SmoothHinge, Squared, Huber} }

// holdsRows says whether a model file of the kind may hold rows.
func (k Kind) holdsRows() bool { return slices.Contains(Kinds(), k) }

// Classifies says whether a model tells classes apart.
func (k Kind) Classifies() bool { return k.votes() || k == RidgeClassifier || k.decides() }

// decides says whether a model has one decision of two classes, and one for each
// of more.
func (k Kind) decides() bool { return k == Logistic || k == SmoothHinge }

// votes says whether a model decides between pairs of classes.
func (k Kind) votes() bool { return k == SVC || k == NuSVC }

// Regresses says whether a model predicts numbers.
func (k Kind) Regresses() bool {
	return slices.Contains([]Kind{SVR, Ridge, GP, Squared, Huber}, k)
}

// The answers of a one-class machine, called as in LIBSVM and scikit-learn.
const (
	Inside  = "1"
	Outside = "-1"
)

// Reading says what the numbers mean that a model gives for a row:
//
//	svc, nu-svc  the decision of each pair of classes; if the model is
//	             calibrated, the probability of each class follows
//	one-class    above 0 inside, else outside
//	svr, ridge   the prediction, in the unit of the targets
//	gp           the prediction, and the standard deviation of a measurement
//	kpca         the scores along the components
//	kmeans       the squared distance to each mean, up to a constant of the row
//	ridge-classifier  a number for each class, the largest decides
//	logistic, smooth-hinge  of two classes one number, which is for the second
//	             from 0 on; else a number for each class, the largest decides
//	squared, huber  the prediction, in the unit of the targets
type Reading struct {
	Kind    Kind
	Classes []string // of classifiers, by code; else nil
}

// Check refuses a number of outputs that the model cannot have.
func (r Reading) Check(outputs int) error {
	classes := len(r.Classes)
	pairs := classes * (classes - 1) / 2
	fits := false
	switch {
	case !r.Kind.holdsRows() && r.Kind != RidgeClassifier && !slices.Contains(spreadKinds(), r.Kind):
		return fmt.Errorf("model: there is no kind of model called %q", string(r.Kind))
	case r.Kind.Classifies() != (classes > 0):
		return fmt.Errorf("model: %d classes of a %s model", classes, r.Kind)
	case r.Kind == RidgeClassifier:
		fits = classes > 1 && outputs == classes
	case r.Kind.decides():
		fits = classes == 2 && outputs == 1 || classes > 2 && outputs == classes
	case r.Kind.Classifies():
		fits = classes > 1 && (outputs == pairs || outputs == pairs+classes)
	case r.Kind == KPCA || r.Kind == KMeans:
		fits = outputs >= 1
	case r.Kind == GP:
		fits = outputs == 2
	default:
		fits = outputs == 1
	}
	if !fits {
		return fmt.Errorf("model: %d numbers for a row cannot come from a %s model of %d classes", outputs, r.Kind, classes)
	}
	return nil
}

// Predict reads the outputs, rows x outputs, as text: the class, "1" or "-1",
// the number, or the cluster counted from 0. A kpca model predicts nothing, nil.
// A number of outputs that Check refuses is a mistake of the program.
func (r Reading) Predict(outputs linalg.Matrix[float64]) []string {
	if r.Kind == KPCA {
		return nil
	}
	out := make([]string, outputs.Rows)
	if r.Kind == RidgeClassifier || r.Kind.decides() {
		for i := range out {
			out[i] = r.Classes[largest(outputs.Row(i))]
		}
		return out
	}
	if r.Kind.Classifies() {
		for i, code := range r.vote(outputs) {
			out[i] = r.Classes[code]
		}
		return out
	}
	for i := range out {
		out[i] = r.read(outputs.Row(i))
	}
	return out
}

// largest is the code of the class with the largest number, the first of equals;
// one number alone is for the second of two from 0 on.
func largest(outputs []float64) int {
	if len(outputs) > 1 {
		return moments.Predict(outputs)
	}
	if outputs[0] < 0 {
		return 0
	}
	return 1
}

func (r Reading) read(outputs []float64) string {
	switch {
	case r.Kind == KMeans:
		return strconv.Itoa(slices.Index(outputs, slices.Min(outputs)))
	case r.Kind.Regresses():
		return strconv.FormatFloat(outputs[0], 'g', -1, 64)
	case outputs[0] > 0:
		return Inside
	}
	return Outside
}

// vote returns the class codes by the vote of all pairs.
func (r Reading) vote(outputs linalg.Matrix[float64]) []int {
	pairs := len(r.Classes) * (len(r.Classes) - 1) / 2
	c, err := svm.NewClassifier(r.Classes, make([]svm.Pair, pairs), 0)
	if err != nil {
		panic(err) // Check has accepted the classes
	}
	return c.Predict(columns(outputs, 0, pairs))
}

// Decisions returns what the outputs hold beside probabilities and deviations:
// those of pairs or of classes, the prediction, the scores or the distances.
func (r Reading) Decisions(outputs linalg.Matrix[float64]) linalg.Matrix[float64] {
	switch {
	case r.Kind == GP:
		return columns(outputs, 0, 1)
	case r.Kind.votes():
		return columns(outputs, 0, len(r.Classes)*(len(r.Classes)-1)/2)
	}
	return outputs
}

// Probabilities returns the classes' probabilities that the outputs hold or, of two
// classes by the logistic loss, mean: rows x classes; rows x 0 where there are none.
func (r Reading) Probabilities(outputs linalg.Matrix[float64]) linalg.Matrix[float64] {
	if r.Kind == Logistic && len(r.Classes) == 2 {
		return logistic(outputs)
	}
	pairs := outputs.Cols
	if r.Kind.votes() {
		pairs = len(r.Classes) * (len(r.Classes) - 1) / 2
	}
	return columns(outputs, pairs, outputs.Cols)
}

// logistic is what decisions for the second of two classes mean as probabilities
// of both.
func logistic(outputs linalg.Matrix[float64]) linalg.Matrix[float64] {
	p := linalg.New[float64](outputs.Rows, 2)
	for i := range p.Rows {
		second := linear.Sigmoid(outputs.Row(i)[0])
		copy(p.Row(i), []float64{1 - second, second})
	}
	return p
}

// columns is the view of the columns from lo to hi-1.
func columns(m linalg.Matrix[float64], lo, hi int) linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: m.Rows, Cols: hi - lo, Stride: m.Stride, Data: m.Data[min(lo, len(m.Data)):]}
}
