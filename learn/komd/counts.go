package komd

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Counts says of a crowd how many of its users liked item i and item j.
type Counts struct {
	Users int
	C     linalg.Matrix[float64] // items x items, symmetric; the diagonal is popularity
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
	return Counts{len(profiles), c}
}

// check refuses what no crowd can have counted: these numbers came from a sum
// that nobody could look into.
func (c Counts) check() error {
	if c.C.Rows != c.C.Cols {
		return fmt.Errorf("komd: co-counts of %d x %d items; they must be square", c.C.Rows, c.C.Cols)
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
