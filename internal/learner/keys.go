package learner

import (
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/svm"
)

// Keys of job files that several learners share. Most of their names are those of LIBSVM or scikit-learn.

func cKey(dst *float64) section.Field {
	return section.Field{Key: "C", Value: section.Number{Dst: dst}, List: true, Default: "1", Doc: "The penalty on margin errors, above 0 and up to 1e+12."}
}

// mostC is the largest C. Coefficients can be as large as C, and with larger ones the rounding errors of the
// gradient exceed every useful tol.
const mostC = 1e12

func checkC(in *section.Place, c float64) error {
	if c > mostC {
		return in.Refuse("C", "C is %g; write a number above 0 and up to %g, since beyond it rounding errors hide when the training has ended", c, mostC)
	}
	return in.Positive("C", c)
}

// Cache is the memory in MiB for rows of the kernel matrix during a training.
type Cache struct{ MiB int }

var _ Rowwise = (*Cache)(nil)

func (c *Cache) key() section.Field {
	return section.Field{Key: "cache_size", Value: section.Whole{Dst: &c.MiB}, Else: "200",
		Doc: "The memory for kernel rows in MiB, 1 or more: it changes the time of training, never the model."}
}

// finish refuses a cache_size of 0.
func (c *Cache) finish(in *section.Place) error { return in.Some("cache_size", c.MiB) }

// bytes returns the limit in bytes; 0 means the default.
func (c Cache) bytes() int64 { return int64(c.MiB) << 20 }

// Rowwise implements [Rowwise].
func (Cache) Rowwise() {}

func nuKey(dst *float64) section.Field {
	return section.Field{Key: "nu", Value: section.Number{Dst: dst}, List: true, Default: "0.5", Doc: "The bound on the share of margin errors, above 0 and up to 1."}
}

func tolKey(dst *float64) section.Field {
	return section.Field{Key: "tol", Value: section.Number{Dst: dst}, Default: "0.001", Doc: "The gap at which training stops, above 0; for svc, below 2."}
}

func weightKey(dst *map[string]float64, doc string) section.Field {
	return section.Field{Key: "class_weight", Value: section.Weights{Dst: dst}, Else: "1 for each class", Doc: doc}
}

// classWeights parses class weights. It writes classes in the form in which tables hold labels, so
// that the weight of class 1.0 is that of class 1.
type classWeights struct{ section.Weights }

func (v classWeights) Decode(key string, n *yaml.Node) error {
	if err := v.Weights.Decode(key, n); err != nil {
		return err
	}
	weights := make(map[string]float64, len(*v.Dst))
	for class, w := range *v.Dst {
		label, err := dataset.CanonicalLabel(class)
		if err != nil {
			return section.At(n, "class %s %v; write the class as in the tables", section.Quote(class), err)
		}
		if _, twice := weights[label]; twice {
			return section.At(n, "class %s has two weights; keep one", section.Quote(label))
		}
		weights[label] = w
	}
	if len(weights) > 0 {
		*v.Dst = weights
	}
	return nil
}

// balance parses class weights or the word "balanced".
type balance struct {
	classWeights
	on *bool
}

func (v balance) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == "balanced" {
		*v.on = true
		return nil
	}
	return v.classWeights.Decode(key, n)
}

func (v balance) Encode() *yaml.Node {
	if *v.on {
		return section.Word("balanced")
	}
	return v.Weights.Encode()
}

func (v balance) Form() string { return "balanced, or " + v.Weights.Form() }

func probabilityKey(dst *bool) section.Field {
	return section.Field{Key: "probability", Value: section.Yes{Dst: dst}, Default: "false", Doc: "Calibrates the model, which then gives the probability of each class."}
}

func lambdaKey(dst *float64, fallback, doc string) section.Field {
	return section.Field{Key: "lambda", Value: section.Number{Dst: dst}, Default: fallback, Doc: doc}
}

// alphaSection declares the keys of a ridge regression.
func alphaSection(doc string, alpha *float64) *section.Section {
	return &section.Section{Doc: doc, Fields: []section.Field{
		{Key: "alpha", Value: section.Number{Dst: alpha}, List: true, Default: "1", Doc: "The penalty on the squared norm, above 0."},
	}, Finish: func(in *section.Place) error { return in.Positive("alpha", *alpha) }}
}

func finishNu(in *section.Place, p svm.NuParams) error {
	if p.Nu <= 0 || p.Nu > 1 {
		return in.Refuse("nu", "nu is %g; write a number above 0 and up to 1, such as 0.5", p.Nu)
	}
	return in.Positive("tol", p.Tol)
}
