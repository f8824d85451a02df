package bench

import (
	"context"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
)

// gridSize describes a grid of values of gamma and C on the first rows of the bundled digits.
type gridSize struct {
	rows, folds int
	gammas, cs  []float64 // values of gamma, in units of 1 / median squared distance, and of C
}

// Grid returns a benchmark of a grid search over C-SVCs on the bundled digits. It compares the
// search with the plain way, which trains every cell and fold separately from its rows.
func Grid() Benchmark {
	return gridOf(gridSize{rows: 1797, folds: 5, gammas: []float64{.25, 1, 4}, cs: []float64{1. / 16, 1, 16, 256}})
}

func gridOf(s gridSize) Benchmark {
	return Benchmark{cases: []scene{sceneOf("digits", s, raceGrid)}}
}

// grid holds a grid search and its rows.
type grid struct {
	tune.Search
	tune.SVC
	x linalg.Matrix[float64]
}

func newGrid(s gridSize) (grid, error) {
	set, err := bundled.Load("digits")
	if err != nil {
		return grid{}, err
	}
	labels := set.Labels[:s.rows]
	g := grid{x: dataset.DenseOf(set.X).Matrix().Panel(0, s.rows)}
	g.Classes, g.Codes = dataset.Classes(labels)
	for _, c := range s.cs {
		g.Params = append(g.Params, svm.Params{C: c})
	}
	g.Learner = g.SVC
	if err := g.divide(labels, s.folds); err != nil {
		return grid{}, err
	}
	median := kernel.MedianSquaredDistance(kernel.LinearGram(g.x), linalg.Range(0, s.rows))
	for _, gamma := range s.gammas {
		k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: gamma / median})
		if err != nil {
			return grid{}, err
		}
		g.Kernels = append(g.Kernels, k)
	}
	return g, nil
}

func (g *grid) divide(labels []string, folds int) error {
	tests, err := dataset.Folds(labels, folds, 1)
	if err != nil {
		return err
	}
	for _, test := range tests {
		g.Folds = append(g.Folds, tune.Fold{Train: dataset.Complement(len(labels), test), Test: test})
	}
	return nil
}

// plain trains each cell and each fold separately, without a grid search that shares work. Each
// time it computes inner products and kernel anew, and trains from zero. It returns the number of
// correctly predicted test rows of each cell.
func (g grid) plain() ([]int, error) {
	var correct []int
	for _, k := range g.Kernels {
		for _, p := range g.Params {
			sum := 0
			for _, f := range g.Folds {
				n, err := g.plainFold(k, p, f)
				if err != nil {
					return nil, err
				}
				sum += n
			}
			correct = append(correct, sum)
		}
	}
	return correct, nil
}

func (g grid) plainFold(k kernel.Kernel, p svm.Params, f tune.Fold) (int, error) {
	train, codes := g.pick(f.Train)
	c, err := svm.TrainSVC(kernel.Materialize(kernel.Of(kernel.LinearGram(train), k)), codes, g.Classes, p, nil)
	if err != nil {
		return 0, err
	}
	test, truth := g.pick(f.Test)
	support := linalg.New[float64](len(c.Support()), g.x.Cols)
	for i, row := range c.Support() {
		copy(support.Row(i), train.Row(row))
	}
	cross := kernel.CrossGram(test, support)
	kernel.Cross(k, cross, kernel.SquaredNorms(test), kernel.SquaredNorms(support))
	correct := 0
	for i, code := range c.Predict(c.Decisions(cross)) {
		if code == truth[i] {
			correct++
		}
	}
	return correct, nil
}

// pick returns copies of the given rows, and their class codes.
func (g grid) pick(rows []int) (linalg.Matrix[float64], []int) {
	x, codes := linalg.New[float64](len(rows), g.x.Cols), make([]int, len(rows))
	for i, row := range rows {
		copy(x.Row(i), g.x.Row(row))
		codes[i] = g.Codes[row]
	}
	return x, codes
}

func raceGrid(s gridSize) (race, error) {
	g, err := newGrid(s)
	if err != nil {
		return race{}, err
	}
	var plain []int
	var found *tune.Result
	return race{
		runs: []run{
			func(context.Context) (err error) {
				plain, err = g.plain()
				return err
			},
			func(context.Context) (err error) {
				found, err = g.Run(kernel.LinearGram(g.x))
				return err
			},
		},
		rows: func(best []span) []Row {
			cells, worst := float64(len(found.Cells)), 0.
			for i, c := range found.Cells {
				worst = max(worst, math.Abs(float64(c.Correct-plain[i])))
			}
			name := fmt.Sprintf("grid of %d cells, %d folds of %d digits", len(found.Cells), s.folds, s.rows)
			return []Row{
				figure(name, cells/best[1].wall, "cells/s").beside("each cell and fold by itself", cells/best[0].wall).
					byCPU(best[0].cpu / best[1].cpu),
				figure(name+", largest difference in right predictions", worst, "rows").within(3),
			}
		},
	}, nil
}
