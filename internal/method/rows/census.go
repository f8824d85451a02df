package rows

import (
	"maps"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
)

// sizes counts the two sides of a split, for the limits of a party's operator.
type sizes interface {
	count(heldOut bool) int
	// fewest returns the first class with fewer people than least on one side, and their number.
	fewest(heldOut bool, least int) (class string, n int, ok bool)
	// unusual returns the number of people in training whose label is not the most common number. If the
	// returned number is at least least, the true number can be greater.
	unusual(least int) int
}

// listed counts the rows of a table in memory. It implements sizes.
type listed method.Split

var _ sizes = listed{}

func (l listed) count(heldOut bool) int { return len(method.Split(l).Rows(heldOut)) }

func (l listed) fewest(heldOut bool, least int) (string, int, bool) {
	return rareClass(method.Split(l), method.Split(l).Rows(heldOut), least)
}

func (l listed) unusual(int) int { return unusualTargets(method.Split(l)) }

// census counts the rows of a table that is read in blocks. It implements sizes. Each row counts as
// one person.
type census struct {
	sides  [2]side
	tally  dataset.Tally // labels of the training rows, if they are numbers
	labels []string      // an empty list if the table has labels, and nil otherwise
}

// side counts the rows of one side of a split.
type side struct {
	rows    int
	classes map[string]int
}

var _ sizes = (*census)(nil)

// maxDistinct bounds the classes that a census counts. Labels that are numbers to predict can have more,
// and their classes are not needed.
const maxDistinct = 1 << 10

func newCensus(least int) census {
	return census{sides: [2]side{{classes: make(map[string]int)}, {classes: make(map[string]int)}}, tally: dataset.Tally{Least: max(least, 1)}}
}

func (c *census) side(heldOut bool) *side {
	if heldOut {
		return &c.sides[1]
	}
	return &c.sides[0]
}

// add counts the rows of a block. The argument before is the number of rows of the table that precede the
// block.
func (c *census) add(block *dataset.Set, before int, held method.Bits) {
	if block.Labels != nil {
		c.labels = []string{}
	}
	for i := range block.X.Rows() {
		out := held.Has(before + i)
		s := c.side(out)
		s.rows++
		if block.Labels == nil {
			continue
		}
		label := block.Labels[i]
		if _, known := s.classes[label]; known || len(s.classes) < maxDistinct {
			s.classes[label]++
		}
		if out || c.tally.Varies() {
			continue
		}
		if v, err := strconv.ParseFloat(label, 64); err == nil {
			c.tally.Add(v+0, 1)
		}
	}
}

func (c *census) count(heldOut bool) int { return c.side(heldOut).rows }

func (c *census) fewest(heldOut bool, least int) (string, int, bool) {
	s := c.side(heldOut)
	for _, class := range slices.Sorted(maps.Keys(s.classes)) {
		if n := s.classes[class]; n < least {
			return class, n, true
		}
	}
	return "", 0, false
}

func (c *census) unusual(least int) int {
	if _, others, steady := c.tally.Steady(); steady {
		return others
	}
	return least
}
