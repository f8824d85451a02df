package gram

import (
	"bytes"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/model"
)

// WriteModel implements [method.Model]: functions of the kernel with training rows,
// which are named by their places in the common order. Rows are nowhere in it, and it
// predicts nothing without their products with new ones.
func (s *server) WriteModel(out io.Writer) error {
	var w wire.Writer
	w.String("mercer/v1/gram")
	w.Fixed(s.Declared.Digest[:])
	k, h := s.Choice.Job.Kernel.Spec(), s.Fitted.Head
	w.String(k.Name)
	for _, v := range []float64{k.Gamma, k.Coef0, float64(k.Degree), k.Alpha, k.LengthScale, k.Nu, h.Noise, h.Unit} {
		w.Float64(v)
	}
	w.String(string(h.Kind))
	w.Strings(h.Classes)
	w.Uint32(uint32(len(h.Functions)))
	for _, f := range h.Functions {
		w.Float64(f.Rho)
		w.Uint32(uint32(len(f.Index)))
		for i, at := range f.Index {
			w.Uint32(uint32(s.Fitted.Support[at]))
			w.Float64(f.Coef[i])
		}
	}
	w.Uint32(uint32(len(h.Sigmoids)))
	for _, g := range h.Sigmoids {
		w.Float64(g.A)
		w.Float64(g.B)
	}
	_, err := out.Write(w.Bytes())
	return err
}

// Private implements [method.Model]: no row is in the model.
func (*server) Private() bool { return false }

// Keep implements [method.Keeper].
func (s *server) Keep(method.Closing) (method.Keepsake, error) {
	file := bytes.NewBuffer(columns.Basis{Parent: s.parent, Rows: s.rowless.Rows(), Outputs: s.rowless.Outputs()}.Encode())
	err := model.EncodeRowless(file, s.rowless)
	return columns.Keepsake(s.Job, file.Bytes()), err
}

// Left implements [method.Answering]: without rows in the model there would be no
// products with them.
func (Method) Left(body []byte) bool {
	rows, ok := columns.Left(body)
	return ok && rows > 0
}

// OpenParty implements [method.Answering].
func (Method) OpenParty(k method.Keepsake, read *job.Reader) (method.Erasable, error) {
	o, err := columns.DecodePortion(read, k.Body)
	if err != nil {
		return nil, err
	}
	return &inquirer{Inquirer: columns.Inquirer{Portion: o, Basis: o.Basis}}, nil
}

// OpenServer implements [method.Answering].
func (Method) OpenServer(_ method.Case, k method.Keepsake, _ func() ([]byte, error)) (method.Erasable, error) {
	b, file, err := columns.DecodeBasis(k.Body)
	if err != nil {
		return nil, err
	}
	m, err := model.OpenRowless(bytes.NewReader(file))
	return &inquirer{Inquirer: columns.Inquirer{Basis: b}, model: m}, err
}
