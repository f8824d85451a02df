package model

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Private is a model whose support vectors are encoded rows, which any holder of
// the encoder's seed could decode. It is no [Model], and prints as its
// dimensions only, so that it gets neither into a public file nor into a log by
// mistake.
type Private struct{ model *Model }

// NewPrivate declares the vectors of m to be encoded rows. A scale is refused:
// the parties scale before they encode, and keep the scale.
func NewPrivate(m *Model) (*Private, error) {
	if m.scale != nil {
		return nil, errors.New("model: a private model with a scale: the parties scale their rows before they encode them")
	}
	if m.columns != nil {
		return nil, errors.New("model: a private model with names of columns, which parties keep to themselves")
	}
	return &Private{model: m}, nil
}

// Kernel returns the kernel with every parameter explicit.
func (p *Private) Kernel() kernel.Spec { return p.model.Kernel() }

// Reading returns the meaning of the outputs. The caller must not change it.
func (p *Private) Reading() Reading { return p.model.Reading() }

// Width returns the width of an encoded row.
func (p *Private) Width() int { return p.model.Width() }

// Support returns the number of rows.
func (p *Private) Support() int { return p.model.count }

// Decisions returns the numbers that [Reading] describes for encoded rows, under
// the conditions of [Model.Decisions].
func (p *Private) Decisions(encoded linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
	return p.model.Decisions(encoded)
}

// String returns the dimensions of the model.
func (p Private) String() string {
	return fmt.Sprintf("private %s model over %d encoded rows of width %d", p.model.Kind(), p.model.count, p.model.Width())
}

// GoString keeps %#v from printing the rows.
func (p Private) GoString() string { return p.String() }
