package stage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/protocol"
)

// Device is one person's side of a FedCFK job. What the person likes stays in
// it.
type Device struct {
	crowd Crowd
	name  string
	liked []int // ascending
}

// NewDevice returns the device of a person who likes the given items, ascending.
func NewDevice(c Crowd, name string, liked []int) *Device { return &Device{c, name, liked} }

// Popularity is the vector of the first sum: 1 for what the person likes.
func (d *Device) Popularity() Popularity { return d.liked }

// Proposal is what a server tells all devices to begin the second sum. Whose it is
// they know from the first.
type Proposal struct {
	Sums    []int64 // of the first
	Session protocol.SessionID
}

// Accept checks a proposal against what the device knows of the first sum, and
// returns the second with its items. Survivors are those in the first sum, as
// the device's own machine of that session has heard it.
func (d *Device) Accept(first Summation, survivors []string, p Proposal) (Summation, []int, error) {
	if err := d.crowd.possible(survivors, p); err != nil {
		return Summation{}, nil, toldWrong(d.crowd.Server, "%w", err)
	}
	second, kept, err := d.crowd.Pairs(first, survivors, p.Sums)
	if err != nil {
		return Summation{}, nil, err
	}
	if second.Session.ID() != p.Session {
		return Summation{}, nil, toldWrong(d.crowd.Server, "the second sum is not the one that follows from the first")
	}
	return second, kept, nil
}

// possible refuses counts that no first sum of these people has.
func (c Crowd) possible(survivors []string, p Proposal) error {
	if len(p.Sums) != c.Items {
		return fmt.Errorf("counts of %d items, the catalogue has %d", len(p.Sums), c.Items)
	}
	for i, n := range p.Sums {
		if n < 0 || n > int64(len(survivors)) {
			return fmt.Errorf("item %d is liked by %d of %d people", i, n, len(survivors))
		}
	}
	return nil
}

// Pairs is the vector of the second sum: 1 for each pair i < j of kept items that
// the person likes both of, row after row.
func (d *Device) Pairs(kept []int) Pairs { return Pairs{len(kept), d.places(kept)} }

// Triangle is the vector of a round of mode paper: the pairs i <= j.
func (d *Device) Triangle(items []int) Triangle { return Triangle{len(items), d.places(items)} }

// places returns where among the items those are that the person likes.
func (d *Device) places(items []int) (places []int) {
	for at, item := range items {
		if _, likes := slices.BinarySearch(d.liked, item); likes {
			places = append(places, at)
		}
	}
	return places
}

// Recommend returns a score for every item of the catalogue: the device solves
// for its own weights. Only items in the kernel count as liked. What is known of
// the others is how popular they are: they follow in that order. So does
// everything for a person who likes nothing that is in the kernel.
func (d *Device) Recommend(m *komd.Model, kept []int, popularity []int64, lambda float64) ([]float64, error) {
	var known []int
	for _, item := range kept {
		if _, likes := slices.BinarySearch(d.liked, item); likes {
			known = append(known, item)
		}
	}
	low, scores := 0.0, make([]float64, len(popularity))
	if len(known) > 0 {
		var err error
		if scores, err = m.Scores(known, lambda); err != nil {
			return nil, err
		}
		for _, i := range kept {
			low = min(low, scores[i])
		}
	} else {
		kept = nil
	}
	most := float64(slices.Max(popularity) + 1)
	for i, n := range popularity {
		if _, in := slices.BinarySearch(kept, i); !in {
			scores[i] = low - 1 + float64(n)/most
		}
	}
	return scores, nil
}

// Best returns the items with the highest scores that the person is not known to
// like, by their names in the catalogue.
func (d *Device) Best(scores []float64, items []string) []Recommendation {
	list := []Recommendation{}
	for i, s := range scores {
		if _, known := slices.BinarySearch(d.liked, i); !known {
			list = append(list, Recommendation{Item: items[i], Score: s})
		}
	}
	slices.SortStableFunc(list, func(a, b Recommendation) int { return cmp.Compare(b.Score, a.Score) })
	return slices.Clone(list[:min(d.crowd.Job.Learner.Recommend, len(list))])
}

// Popularity is the vector of liked items, ascending.
type Popularity []int

// Read implements secagg.Vector.
func (v Popularity) Read(_, first int, dst []int64) {
	clear(dst)
	at, _ := slices.BinarySearch(v, first)
	for ; at < len(v) && v[at] < first+len(dst); at++ {
		dst[v[at]-first] = 1
	}
}

// Triangle is the upper triangle of a profile's outer product with itself, its
// diagonal included.
type Triangle struct {
	items int
	liked []int // ascending
}

// Read implements secagg.Vector.
func (t Triangle) Read(_, first int, dst []int64) {
	clear(dst)
	for k, i := range t.liked {
		mark(dst, rowOf(i, t.items)-first, t.items-i, t.liked[k:], i)
	}
}

// Pairs is the same without the diagonal.
type Pairs struct {
	items int
	liked []int // ascending
}

// Read implements secagg.Vector.
func (p Pairs) Read(_, first int, dst []int64) {
	clear(dst)
	for k, i := range p.liked {
		mark(dst, rowOf(i, p.items-1)-first, p.items-1-i, p.liked[k+1:], i+1)
	}
}

// rowOf is where row i of an upper triangle begins that has so many rows.
func rowOf(i, rows int) int { return i*rows - i*(i-1)/2 }

// mark sets what is liked of one row that begins at the given place of dst, has
// the given length, and whose first entry is of the given item.
func mark(dst []int64, begin, length int, liked []int, item int) {
	if begin+length <= 0 || begin >= len(dst) {
		return
	}
	for _, j := range liked {
		if at := begin + j - item; at >= 0 && at < len(dst) {
			dst[at] = 1
		}
	}
}
