package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

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
