package komd

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Counts says of a crowd how many of its users liked item i and item j, or adds up
// the products of their ratings of i and j.
type Counts struct {
	Users int
	// Most is the greatest rating; 0 where the users have lists without ratings.
	Most int
	C    linalg.Matrix[float64] // items x items, symmetric; the diagonal is popularity, or sums of squares
}

// CountsOf counts profiles in one place. A profile lists the items, from 0 to
// items-1, that one user liked, each once.
func CountsOf(items int, profiles [][]int) Counts {
	c := linalg.New[float64](items, items)
	for _, profile := range profiles {
		for _, i := range profile {
			row := c.Row(i)
			for _, j := range profile {
				row[j]++
			}
		}
	}
	return Counts{Users: len(profiles), C: c}
}

// ProductsOf adds up products of ratings in one place. The ratings, from 1 to most,
// are of the items in the profiles, in their order.
func ProductsOf(items, most int, profiles [][]int, ratings [][]int64) Counts {
	c := linalg.New[float64](items, items)
	for u, profile := range profiles {
		for k, i := range profile {
			row := c.Row(i)
			for l, j := range profile {
				row[j] += float64(ratings[u][k] * ratings[u][l])
			}
		}
	}
	return Counts{Users: len(profiles), Most: most, C: c}
}

// check refuses what no crowd can have counted: these numbers came from a sum
// that nobody could look into.
func (c Counts) check() error {
	if c.C.Rows != c.C.Cols {
		return fmt.Errorf("komd: co-counts of %d x %d items; they must be square", c.C.Rows, c.C.Cols)
	}
	if c.Most > 0 {
		return c.checkProducts()
	}
	for i := range c.C.Rows {
		own := c.C.Row(i)[i]
		if !(own >= 0 && own <= float64(c.Users)) {
			return fmt.Errorf("komd: item %d was liked by %v of %d users", i, own, c.Users)
		}
		for j, both := range c.C.Row(i)[:i] {
			if !(both >= 0 && both <= min(own, c.C.Row(j)[j])) || both != c.C.Row(j)[i] {
				return fmt.Errorf("komd: items %d and %d were liked by %v and %v users and both by %v", i, j, own, c.C.Row(j)[j], both)
			}
		}
	}
	return nil
}

// checkProducts is check for sums of products: by Cauchy and Schwarz, none is above
// the root of the product of both sums of squares.
func (c Counts) checkProducts() error {
	most := float64(c.Users) * float64(c.Most) * float64(c.Most)
	for i := range c.C.Rows {
		own := c.C.Row(i)[i]
		if !(own >= 0 && own <= most) {
			return fmt.Errorf("komd: the squares of %d users' ratings of item %d, up to %d, add up to %v", c.Users, i, c.Most, own)
		}
		for j, both := range c.C.Row(i)[:i] {
			if other := c.C.Row(j)[j]; !(both >= 0 && both*both <= own*other) || both != c.C.Row(j)[i] {
				return fmt.Errorf("komd: the squares of the ratings of items %d and %d add up to %v and %v and their products to %v", i, j, own, other, both)
			}
		}
	}
	return nil
}
