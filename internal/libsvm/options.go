package libsvm

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/learn/svm"
)

// Machine is the type of a support vector machine, by its name in model files.
type Machine string

// These are the machines, in the order of the numbers of option -s.
const (
	CSVC     Machine = "c_svc"
	NuSVC    Machine = "nu_svc"
	OneClass Machine = "one_class"
	SVR      Machine = "epsilon_svr"
	NuSVR    Machine = "nu_svr"
)

// Machines returns all machines, in the order of the numbers of option -s.
func Machines() []Machine { return []Machine{CSVC, NuSVC, OneClass, SVR, NuSVR} }

// Classifies reports whether the machine predicts classes of the training rows.
func (m Machine) Classifies() bool { return m == CSVC || m == NuSVC }

// Regresses reports whether the machine predicts numbers.
func (m Machine) Regresses() bool { return m == SVR || m == NuSVR }

// Training holds the options of svm-train.
type Training struct {
	Machine    Machine
	Kernel     Kernel
	C          float64
	Nu         float64
	Epsilon    float64 // largest error of SVR without cost
	Tol        float64
	CacheBytes int64
	// Probability requests sigmoids for class probabilities, or the noise of a regression.
	Probability bool
	// Weights holds factors of C by label, for C-SVC.
	Weights map[int]float64
	Folds   int  // number of folds of a cross-validation; 0 means to train a model
	Quiet   bool // print warnings only
	// Interrupt ends the training with the error that it returns. It can be nil.
	Interrupt func() error
	Data      string // path of the training file
	Model     string // path of the model file
}

// ParseTraining reads the arguments of svm-train: options, the training file and perhaps the model
// file, which otherwise is the name of the training file with .model, in the current folder.
func ParseTraining(args []string) (*Training, error) {
	t := &Training{
		Machine: CSVC, Kernel: Kernel{Name: RBF, Degree: 3}, C: 1, Nu: 0.5, Epsilon: 0.1,
		Tol: svm.DefaultTol, CacheBytes: 100 << 20, Weights: make(map[int]float64),
	}
	files, err := parse(args, &t.Quiet, t.set)
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, fmt.Errorf("svm-train needs TRAINING_FILE; name the file with the training rows after the options")
	case len(files) > 2:
		return nil, fmt.Errorf("svm-train does not take %q; options stand before TRAINING_FILE and MODEL_FILE", files[2])
	}
	t.Data, t.Model = files[0], filepath.Base(files[0])+".model"
	if len(files) == 2 {
		t.Model = files[1]
	}
	return t, t.check()
}

// parse reads options and returns the arguments behind them. Every option takes a value except -q.
func parse(args []string, quiet *bool, set func(name, value string) error) (rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-q" {
			*quiet, args = true, args[1:]
			continue
		}
		if len(args) == 1 {
			return nil, fmt.Errorf("option %s has no value; write the value after it", args[0])
		}
		if err := set(args[0][1:], args[1]); err != nil {
			return nil, err
		}
		args = args[2:]
	}
	return args, nil
}

// set sets the option with the given name.
func (t *Training) set(name, value string) (err error) {
	switch name {
	case "s":
		t.Machine, err = choose(name, value, Machines())
	case "t":
		t.Kernel.Name, err = choose(name, value, Kernels())
	case "d":
		t.Kernel.Degree, err = wholeOption(name, value)
	case "g":
		t.Kernel.Gamma, err = numberOption(name, value)
	case "r":
		t.Kernel.Coef0, err = numberOption(name, value)
	case "c":
		t.C, err = numberOption(name, value)
	case "n":
		t.Nu, err = numberOption(name, value)
	case "p":
		t.Epsilon, err = numberOption(name, value)
	case "e":
		t.Tol, err = numberOption(name, value)
	case "m":
		t.CacheBytes, err = bytesOption(value)
	case "b":
		t.Probability, err = switchOption(name, value)
	case "h": // has no effect: the result meets the tolerance with shrinking and without
		_, err = switchOption(name, value)
	case "v":
		t.Folds, err = foldsOption(value)
	default:
		return t.setWeight(name, value)
	}
	return err
}

// setWeight sets option -wi, the weight of the class i.
func (t *Training) setWeight(name, value string) error {
	digits, weighs := strings.CutPrefix(name, "w")
	label, err := strconv.Atoi(digits)
	if !weighs || err != nil {
		return fmt.Errorf("unknown option -%s; mercer svm-train --help lists the options", name)
	}
	t.Weights[label], err = numberOption(name, value)
	return err
}

// check refuses options that are out of range, except those that package svm checks.
func (t *Training) check() error {
	switch k := t.Kernel; {
	case k.Name == Polynomial && k.Degree < 1:
		return fmt.Errorf("-d is %d; write a degree from 1", k.Degree)
	case k.Gamma < 0:
		return fmt.Errorf("-g is %v; write a number above 0, or 0 for 1 / number of features", k.Gamma)
	case t.Tol == 0: // package svm takes 0 for its default
		return fmt.Errorf("-e is 0; write a tolerance above 0")
	case t.Probability && t.Machine == OneClass:
		return fmt.Errorf("-b 1 is not supported for -s 2; leave it out, and use the decisions of mercer predict instead of probabilities")
	}
	return nil
}

// Prediction holds the options of svm-predict.
type Prediction struct {
	Probability         bool
	Quiet               bool
	Data, Model, Output string // paths
}

// ParsePrediction reads the arguments of svm-predict.
func ParsePrediction(args []string) (*Prediction, error) {
	p := new(Prediction)
	files, err := parse(args, &p.Quiet, func(name, value string) (err error) {
		if name != "b" {
			return fmt.Errorf("unknown option -%s; svm-predict takes -b and -q", name)
		}
		p.Probability, err = switchOption(name, value)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(files) != 3 {
		return nil, fmt.Errorf("svm-predict has %d files; give TEST_FILE, MODEL_FILE and OUTPUT_FILE after the options", len(files))
	}
	p.Data, p.Model, p.Output = files[0], files[1], files[2]
	return p, nil
}

// choose returns the entry of list with the number that value states.
func choose[T ~string](name, value string, list []T) (T, error) {
	i, err := strconv.Atoi(value)
	if err != nil || i < 0 || i >= len(list) {
		names := make([]string, len(list))
		for k, one := range list {
			names[k] = fmt.Sprintf("%d (%s)", k, one)
		}
		return "", fmt.Errorf("-%s is %q; write %s", name, value, strings.Join(names, ", "))
	}
	return list[i], nil
}

func numberOption(name, value string) (float64, error) {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || v-v != 0 {
		return 0, fmt.Errorf("-%s is %q; write a finite number", name, value)
	}
	return v, nil
}

func wholeOption(name, value string) (int, error) {
	v, err := strconv.Atoi(value)
	if err != nil || v > math.MaxInt32 || v < math.MinInt32 {
		return 0, fmt.Errorf("-%s is %q; write a whole number", name, value)
	}
	return v, nil
}

func switchOption(name, value string) (bool, error) {
	if !slices.Contains([]string{"0", "1"}, value) {
		return false, fmt.Errorf("-%s is %q; write 0 or 1", name, value)
	}
	return value == "1", nil
}

// foldsOption reads the number of folds of option -v.
func foldsOption(value string) (int, error) {
	v, err := wholeOption("v", value)
	if err == nil && v < 2 {
		return 0, fmt.Errorf("-v is %d; write a number of folds from 2", v)
	}
	return v, err
}

// bytesOption reads the memory limit of option -m, in MB.
func bytesOption(value string) (int64, error) {
	const most = 1 << 30
	v, err := numberOption("m", value)
	if err == nil && !(v > 0 && v < most) {
		return 0, fmt.Errorf("-m is %v; write a number of megabytes above 0 and below %d", v, most)
	}
	return int64(math.Ceil(v * (1 << 20))), err
}
