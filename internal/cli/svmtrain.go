package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/libsvm"
)

// svmResult is the result of svm-train or svm-predict.
type svmResult struct {
	Machine libsvm.Machine `json:"machine"`
	// File is the written file; a cross-validation writes none.
	File    string        `json:"file,omitempty"`
	Vectors int           `json:"support_vectors,omitempty"`
	Score   *libsvm.Score `json:"score,omitempty"` // score of a cross-validation or of predictions
	text    string
}

// Print writes the lines that LIBSVM's program prints.
func (r svmResult) Print(w io.Writer) error {
	_, err := io.WriteString(w, r.text)
	return err
}

// svmCommand returns a command with the options of one of LIBSVM's programs. They have one dash, and some have more
// than one character, such as -w1, which cobra cannot parse.
func (a *app) svmCommand(use, short, long, example string, f func(context.Context, []string) (Result, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, DisableFlagParsing: true}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		own, help, err := ownArguments(cmd, args)
		switch {
		case err != nil:
			return err
		case help:
			return cmd.Help()
		}
		return a.run(f)(cmd, own)
	}
	return cmd
}

// ownArguments returns the arguments without --json, and whether they ask for help.
func ownArguments(cmd *cobra.Command, args []string) (own []string, help bool, err error) {
	for _, arg := range args {
		switch {
		case arg == "--help":
			help = true
		case arg == "--json", arg == "--json=true":
		case strings.HasPrefix(arg, "--"):
			e := usage("%s does not take %s; its options have one dash", commandName(cmd), arg)
			e.Hint = helpHint(cmd)
			return nil, false, e
		default:
			own = append(own, arg)
		}
	}
	return own, help, nil
}

func (a *app) svmTrain() *cobra.Command {
	return a.svmCommand("svm-train [options] TRAINING_FILE [MODEL_FILE]", "Train a support vector machine like LIBSVM's svm-train",
		`Train a support vector machine on a LIBSVM text, with the options, the model file and
the printed lines of LIBSVM's svm-train. Without MODEL_FILE the model is
TRAINING_FILE.model in the current folder. An existing model is replaced.

    -s machine   0 C-SVC, 1 nu-SVC, 2 one-class, 3 epsilon-SVR, 4 nu-SVR (default 0)
    -t kernel    0 linear, 1 polynomial, 2 rbf, 3 sigmoid, 4 precomputed (default 2)
    -d degree    degree of the polynomial (default 3)
    -g gamma     gamma of polynomial, rbf and sigmoid (default 1 / number of features)
    -r coef0     coef0 of polynomial and sigmoid (default 0)
    -c cost      C of C-SVC, epsilon-SVR and nu-SVR (default 1)
    -n nu        nu of nu-SVC, one-class and nu-SVR (default 0.5)
    -p epsilon   largest error of epsilon-SVR without cost (default 0.1)
    -m size      memory for kernel values in MB (default 100)
    -e tol       tolerance at which training stops (default 0.001)
    -h 0 or 1    accepted and ignored: the solver always shrinks
    -b 0 or 1    1: also fit probabilities, or the noise of a regression
    -wi weight   multiply C by a weight for the class i of C-SVC
    -v n         cross-validate with n folds, and write no model
    -q           print warnings and errors only

In a text of a precomputed kernel (-t 4), a row is LABEL 0:NUMBER 1:VALUE 2:VALUE ...
with the number of the row, from 1, and its kernel values with all training rows.
Classes come in the order of their first rows, as in LIBSVM, and the folds of -v and -b
are those of LIBSVM on Debian. svm-predict of LIBSVM reads the model.`,
		"  mercer svm-train -c 10 -g 0.5 train.txt train.model\n  mercer svm-train -s 3 -t 0 -v 5 prices.txt", a.runSVMTrain)
}

func (a *app) svmPredict() *cobra.Command {
	return a.svmCommand("svm-predict [options] TEST_FILE MODEL_FILE OUTPUT_FILE", "Predict with a LIBSVM model like LIBSVM's svm-predict",
		`Predict the rows of a LIBSVM text with a model of svm-train, of Mercer or of LIBSVM, and
write one prediction a line to OUTPUT_FILE, as LIBSVM's svm-predict does. The command
prints the accuracy, or the errors of a regression, on the labels in TEST_FILE.

    -b 0 or 1   1: also write the probability of each class (default 0)
    -q          print nothing

mercer predict reads the same models, and prints more about each row.`,
		"  mercer svm-predict test.txt train.model predictions.txt", a.runSVMPredict)
}

func (a *app) runSVMTrain(ctx context.Context, args []string) (Result, error) {
	t, err := libsvm.ParseTraining(args)
	if err != nil {
		return nil, usage("%w", err)
	}
	t.Interrupt = ctx.Err
	p, err := readProblem(t.Data)
	if err != nil {
		return nil, err
	}
	r := svmResult{Machine: t.Machine}
	if t.Folds > 0 {
		v, err := libsvm.CrossValidate(p, t)
		if err != nil {
			return nil, svmError(ctx, err)
		}
		r.Score, r.text = &v.Score, v.Text
		a.warnAll(v.Warnings)
		return r.silent(t.Quiet), nil
	}
	trained, err := libsvm.Train(p, t)
	if err != nil {
		return nil, svmError(ctx, err)
	}
	r.File, r.Vectors, r.text = t.Model, trained.Model.Vectors.Rows(), trained.Text
	a.warnAll(trained.Warnings)
	return r.silent(t.Quiet), a.writeFile(t.Model, trained.Model.Write)
}

func (a *app) runSVMPredict(_ context.Context, args []string) (Result, error) {
	q, err := libsvm.ParsePrediction(args)
	if err != nil {
		return nil, usage("%w", err)
	}
	m, err := readSVMModel(q.Model)
	if err != nil {
		return nil, err
	}
	p, err := readProblem(q.Data)
	if err != nil {
		return nil, err
	}
	r := svmResult{Machine: m.Machine, File: q.Output}
	var wrong error // error of the prediction, not of the file
	err = a.writeFile(q.Output, func(w io.Writer) error {
		predicted, err := m.Predict(w, p, q.Probability)
		if err != nil {
			wrong = err
			return err
		}
		r.Score, r.text = &predicted.Score, predicted.Text
		return nil
	})
	if wrong != nil {
		return nil, usage("%s: %w", q.Model, wrong)
	}
	return r.silent(q.Quiet), err
}

// silent returns the result without text if quiet is set.
func (r svmResult) silent(quiet bool) svmResult {
	if quiet {
		r.text = ""
	}
	return r
}

// svmError returns the error of a training: an interruption, or wrong options or data.
func svmError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return usage("%w", err)
}

func (a *app) warnAll(warnings []string) {
	for _, w := range warnings {
		a.notices.add("warning: " + w)
	}
}

func readProblem(path string) (p *libsvm.Problem, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, usage("the rows cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return libsvm.ReadProblem(f, path)
}

func readSVMModel(path string) (m *libsvm.Model, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, usage("the model cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, line, err := libsvm.ReadModel(bufio.NewReader(f), libsvm.Any())
	if err != nil {
		return nil, usage("%s:%d: %w; give a model that svm-train has written", path, line, err)
	}
	return m, nil
}

// writeFile replaces a file. It keeps a device and a link: it writes to the device, and replaces the file to which the
// link leads. If the path is the standard output, such as /dev/stdout, it writes there.
func (a *app) writeFile(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case err != nil: // there is no file yet
	case isFile(a.stdout, info):
		return writeBuffered(a.stdout, path, write)
	case !info.Mode().IsRegular() && !info.IsDir():
		return writeDevice(path, write)
	default:
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return unwritable(path, err)
		}
		path = target
	}
	if err := disk.ReplaceBy(path, write); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// isFile reports whether w is the open file that info describes.
func isFile(w io.Writer, info os.FileInfo) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	own, err := f.Stat()
	return err == nil && os.SameFile(own, info)
}

func writeDevice(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return unwritable(path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return writeBuffered(f, path, write)
}

func writeBuffered(w io.Writer, path string, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	if err := write(b); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return b.Flush()
}
