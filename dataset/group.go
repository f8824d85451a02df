package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// GroupFolds divides all rows into k test sets and keeps each group in one set. The rows of a set
// ascend. As in scikit-learn's GroupKFold, groups are assigned in descending order of size, each to
// the smallest set so far. Groups of equal size are assigned in the order of their names, which
// is that of [Classes].
// GroupFolds returns an error if k is below 2 or above the number of groups.
func GroupFolds(groups []string, k int) ([][]int, error) {
	members := rowsByGroup(groups)
	if k < 2 || k > len(members) {
		return nil, fmt.Errorf("cannot make %d folds from %d groups; choose at least 2 folds and at most one for each group", k, len(members))
	}
	return largestFirst(members, k), nil
}

// DealGroups returns the test sets of [GroupFolds] but allows fewer groups than sets. The last sets
// are then empty.
func DealGroups(groups []string, k int) [][]int { return largestFirst(rowsByGroup(groups), k) }

// ByGroups assigns whole groups of rows to parties, in an order drawn from the seed. All
// rows of a group go to one party: the party with the fewest rows so far.
func ByGroups(groups []string, parties int, seed uint64) ([][]int, error) {
	if err := checkParties(len(groups), parties); err != nil {
		return nil, err
	}
	members := rowsByGroup(groups)
	if len(members) < parties {
		return nil, fmt.Errorf("dataset: %d groups are too few for %d parties; use fewer parties", len(members), parties)
	}
	order := linalg.Range(0, len(members))
	newStream(seed, streamRows).shuffle(order)
	return dealInOrder(linalg.At(members, order), parties), nil
}

// rowsByGroup returns the rows of each group, with the groups in the order of their names, which is that
// of Classes.
func rowsByGroup(groups []string) [][]int {
	_, codes := Classes(groups)
	var members [][]int
	for i, c := range codes {
		for len(members) <= c {
			members = append(members, nil)
		}
		members[c] = append(members[c], i)
	}
	return members
}

// largestFirst deals the groups to the given number of sets, the largest group first.
func largestFirst(members [][]int, hands int) [][]int {
	slices.SortStableFunc(members, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	return dealInOrder(members, hands)
}

// dealInOrder deals the groups in the given order, each to the set with the fewest rows so far.
func dealInOrder(members [][]int, hands int) [][]int {
	dealt := make([][]int, hands)
	for _, rows := range members {
		least := 0
		for h := range dealt {
			if len(dealt[h]) < len(dealt[least]) {
				least = h
			}
		}
		dealt[least] = append(dealt[least], rows...)
	}
	for _, rows := range dealt {
		slices.Sort(rows)
	}
	return dealt
}
