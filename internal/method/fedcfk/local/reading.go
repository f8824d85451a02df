package local

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/method/fedcfk"
)

// SoleLists returns the lists that anyone can read from an exact sum over pairs of items. The row
// of an item that only one person likes is that person's list. Each list appears once.
func SoleLists(items int, pairs []int64) [][]int {
	at := func(i, j int) int64 { return pairs[fedcfk.RowOf(min(i, j), items)+max(i, j)-min(i, j)] }
	done := make([]bool, items) // items that only the person of a list already found likes
	var lists [][]int
	for i := range items {
		if done[i] || at(i, i) != 1 {
			continue
		}
		var list []int
		for j := range items {
			if at(i, j) == 1 {
				list = append(list, j)
				done[j] = done[j] || at(j, j) == 1
			}
		}
		lists = append(lists, list)
	}
	return lists
}

// Readings holds the lists that a server has read over the rounds. For each list it holds the
// possible owners, who took part in every round in which the list appeared.
type Readings struct {
	among map[string][]string
}

// Add adds the lists that a round exposed. people names the people who took part in the round.
func (r *Readings) Add(lists [][]int, people []string) {
	if r.among == nil {
		r.among = make(map[string][]string)
	}
	for _, list := range lists {
		key := fmt.Sprint(list)
		before, public := r.among[key]
		if !public {
			r.among[key] = people
			continue
		}
		r.among[key] = slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(people, name) })
	}
}

// Count returns how many lists the server has read, and how many of them have only one possible
// owner.
func (r *Readings) Count() (lists, named int) {
	for _, people := range r.among {
		if len(people) == 1 {
			named++
		}
	}
	return len(r.among), named
}
