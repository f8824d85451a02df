package dataset

import "math"

// Summary holds the size, the classes and the range of values of a set.
type Summary struct {
	Name       string
	Rows, Cols int
	Sparsity   float64 // share of the cells that are zero, 0 to 1
	Classes    []Class // class sizes, nil without labels; for regression, one class for each distinct target
	Min, Max   float64 // range of all cells, zeros included
	// Varying counts the columns that are not constant. OnGrid counts the varying columns whose
	// values are on a grid (see [GridColumns]). Step is the step of a grid that all varying columns share,
	// or 0 if they share none.
	Varying, OnGrid int
	Step            float64
}

// Class is a label and the number of its rows.
type Class struct {
	Label string
	Rows  int
}

// Summarize returns the summary of s, which should pass [Set.Validate].
func Summarize(s *Set) Summary {
	sum := Summary{Name: s.Name, Rows: s.X.Rows(), Cols: s.X.Cols(), Classes: countClasses(s.Labels)}
	sum.addCells(s.X)
	axes := measureAll(s.X)
	sum.OnGrid, sum.Varying = countGrids(axes)
	if sum.OnGrid == sum.Varying {
		sum.Step = commonStep(axes)
	}
	return sum
}

func countClasses(labels []string) []Class {
	if labels == nil {
		return nil
	}
	names, codes := Classes(labels)
	classes := make([]Class, len(names))
	for c, name := range names {
		classes[c].Label = name
	}
	for _, c := range codes {
		classes[c].Rows++
	}
	return classes
}

func (s *Summary) addCells(t Table) {
	s.Min, s.Max = math.Inf(1), math.Inf(-1)
	nonzero := 0
	for i := range t.Rows() {
		stored := 0
		t.Each(i, func(_ int, v float64) {
			s.Min, s.Max = min(s.Min, v+0), max(s.Max, v+0) // adding 0 turns -0 into 0
			stored++
			if v != 0 {
				nonzero++
			}
		})
		if stored < t.Cols() {
			s.Min, s.Max = min(s.Min, 0), max(s.Max, 0)
		}
	}
	if cells := float64(t.Rows()) * float64(t.Cols()); cells > 0 {
		s.Sparsity = 1 - float64(nonzero)/cells
	} else {
		s.Min, s.Max = 0, 0
	}
}
