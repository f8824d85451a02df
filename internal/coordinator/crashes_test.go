//go:build !slow

package coordinator_test

// crashPoints returns the first operation of each kind that is not seen yet; the
// slow tests take all. What a party does is another kind than what the coordinator
// does.
func crashPoints(name string, ops []string, seen map[string]bool) (points []int) {
	for i, op := range ops {
		if name == hub {
			op = "hub: " + op
		}
		if !seen[op] {
			points = append(points, i)
		}
		seen[op] = true
	}
	return points
}
