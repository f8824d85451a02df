package generated

import (
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// genres is the number of genres among the items.
const genres = 8

// Ratings generates ratings for demonstrations without real ratings. Every person likes two of
// eight genres and rates the given number of items, most of them in the liked genres; items
// with a low index are popular. The number of items must be at least twice the number of ratings of
// a person.
func Ratings(people, items, each int, seed [32]byte) *dataset.Ratings {
	r := &dataset.Ratings{Name: "generated ratings"}
	for i := range items {
		r.Items = append(r.Items, strconv.Itoa(i+1))
	}
	random := prg.New(seed, "simulate/ratings")
	for u := range people {
		r.Users = append(r.Users, strconv.Itoa(u+1))
		favourites := random.Perm(genres)[:2]
		rated := make(map[int]bool)
		for len(rated) < each {
			item := skewed(random, items)
			if random.Float64() < .8 {
				item = item/genres*genres + favourites[random.Uint64n(2)]
			}
			if item < items && !rated[item] {
				rated[item] = true
				r.List = append(r.List, dataset.Rating{User: u, Item: item, Value: 5})
			}
		}
	}
	return r
}

// skewed draws a number from 0 to n-1; lower numbers are more probable.
func skewed(random *prg.Stream, n int) int {
	x := random.Float64()
	return int(float64(x*x) * float64(n))
}
