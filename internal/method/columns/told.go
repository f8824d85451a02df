package columns

import (
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/broadcast"
)

// Told is a coordinator that only hears how well the label holder has learnt. A method's own server
// embeds it.
type Told struct {
	Server
	Metrics learner.Metrics
	Model   [32]byte // a name for it: it stays with the parties
}

// ToldStep is the session in which the label holder tells the coordinator in a message of a fixed size.
func ToldStep[P, S any](c method.Case, bytes int, tell func(*P, method.Setup) (*method.Run, error), hear func(*S, []byte) error) method.StepOf[P, S, Declared] {
	return method.StepOf[P, S, Declared]{
		Name: "learn", Session: &method.Session{
			Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "finding",
			Params: broadcast.Encode(bytes), Members: sums.Served(c.Parties[0], []string{c.Coordinator}),
		},
		Party: tell,
		Server: func(s *S, in method.Setup) (*method.Run, error) {
			return sums.Receiver(in, func(body []byte) error { return hear(s, body) })
		},
		Releases: method.LetsOut[P](method.ReleaseErrors),
	}
}

// Outcome is empty: decisions stay with the label holder.
func (*Told) Outcome() *method.Outcome { return &method.Outcome{} }

// WriteNames writes all that the coordinator has of the model, under the name of the format.
func (s *Told) WriteNames(out io.Writer, format string) error {
	var w wire.Writer
	w.String(format)
	w.Fixed(s.Declared.Digest[:])
	w.Fixed(s.Model[:])
	_, err := out.Write(w.Bytes())
	return err
}

// Result is what the coordinator knows of the job; leakage is of that many common rows.
func (s *Told) Result(leakage func(rows int) map[string][]string) (*method.Result, error) {
	rows, err := s.Declared.Rows()
	if err != nil {
		return nil, err
	}
	train, test, err := Sizes(s.Job, rows)
	if err != nil {
		return nil, err
	}
	return &method.Result{Job: s.Job.Name, Metrics: s.Metrics, Grid: []learner.Cell{}, HeldOut: test, Training: train, Leakage: leakage(rows)}, nil
}
