package prepare

import (
	"fmt"
	"strings"
)

// Told lists in words the sums of a plan, by column: what everybody learns who is told the sum.
func (p *Plan) Told() []string {
	var lines []string
	for j := range p.schema {
		if parts := p.toldOf(j); len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s (%s)", p.schema[j].Name, strings.Join(parts, ", ")))
		}
	}
	return lines
}

// toldOf describes the sums of one column.
func (p *Plan) toldOf(j int) []string {
	words := map[what]string{
		countGaps: "number of gaps", sumRaw: "sum", countBin: fmt.Sprintf("counts in %d parts of its range", Bins),
		countWord: "count of each category", sumScaled: "sum of the transformed numbers", sumSquares: "sum of their squares",
	}
	var parts []string
	for _, e := range p.entries {
		if e.what != countRows && e.column == j && e.part == 0 {
			parts = append(parts, words[e.what])
		}
	}
	return parts
}

// Holds lists in words what is fitted of each column: what everybody learns who is given the
// preparation.
func (p *Plan) Holds() []string {
	var lines []string
	for j, c := range p.schema {
		var parts []string
		switch c.Missing {
		case FillMean, FillMedian:
			parts = append(parts, string(c.Missing))
		case FillMostFrequent:
			parts = append(parts, "most frequent word")
		}
		if c.Agree {
			parts = append(parts, "agreed categories")
		}
		if p.scaling == Standard && c.Scaled() {
			parts = append(parts, "mean and deviation for the scaling")
		}
		if parts != nil {
			lines = append(lines, fmt.Sprintf("%s (%s)", p.schema[j].Name, strings.Join(parts, ", ")))
		}
	}
	return lines
}

// Agreed lists the names of the columns whose categories the parties agree on.
func (s Schema) Agreed() []string {
	var names []string
	for _, j := range s.Agrees() {
		names = append(names, s[j].Name)
	}
	return names
}
