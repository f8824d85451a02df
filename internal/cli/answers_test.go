package cli

import (
	"slices"
	"testing"
)

// Rows have their lines if all tables have lines, and otherwise all of them their positions.
func TestRowNames(t *testing.T) {
	var own rowNames
	own.add([]int{2, 5}, 1)
	if header, cells := own.column(); header != "line" || !slices.Equal(cells, []string{"5"}) {
		t.Errorf("a table with lines: %s %v", header, cells)
	}
	own.add(nil, 6)
	if header, cells := own.column(); header != "row" || !slices.Equal(cells, []string{"2", "7"}) {
		t.Errorf("beside a table without lines: %s %v", header, cells)
	}
}
