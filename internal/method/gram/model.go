package gram

import (
	"bytes"
	"io"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/model"
)

func (s *server) writeModel(out io.Writer) error { return s.WriteFunctions(out, "mercer/v1/gram") }

func (s *server) keep(method.Closing) (method.Keepsake, error) {
	file := bytes.NewBuffer(columns.Basis{Parent: s.parent, Rows: s.rowless.Rows(), Outputs: s.rowless.Outputs()}.Encode())
	err := model.EncodeRowless(file, s.rowless)
	return columns.Keepsake(s.Job, file.Bytes()), err
}

// left: without rows in the model there would be no
// products with them.
func left(body []byte) bool {
	rows, ok := columns.Left(body)
	return ok && rows > 0
}

func openParty(k method.Keepsake, read *job.Reader) (method.Erasable, error) {
	o, err := columns.DecodePortion(read, k.Body)
	if err != nil {
		return nil, err
	}
	return method.Opened(answering(&inquirer{Inquirer: columns.Inquirer{Portion: o, Basis: o.Basis}})), nil
}

func openServer(_ method.Case, k method.Keepsake, _ func() ([]byte, error)) (method.Erasable, error) {
	b, file, err := columns.DecodeBasis(k.Body)
	if err != nil {
		return nil, err
	}
	m, err := model.OpenRowless(bytes.NewReader(file))
	return method.Opened(answering(&inquirer{Inquirer: columns.Inquirer{Basis: b}, model: m})), err
}
