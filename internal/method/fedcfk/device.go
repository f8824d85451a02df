package fedcfk

import (
	"cmp"
	"slices"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Device holds one person's list of liked items, which never leaves the person's device.
type Device struct {
	Devices
	Liked []int   // indices of the liked items, ascending
	Rated []int64 // rating of each liked item; nil means that all are 1
}

// Likes returns the device's vector of the first sum. It has 1 for each liked item, followed by the
// squared ratings if the job has ratings.
func (d Device) Likes() secagg.Vector {
	if d.Rated != nil || d.Keys().Ratings > 0 {
		return Rated{d.Items, d.Liked, d.Rated}
	}
	return Likes(d.Liked)
}

// Pairs returns the device's vector of the second sum. The vector has one entry for each pair i < j
// of kept items. If the person likes both items, the entry is the product of their ratings, or 1 in
// a job without ratings. Otherwise it is 0.
func (d Device) Pairs(kept []int) Pairs {
	return Pairs{len(kept), d.likedIndices(kept), d.ratings(kept), 1}
}

// Square returns the device's vector of a round in mode paper, with all pairs i <= j of items.
func (d Device) Square(items []int) Pairs {
	return Pairs{len(items), d.likedIndices(items), d.ratings(items), 0}
}

// likedIndices returns the indices of the person's liked items in the list items.
func (d Device) likedIndices(items []int) (places []int) {
	for at, item := range items {
		if _, likes := slices.BinarySearch(d.Liked, item); likes {
			places = append(places, at)
		}
	}
	return places
}

// ratings returns the person's rating of each liked item that the list items contains. All ratings
// are 1 if the job has none.
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

// Recommend returns a score for every item of the catalogue. The device computes the weights of the
// scores by itself. Only liked items in the kernel enter the solution. Items outside the kernel
// rank below all others, by popularity. For a person who likes no item in the kernel, all items
// rank by popularity.
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

// Best returns the highest-scored items that are not in the person's list, by their names in the
// catalogue.
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

// Likes lists liked items in ascending order. As a vector of secure aggregation, the list has a 1
// for each liked item and a 0 for any other item.
type Likes []int

// Read implements secagg.Vector.
func (v Likes) Read(_, first int, dst []int64) {
	clear(dst)
	at, _ := slices.BinarySearch(v, first)
	for ; at < len(v) && v[at] < first+len(dst); at++ {
		dst[v[at]-first] = 1
	}
}

// Pairs is the upper triangle of the outer product of a person's vector of ratings with itself.
type Pairs struct {
	items int
	liked []int // indices of the liked items, ascending
	rated []int64
	apart int // least difference j - i of a pair: 0 includes the diagonal, 1 excludes it
}

// Read implements secagg.Vector.
func (p Pairs) Read(_, first int, dst []int64) {
	clear(dst)
	for k, i := range p.liked {
		p.mark(dst, RowOf(i, p.items-p.apart)-first, k)
	}
}

// Entries returns the number of pairs i <= j of items.
func Entries(items int) int { return items * (items + 1) / 2 }

// RowOf returns the offset of row i in an upper triangle with the given number of rows.
func RowOf(i, rows int) int { return i*rows - i*(i-1)/2 }

// mark sets the products of the k-th liked item with the liked items after it and, if p.apart is 0, with
// itself. The item's row begins at offset begin of dst. This offset can lie outside dst.
func (p Pairs) mark(dst []int64, begin, k int) {
	item := p.liked[k] + p.apart // second item of the row's first pair
	if begin+p.items-item <= 0 || begin >= len(dst) {
		return
	}
	for l := k + p.apart; l < len(p.liked); l++ {
		if at := begin + p.liked[l] - item; at >= 0 && at < len(dst) {
			dst[at] = p.rated[k] * p.rated[l]
		}
	}
}
