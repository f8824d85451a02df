// Package paper reproduces tables and figures of the four papers that Mercer's protocols come
// from, and puts each figure beside the published value.
//
// Most figures come from jobs, as any user could run them. An [Experiment] says which jobs, and
// makes rows, curves and judged claims of their results. A value that the paper gives in a picture
// only has no published number here.
package paper

import (
	"context"
	"fmt"
)

// Experiment is a table or figure of a paper.
type Experiment struct {
	Paper string `json:"paper"` // the first author: polato, hartmann, hannemann, gu
	Name  string `json:"name"`
	Title string `json:"title"`
	run   func(context.Context, *Lab) (*Finding, error)
}

// Run makes the experiment.
func (e Experiment) Run(ctx context.Context, l *Lab) (*Finding, error) {
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
func Experiments() []Experiment {
	return []Experiment{
		{"polato", "table1", "FedCFK on ml-100k, by the share of people who take part in one round", polatoTable1},
		{"polato", "figure1", "Error of FedCFK's estimated kernel, by rounds", polatoFigure1},
		{"hartmann", "figure2", "SecVM's learning curve, for the mean of the last k weight vectors", hartmannFigure2},
		{"hartmann", "figure3", "SecVM's accuracy by the number of bins", hartmannFigure3},
		{"hannemann", "svm", "OKRA beside the support vector machine without privacy", hannemannSVM},
		{"hannemann", "figure2", "Time by the number of parties", hannemannFigure2},
		{"hannemann", "figure3", "Time of encoding by the number of features", hannemannFigure3},
		{"gu", "figure6", "Test error over random splits", guFigure6},
		{"gu", "figure5", "Time of FDSKL by the number of rows", guFigure5},
		{"gu", "table4", "Minutes of training", guTable4},
	}
}
