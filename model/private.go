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
type Private struct{ svc *SVC }

// NewPrivate declares the vectors of m to be encoded rows. A scale is refused:
// the parties scale before they encode, and keep the scale.
func NewPrivate(m *SVC) (*Private, error) {
	if m.scale != nil {
		return nil, errors.New("model: a private model with a scale: the parties scale their rows before they encode them")
	}
	return &Private{svc: m}, nil
}

// Type returns the name of the type in the file.
func (p *Private) Type() string { return p.svc.Type() }

// Kernel returns the kernel with every parameter explicit.
func (p *Private) Kernel() kernel.Spec { return p.svc.Kernel() }

// Classes returns the class names by code. The caller must not change them.
func (p *Private) Classes() []string { return p.svc.Classes() }

// Width returns the width of an encoded row.
func (p *Private) Width() int { return p.svc.Width() }

// Support returns the number of support vectors.
func (p *Private) Support() int { return p.svc.count }

// Decisions returns the decision values of encoded rows, n x pairs of classes,
// under the conditions of [SVC.Decisions].
func (p *Private) Decisions(encoded linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
	return p.svc.Decisions(encoded)
}

// Predict returns the class code for each row of decisions.
func (p *Private) Predict(decisions linalg.Matrix[float64]) []int { return p.svc.Predict(decisions) }

// String returns the dimensions of the model.
func (p Private) String() string {
	return fmt.Sprintf("private %s model of %d classes, %d encoded rows of width %d", p.svc.Type(), len(p.svc.Classes()), p.svc.count, p.svc.Width())
}

// GoString keeps %#v from printing the rows.
func (p Private) GoString() string { return p.String() }
