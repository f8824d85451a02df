package prepare

import (
	"slices"
	"strings"
)

// likenesses lists sets of steps that can give different spellings of an id one form, from the weakest set
// to the strongest. The step nfc comes only with the others.
func likenesses() [][]string {
	return [][]string{{"trim"}, {"lower"}, {"trim", "lower"}, {"nfc", "trim", "lower"}}
}

// CommonIDs counts the ids that are in all tables. It also returns the set of steps, such as "trim", after which
// most ids would be in all tables, and the number of these ids as alike. Of several such sets it returns the weakest.
// It considers no set that makes two ids of a table equal. If no set raises the count, steps is nil.
func CommonIDs(tables [][]string) (common, alike int, steps []string) {
	common = countCommon(tables)
	alike = common
	if slices.ContainsFunc(tables, func(ids []string) bool { return len(ids) == common }) {
		return common, alike, nil // all ids of a table are common already
	}
	for _, s := range likenesses() {
		if again := renormalized(tables, s); again != nil {
			if n := countCommon(again); n > alike {
				alike, steps = n, s
			}
		}
	}
	return common, alike, steps
}

// WithSteps returns the rule with the given steps after its own. It repeats no step.
func (r IDRule) WithSteps(steps []string) IDRule {
	r.Normalize = slices.Clone(r.Normalize)
	for _, s := range steps {
		if !slices.Contains(r.Normalize, s) {
			r.Normalize = append(r.Normalize, s)
		}
	}
	return r
}

// renormalized applies steps to all ids. It returns nil if an id has nothing left, or if two ids of a
// table become equal.
func renormalized(tables [][]string, steps []string) [][]string {
	again := make([][]string, len(tables))
	for i, ids := range tables {
		seen := make(map[string]bool, len(ids))
		for _, id := range ids {
			parts := strings.Split(id, idSeparator)
			now, _, err := (&IDRule{Normalize: steps}).id(parts)
			if err != nil || seen[now] {
				return nil
			}
			seen[now] = true
			again[i] = append(again[i], now)
		}
	}
	return again
}

func countCommon(tables [][]string) (n int) {
	held := make(map[string]int)
	for _, ids := range tables {
		for _, id := range ids {
			held[id]++
		}
	}
	for _, parties := range held {
		if parties == len(tables) {
			n++
		}
	}
	return n
}
