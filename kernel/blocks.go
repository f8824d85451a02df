package kernel

import "github.com/mercer-fl/mercer/linalg"

// blockValues bounds the kernel values of a block: 32 MiB, or the values of one row.
const blockValues = 1 << 22

// Blocks gives use the values of src's rows with its columns cols, some rows at a time: block holds
// the rows from rows[lo] on, and is used again. It stands in for one Block where that would be too
// large.
func Blocks(src Source, rows, cols []int, use func(lo int, block linalg.Matrix[float64])) {
	room := linalg.New[float64](min(len(rows), max(1, blockValues/max(1, len(cols)))), len(cols))
	for lo := 0; lo < len(rows); lo += room.Rows {
		block := room.Panel(0, min(room.Rows, len(rows)-lo))
		src.Block(rows[lo:lo+block.Rows], cols, block)
		use(lo, block)
	}
}
