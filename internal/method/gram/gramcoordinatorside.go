package gram

import (
	"bytes"
	"context"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// server is the state of the coordinator, which learns from the sum of the Gram matrices.
type server struct {
	columns.Learner
	parent  protocol.SessionID // the id of the session that added up the matrices
	rowless *model.Rowless     // the model for open predictions, without its rows
}

func (s *server) learner() *columns.Learner { return &s.Learner }

func newServer(c method.Instance) (*server, error) {
	return &server{Learner: columns.LearnerOf(c, columns.ProductsOf(c.Job))}, nil
}

func (s *server) tell(setup method.Setup) (*method.Run, error) {
	return sums.Sender(setup, s.support())
}

// sumLimits returns the coordinator's memory limits for a secure sum. They allow the largest sum
// and one vector that is arriving.
func sumLimits() secagg.Limits { return secagg.Limits{Words: 1 << 28, Uploads: 1} }

// summer builds the coordinator's machine that adds up the Gram matrices.
func (s *server) summer(setup method.Setup) (*method.Run, error) {
	layout, err := s.Params(s.Declared)
	if err != nil {
		return nil, err
	}
	return sums.Server(setup, sumLimits(), func(sums [][]int64) error {
		s.parent = setup.Session.ID()
		return s.TakeSums(layout, sums)
	})
}

// makeRowless converts the model to the form without rows that the coordinator keeps.
func (s *server) makeRowless(context.Context, method.Reporter) error {
	var err error
	s.rowless, err = s.Work.Rowless()
	return err
}

// support encodes the message that tells the parties which rows are in the model. It has the number
// of the model's outputs, and one bit for each training row, which is set if the model uses the
// row.
func (s *server) support() []byte {
	var w wire.Writer
	w.Uint32(uint32(s.rowless.Outputs()))
	bits := make([]byte, (trainingRows(s.Job, s.Declared)+7)/8)
	for _, place := range s.Fitted.Support {
		bits[place/8] |= 1 << (place % 8)
	}
	w.Fixed(bits)
	return w.Bytes()
}

func (s *server) result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	r.Leakage, r.Exposures = s.leakage(), s.exposures()
	return r, nil
}

func (s *server) writeModel(out io.Writer) error { return s.WriteFunctions(out, "mercer/v1/gram") }

func (s *server) keep(method.Closing) (method.RetainedState, error) {
	file := bytes.NewBuffer(columns.Basis{Parent: s.parent, Rows: s.rowless.Rows(), Outputs: s.rowless.Outputs()}.Encode())
	err := model.EncodeRowless(file, s.rowless)
	return columns.RetainedState(s.Job, file.Bytes()), err
}

// isEarlierState reports whether an earlier version of this package wrote a retained state. Of all
// states without a protocol's name, only such a state contains a model with rows.
func isEarlierState(body []byte) bool {
	rows, ok := columns.RetainedRows(body)
	return ok && rows > 0
}

func openParty(k method.RetainedState, read *job.Reader) (method.Erasable, error) {
	o, err := columns.DecodeModelPart(read, k.Body)
	if err != nil {
		return nil, err
	}
	return method.Opened(answering(&inquirer{Inquirer: columns.Inquirer{ModelPart: o, Basis: o.Basis}})), nil
}

func openServer(_ method.Instance, k method.RetainedState, _ func() ([]byte, error)) (method.Erasable, error) {
	b, file, err := columns.DecodeBasis(k.Body)
	if err != nil {
		return nil, err
	}
	m, err := model.OpenRowless(bytes.NewReader(file))
	return method.Opened(answering(&inquirer{Inquirer: columns.Inquirer{Basis: b}, model: m})), err
}
