package ppsvmv

import (
	"io"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// server is the coordinator, which learns from the matrix that the first party sends it.
type server struct{ columns.Learner }

// Server implements [method.Federated].
func (Method) Server(c method.Case) (method.Server, error) {
	return &server{columns.LearnerOf(c, matrix(c.Job))}, nil
}

// Machine implements [method.Member].
func (s *server) Machine(step string, setup method.Setup) (*method.Run, error) {
	switch step {
	case "protocol":
		return s.receiver(setup)
	case "labels":
		return sums.Receiver(setup, s.TakeLabels)
	}
	return s.Server.Machine(step, setup, judge{s.Products})
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

// WriteModel implements [method.Model].
func (s *server) WriteModel(out io.Writer) error { return s.WriteFunctions(out, "mercer/v1/pp-svmv") }

// Result implements [method.Server].
func (s *server) Result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	r.Leakage = s.leakage()
	return r, nil
}
