package psi

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// listOf returns a complete list of entries of eight bytes, of which the last ones vary.
func listOf(entries []uint16) *list {
	l := newList(len(entries), 8, len(entries)+1)
	var all []byte
	for _, e := range entries {
		all = append(all, byte(e>>12), 0, 0, 0, 0, 0, byte(e>>8), byte(e))
	}
	l.put(0, all)
	return l
}

func TestSortAndIntersect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lists []*list
		counts := make(map[string]int)
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			entries := rapid.SliceOfN(rapid.Uint16Range(0, 300), 1, 200).Draw(t, "entries")
			different := slices.Compact(slices.Sorted(slices.Values(entries)))
			if got := listOf(entries).sort(); got != (len(different) == len(entries)) {
				t.Fatalf("%v are said to differ: %v", entries, got)
			}
			l := listOf(rapid.Permutation(different).Draw(t, "order"))
			l.sort()
			lists = append(lists, l)
			for rank := range l.n {
				if rank > 0 && bytes.Compare(l.at(rank-1), l.at(rank)) >= 0 {
					t.Fatalf("rank %d is out of order", rank)
				}
				counts[string(l.at(rank))]++
			}
		}
		for i, ranks := range intersect(lists) {
			var got [][]byte
			for _, rank := range ranks {
				got = append(got, lists[i].at(int(rank)))
			}
			n := 0
			for _, count := range counts {
				if count == len(lists) {
					n++
				}
			}
			if len(got) != n || !slices.IsSortedFunc(got, bytes.Compare) || len(slices.CompactFunc(got, bytes.Equal)) != n {
				t.Fatalf("list %d has %d common entries, want %d", i, len(got), n)
			}
			for _, entry := range got {
				if counts[string(entry)] != len(lists) {
					t.Fatalf("%x is not in all lists", entry)
				}
			}
		}
	})
}
