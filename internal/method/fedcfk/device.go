package fedcfk

import (
	"cmp"
	"slices"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Device computes on one person's list, which never leaves the person's device.
type Device struct {
	Devices
	Liked []int   // items, ascending
	Rated []int64 // the rating of each; nil: 1
}

// Likes returns the vector of the first sum: 1 for each item that the person likes, followed by the
// squared ratings if the job has ratings.
func (d Device) Likes() secagg.Vector {
	if d.Rated != nil || d.Keys().Ratings > 0 {
		return Rated{d.Items, d.Liked, d.Rated}
	}
	return Likes(d.Liked)
}

// Pairs returns the vector of the second sum, row after row: for each pair i < j of kept items that
// the person likes both of, 1 or the product of both ratings.
func (d Device) Pairs(kept []int) Pairs {
	return Pairs{len(kept), d.places(kept), d.ratings(kept), 1}
}

// Square returns the vector of a round of mode paper: the pairs i <= j.
func (d Device) Square(items []int) Pairs {
	return Pairs{len(items), d.places(items), d.ratings(items), 0}
}

// places returns the places, among the given items, of those that the person likes.
func (d Device) places(items []int) (places []int) {
	for at, item := range items {
		if _, likes := slices.BinarySearch(d.Liked, item); likes {
			places = append(places, at)
		}
	}
	return places
}

// ratings returns the person's ratings of the liked items among the given ones; all are 1 if the
// job has no ratings.
func (d Device) ratings(items []int) (list []int64) {
	for _, item := range items {
		at, likes := slices.BinarySearch(d.Liked, item)
		switch {
		case likes && d.Rated != nil:
			list = append(list, d.Rated[at])
		case likes:
			list = append(list, 1)
		}
	}
	return list
}

// Recommend returns a score for every item of the catalogue: the device solves for its own weights.
// Only items in the kernel count as liked. Other items are ordered by popularity after them, since
// nothing else is known. For a person who likes no item in the kernel, all items are ordered by
// popularity.
func (d Device) Recommend(m *komd.Model, kept []int, popularity []int64) ([]float64, error) {
	var public []int
	for _, item := range kept {
		if _, likes := slices.BinarySearch(d.Liked, item); likes {
			public = append(public, item)
		}
	}
	low, scores := 0.0, make([]float64, len(popularity))
	if len(public) > 0 {
		var err error
		if scores, err = m.Scores(public, learner.ProfileOf(d.Job).Lambda); err != nil {
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

// Best returns the items with the highest scores that the person is not known to like, by their
// names in the catalogue.
func (d Device) Best(scores []float64, items []string) []method.Recommendation {
	list := []method.Recommendation{}
	for i, s := range scores {
		if _, public := slices.BinarySearch(d.Liked, i); !public {
			list = append(list, method.Recommendation{Item: items[i], Score: s})
		}
	}
	slices.SortStableFunc(list, func(a, b method.Recommendation) int { return cmp.Compare(b.Score, a.Score) })
	return slices.Clone(list[:min(learner.ProfileOf(d.Job).Recommend, len(list))])
}

// Likes is the vector of liked items, ascending.
type Likes []int

// Read implements secagg.Vector.
func (v Likes) Read(_, first int, dst []int64) {
	clear(dst)
	at, _ := slices.BinarySearch(v, first)
	for ; at < len(v) && v[at] < first+len(dst); at++ {
		dst[v[at]-first] = 1
	}
}

// Pairs is the upper triangle of a profile's outer product with itself.
type Pairs struct {
	items int
	liked []int // ascending
	rated []int64
	apart int // the least distance between the items of a pair: 0 with the diagonal, 1 without
}

// Read implements secagg.Vector.
func (p Pairs) Read(_, first int, dst []int64) {
	clear(dst)
	for k, i := range p.liked {
		p.mark(dst, RowOf(i, p.items-p.apart)-first, k)
	}
}

// Entries counts the pairs i <= j of a number of items.
func Entries(items int) int { return items * (items + 1) / 2 }

// RowOf returns the offset of row i in an upper triangle with the given number of rows.
func RowOf(i, rows int) int { return i*rows - i*(i-1)/2 }

// mark sets the products of the k-th liked item with the liked items after it, in a row that begins
// at the given offset of dst.
func (p Pairs) mark(dst []int64, begin, k int) {
	item := p.liked[k] + p.apart // of the row's first entry
	if begin+p.items-item <= 0 || begin >= len(dst) {
		return
	}
	for l := k + p.apart; l < len(p.liked); l++ {
		if at := begin + p.liked[l] - item; at >= 0 && at < len(dst) {
			dst[at] = p.rated[k] * p.rated[l]
		}
	}
}
