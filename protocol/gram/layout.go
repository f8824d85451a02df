package gram

// edge is the number of rows and columns of a tile.
const edge = 64

// The groups of entries, in the order of Groups.
const (
	groupTriangle = iota // training rows with each other
	groupCross           // held-out rows with training rows
	groupDiagonal        // held-out rows with themselves
)

// tile is a rectangle of products: rows first..first+height of one kind with
// training rows from column on. A tile on the diagonal of the triangle is
// whole: its lower half repeats the upper.
type tile struct {
	row, column   int
	height, width int
}

func (t tile) entries() int { return t.height * t.width }

// tiles lists the tiles of a group in order: of rows height x width, or of the
// upper triangle of width x width.
func tiles(height, width int, triangle bool) []tile {
	var list []tile
	for row := 0; row < height; row += edge {
		column := 0
		if triangle {
			column = row
		}
		for ; column < width; column += edge {
			list = append(list, tile{row, column, min(edge, height-row), min(edge, width-column)})
		}
	}
	return list
}

// tilesOf returns the tiles of the triangle or of the cross-Gram.
func (p Params) tilesOf(group int) []tile {
	if group == groupTriangle {
		return tiles(p.training, p.training, true)
	}
	return tiles(p.heldOut, p.training, false)
}

// Groups returns the number of entries of each group that is summed: the triangle
// unless it is known, and two more if there are held-out rows.
func (p Params) Groups() []int {
	groups := []int{count(p.tilesOf(groupTriangle))}
	if p.heldOut > 0 {
		groups = append(groups, count(p.tilesOf(groupCross)), p.heldOut)
	}
	return groups[p.first:]
}

func count(list []tile) int {
	n := 0
	for _, t := range list {
		n += t.entries()
	}
	return n
}
