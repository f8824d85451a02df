package stage

import (
	"cmp"
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

// Proposal is what a server tells all devices to begin the second sum.
type Proposal struct {
	Sums    []int64  // of the first
	Clients []string // of the second
	Session protocol.SessionID
}

// Accept checks a proposal against what the device knows of the first sum, and
// returns the second with its items. Survivors are those in the first sum, as
// the device's own machine of that session has heard it.
func (d *Device) Accept(first Summation, survivors []string, p Proposal) (Summation, []int, error) {
	if err := d.check(first, survivors, p); err != nil {
		return Summation{}, nil, err
	}
	second, kept, err := d.crowd.Triangle(first, p.Sums, p.Clients)
	if err != nil {
		return Summation{}, nil, err
	}
	if second.Session.ID() != p.Session {
		return Summation{}, nil, toldWrong(d.crowd.Server, "the second sum is not the one that follows from the first")
	}
	return second, kept, nil
}

// check refuses what cannot follow from the first sum.
func (d *Device) check(first Summation, survivors []string, p Proposal) error {
	if len(p.Sums) != d.crowd.Items {
		return toldWrong(d.crowd.Server, "counts of %d items, the catalogue has %d", len(p.Sums), d.crowd.Items)
	}
	for i, n := range p.Sums {
		if n < 0 || n > int64(len(survivors)) {
			return toldWrong(d.crowd.Server, "item %d is liked by %d of %d people", i, n, len(survivors))
		}
	}
	if name, ok := subset(p.Clients, survivors); !ok {
		return toldWrong(d.crowd.Server, "%s is to be in the second sum, and is not in the first", name)
	}
	if least := d.crowd.Minimum(len(first.Session.Members) - 1); len(p.Clients) < least {
		return toldWrong(d.crowd.Server, "a second sum over %d clients, fewer than the agreed minimum of %d", len(p.Clients), least)
	}
	return nil
}

// Triangle is the vector of the second sum: 1 for each pair i <= j of kept items
// that the person likes both of, row after row.
func (d *Device) Triangle(kept []int) Triangle {
	t := Triangle{items: len(kept)}
	for at, item := range kept {
		if _, likes := slices.BinarySearch(d.liked, item); likes {
			t.liked = append(t.liked, at)
		}
	}
	return t
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

// Triangle is the upper triangle of a profile's outer product with itself.
type Triangle struct {
	items int
	liked []int // ascending
}

// row is where the pairs of item i begin.
func (t Triangle) row(i int) int { return i*t.items - i*(i-1)/2 }

// Read implements secagg.Vector.
func (t Triangle) Read(_, first int, dst []int64) {
	clear(dst)
	for k, i := range t.liked {
		if t.row(i+1) <= first || t.row(i) >= first+len(dst) {
			continue
		}
		for _, j := range t.liked[k:] {
			if at := t.row(i) + j - i - first; at >= 0 && at < len(dst) {
				dst[at] = 1
			}
		}
	}
}
