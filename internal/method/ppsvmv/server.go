package ppsvmv

import (
	"io"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// server is the coordinator, which learns from the matrix that the first party sends it.
type server struct{ columns.Learner }

func (s *server) learner() *columns.Learner { return &s.Learner }

func newServer(c method.Case) (*server, error) {
	return &server{columns.LearnerOf(c, matrix(c.Job))}, nil
}

// receiver is the machine that receives the matrix.
func (s *server) receiver(setup method.Setup) (*method.Run, error) {
	layout, err := s.Params(s.Declared)
	if err != nil {
		return nil, err
	}
	m, err := ppsvmv.NewServer(setup.Setup)
	return method.RunOf(m, err, func() error { return s.TakeSums(layout, m.Sums()) })
}

func (s *server) writeModel(out io.Writer) error { return s.WriteFunctions(out, "mercer/v1/pp-svmv") }

func (s *server) result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	r.Leakage = s.leakage()
	return r, nil
}
