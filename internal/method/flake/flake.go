// Package flake binds protocol FLAKE: protocol okra with one dense random matrix as its encoder. It
// exists for comparison. Okra's encoder haar draws its matrix from the same distribution at less
// cost.
package flake

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/okra"
	okramachines "github.com/mercer-fl/mercer/protocol/okra"
)

// Protocol returns the binding of FLAKE, with okra's parties and coordinator.
func Protocol() *method.Protocol { return itself }

var itself = okra.Bind(okra.Variant{Name: "flake", Keys: func() job.Settings { return new(Keys) }, Labels: true})

// Keys holds the protocol's settings in a job.
type Keys struct {
	job.Moded
	Wire okra.Wire
}

var _ job.Settings = (*Keys)(nil)

// Section declares the protocol's keys in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "As protocol okra, with the encoder of FLAKE: one dense matrix, whose cost is cubic in the columns. For comparison: encoder haar of okra gives as much for less.",
		Fields: []section.Field{k.ModeKey(), okra.WireKey(&k.Wire)},
	}
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: learner.OnRows}
}

// Spec implements [okra.Settings].
func (k *Keys) Spec() okramachines.Spec {
	return okramachines.Spec{Encoder: okramachines.Flake, Wire: string(k.Wire), Mode: string(k.Mode)}
}
