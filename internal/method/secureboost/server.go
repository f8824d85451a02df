package secureboost

import (
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
)

// server is the coordinator, which is told how well the label holder has learnt.
type server struct{ columns.Told }

func newServer(c method.Case) (*server, error) {
	return &server{columns.Told{Server: columns.Server{Case: c}}}, nil
}

// hear takes over what the label holder tells.
func (s *server) hear(body []byte) error {
	v, err := decodeFinding(body)
	if err != nil {
		return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
	}
	s.Metrics, s.Model = v.metrics, v.model
	return nil
}

func (s *server) writeModel(out io.Writer) error { return s.WriteNames(out, "mercer/v1/secureboost") }

func (s *server) result() (*method.Result, error) {
	return s.Result(func(rows int) map[string][]string { return Leakage(s.Job, rows) })
}

// finding holds the label holder's report to the coordinator about its trees.
type finding struct {
	metrics learner.Metrics
	model   [32]byte // SHA-256 of the trees, which stay where they are
}

// findingBytes is the length of every finding: it must not tell which metrics there are
// before it is told.
const findingBytes = 4*9 + 32

// told lists the metrics that a finding may have, in its order.
func told() []string { return []string{"accuracy", "f1_micro", "f1_macro", "auc"} }

func (v finding) encode() []byte {
	var w wire.Writer
	for _, name := range told() {
		value, has := v.metrics[name]
		w.Bool(has)
		w.Float64(value)
	}
	w.Fixed(v.model[:])
	return w.Bytes()
}

func decodeFinding(b []byte) (finding, error) {
	r := wire.NewReader(b)
	v := finding{metrics: learner.Metrics{}}
	for _, name := range told() {
		has, value := r.Bool(), r.Float64()
		switch {
		case r.Err() != nil:
		case has && !(value >= 0 && value <= 1):
			r.Fail(fmt.Errorf("%s is %v", name, value))
		case !has && math.Float64bits(value) != 0:
			r.Fail(fmt.Errorf("%s is %v and not there", name, value))
		case has:
			v.metrics[name] = value
		}
	}
	r.Fixed(v.model[:])
	return v, r.Close("secureboost: finding")
}
