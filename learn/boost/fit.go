package boost

import (
	"errors"

	"github.com/mercer-fl/mercer/linalg"
)

// grown is a node that is not yet split. It holds the node's rows and, once computed, the
// histogram.
type grown struct {
	place     int
	rows      []int32 // rows of the node, training rows first
	training  int     // number of training rows among rows
	sum       [2]int64
	histogram [][][2]int64
}

// Fit builds all trees of b from columns in one process. The function interrupt can be nil; its
// error ends the training.
func Fit(b *Booster, c Columns, interrupt func() error) error {
	if len(c.Codes) == 0 || len(c.Codes[0]) != len(b.scores) {
		return errors.New("boost: the columns must have as many rows as the booster")
	}
	all := make([]int32, len(b.scores))
	for i := range all {
		all[i] = int32(i)
	}
	for g, more := b.Gradients(); more; g, more = b.Gradients() {
		if interrupt != nil {
			if err := interrupt(); err != nil {
				return err
			}
		}
		grow(b, c, g, all)
		b.Done()
	}
	return nil
}

// grow builds one tree, level by level.
func grow(b *Booster, c Columns, g [][2]int64, all []int32) {
	level := []grown{{place: 1, rows: all, training: len(g), sum: sumOf(g), histogram: histogram(c, g, all[:len(g)])}}
	for depth := 0; len(level) > 0; depth++ {
		var next []grown
		for _, node := range level {
			if depth == b.params.Depth {
				b.Leaf(node.place, node.sum, node.rows)
				continue
			}
			f, bin, ok := b.Split(node.place, node.histogram)
			if !ok {
				b.Leaf(node.place, node.sum, node.rows)
				continue
			}
			next = append(next, divide(c, g, node, f, bin, depth+1 < b.params.Depth)...)
		}
		level = next
	}
}

// divide splits a node and returns its two children. It computes their histograms if requested.
func divide(c Columns, g [][2]int64, node grown, feature, bin int, histograms bool) []grown {
	children := []grown{{place: 2 * node.place}, {place: 2*node.place + 1}}
	for i, r := range node.rows {
		side := &children[0]
		if int(c.Codes[feature][r]) > bin {
			side = &children[1]
		}
		side.rows = append(side.rows, r)
		if i < node.training {
			side.training++
			side.sum = [2]int64{side.sum[0] + g[r][0], side.sum[1] + g[r][1]}
		}
	}
	if histograms {
		small, large := &children[0], &children[1]
		if small.training > large.training {
			small, large = large, small
		}
		small.histogram = histogram(c, g, small.rows[:small.training])
		large.histogram = Rest(node.histogram, small.histogram)
	}
	return children
}

// histogram returns the sums of the gradients of rows for each column and bin.
func histogram(c Columns, g [][2]int64, rows []int32) [][][2]int64 {
	h := make([][][2]int64, len(c.Codes))
	linalg.Each(len(h), 1, func(f int) {
		cells, codes := make([][2]int64, c.Bins(f)), c.Codes[f]
		for _, r := range rows {
			cell := &cells[codes[r]]
			cell[0], cell[1] = cell[0]+g[r][0], cell[1]+g[r][1]
		}
		h[f] = cells
	})
	return h
}

// Rest returns the histogram of one child, which is the parent's histogram minus the other child's
// histogram. It overwrites the parent's.
func Rest(parent, child [][][2]int64) [][][2]int64 {
	for f, cells := range child {
		for k, c := range cells {
			p := &parent[f][k]
			p[0], p[1] = p[0]-c[0], p[1]-c[1]
		}
	}
	return parent
}
