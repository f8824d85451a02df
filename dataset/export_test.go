package dataset

// GridStep reports whether every column of t that is not constant lies on a grid,
// each on its own. If the grids are multiples of one step that leaves every
// column at most 2^16 levels, step is the largest such step (1 for pixels 0 to
// 255 and for one-hot codes), else 0 (columns scaled each by its own range). A
// table of constant columns is on a grid of step 0.
func GridStep(t Table) (step float64, ok bool) {
	axes := measureAll(t)
	onGrid, varying := countGrids(axes)
	if onGrid < varying {
		return 0, false
	}
	return commonStep(axes), true
}
