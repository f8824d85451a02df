package komd

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// DefaultLambda is the authors' regulariser. The ranking hardly depends on it.
const DefaultLambda = 0.1

// Model is what every user needs, and the same for all. It is safe for
// concurrent use.
type Model struct {
	kernel linalg.Matrix[float64]
	mean   []float64 // of each row, over the whole catalogue
}

// New takes a normalised kernel between items, which it keeps. It panics unless
// the kernel is square.
func New(k linalg.Matrix[float64]) *Model {
	if k.Rows != k.Cols {
		panic(fmt.Sprintf("komd: a kernel of %d x %d items", k.Rows, k.Cols))
	}
	m := &Model{kernel: k, mean: make([]float64, k.Rows)}
	for i := range m.mean {
		m.mean[i] = sum(k.Row(i)) / float64(k.Rows)
	}
	return m
}

// Items returns the size of the catalogue.
func (m *Model) Items() int { return m.kernel.Rows }

// Weights returns the weight of each liked item: at least 0, of sum 1.
func (m *Model) Weights(liked []int, lambda float64) ([]float64, error) {
	if err := m.check(liked); err != nil {
		return nil, err
	}
	if err := positive("lambda", lambda); err != nil {
		return nil, err
	}
	p, q := linalg.New[float64](len(liked), len(liked)), make([]float64, len(liked))
	for r, i := range liked {
		for c, j := range liked {
			p.Row(r)[c] = m.kernel.Row(i)[j]
		}
		p.Row(r)[r] += lambda
		q[r] = m.mean[i]
	}
	return Simplex(p, q)
}

// Scores returns the score of every item of the catalogue for a user who liked
// the given items: the higher, the more the user will like it.
func (m *Model) Scores(liked []int, lambda float64) ([]float64, error) {
	weights, err := m.Weights(liked, lambda)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, m.Items())
	for i, q := range m.mean {
		scores[i] = -q
	}
	for r, i := range liked {
		if weights[r] == 0 {
			continue
		}
		for j, k := range m.kernel.Row(i) { // symmetric
			scores[j] += weights[r] * k
		}
	}
	return scores, nil
}

// Item is a recommended item.
type Item struct {
	Index int
	Score float64
}

// Rank returns the items that the user has not liked yet, best first, and in
// the order of the catalogue where scores are equal.
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

func (m *Model) check(liked []int) error {
	if len(liked) == 0 {
		return fmt.Errorf("komd: a user without a liked item cannot be served")
	}
	seen := make(map[int]bool, len(liked))
	for _, i := range liked {
		if i < 0 || i >= m.Items() {
			return fmt.Errorf("komd: item %d is not in the catalogue of %d items", i, m.Items())
		}
		if seen[i] {
			return fmt.Errorf("komd: item %d is liked twice", i)
		}
		seen[i] = true
	}
	return nil
}
