package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/model/onnx"
)

// exportResult names the files that model export has written.
type exportResult struct {
	Model string `json:"model"`
	Range string `json:"range,omitempty"` // path of the file with the model's scaling; "" if the model has none
	// Labels maps the numbers in the file to classes that are words. Table is the file that holds
	// this map.
	Labels map[string]string `json:"labels,omitempty"`
	Table  string            `json:"table,omitempty"`
}

// Print explains how to use the files.
func (r exportResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s: for svm-predict", r.Model)
	if r.Range != "" {
		p.linef("%s: the scale; rows must go through svm-scale -r %s first", r.Range, r.Range)
	}
	if r.Table != "" {
		p.linef("%s: the number of each class", r.Table)
	}
	for _, label := range slices.Sorted(maps.Keys(r.Labels)) {
		p.linef("  %s is %s", label, r.Labels[label])
	}
	return p.err
}

// onnxResult names the file of ONNX that model export has written.
type onnxResult struct {
	Model string `json:"model"`
	// WithoutProbabilities is true if the model has probabilities that the file does not compute.
	WithoutProbabilities bool `json:"without_probabilities,omitempty"`
}

// Print explains how to use the file.
func (r onnxResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s: for onnxruntime and other programs that run ONNX", r.Model)
	if r.WithoutProbabilities {
		p.linef("the file gives classes and scores, but no probabilities of more than two classes")
	}
	return p.err
}

// exportFormats lists the values of --format.
func exportFormats() []string { return []string{"libsvm", "onnx", "onnx-ml"} }

func (a *app) modelExport() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "export MODEL FILE",
		Short: "Export a model as a file of ONNX or of LIBSVM",
		Long: `Export a model, so that a program without Mercer predicts with it.

--format onnx writes a graph of plain operations in double precision, for onnxruntime
1.15 and later. It is the default if FILE ends with .onnx. Every model that mercer
predict can use by itself has such a graph, with every kernel, if its file says how many
columns the rows have. If the model was trained
with a schema, the graph has one input for each column of the table, as text or as
numbers, and prepares the columns itself. Outputs are label, scores, probability (two
classes) or prediction.

--format onnx-ml writes the operators SVMClassifier or SVMRegressor, which compute in
single precision, for tools that look for them. --format libsvm writes a model file of
LIBSVM, and if the model scales its rows also FILE.range, for svm-scale -r; classes that
are words get numbers, which FILE.classes.csv lists. Both take learners svc, nu-svc,
one-class and svr, with kernel linear, rbf or polynomial; onnx-ml also takes ridge.

Existing files are not overwritten. A private model holds encoded rows of others, and is
refused. mercer predict reads LIBSVM's model files without a conversion.`,
		Example: "  mercer model export model.mercer model.onnx\n  mercer model export model.mercer model.libsvm --format libsvm",
		Args:    args("MODEL", "FILE"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			return export(args[0], args[1], format)
		}),
	}
	cmd.Flags().StringVar(&format, "format", "", "format of the file: onnx, onnx-ml or libsvm; default onnx if FILE ends with .onnx, else libsvm")
	return cmd
}

// export writes the model file from in a format as the file to.
func export(from, to, format string) (Result, error) {
	if format == "" {
		format = "libsvm"
		if strings.HasSuffix(to, ".onnx") {
			format = "onnx"
		}
	}
	switch format {
	case "libsvm":
		return exportLIBSVM(from, to)
	case "onnx", "onnx-ml":
		return exportONNX(from, to, format)
	}
	return nil, usage("--format is %s; write one of %s", format, strings.Join(exportFormats(), ", "))
}

func exportONNX(from, to, format string) (Result, error) {
	made, err := preparationIn(from)
	if err != nil {
		return nil, err
	}
	m, err := openPredictor(from, 1)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if format == "onnx" {
		err = onnx.Encode(&file, m, made)
	} else {
		err = onnx.EncodeML(&file, m, made)
	}
	if err != nil {
		return nil, usage("%s: %w", from, err)
	}
	return onnxResult{to, len(m.Output().Classes) > 2 && calibrated(m)}, create(to, file.Bytes())
}

// calibrated reports whether a model gives probabilities by the sigmoids of its pairs of classes.
func calibrated(m model.Predictor) bool {
	machine, is := m.(*model.Model)
	return is && machine.Head().Sigmoids != nil
}

func exportLIBSVM(from, to string) (Result, error) {
	m, err := openModel(from, 1)
	if err != nil {
		return nil, err
	}
	var file, scale bytes.Buffer
	if err := model.WriteLIBSVM(&file, m); err != nil {
		return nil, usage("%s: %w", from, err)
	}
	r, files := exportResult{Model: to}, map[string][]byte{to: file.Bytes()}
	if m.Scale() != nil {
		if err := model.WriteLIBSVMRange(&scale, m.Scale()); err != nil {
			return nil, err
		}
		r.Range = to + ".range"
		files[r.Range] = scale.Bytes()
	}
	if labels, renamed := model.LIBSVMLabels(m.Output().Classes); renamed {
		r.Table, r.Labels = to+".classes.csv", make(map[string]string)
		s := &sheet{rows: make([][]string, len(labels))}
		s.add("number", labels)
		s.add("class", m.Output().Classes)
		text, err := s.encode()
		if err != nil {
			return nil, err
		}
		files[r.Table] = text
		for i, label := range labels {
			r.Labels[label] = m.Output().Classes[i]
		}
	}
	return r, createAll(files)
}

// createAll writes either all files or none.
func createAll(files map[string][]byte) error {
	var done []string
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := create(path, files[path]); err != nil {
			for _, other := range done {
				err = errors.Join(err, os.Remove(other))
			}
			return err
		}
		done = append(done, path)
	}
	return nil
}

func create(path string, b []byte) error {
	switch err := disk.Create(path, b); {
	case errors.Is(err, fs.ErrExist):
		return usage("%s already exists; choose another name, or remove the file", path)
	case err != nil:
		return unwritable(path, err)
	}
	return nil
}
