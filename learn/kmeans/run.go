package kmeans

import (
	"fmt"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/linalg"
)

// run is the state of one run of Lloyd's algorithm.
type run struct {
	k          linalg.Matrix[float64]
	assignment []int
	sizes      []float64
	norms      []float64              // squared norm |mean_c|^2 of each mean
	inner      linalg.Matrix[float64] // inner product of each row with each mean, n x clusters
	inertia    float64
	iterations int
}

// distance returns the squared distance |phi(x_i) - phi(x_j)|^2 in feature space.
func (r *run) distance(i, j int) float64 {
	return max(0, r.k.Row(i)[i]-2*r.k.Row(i)[j]+r.k.Row(j)[j])
}

// seed chooses rows as centres and assigns every row to the nearest centre. It chooses each centre
// with a probability in proportion to the squared distance from the nearest earlier centre (k-means++).
func (r *run) seed(seed, restart uint64) {
	rng := rand.New(rand.NewPCG(seed, restart))
	n := len(r.assignment)
	centre := rng.IntN(n)
	nearest := make([]float64, n)
	for i := range nearest {
		nearest[i] = r.distance(i, centre)
	}
	for c := 1; c < len(r.sizes); c++ {
		centre = draw(rng, nearest)
		for i := range nearest {
			if d := r.distance(i, centre); d < nearest[i] {
				nearest[i], r.assignment[i] = d, c
			}
		}
		r.assignment[centre], nearest[centre] = c, 0
	}
}

// draw returns a random index with a probability in proportion to the index's weight. If all
// weights are zero, it returns any index.
func draw(rng *rand.Rand, weights []float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	left := rng.Float64() * total
	last := rng.IntN(len(weights))
	for i, w := range weights {
		if w > 0 {
			last = i
			if left < w {
				break
			}
			left -= w
		}
	}
	return last
}

// improve moves rows to nearer means until no row moves or the inertia stops falling. It returns an
// error if neither happens in MaxIter rounds, or if the caller interrupts it.
func (r *run) improve(p Params) error {
	r.fillEmpty()
	r.measure()
	for r.iterations < p.MaxIter {
		if err := p.Interrupt(); err != nil {
			return fmt.Errorf("kmeans: %w", err)
		}
		r.iterations++
		if !r.reassign() {
			return nil
		}
		before := r.inertia
		r.fillEmpty()
		r.measure()
		if r.inertia >= before { // stop, because rounding errors can let rows alternate between means for ever
			return nil
		}
	}
	return fmt.Errorf("kmeans: %w: rows still change clusters after %d rounds; raise max_iter", ErrNotConverged, p.MaxIter)
}

// measure computes the norms of the means, the inner products of the rows and the means, and the
// inertia of the assignment.
func (r *run) measure() {
	clear(r.sizes)
	for _, c := range r.assignment {
		r.sizes[c]++
	}
	linalg.Each(len(r.assignment), 16, func(i int) {
		sums := r.inner.Row(i)
		clear(sums)
		addByCluster(sums, r.k.Row(i), r.assignment)
		for c := range sums {
			sums[c] /= r.sizes[c]
		}
	})
	clear(r.norms)
	for i, c := range r.assignment {
		r.norms[c] += r.inner.Row(i)[c] / r.sizes[c]
	}
	r.inertia = 0
	for i, c := range r.assignment {
		r.inertia += r.toMean(i, c)
	}
}

// toMean returns the squared distance of row i from the mean of cluster c.
func (r *run) toMean(i, c int) float64 {
	return max(0, r.k.Row(i)[i]-2*r.inner.Row(i)[c]+r.norms[c])
}

// reassign moves each row to the nearest mean, if that mean is nearer than the mean of the row's
// current cluster. It reports whether a row moved.
func (r *run) reassign() bool {
	moved := false
	for i, own := range r.assignment {
		best, least := own, r.toMean(i, own)
		for c := range r.sizes {
			if d := r.toMean(i, c); d < least {
				best, least = c, d
			}
		}
		moved = moved || best != own
		r.assignment[i] = best
	}
	return moved
}

// fillEmpty moves one row into each empty cluster. Among the clusters with several rows, it takes the
// row that is farthest from the mean of its cluster by the latest measure; before the first one, means
// count as zero. The inertia does not rise.
func (r *run) fillEmpty() {
	sizes := make([]int, len(r.sizes))
	for _, c := range r.assignment {
		sizes[c]++
	}
	for c := range sizes {
		if sizes[c] > 0 {
			continue
		}
		far, most := -1, -1.0
		for i, own := range r.assignment {
			if sizes[own] < 2 {
				continue
			}
			if d := r.toMean(i, own); d > most {
				far, most = i, d
			}
		}
		sizes[r.assignment[far]]--
		sizes[c]++
		r.assignment[far] = c
	}
}

// model returns the result, with clusters numbered in the order of their first rows.
func (r *run) model() *Model {
	m := &Model{Inertia: r.inertia, Iterations: r.iterations, Assignment: make([]int, len(r.assignment))}
	number := make(map[int]int, len(r.sizes))
	for i, c := range r.assignment {
		if _, seen := number[c]; !seen {
			number[c] = len(number)
			m.sizes, m.norms = append(m.sizes, r.sizes[c]), append(m.norms, r.norms[c])
		}
		m.Assignment[i] = number[c]
	}
	return m
}
