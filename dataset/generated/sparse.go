package generated

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// filledOf returns the number of nonzero columns in each row.
func filledOf(rows, columns int, density float64) (int, error) {
	if !(density > 0 && density <= 1) {
		return 0, fmt.Errorf("dataset/generated: the density is %g; choose a share above 0 and up to 1", density)
	}
	filled := max(1, int(density*float64(columns)+.5))
	return filled, check(rows, columns, filled)
}

// check returns an error if the table is empty or too large. Each row stores filled numbers.
func check(rows, columns, filled int) error {
	switch {
	case rows < 1 || columns < 1 || columns > dataset.MaxColumns:
		return fmt.Errorf("dataset/generated: the table has %d rows and %d columns; choose at least one of each, and at most %d columns", rows, columns, dataset.MaxColumns)
	case rows > dataset.MaxCells/filled:
		return fmt.Errorf("dataset/generated: the table has %d rows and %d columns; at most %d numbers are allowed", rows, columns, dataset.MaxCells)
	}
	return nil
}

// drawColumns draws distinct columns at random into dst, in ascending order.
func drawColumns(dst []int32, columns int, s *prg.Stream) {
	drawn := make(map[int32]bool, len(dst))
	for k := columns - len(dst); k < columns; k++ { // Floyd's algorithm: all sets of columns are equally likely
		j := int32(s.Uint64n(uint64(k + 1)))
		if drawn[j] {
			j = int32(k)
		}
		drawn[j] = true
		dst[k-columns+len(dst)] = j
	}
	slices.Sort(dst)
}

func starts(rows, filled int) []int {
	list := make([]int, rows+1)
	for i := range list {
		list[i] = i * filled
	}
	return list
}

// panel is the number of rows in a block. A block is drawn from its own stream.
const panel = 1 << 12

// drawPanels draws blocks of rows in parallel. Each block has its own random stream, so that the
// rows do not depend on the number of cores.
func drawPanels(rows int, draw func(from, to int, s *prg.Stream), domain string) {
	linalg.Each((rows+panel-1)/panel, 1, func(p int) {
		draw(p*panel, min((p+1)*panel, rows), prg.New([32]byte{}, domain, number(p)))
	})
}
