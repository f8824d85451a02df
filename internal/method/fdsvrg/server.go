package fdsvrg

import (
	"io"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
)

// server is the coordinator, which is told how well the parties have learnt.
type server struct {
	columns.Told
	finding finding
}

func newServer(c method.Case) (*server, error) {
	return &server{Told: columns.Told{Server: columns.Server{Case: c}}}, nil
}

// hear takes over what the label holder tells.
func (s *server) hear(body []byte) error {
	v, err := decodeFinding(s.Job.Task(), body)
	if err != nil {
		return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
	}
	s.finding, s.Metrics, s.Model = v, v.metrics, v.model
	return nil
}

func (s *server) writeModel(out io.Writer) error { return s.WriteNames(out, "mercer/v1/fd-svrg") }

func (s *server) result() (*method.Result, error) {
	r, err := s.Result(func(rows int) map[string][]string { return leakage(s.Case, rows) })
	if r != nil {
		r.Warnings = s.finding.warnings()
	}
	return r, err
}
