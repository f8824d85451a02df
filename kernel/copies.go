package kernel

import "github.com/mercer-fl/mercer/linalg"

// copies is a Lazy of which some rows stand in several places: their values are computed once.
type copies struct {
	*Lazy       // of different rows
	of    []int // the row of the Lazy in each place
}

// subset returns the view that has row rows[i] as its i-th.
func (l *Lazy) subset(rows []int) Source {
	once, of := distinct(rows, l.Len())
	if len(once) == len(rows) {
		return l.pick(once)
	}
	return copies{l.pick(once), of}
}

// distinct returns the different rows among rows, each below n, in the order in which they
// first appear, and the place of each row among them.
func distinct(rows []int, n int) (once, of []int) {
	place := make([]int, n) // plus 1
	once, of = make([]int, 0, len(rows)), make([]int, len(rows))
	for i, r := range rows {
		if place[r] == 0 {
			once = append(once, r)
			place[r] = len(once)
		}
		of[i] = place[r] - 1
	}
	return once, of
}

func (c copies) subset(rows []int) Source { return Subset(c.Lazy, linalg.At(c.of, rows)) }

// Len returns the number of places.
func (c copies) Len() int { return len(c.of) }

// Diagonal copies K(i, i) for all i into dst, of length n.
func (c copies) Diagonal(dst []float64) {
	all := make([]float64, c.Lazy.Len())
	c.Lazy.Diagonal(all)
	gather(dst, all, c.of)
}

// Row copies K(i, j) for all j into dst, of length n.
func (c copies) Row(i int, dst []float64) {
	all := make([]float64, c.Lazy.Len())
	c.Lazy.Row(c.of[i], all)
	gather(dst, all, c.of)
}

// Block copies K(rows[a], cols[b]) into dst, len(rows) x len(cols).
func (c copies) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	c.Lazy.Block(linalg.At(c.of, rows), linalg.At(c.of, cols), dst)
}

// Panel sets dst[a][j] to K(rows[a], j), rounded to float32, for all j.
func (c copies) Panel(rows []int, dst [][]float32) {
	all := linalg.New[float32](len(rows), c.Lazy.Len())
	once := make([][]float32, len(rows))
	for a := range once {
		once[a] = all.Row(a)
	}
	c.Lazy.Panel(linalg.At(c.of, rows), once)
	linalg.Each(len(rows), 1, func(a int) { gather(dst[a], once[a], c.of) })
}
