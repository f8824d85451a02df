//go:build !slow

package coordinator_test

// crashPoints is one operation of each kind; the slow tests take all.
func crashPoints(name string, ops []string, seen map[string]bool) []int {
	return kinds(name, ops, seen)
}
