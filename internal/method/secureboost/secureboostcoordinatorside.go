package secureboost

import (
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// server is the state of the coordinator, which receives the figures of the party with the labels.
type server struct{ columns.ReportedServer }

func newServer(c method.Instance) (*server, error) {
	return &server{columns.ReportedServer{Server: columns.Server{Instance: c}}}, nil
}

// hear stores the report of the party with the labels.
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
	r, err := s.Result(func(rows int) map[string][]string { return Leakage(s.Job, rows) })
	if r != nil {
		r.Exposures = exposures(s.Job)
	}
	return r, err
}

// finding is the guest's report to the coordinator about the trees.
type finding struct {
	metrics learner.Metrics
	model   [32]byte // SHA-256 of the guest's part of the trees
}

// findingBytes is the number of bytes in every finding. A fixed length hides which metrics the
// finding has.
const findingBytes = 4*9 + 32

// findingMetrics lists the metrics of a finding in the order in which they are encoded.
func findingMetrics() []string { return []string{"accuracy", "f1_micro", "f1_macro", "auc"} }

func (v finding) encode() []byte {
	var w wire.Writer
	for _, name := range findingMetrics() {
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
	for _, name := range findingMetrics() {
		has, value := r.Bool(), r.Float64()
		switch {
		case r.Err() != nil:
		case has && !(value >= 0 && value <= 1):
			r.Fail(fmt.Errorf("the metric %s is %v; it must be from 0 to 1", name, value))
		case !has && math.Float64bits(value) != 0:
			r.Fail(fmt.Errorf("the metric %s has value %v although it is marked as absent", name, value))
		case has:
			v.metrics[name] = value
		}
	}
	r.Fixed(v.model[:])
	return v, r.Close("secureboost: finding")
}

// serverSees names what stays hidden from the server.
const serverSees = "It sees no sums, labels, decisions or trees."

// exposures returns how much of others' rows each role can reconstruct.
func exposures(j *job.Job) map[string]protocol.Exposure {
	list := secureboost.Exposures(secureboost.Facts{Encryption: keysOf(j).HE})
	list["server"] = protocol.Exposure{Reach: protocol.ReachNone, Why: serverSees}
	return list
}

// Leakage describes in plain words what each role learns from a job. rows is the number of common
// rows.
func Leakage(j *job.Job, rows int) map[string][]string {
	parties, trees := j.Parties(), learner.TreesOf(j)
	lines := secureboost.Leakage(secureboost.Facts{
		Encryption: keysOf(j).HE, Rows: rows, Rounds: trees.Rounds, Depth: trees.Depth, Bins: trees.Bins,
	})
	lines["active"] = append([]string{fmt.Sprintf("The active party is %s, which holds the labels. The leaves of the trees stay there; each party keeps the cuts of its own columns.", parties[0])}, append(lines["active"], columns.KeptScores)...)
	lines["server"] = []string{
		"The server learns the number of common rows, each party's number of columns, and the figures on held-out rows, which the active party sends. " + serverSees,
	}
	lines["party"] = []string{"Every party learns the number of common rows and each other party's number of columns."}
	columns.Leakage(lines, j, rows)
	return lines
}
