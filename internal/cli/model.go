package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/model"
)

// openPredictor reads a model file of Mercer or of LIBSVM. The argument features is the number of
// features of the rows, because a LIBSVM file does not state this number.
func openPredictor(path string, features int) (model.Predictor, error) {
	return open(path, func(b *bufio.Reader) (model.Predictor, error) {
		if isLIBSVM(b) {
			return model.ReadLIBSVM(b, features)
		}
		return model.OpenPredictor(b)
	})
}

// openOwn reads a model file of Mercer. It returns nil for a file of LIBSVM.
func openOwn(path string) (model.Predictor, error) {
	return open(path, func(b *bufio.Reader) (model.Predictor, error) {
		if isLIBSVM(b) {
			return nil, nil
		}
		return model.OpenPredictor(b)
	})
}

// openModel reads a model whose file contains training rows.
func openModel(path string, features int) (*model.Model, error) {
	return open(path, func(b *bufio.Reader) (*model.Model, error) { return readModel(b, features) })
}

func readModel(b *bufio.Reader, features int) (*model.Model, error) {
	if isLIBSVM(b) {
		return model.ReadLIBSVM(b, features)
	}
	return model.Open(b)
}

// isLIBSVM reports whether the first bytes of a file are those of a LIBSVM model. It returns false
// for a file that is too short, which package model then refuses.
func isLIBSVM(b *bufio.Reader) bool {
	head, _ := b.Peek(len("svm_type "))
	return model.IsLIBSVM(head)
}

// isPart reports whether a file is the coordinator's part of a model whose other parts the parties
// hold.
func isPart(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false // the caller only describes the file
	}
	head := make([]byte, 32)
	n, _ := io.ReadFull(f, head) // a short file is no part
	return f.Close() == nil && model.IsPart(head[:n])
}

// open reads the model from a file. It skips the preparation at the start of the file, if there is
// one.
func open[T any](path string, read func(*bufio.Reader) (T, error)) (m T, err error) {
	return openWhole(path, func(b *bufio.Reader) (m T, err error) {
		if _, err := model.CutPrepared(b); err != nil {
			return m, err
		}
		return read(b)
	})
}

// openWhole opens a model file and returns what the function decode reads from the file. An error
// says why the file is not a usable model.
func openWhole[T any](path string, decode func(*bufio.Reader) (T, error)) (m T, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return m, usage("the model cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	m, err = decode(bufio.NewReader(f))
	switch {
	case errors.Is(err, model.ErrPrivate):
		return m, refused(fmt.Errorf("%s: %w", path, err), "use mercer predict --job ID")
	case errors.Is(err, model.ErrFormat):
		return m, usage("%s: %w", path, err)
	case errors.As(err, new(*fs.PathError)):
		return m, usage("the model cannot be read: %w", err)
	}
	return m, err
}

func (a *app) model() *cobra.Command {
	cmd := commandGroup("model", "Show a model file, or export it for other programs")
	cmd.Example = "  mercer model show model.mercer\n  mercer model export model.mercer model.libsvm"
	cmd.AddCommand(a.modelShow(), a.modelExport())
	return cmd
}

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

func (a *app) modelExport() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "export MODEL FILE",
		Short: "Export a model as a model file of LIBSVM",
		Long: `Export a model of learner svc, nu-svc, one-class or svr, with kernel linear, rbf or
polynomial, as a model file of LIBSVM. If the model scales its rows, the command also
writes FILE.range, for svm-scale -r. Classes that are words get numbers, which
FILE.classes.csv lists. Existing files are not overwritten. A private model holds
encoded rows of others, and is refused. mercer predict reads LIBSVM's model files
without a conversion.`,
		Example: "  mercer model export model.mercer model.libsvm",
		Args:    args("MODEL", "FILE"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			if format != "libsvm" {
				return nil, usage("--format is %s, but this version writes only libsvm", format)
			}
			return export(args[0], args[1])
		}),
	}
	cmd.Flags().StringVar(&format, "format", "libsvm", "format of the file; libsvm is the only format")
	return cmd
}

func export(from, to string) (Result, error) {
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
		return usage("%s cannot be written: %w", path, err)
	}
	return nil
}
