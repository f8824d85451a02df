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

// Agreed lists the names of the columns whose categories the parties agree on.
func (s Schema) Agreed() []string {
	var names []string
	for _, j := range s.Agrees() {
		names = append(names, s[j].Name)
	}
	return names
}
