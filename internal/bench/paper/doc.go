// Package paper reproduces tables and figures of the four papers behind Mercer's protocols, and
// shows each figure beside the published value.
//
// Most figures come from jobs that any user could run. An [Experiment] names the jobs, and makes
// rows, curves and judged claims from their results. A value that the paper shows only in a
// picture has no published number here.
package paper

import (
	"context"
	"fmt"
	"slices"
)

// Experiment reproduces one table or figure of a paper.
type Experiment struct {
	Paper string `json:"paper"` // first author: polato, hartmann, hannemann or gu
	Name  string `json:"name"`
	Title string `json:"title"`
	run   func(context.Context, *Runner) (*Measurement, error)
}

// Run runs the jobs of the experiment and returns its measurement.
func (e Experiment) Run(ctx context.Context, l *Runner) (*Measurement, error) {
	f, err := e.run(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", e.Paper, e.Name, err)
	}
	f.Experiment = e
	return f, nil
}

// Papers lists the papers by their first authors.
func Papers() []string { return []string{"polato", "hartmann", "hannemann", "gu"} }

// Experiments lists all experiments in the order of the papers.
func Experiments() []Experiment { return slices.Concat(polato(), hartmann(), hannemann(), gu()) }
