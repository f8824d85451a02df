// Package fuzzymatch finds the known word nearest to a mistyped one ("did you mean ...").
//
//	fuzzymatch.Nearest("gama", "name", "gamma", "coef0") // "gamma", true
package fuzzymatch

import "strings"

// Nearest returns the known word that needs the fewest edits to become word. On a tie it returns
// the first such word. It returns false if the edits are more than a third of the letters of the longer
// word, because a typing error needs fewer. It ignores case.
func Nearest(word string, known ...string) (string, bool) {
	best, bestEdits := "", len(word)+1
	for _, k := range known {
		if e := edits(strings.ToLower(word), strings.ToLower(k)); e < bestEdits {
			best, bestEdits = k, e
		}
	}
	return best, best != "" && 3*bestEdits <= max(len(word), len(best))
}

// edits returns the Damerau-Levenshtein distance, restricted to swaps of neighbours. Each of the four common
// typing errors is one edit: a letter that is missing, extra or wrong, and two neighbours in the wrong order.
func edits(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(old[j+1]+1, row[j]+1, old[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}
