package cli

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel"
)

// chosenIndex returns the index of the chosen cell, or -1 if no cell was chosen.
func chosenIndex(grid []learner.Cell) int {
	return slices.IndexFunc(grid, func(c learner.Cell) bool { return c.Best })
}

// column describes a column of the table of grid cells.
type column struct {
	head string
	text func(c learner.Cell) any
}

// gridTable returns a table with a row for each cell of a grid.
func gridTable(grid []learner.Cell) *tableOf {
	columns := gridColumns(grid[0])
	t := &tableOf{}
	for _, col := range columns {
		t.header = append(t.header, col.head)
	}
	for _, c := range grid {
		var row []any
		for _, col := range columns {
			row = append(row, col.text(c))
		}
		t.add(row...)
	}
	return t
}

// gridColumns returns the table columns for grid cells with the same parameters as the given cell.
func gridColumns(like learner.Cell) []column {
	columns := []column{{"kernel", func(c learner.Cell) any { return cellKernel(c.Kernel) }}}
	for _, n := range like.Numbers {
		columns = append(columns, column{n.Key, func(c learner.Cell) any { return fmt.Sprintf("%g", c.Number(n.Key)) }})
	}
	counted, pooled := like.Score == "accuracy", like.PooledMean != nil
	columns = append(columns, column{scoreHeading(like), func(c learner.Cell) any { return fmt.Sprintf("%.4f", c.Mean) }})
	if counted {
		columns = append(columns, column{fmt.Sprintf("correct of %d", like.Rows), func(c learner.Cell) any { return c.Correct }})
	}
	if pooled {
		columns = append(columns, column{"pooled mean", func(c learner.Cell) any { return fmt.Sprintf("%.4f", *c.PooledMean) }})
	}
	if pooled && counted {
		columns = append(columns, column{"pooled correct", func(c learner.Cell) any { return *c.PooledCorrect }})
	}
	return append(columns, column{"", func(c learner.Cell) any { return map[bool]string{true: "chosen"}[c.Best] }})
}

// cellKernel formats the nonzero parameters of a kernel. It rounds them, because a gamma that is
// computed from the data has many digits.
func cellKernel(k kernel.Spec) string {
	s := k.Name
	for _, p := range []struct {
		name  string
		value float64
	}{
		{"gamma", k.Gamma}, {"coef0", k.Coef0}, {"degree", float64(k.Degree)}, {"alpha", k.Alpha}, {"length_scale", k.LengthScale}, {"nu", k.Nu}, {"amplitude", k.Amplitude},
	} {
		if p.value != 0 {
			s += fmt.Sprintf(", %s = %.4g", p.name, p.value)
		}
	}
	if k.Coefficients != nil {
		s += fmt.Sprintf(", coefficients = %.4g", k.Coefficients)
	}
	return s
}

// scoreHeading returns the heading of the score's column. A score over several folds is called a
// mean.
func scoreHeading(c learner.Cell) string {
	if len(c.Folds) < 2 { // with one, each row was left out by itself
		return c.Score
	}
	return "mean " + c.Score
}
