package columns

import (
	"context"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// Learner is the state of a coordinator that learns from the Gram matrix over the columns of all
// parties. A method's own server embeds it.
type Learner struct {
	Server
	Products
	learner.Work // the learning problem, with the common rows in the order of Party.Set
	Layout       gram.Params
	Facts        method.Facts // the parties' facts about their columns
	rank         int          // the rank of the training rows' Gram matrix; 0 if it has not been computed
}

// LearnerOf returns the coordinator's state at the start of a job.
func LearnerOf(c method.Instance, a Products) Learner {
	return Learner{Server: Server{Instance: c}, Products: a, Work: learner.Work{Workers: c.Workers}}
}

// TakeSums decodes the sum of the parties' Gram matrices into the learning problem.
func (s *Learner) TakeSums(layout gram.Params, sums [][]int64) error {
	var err error
	s.Layout = layout
	s.Problem.Gram, err = layout.Matrix(sums)
	s.Problem.Test = HeldOutLast(layout.Training(), layout.HeldOut())
	return err
}

// LearningSteps returns the steps in which the coordinator computes, after the Gram matrix and the
// labels have arrived.
func LearningSteps[P, S any](c method.Instance, learner func(*S) *Learner) (list []method.StepOf[P, S, Declared]) {
	stages := []string{"learn", "evaluate"}
	if c.Job.Data.Folds > 0 {
		stages = append([]string{"tune"}, stages...)
	}
	for _, stage := range stages {
		list = append(list, method.StepOf[P, S, Declared]{Name: stage, Compute: func(of *S, ctx context.Context, progress method.Reporter) error {
			s := learner(of)
			return s.Do(ctx, s.Job, stage, progress.Counts)
		}, Cost: learningCost(c, stage)})
	}
	return list
}

// Outcome returns the decisions about the held-out rows.
func (s *Learner) Outcome() *method.Outcome { return method.NewOutcome(s.Fitted) }

// WriteFunctions writes the name of the format and then the decision functions of the model. The
// functions refer to training rows by their indices in Party.Set. The file contains no rows,
// so a prediction needs the kernel's inner products of those rows with new rows.
func (s *Learner) WriteFunctions(out io.Writer, format string) error {
	var w wire.Writer
	w.String(format)
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
	if k.Amplitude != 0 {
		w.String("amplitude")
		w.Float64(k.Amplitude)
	}
	_, err := out.Write(w.Bytes())
	return err
}

// ReportedServer is the state of a coordinator that receives the declarations, and a report with metrics from
// the party with the labels. A method's own server embeds it.
type ReportedServer struct {
	Server
	Metrics learner.Metrics
	Model   [32]byte // a digest of the model; the model itself stays with the parties
}

// ReportStep returns the step in which the party with the labels reports its metrics to the
// coordinator. The report has a fixed size.
func ReportStep[P, S any](c method.Instance, bytes int, tell func(*P, method.Setup) (*method.Run, error), hear func(*S, []byte) error) method.StepOf[P, S, Declared] {
	return method.StepOf[P, S, Declared]{
		Name: "learn", Session: &method.Session{
			Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Purpose: "finding",
			Params: collective.EncodeBroadcast(bytes), Members: sums.Served(c.Parties[0], []string{c.Coordinator}),
		},
		Party: tell,
		Server: func(s *S, in method.Setup) (*method.Run, error) {
			return sums.Receiver(in, func(body []byte) error { return hear(s, body) })
		},
		Releases: method.AlsoReleases[P](method.ReleaseErrors),
		Cost:     method.FromSession(collective.BroadcastCost),
	}
}

// Outcome returns an empty outcome, because the decisions stay with the party that has the labels.
func (*ReportedServer) Outcome() *method.Outcome { return &method.Outcome{} }

// WriteNames writes the name of the format, and then digests of the declarations and of the model. This
// is the coordinator's record of the model.
func (s *ReportedServer) WriteNames(out io.Writer, format string) error {
	var w wire.Writer
	w.String(format)
	w.Fixed(s.Declared.Digest[:])
	w.Fixed(s.Model[:])
	_, err := out.Write(w.Bytes())
	return err
}

// Result returns the coordinator's result of the job. The function leakage receives the number of
// common rows.
func (s *ReportedServer) Result(leakage func(rows int) map[string][]string) (*method.Result, error) {
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

// EncodeLabels encodes a list of the distinct labels and, for each row, the index of the row's
// label in this list. The length of the code depends on the number of rows and on the classes and their
// names, but not on how many rows each class has. Without labels, EncodeLabels returns nil.
func EncodeLabels(labels []string) []byte {
	if labels == nil {
		return nil
	}
	var w wire.Writer
	classes, codes := dataset.Classes(labels)
	w.Strings(classes)
	for _, c := range codes {
		w.Uint32(uint32(c))
	}
	return w.Bytes()
}

// TakeLabels stores the labels that the first party sends in the step of [LabelStep].
func (s *Learner) TakeLabels(body []byte) error {
	labels, err := decodeLabels(body, len(s.Problem.Test))
	if err != nil {
		return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
	}
	s.Problem.Labels = labels
	return nil
}

// decodeLabels decodes the labels of n rows.
func decodeLabels(b []byte, n int) ([]string, error) {
	r := wire.NewReader(b)
	classes := r.Strings(n, method.MaxLabelBytes)
	if r.Err() == nil && r.Len() != 4*n {
		r.Fail(fmt.Errorf("the class indices have %d bytes for %d rows; each row needs 4 bytes", r.Len(), n))
	}
	labels := make([]string, 0, n)
	for range n {
		c := r.Uint32()
		if r.Err() == nil && int(c) >= len(classes) {
			r.Fail(fmt.Errorf("a label has class index %d (counted from 0), but there are only %d classes", c, len(classes)))
		}
		if r.Err() != nil {
			break
		}
		labels = append(labels, classes[c])
	}
	return labels, r.Close("columns: labels")
}
