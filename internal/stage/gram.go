package stage

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// planGram: align, add up the parties' Gram matrices, let the label holder send
// the labels, choose by folds if the job has any, learn, evaluate.
func planGram(j *job.Job, c Cast) ([]Stage, error) {
	plan, err := alignStages(j, c, c.training(j, func(d declared) error {
		groups, err := gramGroups(j, d)
		if err == nil {
			err = sums.Check(len(c.Parties), groups)
		}
		return err
	}))
	if err != nil {
		return nil, err
	}
	sum := sumStage("protocol", c, summing{
		epoch:  func(k Known) string { return hex.EncodeToString(k.Declared.digest[:]) },
		groups: func(k Known) ([]secagg.Group, error) { return gramGroups(j, k.Declared) },
		party:  (*Party).gramPart, server: (*Server).gramSums,
	})
	sum.Session.Release = func(p *Party) method.Release { return p.release(method.ReleaseProducts, c, p.split.Set) }
	plan = append(plan, sum)
	if j.Data.Label != job.NoLabel {
		plan = append(plan, labelStage(c))
	}
	if j.Data.Folds > 0 {
		plan = append(plan, Stage{Name: "tune", Compute: (*Server).tune})
	}
	plan = append(plan,
		Stage{Name: "learn", Compute: (*Server).learn},
		Stage{Name: "evaluate", Compute: (*Server).evaluate})
	if j.Prediction == job.Open {
		plan = append(plan, Stage{Name: "keep", Compute: (*Server).makeRowless}, supportStage(j, c))
	}
	return plan, nil
}

// gramParams is the arithmetic that follows from what all have declared.
func gramParams(j *job.Job, d declared) (gram.Params, error) {
	if len(d.list) == 0 {
		return gram.Params{}, errUndeclared
	}
	train, test, err := heldOutSizes(j, d.list[0].rows)
	if err != nil {
		return gram.Params{}, fault.BadInput(err)
	}
	p, err := gram.NewParams(d.holders(), train, test)
	if err != nil {
		return gram.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// gramGroups are what is added up.
func gramGroups(j *job.Job, d declared) ([]secagg.Group, error) {
	p, err := gramParams(j, d)
	if err != nil {
		return nil, err
	}
	return summed(p), nil
}

// summed are the groups of an arithmetic. Every entry has the common bound as its
// offset.
func summed(p gram.Params) []secagg.Group {
	var groups []secagg.Group
	for _, entries := range p.Groups() {
		groups = append(groups, secagg.Group{Entries: entries, Bound: p.Bound(), Signed: true})
	}
	return groups
}

// holders are what the parties say of their columns.
func (d declared) holders() []gram.Holder {
	var list []gram.Holder
	for _, one := range d.list {
		list = append(list, one.columns)
	}
	return list
}

// gramPart is a party's term of the sum.
func (p *Party) gramPart(setup Setup) (*Run, error) {
	layout, err := gramParams(p.Job, p.vertical.declared)
	if err != nil {
		return nil, err
	}
	part, err := layout.Part(p.rows, slices.Index(p.Job.Parties(), p.Self))
	if err != nil {
		return nil, tooLarge(err)
	}
	return sums.Client(setup, part, func() {
		p.total, p.parent = layout.Training()+layout.HeldOut(), setup.Session.ID()
	})
}

// gramRoom is what the coordinator holds of a sum: the largest, and one vector
// that is under way.
func gramRoom() secagg.Limits { return secagg.Limits{Words: 1 << 28, Uploads: 1} }

func (s *Server) gramSums(setup Setup) (*Run, error) {
	layout, err := gramParams(s.Job, s.vertical.declared)
	if err != nil {
		return nil, err
	}
	return sums.Server(setup, gramRoom(), func(sums [][]int64) error {
		dot, err := layout.Matrix(sums)
		s.vertical.layout = layout
		s.vertical.task.Gram, s.vertical.task.Test = dot, heldOutLast(layout.Training(), layout.HeldOut())
		return err
	})
}

// labelStage sends the labels from the first party to the coordinator, and to
// nobody else: of the session's two members it is the one that tells.
func labelStage(c Cast) Stage {
	return Stage{Name: "labels", Session: following(Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Purpose: "labels",
		Members: []protocol.Member{{Name: c.Parties[0], Role: protocol.RoleServer}, {Name: c.Coordinator, Role: protocol.RoleParty}},
		party: func(p *Party, setup Setup) (*Run, error) {
			m, err := broadcast.NewServer(setup.Setup, encodeLabels(p.split.Set.Labels))
			if err != nil {
				return nil, err
			}
			return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return nil }}, nil
		},
		server: func(s *Server, setup Setup) (*Run, error) {
			m, err := broadcast.NewParty(setup.Setup)
			if err != nil {
				return nil, err
			}
			return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return s.labels(m.Body()) }}, nil
		},
	}, func(k Known) ([]byte, error) {
		if len(k.Declared.list) == 0 {
			return nil, errUndeclared
		}
		return broadcast.Encode(k.Declared.list[0].labels), nil
	})}
}

// maxLabelsBytes bounds the labels of a job.
const maxLabelsBytes = 1 << 28

// encodeLabels writes labels as the distinct ones and a number for each row, so
// that the length says how many rows and classes there are and not how many rows
// each class has. Nothing is written for no labels.
func encodeLabels(labels []string) []byte {
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

// decodeLabels reads the labels of n rows.
func decodeLabels(b []byte, n int) ([]string, error) {
	r := wire.NewReader(b)
	classes := r.Strings(n, method.MaxLabelBytes)
	if r.Err() == nil && r.Len() != 4*n {
		r.Fail(fmt.Errorf("%d bytes for %d rows", r.Len(), n))
	}
	labels := make([]string, 0, n)
	for range n {
		c := r.Uint32()
		if r.Err() == nil && int(c) >= len(classes) {
			r.Fail(fmt.Errorf("class %d of %d", c, len(classes)))
		}
		if r.Err() != nil {
			break
		}
		labels = append(labels, classes[c])
	}
	return labels, r.Close("stage: labels")
}

// labels takes the label holder's word over.
func (s *Server) labels(body []byte) error {
	labels, err := decodeLabels(body, len(s.vertical.task.Test))
	if err != nil {
		return protocol.Blame(s.Cast.Parties[0], protocol.KindMalformed, err)
	}
	s.vertical.task.Labels = labels
	return nil
}
