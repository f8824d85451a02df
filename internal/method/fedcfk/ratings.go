package fedcfk

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
)

// The first sum of a job with ratings counts, after the likes of each item, the squares of its
// ratings. The second adds up products of ratings instead of pairs. Without ratings every rating
// is 1, which is its own square.

// bound returns the greatest entry of a person's vector.
func (c Crowd) bound() int64 {
	v := int64(max(1, c.Keys().Ratings))
	return v * v
}

// firstEntries counts the entries of the first sum.
func (c Crowd) firstEntries() int {
	if c.Keys().Ratings > 0 {
		return 2 * c.Items
	}
	return c.Items
}

// Popularity returns how many people like each item, of a first sum.
func (c Crowd) Popularity(sum []int64) []int64 { return sum[:min(c.Items, len(sum))] }

// Squares returns the sum of the squares of each item's ratings, of a first sum.
func (c Crowd) Squares(sum []int64) []int64 { return sum[len(sum)-min(c.Items, len(sum)):] }

// possibleSquares refuses sums of squares that no ratings of as many people have.
func (c Crowd) possibleSquares(likes, squares []int64) error {
	for i, n := range likes {
		if s := squares[i]; s < n || s > n*c.bound() {
			return fmt.Errorf("the squares of %d ratings of item %d add up to %d", n, i, s)
		}
	}
	return nil
}

// Rated returns everybody's ratings of the items in their lists, in the order of the lists; nothing
// for a job without ratings. It refuses ratings that are no whole numbers from 1 to the greatest.
func (c Crowd) Rated(all *dataset.Ratings, lists [][]int) ([][]int64, error) {
	rated := make([][]int64, len(lists))
	most := float64(c.Keys().Ratings)
	if most == 0 {
		return rated, nil
	}
	values := make(map[[2]int]float64, len(all.List))
	for _, x := range all.List {
		values[[2]int{x.User, x.Item}] = x.Value
	}
	for u, list := range lists {
		for _, item := range list {
			v := values[[2]int{u, item}]
			if v != math.Trunc(v) || v < 1 || v > most {
				return nil, fault.BadInputf("fedcfk: %s: user %s rates item %s with %g; with ratings: %g in the job a rating is a whole number from 1 to %[5]g", all.Name, all.Users[u], all.Items[item], v, most)
			}
			rated[u] = append(rated[u], int64(v))
		}
	}
	return rated, nil
}

// Rated is the vector of the first sum of a job with ratings: 1 for each item that the person likes,
// and behind all of these the squares of the ratings.
type Rated struct {
	items int
	liked []int // ascending
	rated []int64
}

// Read implements secagg.Vector.
func (v Rated) Read(group, first int, dst []int64) {
	Likes(v.liked).Read(group, first, dst)
	for k, item := range v.liked {
		if at := v.items + item - first; at >= 0 && at < len(dst) {
			dst[at] = v.rated[k] * v.rated[k]
		}
	}
}
