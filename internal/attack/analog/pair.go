package analog

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// meanOf returns the mean of the given rows, or of all rows if none are given.
func meanOf(m mat.Matrix, rows []int) []float64 {
	n, features := m.Dims()
	if rows == nil {
		rows = make([]int, n)
		for i := range rows {
			rows[i] = i
		}
	}
	mean := make([]float64, features)
	for _, i := range rows {
		for j := range mean {
			mean[j] += m.At(i, j) / float64(len(rows))
		}
	}
	return mean
}

func minus(m *mat.Dense, mean []float64) *mat.Dense {
	var out mat.Dense
	out.Apply(func(_, j int, x float64) float64 { return x - mean[j] }, m)
	return &out
}

// members returns the indices of the rows of each class.
func members(labels []int) map[int][]int {
	list := make(map[int][]int)
	for i, c := range labels {
		list[c] = append(list[c], i)
	}
	return list
}

func classMeans(m mat.Matrix, labels []int) map[int][]float64 {
	means := make(map[int][]float64)
	for c, rows := range members(labels) {
		means[c] = meanOf(m, rows)
	}
	return means
}

func pick(m *mat.Dense, rows []int) *mat.Dense {
	_, n := m.Dims()
	out := mat.NewDense(len(rows), n, nil)
	for i, r := range rows {
		out.SetRow(i, m.RawRowView(r))
	}
	return out
}

// procrustes returns the orthogonal matrix that brings the rows of a nearest to the rows of b.
func procrustes(a, b *mat.Dense) *mat.Dense {
	var cross, u, v, turn mat.Dense
	cross.Mul(a.T(), b)
	var svd mat.SVD
	svd.Factorize(&cross, mat.SVDFull)
	svd.UTo(&u)
	svd.VTo(&v)
	turn.Mul(&u, v.T())
	return &turn
}

// pairs matches the rows of two clouds within each class. The matching has the least sum of
// squared distances.
func pairs(a *mat.Dense, la []int, b *mat.Dense, lb []int) (from, to []int) {
	ours := members(lb)
	theirs := members(la)
	for _, c := range slices.Sorted(maps.Keys(theirs)) {
		left, right := theirs[c], ours[c]
		swap := len(left) > len(right)
		if swap {
			left, right = right, left
		}
		x, y := a, b
		if swap {
			x, y = b, a
		}
		for i, j := range assign(distances(pick(x, left), pick(y, right))) {
			l, r := left[i], right[j]
			if swap {
				l, r = r, l
			}
			from, to = append(from, l), append(to, r)
		}
	}
	return from, to
}

func distances(a, b *mat.Dense) [][]float64 {
	n, _ := a.Dims()
	m, _ := b.Dims()
	list := make([][]float64, n)
	for i := range list {
		list[i] = make([]float64, m)
		left := a.RawRowView(i)
		for j := range list[i] {
			sum := 0.
			for k, r := range b.RawRowView(j) {
				d := left[k] - r
				sum += d * d
			}
			list[i][j] = sum
		}
	}
	return list
}

// assign gives each row of a cost table its own column, so that the total cost is least. The table
// has at most as many rows as columns. This is the method of H. Kuhn (The Hungarian method for the
// assignment problem, Naval Research Logistics Quarterly 2, 1955) with shortest paths.
func assign(cost [][]float64) []int {
	if len(cost) == 0 {
		return nil
	}
	n, m := len(cost), len(cost[0])
	rowPrice, columnPrice := make([]float64, n), make([]float64, m)
	owner := make([]int, m) // row that each column is assigned to, or -1
	for j := range owner {
		owner[j] = -1
	}
	s := newSearch(m)
	for start := range n {
		s.reset()
		row, last, far := start, -1, 0.
		for row >= 0 {
			last = s.nearest(cost[row], rowPrice[row]-far, columnPrice, last)
			row, far = owner[last], s.least[last]
		}
		rowPrice[start] += far
		for _, j := range s.reached() { // the new prices make the cost of the found path 0
			columnPrice[j] -= far - s.least[j]
			if owner[j] >= 0 {
				rowPrice[owner[j]] += far - s.least[j]
			}
		}
		for last >= 0 {
			before := s.before[last]
			if before < 0 {
				owner[last] = start
			} else {
				owner[last] = owner[before]
			}
			last = before
		}
	}
	of := make([]int, n)
	for j, i := range owner {
		if i >= 0 {
			of[i] = j
		}
	}
	return of
}

// search holds the state of a search for the cheapest path from a row to a free column.
type search struct {
	least   []float64 // cost of the path to each column
	before  []int     // column before each column on the column's path; -1 if there is none
	columns []int     // all columns; the columns not yet reached come first
	open    int       // number of columns not yet reached
}

func newSearch(columns int) *search {
	s := &search{least: make([]float64, columns), before: make([]int, columns), columns: make([]int, columns)}
	for j := range columns {
		s.columns[j] = j
	}
	return s
}

func (s *search) reset() {
	s.open = len(s.columns)
	for j := range s.least {
		s.least[j] = math.Inf(1)
	}
}

// reached returns the columns that the search has reached.
func (s *search) reached() []int { return s.columns[s.open:] }

// nearest updates the cheapest paths with the costs of a row and returns the nearest unreached
// column. It marks this column as reached. The search reached the row from the column origin.
func (s *search) nearest(cost []float64, rowPrice float64, columnPrice []float64, origin int) int {
	step, at := math.Inf(1), 0
	for i, j := range s.columns[:s.open] {
		least := s.least[j]
		if c := cost[j] - rowPrice - columnPrice[j]; c < least {
			least = c
			s.least[j], s.before[j] = c, origin
		}
		if least < step {
			step, at = least, i
		}
	}
	s.open--
	s.columns[at], s.columns[s.open] = s.columns[s.open], s.columns[at]
	return s.columns[s.open]
}
