package cli

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/report"
)

// chosen returns the cell of a grid that was chosen; false without one.
func chosen(grid []stage.Cell) (stage.Cell, bool) {
	i := slices.IndexFunc(grid, func(c stage.Cell) bool { return c.Best })
	if i < 0 {
		return stage.Cell{}, false
	}
	return grid[i], true
}

func chosenKernel(j *job.Job, r *stage.Result) kernel.Spec {
	if c, ok := chosen(r.Grid); ok {
		return c.Kernel
	}
	return j.Kernel.Spec()
}

func chosenLearner(j *job.Job, r *stage.Result) job.Learner {
	l := j.Learner
	if c, ok := chosen(r.Grid); ok {
		l.C = c.C
	}
	return l
}

// gridTable has a row for each cell.
func gridTable(grid []stage.Cell) *tableOf {
	t := &tableOf{header: []string{"kernel", "C", "mean accuracy", fmt.Sprintf("correct of %d", grid[0].Rows)}}
	pooled := grid[0].PooledMean != nil
	if pooled {
		t.header = append(t.header, "pooled mean", "pooled correct")
	}
	t.header = append(t.header, "")
	for _, c := range grid {
		cells := []any{describeKernel(c.Kernel), fmt.Sprintf("%g", c.C), fmt.Sprintf("%.4f", c.Mean), c.Correct}
		if pooled {
			cells = append(cells, fmt.Sprintf("%.4f", *c.PooledMean), *c.PooledCorrect)
		}
		mark := ""
		if c.Best {
			mark = "chosen"
		}
		t.add(append(cells, mark)...)
	}
	return t
}

// reportGrid is the same table on the page of the report.
func reportGrid(grid []stage.Cell) report.Grid {
	if len(grid) == 0 {
		return report.Grid{}
	}
	t := gridTable(grid)
	out := report.Grid{Columns: t.header}
	for i, row := range t.rows {
		cell := report.Cell{Best: grid[i].Best}
		for _, text := range row {
			cell.Texts = append(cell.Texts, fmt.Sprint(text))
		}
		out.Rows = append(out.Rows, cell)
	}
	return out
}
