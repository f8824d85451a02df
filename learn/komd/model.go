package komd

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// DefaultLambda is the regulariser that the paper's authors use. The ranking hardly depends on it.
const DefaultLambda = 0.1

// Model holds the data that every user needs and that are equal for all users. It is safe for
// concurrent use.
type Model struct {
	kernel linalg.Matrix[float64]
	mean   []float64 // mean of each row of the kernel, over all items
}

// New makes a model from the normalised kernel between items. It keeps the kernel. It panics unless
// the kernel is square.
func New(k linalg.Matrix[float64]) *Model {
	if k.Rows != k.Cols {
		panic(fmt.Sprintf("komd: a kernel of %d x %d items", k.Rows, k.Cols))
	}
	m := &Model{kernel: k, mean: make([]float64, k.Rows)}
	for i := range m.mean {
		m.mean[i] = linalg.Sum(k.Row(i)) / float64(k.Rows)
	}
	return m
}

// Mean returns the mean of each item's kernel row. The caller must not change it.
func (m *Model) Mean() []float64 { return m.mean }

// Items returns the number of items in the catalogue.
func (m *Model) Items() int { return m.kernel.Rows }

// Weights returns the weight of each liked item. Weights are at least 0 and add up to 1.
func (m *Model) Weights(liked []int, lambda float64) ([]float64, error) {
	if err := checkLiked(liked, m.Items()); err != nil {
		return nil, err
	}
	p, q, err := quadratic(liked, m.mean, lambda, m.row(liked))
	if err != nil {
		return nil, err
	}
	return Simplex(p, q)
}

// row returns a function that returns the kernel row of a liked item, given its index among the
// liked items.
func (m *Model) row(liked []int) func(int) []float64 {
	return func(r int) []float64 { return m.kernel.Row(liked[r]) }
}

// quadratic returns the quadratic form that the weights of the liked items minimise. row returns the
// kernel row of a liked item, given its index among the liked items.
func quadratic(liked []int, mean []float64, lambda float64, row func(int) []float64) (p linalg.Matrix[float64], q []float64, err error) {
	if err := positive("lambda", lambda); err != nil {
		return p, nil, err
	}
	p, q = linalg.New[float64](len(liked), len(liked)), make([]float64, len(liked))
	for r, i := range liked {
		for c, j := range liked {
			p.Row(r)[c] = row(r)[j]
		}
		p.Row(r)[r] += lambda
		q[r] = mean[i]
	}
	return p, q, nil
}

// Scores returns a score for every item of the catalogue for a user who liked the given items. A
// higher score means that the user will like the item more.
func (m *Model) Scores(liked []int, lambda float64) ([]float64, error) {
	weights, err := m.Weights(liked, lambda)
	if err != nil {
		return nil, err
	}
	return combine(weights, m.mean, m.row(liked)), nil
}

// combine returns the weighted sum of the given rows, minus the mean of all rows.
func combine(weights, mean []float64, row func(int) []float64) []float64 {
	scores := make([]float64, len(mean))
	for i, q := range mean {
		scores[i] = -q
	}
	for r, weight := range weights {
		if weight == 0 {
			continue
		}
		for j, k := range row(r) { // use the row as a column, because the kernel is symmetric
			scores[j] += weight * k
		}
	}
	return scores
}

// Item is a recommended item.
type Item struct {
	Index int
	Score float64
}

// Rank returns all items except the liked ones, in descending order of their scores. Items with
// equal scores are in the order of the catalogue.
func (m *Model) Rank(liked []int, lambda float64) ([]Item, error) {
	scores, err := m.Scores(liked, lambda)
	if err != nil {
		return nil, err
	}
	known := make([]bool, len(scores))
	for _, i := range liked {
		known[i] = true
	}
	var list []Item
	for i, s := range scores {
		if !known[i] {
			list = append(list, Item{i, s})
		}
	}
	slices.SortStableFunc(list, func(a, b Item) int { return cmp.Compare(b.Score, a.Score) })
	return list, nil
}

func checkLiked(liked []int, items int) error {
	if len(liked) == 0 {
		return fmt.Errorf("komd: the user has no liked item; give at least one")
	}
	seen := make(map[int]bool, len(liked))
	for _, i := range liked {
		if i < 0 || i >= items {
			return fmt.Errorf("komd: item %d is not in the catalogue of %d items", i, items)
		}
		if seen[i] {
			return fmt.Errorf("komd: item %d is liked twice", i)
		}
		seen[i] = true
	}
	return nil
}
