package dataset

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// The folds of scikit-learn 1.9.1's GroupKFold(3) on these groups.
func TestGroupFolds(t *testing.T) {
	groups := []string{"a", "a", "a", "a", "a", "b", "b", "b", "c", "c", "d"}
	folds, err := GroupFolds(groups, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int{{0, 1, 2, 3, 4}, {5, 6, 7}, {8, 9, 10}}
	for i := range want {
		if !slices.Equal(folds[i], want[i]) {
			t.Errorf("fold %d is %v, want %v", i, folds[i], want[i])
		}
	}
	for _, k := range []int{1, 5} {
		if _, err := GroupFolds(groups, k); err == nil {
			t.Errorf("%d folds of 4 groups", k)
		}
	}
}

// Whole groups, every row once, and sizes that differ by the largest group at most.
func TestGroupsStayTogether(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		groups := rapid.SliceOfN(rapid.StringMatching("[a-h]"), 40, 80).Draw(rt, "groups")
		size := make(map[string]int)
		for _, g := range groups {
			size[g]++
		}
		k := rapid.IntRange(1, min(4, len(size))).Draw(rt, "hands")
		parties, err := ByGroups(groups, k, 7)
		if err != nil {
			rt.Fatal(err)
		}
		all := [][][]int{parties}
		if k > 1 {
			folds, err := GroupFolds(groups, k)
			if err != nil {
				rt.Fatal(err)
			}
			all = append(all, folds)
		}
		largest := 0
		for _, n := range size {
			largest = max(largest, n)
		}
		for _, dealt := range all {
			whose, least, most := make(map[string]int), len(groups), 0
			for h, rows := range dealt {
				least, most = min(least, len(rows)), max(most, len(rows))
				for _, i := range rows {
					if other, seen := whose[groups[i]]; seen && other != h {
						rt.Fatalf("group %s is divided: %v", groups[i], dealt)
					}
					whose[groups[i]] = h
				}
			}
			if got := slices.Sorted(slices.Values(slices.Concat(dealt...))); !slices.Equal(got, linalg.Range(0, len(groups))) || most-least > largest {
				rt.Fatalf("%d to %d rows: %v", least, most, dealt)
			}
		}
	})
	if _, err := ByGroups(slices.Repeat([]string{"a", "b"}, 20), 3, 1); err == nil {
		t.Error("two groups among three parties")
	}
}
