// Package randommodel keeps the model of a job at a party that has all of it: a function that is linear in random
// features or, with kernel linear, in columns. The party answers queries about new rows without other members.
package randommodel

import (
	"bytes"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/model"
)

// Keep returns a party's retained state of a job of the named protocol: the model r, completed by the columns and
// the scaling of the party's rows.
func Keep(protocol string, r model.RandomSpec, p *rows.Party) (method.RetainedState, error) {
	r.Width, r.Columns = p.Width(), p.Split.Set.Columns
	if len(p.Scaling.Offset) > 0 {
		r.Scale = &model.Scale{Offset: p.Scaling.Offset, Factor: p.Scaling.Factor}
	}
	m, err := model.NewRandom(r)
	if err != nil {
		return method.RetainedState{}, err
	}
	var b bytes.Buffer
	err = model.EncodeRandom(&b, m)
	return method.RetainedState{Method: protocol, Version: 1, Body: b.Bytes()}, err
}

// Stored is the encoded model that a party stores.
type Stored []byte

var _ method.Local = (*Stored)(nil)

// Open returns the model of a retained state.
func Open(k method.RetainedState) Stored { return bytes.Clone(k.Body) }

// Erase implements [method.Erasable].
func (m Stored) Erase() { clear(m) }

// Predict implements [method.Local].
func (m Stored) Predict(set *dataset.Set) (*method.Prediction, error) {
	r, err := model.OpenRandom(bytes.NewReader(m))
	if err != nil {
		return nil, err
	}
	if set, err = method.LikeTraining(set, r.Width(), r.Columns()); err != nil {
		return nil, err
	}
	decisions, err := r.Decisions(dataset.DenseOf(set.X).Matrix())
	if err != nil {
		return nil, err
	}
	a := &method.Prediction{Output: r.Output()}
	return a, a.Take(decisions)
}
